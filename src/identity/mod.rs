//! Owns: three identities, rights, token verification, per-dispatch credentials.
//! Must not know: what is decided with them.
//! Start reading at: `verifier.rs`.

mod claims;
pub mod dev;
mod error;
mod jwks;
mod jws;
mod kind;
mod people;
pub mod rights;
mod verifier;

pub use error::IdentityError;
pub use jwks::{Algorithm, JwkSet, JwksError};
pub use kind::TokenKind;
pub use people::{Caller, Person, PrincipalCall, ScopeGrant, SessionPrincipal, Signer, Workload};
pub use verifier::{Issuer, Verifier, VerifierError};

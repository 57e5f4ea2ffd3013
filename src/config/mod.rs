//! Owns: settings, their sources and their reference.
//! Must not know: business rules.
//! Start reading at: `settings.rs`, then `load.rs`.

mod error;
mod load;
mod reference;
mod secret;
mod settings;
mod span;

pub use error::ConfigError;
pub use load::{Environment, Sources, load};
pub use reference::{reference, schema};
pub use secret::Secret;
pub use settings::{
    Bundle, Config, Endpoint, Grpc, Http, Identity, Issuer, Log, LogFormat, Mode, Seal, Store,
    Tools,
};
pub use span::Span;

//! Why a token was not accepted. The texts name the claim, never its value.

use crate::domain::reason::ReasonCode;

use super::kind::TokenKind;

/// Why a token was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// More bytes than a token may have.
    #[error("the token is longer than {} bytes", crate::domain::limits::TOKEN_MAX_BYTES)]
    TooLarge,
    /// Not a compact JWS with strict JSON in it, or a claim of the wrong form.
    #[error("the token is malformed: {0}")]
    Malformed(&'static str),
    /// `typ` is not the one this call needs.
    #[error("the token is of another type than `{0}`")]
    WrongType(&'static str),
    /// `typ` is none of Stateguard's.
    #[error("the token type is not one that a call can carry")]
    UnknownType,
    /// No such issuer in the configuration.
    #[error("the issuer is not configured; add it to `identity.issuers`")]
    UnknownIssuer,
    /// The issuer exists but may not sign this kind.
    #[error("this issuer may not sign `{0}` tokens; see `types` of the issuer")]
    TypeNotAllowed(&'static str),
    /// The issuer has no key with this `kid`.
    #[error("the issuer has no key with this `kid`")]
    UnknownKey,
    /// `alg` is not that of the key, or not among those of the issuer.
    #[error("the algorithm is not the one of the key")]
    WrongAlgorithm,
    /// The signature does not fit.
    #[error("the signature does not fit")]
    BadSignature,
    /// Not exactly the one audience.
    #[error("the audience is not exactly `{0}`")]
    WrongAudience(&'static str),
    /// `exp` is past.
    #[error("the token has expired")]
    Expired,
    /// `nbf`, `iat` or `auth_time` lie in the future.
    #[error("the token is not valid yet: `{0}` lies ahead")]
    NotYetValid(&'static str),
    /// `exp` lies further from `iat` than this kind may live.
    #[error("the token lives longer than its type may")]
    LivesTooLong,
    /// The tenant is not that of the issuer.
    #[error("the tenant is not that of the issuer")]
    WrongTenant,
    /// A claim that this kind needs is absent or empty.
    #[error("the claim `{0}` is missing")]
    Incomplete(&'static str),
}

impl IdentityError {
    /// The stable code.
    pub fn code(self) -> ReasonCode {
        match self {
            Self::TooLarge => ReasonCode::TokenTooLarge,
            Self::Malformed(_) => ReasonCode::TokenMalformed,
            Self::WrongType(_) | Self::UnknownType => ReasonCode::TokenType,
            Self::UnknownIssuer | Self::TypeNotAllowed(_) => ReasonCode::TokenIssuerUnknown,
            Self::UnknownKey => ReasonCode::TokenKeyUnknown,
            Self::WrongAlgorithm => ReasonCode::TokenAlgorithm,
            Self::BadSignature => ReasonCode::TokenSignature,
            Self::WrongAudience(_) => ReasonCode::TokenAudience,
            Self::Expired => ReasonCode::TokenExpired,
            Self::NotYetValid(_) => ReasonCode::TokenNotYetValid,
            Self::LivesTooLong => ReasonCode::TokenLifetime,
            Self::WrongTenant => ReasonCode::TenantMismatch,
            Self::Incomplete(_) => ReasonCode::IdentityIncomplete,
        }
    }

    pub(crate) fn wrong_type(expected: TokenKind) -> Self {
        Self::WrongType(expected.typ())
    }
}

//! From a token to a typed identity, in one order: form, type, issuer, key, algorithm, signature, audience, times,
//! tenant, claims. Nothing is read from a token before its signature fits, except what finds the key.

use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;

use super::{
    claims::Claims,
    error::IdentityError,
    jwks::{Algorithm, JwkSet, Key},
    jws::{self, Unverified},
    kind::TokenKind,
    people::{Caller, Person, PrincipalCall, ScopeGrant, SessionPrincipal, Signer, Workload},
};
use crate::domain::{
    clock::Timestamp,
    contract_terms::{PrincipalKind, ScopeSource},
    ids::TenantId,
};

/// One configured issuer.
#[derive(Debug, Clone)]
pub struct Issuer {
    /// `iss`, compared exactly.
    pub issuer: String,
    /// The only tenant it may speak of.
    pub tenant: TenantId,
    /// Its public keys.
    pub keys: JwkSet,
    /// The algorithms it may use.
    pub algorithms: BTreeSet<Algorithm>,
    /// The kinds of token it may sign.
    pub kinds: BTreeSet<TokenKind>,
}

/// Verifies tokens against the configured issuers.
#[derive(Debug)]
pub struct Verifier {
    issuers: Vec<Issuer>,
    skew: Duration,
}

/// What every kind has in common, checked.
struct Common {
    claims: Claims,
    sub: String,
    tenant: TenantId,
    expires_at: Timestamp,
    jti: String,
    signer: Signer,
}

impl Verifier {
    /// The largest clock skew that may be configured.
    pub const MAX_SKEW: Duration = Duration::from_secs(60);

    /// Takes the issuers. Refuses two with one name, and one key shared by two issuers: with it an agent's workload
    /// could sign as the principal's channel.
    pub fn new(issuers: Vec<Issuer>, skew: Duration) -> Result<Self, VerifierError> {
        if skew > Self::MAX_SKEW {
            return Err(VerifierError::SkewTooLarge);
        }
        let mut names = BTreeSet::new();
        let mut thumbprints = BTreeSet::new();
        for issuer in &issuers {
            if !names.insert(issuer.issuer.as_str()) {
                return Err(VerifierError::RepeatedIssuer(issuer.issuer.clone()));
            }
            for key in issuer.keys.iter() {
                if !thumbprints.insert(key.thumbprint()) {
                    return Err(VerifierError::SharedKey(issuer.issuer.clone(), key.kid.clone()));
                }
                if !issuer.algorithms.contains(&key.algorithm) {
                    return Err(VerifierError::UnusableKey(issuer.issuer.clone(), key.kid.clone()));
                }
            }
        }
        Ok(Self { issuers, skew })
    }

    /// Whoever makes a call: a workload, the principal himself, or a person with a role, by the `typ` of the token.
    pub fn caller(&self, token: &str, now: Timestamp) -> Result<Caller, IdentityError> {
        match TokenKind::of_typ(&jws::take_apart(token)?.typ) {
            Some(TokenKind::Workload) => self.workload(token, now).map(Caller::Workload),
            Some(TokenKind::Principal) => self.principal_call(token, now).map(Caller::Principal),
            Some(TokenKind::Person) => self.person(token, now).map(Caller::Person),
            Some(TokenKind::Session | TokenKind::Scope) | None => Err(IdentityError::UnknownType),
        }
    }

    /// The workload that drives an agent.
    pub fn workload(&self, token: &str, now: Timestamp) -> Result<Workload, IdentityError> {
        let mut common = self.verify(token, TokenKind::Workload, now)?;
        Ok(Workload {
            agent: common.claims.text("agent")?,
            agent_instance: common.claims.text("agent_instance")?,
            rights: common.claims.set("rights")?,
            sub: common.sub,
            tenant: common.tenant,
            expires_at: common.expires_at,
            signer: common.signer,
        })
    }

    /// For whom a session acts.
    pub fn session_principal(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<SessionPrincipal, IdentityError> {
        let mut common = self.verify(token, TokenKind::Session, now)?;
        let all = Value::Object(jws::take_apart(token)?.claims);
        let claims = &mut common.claims;
        let kind = match claims.text("kind")?.as_str() {
            "person" => PrincipalKind::Person,
            "service" => PrincipalKind::Service,
            _ => return Err(IdentityError::Malformed("`kind` is neither person nor service")),
        };
        let auth_time = claims.optional_time("auth_time")?;
        self.not_ahead(auth_time, "auth_time", now)?;
        Ok(SessionPrincipal {
            kind,
            roles: claims.set("roles")?,
            channel: claims.text("channel")?,
            auth_time,
            amr: claims.texts("amr")?.unwrap_or_default(),
            consents: claims.set("consents")?,
            claims: all,
            sub: common.sub,
            tenant: common.tenant,
            expires_at: common.expires_at,
            jti: common.jti,
            signer: common.signer,
        })
    }

    /// A call of the principal himself.
    pub fn principal_call(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<PrincipalCall, IdentityError> {
        let mut common = self.verify(token, TokenKind::Principal, now)?;
        let claims = &mut common.claims;
        let auth_time = claims.time("auth_time")?;
        self.not_ahead(Some(auth_time), "auth_time", now)?;
        Ok(PrincipalCall {
            auth_time,
            amr: claims.texts("amr")?.unwrap_or_default(),
            azp: claims.text("azp")?,
            digest: claims.optional_text("digest")?,
            sub: common.sub,
            tenant: common.tenant,
            expires_at: common.expires_at,
            jti: common.jti,
            signer: common.signer,
        })
    }

    /// What a principal or a job allows one session to do.
    pub fn scope_grant(&self, token: &str, now: Timestamp) -> Result<ScopeGrant, IdentityError> {
        let mut common = self.verify(token, TokenKind::Scope, now)?;
        let claims = &mut common.claims;
        let source = match claims.text("source")?.as_str() {
            "principal" => ScopeSource::Principal,
            "job" => ScopeSource::Job,
            _ => return Err(IdentityError::Malformed("`source` is neither principal nor job")),
        };
        Ok(ScopeGrant {
            source,
            tools: claims.texts("tools")?.map(|tools| tools.into_iter().collect()),
            acts: claims.set("acts")?,
            targets: claims.text_map("targets")?,
            limits: claims.integer_map("limits")?,
            sub: common.sub,
            tenant: common.tenant,
            expires_at: common.expires_at,
            jti: common.jti,
            signer: common.signer,
        })
    }

    /// An operator, approver or auditor.
    pub fn person(&self, token: &str, now: Timestamp) -> Result<Person, IdentityError> {
        let mut common = self.verify(token, TokenKind::Person, now)?;
        let claims = &mut common.claims;
        let auth_time = claims.time("auth_time")?;
        self.not_ahead(Some(auth_time), "auth_time", now)?;
        Ok(Person {
            roles: claims.set("roles")?,
            auth_time,
            amr: claims.texts("amr")?.unwrap_or_default(),
            sub: common.sub,
            tenant: common.tenant,
            expires_at: common.expires_at,
            jti: common.jti,
            signer: common.signer,
        })
    }

    fn verify(
        &self,
        token: &str,
        kind: TokenKind,
        now: Timestamp,
    ) -> Result<Common, IdentityError> {
        let parts = jws::take_apart(token)?;
        if parts.typ != kind.typ() {
            return Err(IdentityError::wrong_type(kind));
        }
        let issuer = self.issuer(&parts)?;
        if !issuer.kinds.contains(&kind) {
            return Err(IdentityError::TypeNotAllowed(kind.as_str()));
        }
        let key = authentic(&parts, issuer)?;
        let signer = Signer {
            issuer: issuer.issuer.clone(),
            kid: key.kid.clone(),
            thumbprint: key.thumbprint(),
        };
        let mut claims = Claims(parts.claims);
        claims.0.remove("iss");
        if claims.audience().as_deref() != Some(kind.audience()) {
            return Err(IdentityError::WrongAudience(kind.audience()));
        }
        let expires_at = self.times(&mut claims, kind, now)?;
        let tenant = claims.text("tenant")?;
        if tenant != issuer.tenant.as_str() {
            return Err(IdentityError::WrongTenant);
        }
        let (sub, jti) = (claims.text("sub")?, claims.text("jti")?);
        Ok(Common { claims, sub, tenant: issuer.tenant.clone(), expires_at, jti, signer })
    }

    fn issuer(&self, parts: &Unverified<'_>) -> Result<&Issuer, IdentityError> {
        let Some(Value::String(name)) = parts.claims.get("iss") else {
            return Err(IdentityError::Incomplete("iss"));
        };
        self.issuers
            .iter()
            .find(|issuer| issuer.issuer == *name)
            .ok_or(IdentityError::UnknownIssuer)
    }

    /// `iat`, `nbf` and `exp` against the given present; answers the expiry.
    fn times(
        &self,
        claims: &mut Claims,
        kind: TokenKind,
        now: Timestamp,
    ) -> Result<Timestamp, IdentityError> {
        let expires_at = claims.time("exp")?;
        let issued_at = claims.time("iat")?;
        let not_before = claims.optional_time("nbf")?;
        self.not_ahead(Some(issued_at), "iat", now)?;
        self.not_ahead(not_before, "nbf", now)?;
        if expires_at <= now.minus(self.skew) {
            return Err(IdentityError::Expired);
        }
        if expires_at <= issued_at || expires_at > issued_at.plus(kind.longest_life()) {
            return Err(IdentityError::LivesTooLong);
        }
        Ok(expires_at)
    }

    fn not_ahead(
        &self,
        time: Option<Timestamp>,
        name: &'static str,
        now: Timestamp,
    ) -> Result<(), IdentityError> {
        match time {
            Some(time) if time > now.plus(self.skew) => Err(IdentityError::NotYetValid(name)),
            Some(_) | None => Ok(()),
        }
    }
}

/// The key that signed. The algorithm is the key's own; the header may only agree with it.
fn authentic<'i>(parts: &Unverified<'_>, issuer: &'i Issuer) -> Result<&'i Key, IdentityError> {
    let key = issuer.keys.find(&parts.kid).ok_or(IdentityError::UnknownKey)?;
    if parts.alg != key.algorithm.as_str() || !issuer.algorithms.contains(&key.algorithm) {
        return Err(IdentityError::WrongAlgorithm);
    }
    if !key.verifies(parts.signed, &parts.signature) {
        return Err(IdentityError::BadSignature);
    }
    Ok(key)
}

/// Why a set of issuers cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifierError {
    /// One name twice.
    #[error("the issuer `{0}` is configured twice")]
    RepeatedIssuer(String),
    /// One key under two names.
    #[error("key `{1}` of issuer `{0}` is also the key of another issuer or has two names")]
    SharedKey(String, String),
    /// A key whose algorithm the issuer may not use.
    #[error("key `{1}` of issuer `{0}` has an algorithm that `algorithms` does not list")]
    UnusableKey(String, String),
    /// More skew than clocks need.
    #[error("`identity.skew` is more than 60 s")]
    SkewTooLarge,
}

#[cfg(test)]
#[path = "verifier_tests.rs"]
mod tests;

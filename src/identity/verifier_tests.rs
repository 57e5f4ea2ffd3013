use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::json;

use super::*;
use crate::{
    domain::{clock::Entropy, reason::ReasonCode},
    identity::dev::{DevKey, Draft},
};

/// Fills with one byte: tests need different keys, not secret ones.
#[derive(Debug)]
struct Seed(u8);

impl Entropy for Seed {
    fn fill(&self, out: &mut [u8]) {
        out.fill(self.0);
    }
}

const NOW: i64 = 1_767_603_600;
const PORTAL: &str = "https://portal.example";
const OPERATOR: &str = "https://operator.example";

fn now() -> Timestamp {
    Timestamp::from_seconds(NOW)
}

fn key(seed: u8) -> DevKey {
    DevKey::generate("k1", &Seed(seed))
}

fn issuer(name: &str, seed: u8, kinds: &[TokenKind]) -> Issuer {
    Issuer {
        issuer: name.to_owned(),
        tenant: TenantId::parse("acme").unwrap(),
        keys: JwkSet::parse(key(seed).public_jwks().as_bytes()).unwrap(),
        algorithms: BTreeSet::from([Algorithm::EdDsa]),
        kinds: kinds.iter().copied().collect(),
    }
}

fn verifier() -> Verifier {
    let portal = [TokenKind::Session, TokenKind::Principal, TokenKind::Scope];
    let operator = [TokenKind::Workload, TokenKind::Person];
    Verifier::new(
        vec![issuer(PORTAL, 1, &portal), issuer(OPERATOR, 2, &operator)],
        Duration::from_secs(5),
    )
    .unwrap()
}

fn header() -> Value {
    json!({"alg": "EdDSA", "typ": "sg-session+jwt", "kid": "k1"})
}

fn claims() -> Value {
    json!({"iss": PORTAL, "aud": "stateguard", "iat": NOW - 10, "exp": NOW + 600, "jti": "j1",
        "sub": "p_1", "kind": "person", "tenant": "acme", "roles": ["customer"], "channel": "portal",
        "auth_time": NOW - 60, "amr": ["pwd"], "consents": [], "customer_id": "c_17"})
}

fn with(mut base: Value, name: &str, value: Value) -> Value {
    base.as_object_mut().unwrap().insert(name.to_owned(), value);
    base
}

fn without(mut base: Value, name: &str) -> Value {
    base.as_object_mut().unwrap().remove(name).unwrap();
    base
}

fn outcome(token: &str) -> Result<SessionPrincipal, ReasonCode> {
    verifier().session_principal(token, now()).map_err(IdentityError::code)
}

fn signed(header: &Value, claims: &Value) -> String {
    key(1).sign(header, claims)
}

/// A token of raw parts, signed by the portal's key.
fn raw(header: &str, claims: &str) -> String {
    key(1).sign_bytes(header.as_bytes(), claims.as_bytes())
}

#[test]
fn a_session_token_names_its_principal() {
    let principal = outcome(&signed(&header(), &claims())).unwrap();
    assert_eq!(principal.sub, "p_1");
    assert_eq!(principal.kind, PrincipalKind::Person);
    assert_eq!(principal.channel, "portal");
    assert_eq!(principal.roles, BTreeSet::from(["customer".to_owned()]));
    assert_eq!(principal.claims, claims());
    assert_eq!(principal.expires_at, Timestamp::from_seconds(NOW + 600));
    assert_eq!(principal.signer.issuer, PORTAL);
}

type Attack = (&'static str, String, ReasonCode);

fn refuses(attacks: Vec<Attack>, at_least: usize) {
    assert!(attacks.len() >= at_least, "{}", attacks.len());
    for (name, token, code) in attacks {
        assert_eq!(outcome(&token).map(|p| p.sub), Err(code), "{name}");
    }
}

/// A token with one header member set.
fn h(name: &str, value: Value) -> String {
    signed(&with(header(), name, value), &claims())
}

/// A token with one claim set.
fn c(name: &str, value: Value) -> String {
    signed(&header(), &with(claims(), name, value))
}

#[test]
fn headers_that_choose_algorithm_or_key_are_refused() {
    use ReasonCode as R;
    refuses(
        vec![
            ("alg none", h("alg", json!("none")), R::TokenAlgorithm),
            ("alg in other case", h("alg", json!("eddsa")), R::TokenAlgorithm),
            ("alg HS256 over the public key", h("alg", json!("HS256")), R::TokenAlgorithm),
            ("alg ES256 on an Ed25519 key", h("alg", json!("ES256")), R::TokenAlgorithm),
            ("alg is a number", h("alg", json!(1)), R::TokenMalformed),
            ("no alg", signed(&without(header(), "alg"), &claims()), R::TokenMalformed),
            ("kid of a path", h("kid", json!("../../operator/k1")), R::TokenKeyUnknown),
            ("kid with SQL", h("kid", json!("k1' OR '1'='1")), R::TokenKeyUnknown),
            ("kid empty", h("kid", json!("")), R::TokenMalformed),
            ("no kid", signed(&without(header(), "kid"), &claims()), R::TokenMalformed),
            ("kid of 4 KiB", h("kid", json!("k".repeat(4096))), R::TokenMalformed),
            ("jku", h("jku", json!("https://evil.example/jwks")), R::TokenMalformed),
            ("x5u", h("x5u", json!("https://evil.example/x5u")), R::TokenMalformed),
            ("embedded jwk", h("jwk", json!({"kty": "OKP"})), R::TokenMalformed),
            ("x5c", h("x5c", json!(["AAAA"])), R::TokenMalformed),
            ("crit", h("crit", json!(["b64"])), R::TokenMalformed),
            ("b64 false", h("b64", json!(false)), R::TokenMalformed),
            ("compressed", h("zip", json!("DEF")), R::TokenMalformed),
            ("nested", h("cty", json!("JWT")), R::TokenMalformed),
            ("typ of a workload", h("typ", json!("sg-workload+jwt")), R::TokenType),
            ("typ of a scope", h("typ", json!("sg-scope+jwt")), R::TokenType),
            ("typ JWT", h("typ", json!("JWT")), R::TokenType),
            ("typ in other case", h("typ", json!("SG-SESSION+JWT")), R::TokenType),
            ("typ with a prefix", h("typ", json!("application/sg-session+jwt")), R::TokenType),
            ("no typ", signed(&without(header(), "typ"), &claims()), R::TokenMalformed),
        ],
        25,
    );
}

#[test]
fn tokens_that_were_taken_apart_or_signed_by_others_are_refused() {
    use ReasonCode as R;
    let good = signed(&header(), &claims());
    let (front, signature) = good.rsplit_once('.').unwrap();
    let (head, body) = front.split_once('.').unwrap();
    let encoded = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let unsigned = encoded(with(header(), "alg", json!("none")));
    let other_body = encoded(with(claims(), "sub", json!("p_2")));
    let cut: String = signature.chars().take(80).collect();
    let head_text = header().to_string();
    let twice = claims().to_string().replace("\"sub\":\"p_1\"", "\"sub\":\"p_1\",\"sub\":\"p_2\"");
    let two_algs = head_text.replace("\"alg\"", "\"alg\":\"none\",\"alg\"");
    let reserved = "{\"$serde_json::private::RawValue\":\"[]\"}";
    refuses(
        vec![
            ("alg none without signature", format!("{unsigned}.{body}."), R::TokenAlgorithm),
            ("signed by another key", key(3).sign(&header(), &claims()), R::TokenSignature),
            (
                "signature of other claims",
                format!("{head}.{other_body}.{signature}"),
                R::TokenSignature,
            ),
            ("signature cut", format!("{front}.{cut}"), R::TokenSignature),
            ("no signature", format!("{front}."), R::TokenSignature),
            ("padded base64", format!("{front}.{signature}=="), R::TokenMalformed),
            ("standard alphabet", format!("{head}.{body}+/.{signature}"), R::TokenMalformed),
            ("two parts", front.to_owned(), R::TokenMalformed),
            ("four parts", format!("{good}.AAAA"), R::TokenMalformed),
            ("empty", String::new(), R::TokenMalformed),
            ("white space around", format!(" {good}"), R::TokenMalformed),
            ("a claim twice", raw(&head_text, &twice), R::TokenMalformed),
            ("a header member twice", raw(&two_algs, &claims().to_string()), R::TokenMalformed),
            ("a reserved key", raw(&head_text, reserved), R::TokenMalformed),
            ("claims are a list", raw(&head_text, "[]"), R::TokenMalformed),
            (
                "more after claims",
                raw(&head_text, &format!("{} {{}}", claims())),
                R::TokenMalformed,
            ),
            ("huge", c("note", json!("x".repeat(20_000))), R::TokenTooLarge),
        ],
        17,
    );
}

#[test]
fn claims_that_are_missing_wrong_or_of_another_time_are_refused() {
    use ReasonCode as R;
    let no = |name: &str| signed(&header(), &without(claims(), name));
    let backwards = with(with(claims(), "iat", json!(NOW + 4)), "exp", json!(NOW + 1));
    refuses(
        vec![
            ("unknown issuer", c("iss", json!("https://evil.example")), R::TokenIssuerUnknown),
            ("a slash more", c("iss", json!("https://portal.example/")), R::TokenIssuerUnknown),
            ("no issuer", no("iss"), R::IdentityIncomplete),
            ("issuer of other types", c("iss", json!(OPERATOR)), R::TokenIssuerUnknown),
            ("two audiences", c("aud", json!(["stateguard", "other"])), R::TokenAudience),
            ("principal's audience", c("aud", json!("stateguard-principal")), R::TokenAudience),
            ("audience with a slash", c("aud", json!("stateguard/")), R::TokenAudience),
            ("no audience", no("aud"), R::TokenAudience),
            ("no exp", no("exp"), R::IdentityIncomplete),
            ("exp far away", c("exp", json!(NOW + 366 * 86_400)), R::TokenLifetime),
            ("exp overflowing", c("exp", json!(i64::MAX)), R::TokenMalformed),
            ("exp as text", c("exp", json!("tomorrow")), R::TokenMalformed),
            ("exp with a fraction", c("exp", json!(1_767_603_700.5)), R::TokenMalformed),
            ("exp negative", c("exp", json!(-1)), R::TokenMalformed),
            ("exp before iat", signed(&header(), &backwards), R::TokenLifetime),
            ("expired", c("exp", json!(NOW - 5)), R::TokenExpired),
            ("no iat", no("iat"), R::IdentityIncomplete),
            ("issued in the future", c("iat", json!(NOW + 6)), R::TokenNotYetValid),
            ("not before in the future", c("nbf", json!(NOW + 6)), R::TokenNotYetValid),
            ("signed in in the future", c("auth_time", json!(NOW + 6)), R::TokenNotYetValid),
            ("another tenant", c("tenant", json!("other")), R::TenantMismatch),
            ("no tenant", no("tenant"), R::IdentityIncomplete),
            ("no sub", no("sub"), R::IdentityIncomplete),
            ("empty sub", c("sub", json!("")), R::IdentityIncomplete),
            ("sub with a line break", c("sub", json!("p_1\nadmin")), R::TokenMalformed),
            ("no jti", no("jti"), R::IdentityIncomplete),
            ("kind unknown", c("kind", json!("admin")), R::TokenMalformed),
            ("roles as text", c("roles", json!("customer admin")), R::TokenMalformed),
        ],
        28,
    );
}

#[test]
fn the_edges_of_time_hold_to_the_second() {
    let at =
        |name: &str, value: i64| outcome(&signed(&header(), &with(claims(), name, json!(value))));
    assert!(at("exp", NOW - 4).is_ok());
    assert_eq!(at("exp", NOW - 5).map(|p| p.sub), Err(ReasonCode::TokenExpired));
    assert!(at("iat", NOW + 5).is_ok() && at("nbf", NOW + 5).is_ok());
    let day = claims()["iat"].as_i64().unwrap() + 86_400;
    assert!(at("exp", day).is_ok());
    assert_eq!(at("exp", day + 1).map(|p| p.sub), Err(ReasonCode::TokenLifetime));
}

#[test]
fn a_list_of_the_one_audience_is_the_audience() {
    assert!(outcome(&signed(&header(), &with(claims(), "aud", json!(["stateguard"])))).is_ok());
}

fn minted(kind: TokenKind, seed: u8, issuer: &str, claims: Value) -> String {
    let Value::Object(claims) = claims else { panic!("not an object") };
    let draft = Draft { kind, issuer, now: now(), life: Duration::from_secs(300), claims };
    key(seed).mint(&draft, &Seed(8))
}

#[test]
fn minted_tokens_of_every_kind_are_accepted_as_their_kind_only() {
    let v = verifier();
    let workload = minted(
        TokenKind::Workload,
        2,
        OPERATOR,
        json!({"sub": "svc", "tenant": "acme",
        "agent": "desk", "agent_instance": "ai_1", "rights": ["session:run"]}),
    );
    let principal = minted(
        TokenKind::Principal,
        1,
        PORTAL,
        json!({"sub": "p_1", "tenant": "acme",
        "auth_time": NOW - 1, "amr": ["otp"], "azp": "portal", "digest": "sha256:00"}),
    );
    let scope = minted(
        TokenKind::Scope,
        1,
        PORTAL,
        json!({"sub": "p_1", "tenant": "acme", "source": "principal",
        "acts": ["lend_book"], "targets": {"Book": ["B-1", "B-2"]}, "limits": {"writes": 2}}),
    );
    let person = minted(
        TokenKind::Person,
        2,
        OPERATOR,
        json!({"sub": "u_1", "tenant": "acme",
        "roles": ["auditor"], "auth_time": NOW, "amr": ["hwk"]}),
    );

    assert_eq!(v.workload(&workload, now()).unwrap().agent_instance, "ai_1");
    assert_eq!(v.principal_call(&principal, now()).unwrap().digest.as_deref(), Some("sha256:00"));
    let grant = v.scope_grant(&scope, now()).unwrap();
    assert_eq!((grant.targets["Book"].len(), grant.limits["writes"], grant.tools), (2, 2, None));
    assert!(v.person(&person, now()).unwrap().roles.contains("auditor"));

    assert!(matches!(v.caller(&workload, now()), Ok(Caller::Workload(_))));
    assert!(matches!(v.caller(&principal, now()), Ok(Caller::Principal(_))));
    assert!(matches!(v.caller(&person, now()), Ok(Caller::Person(_))));
    assert_eq!(v.caller(&scope, now()), Err(IdentityError::UnknownType));
    assert_eq!(v.principal_call(&workload, now()).unwrap_err().code(), ReasonCode::TokenType);
    assert_eq!(v.workload(&principal, now()).unwrap_err().code(), ReasonCode::TokenType);
    assert_eq!(v.scope_grant(&principal, now()).unwrap_err().code(), ReasonCode::TokenType);
}

#[test]
fn an_operator_key_cannot_make_a_principal_call() {
    let forged = minted(
        TokenKind::Principal,
        2,
        OPERATOR,
        json!({"sub": "p_1", "tenant": "acme",
        "auth_time": NOW, "amr": [], "azp": "portal"}),
    );
    let refused = verifier().principal_call(&forged, now()).unwrap_err();
    assert_eq!(refused, IdentityError::TypeNotAllowed("sg-principal"));
}

#[test]
fn a_scope_lives_ten_minutes_and_holds_no_negative_limit() {
    let scope = |life: u64, limit: i64| {
        let Value::Object(claims) = json!({"sub": "p_1", "tenant": "acme", "source": "principal",
            "limits": {"writes": limit}})
        else {
            panic!()
        };
        let draft = Draft {
            kind: TokenKind::Scope,
            issuer: PORTAL,
            now: now(),
            life: Duration::from_secs(life),
            claims,
        };
        let token = key(1).mint(&draft, &Seed(8));
        verifier().scope_grant(&token, now()).map(|_| ()).map_err(IdentityError::code)
    };
    assert_eq!(scope(600, 1), Ok(()));
    assert_eq!(scope(601, 1), Err(ReasonCode::TokenLifetime));
    assert_eq!(scope(600, -1), Err(ReasonCode::TokenMalformed));
}

#[test]
fn a_principal_call_without_its_client_is_incomplete() {
    let token = minted(
        TokenKind::Principal,
        1,
        PORTAL,
        json!({"sub": "p_1", "tenant": "acme", "auth_time": NOW}),
    );
    assert_eq!(verifier().principal_call(&token, now()), Err(IdentityError::Incomplete("azp")));
}

#[test]
fn es256_is_verified_with_the_key_of_the_set() {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random)
        .unwrap();
    let point = pair.public_key().as_ref();
    let jwks = json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "e1", "alg": "ES256",
        "x": URL_SAFE_NO_PAD.encode(&point[1..33]), "y": URL_SAFE_NO_PAD.encode(&point[33..])}]});
    let verifier = Verifier::new(
        vec![Issuer {
            keys: JwkSet::parse(jwks.to_string().as_bytes()).unwrap(),
            algorithms: BTreeSet::from([Algorithm::Es256]),
            ..issuer(PORTAL, 1, &[TokenKind::Session])
        }],
        Duration::from_secs(5),
    )
    .unwrap();
    let token = |alg: &str| {
        let header = json!({"alg": alg, "typ": "sg-session+jwt", "kid": "e1"});
        let signed = format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(header.to_string()),
            URL_SAFE_NO_PAD.encode(claims().to_string())
        );
        let signature = pair.sign(&random, signed.as_bytes()).unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    };
    assert_eq!(verifier.session_principal(&token("ES256"), now()).unwrap().sub, "p_1");
    let swapped = verifier.session_principal(&token("EdDSA"), now()).unwrap_err();
    assert_eq!(swapped, IdentityError::WrongAlgorithm);
}

#[test]
fn issuers_that_share_a_key_or_a_name_do_not_load() {
    let skew = Duration::from_secs(5);
    let portal = || issuer(PORTAL, 1, &[TokenKind::Session]);
    let shared = issuer(OPERATOR, 1, &[TokenKind::Workload]);
    assert!(matches!(
        Verifier::new(vec![portal(), shared], skew),
        Err(VerifierError::SharedKey(..))
    ));
    assert!(matches!(
        Verifier::new(vec![portal(), portal()], skew),
        Err(VerifierError::RepeatedIssuer(_))
    ));
    let unusable = Issuer { algorithms: BTreeSet::from([Algorithm::Es256]), ..portal() };
    assert!(matches!(Verifier::new(vec![unusable], skew), Err(VerifierError::UnusableKey(..))));
    let lax = Verifier::new(vec![portal()], Duration::from_secs(61));
    assert!(matches!(lax, Err(VerifierError::SkewTooLarge)));
}

#[test]
fn a_dev_key_reads_back_and_shows_nothing() {
    let key = key(1);
    let again = DevKey::parse(&key.private_jwk()).unwrap();
    assert_eq!(again.sign(&header(), &claims()), key.sign(&header(), &claims()));
    let secret = key.private_jwk();
    let d = secret.split("\"d\":\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(!format!("{key:?}").contains(d) && !key.public_jwks().contains(d));
    assert!(DevKey::parse(&key.public_jwks()).is_err());
}

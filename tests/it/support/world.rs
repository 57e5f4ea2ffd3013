//! The daemon's verbs over a real store and the demo's shop on real sockets, in one process.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use secrecy::SecretString;
use serde_json::{Value, json};
use sqlx::{Connection, Row, SqliteConnection};
use stateguard::{
    app::{
        App, Caller, Parts, Refused,
        answer::ActionAnswer,
        data::Ingest,
        intent::{Confirmation, Submission, WaitFor},
        session::Opening,
    },
    bundle::Bundle,
    demo::shop::{Shop, ShopOptions},
    domain::{
        clock::{Clock, Entropy, Timestamp},
        contract_terms::PartKind,
        datum::{Datum, StatementPart},
        ids::TenantId,
        intent::{Citation, CitedPlace, Intent},
        pointer::Pointer,
        session_record::Session,
    },
    gateway::{Endpoint, Gateway, HttpExecutor, RetryPolicy},
    identity::{
        Algorithm, Issuer, JwkSet, TokenKind, Verifier,
        dev::{DevKey, Draft},
    },
    seal::{KeyFile, Sealer},
    store::Store,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{seam::SeededEntropy, stores::Home};

/// A clock that runs from a fixed start and can be pushed on.
#[derive(Debug)]
pub(crate) struct RunningClock {
    began: Instant,
    offset: AtomicI64,
}

impl RunningClock {
    pub(crate) fn new() -> Arc<Self> {
        let offset = AtomicI64::new(super::seam::start().micros());
        Arc::new(Self { began: Instant::now(), offset })
    }

    /// The time of this machine, for tests with processes of their own.
    #[allow(clippy::disallowed_methods, reason = "what another process calls the present")]
    pub(crate) fn real() -> Arc<Self> {
        let offset = AtomicI64::new(chrono::Utc::now().timestamp_micros());
        Arc::new(Self { began: Instant::now(), offset })
    }
}

impl RunningClock {
    /// Moves the clock on.
    pub(crate) fn push(&self, by: Duration) {
        self.offset.fetch_add(i64::try_from(by.as_micros()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for RunningClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.offset.load(Ordering::SeqCst)).plus(self.began.elapsed())
    }
}

pub(crate) const OPERATOR: &str = "https://operator.example";
pub(crate) const PORTAL: &str = "https://portal.example";
pub(crate) const MAILROOM: &str = "https://mailroom.example";
pub(crate) const PEOPLE: &str = "https://people.example";

/// Issuers with keys of their own.
#[derive(Debug)]
pub(crate) struct Keys {
    keys: BTreeMap<&'static str, DevKey>,
    entropy: Arc<SeededEntropy>,
}

impl Keys {
    fn new() -> Self {
        let entropy = SeededEntropy::new(77);
        let keys = [OPERATOR, PORTAL, MAILROOM, PEOPLE]
            .into_iter()
            .map(|issuer| (issuer, DevKey::generate("k1", entropy.as_ref())))
            .collect();
        Self { keys, entropy }
    }

    fn verifier(&self) -> Verifier {
        let kinds = |issuer: &str| -> BTreeSet<TokenKind> {
            match issuer {
                OPERATOR => [TokenKind::Workload].into(),
                PEOPLE => [TokenKind::Person].into(),
                _ => [TokenKind::Session, TokenKind::Principal, TokenKind::Scope].into(),
            }
        };
        let issuers = self.keys.iter().map(|(issuer, key)| Issuer {
            issuer: (*issuer).to_owned(),
            tenant: TenantId::parse("acme").unwrap(),
            keys: JwkSet::parse(key.public_jwks().as_bytes()).unwrap(),
            algorithms: [Algorithm::EdDsa].into(),
            kinds: kinds(issuer),
        });
        Verifier::new(issuers.collect(), Duration::from_secs(5)).unwrap()
    }

    pub(crate) fn mint(
        &self,
        issuer: &'static str,
        kind: TokenKind,
        now: Timestamp,
        claims: Value,
    ) -> String {
        let Value::Object(claims) = claims else { panic!("claims are an object") };
        let draft = Draft { kind, issuer, now, life: Duration::from_secs(300), claims };
        self.keys[issuer].mint(&draft, self.entropy.as_ref())
    }
}

/// Everything of one test.
pub(crate) struct World {
    pub(crate) app: App,
    pub(crate) clock: Arc<RunningClock>,
    pub(crate) keys: Keys,
    pub(crate) home: Home,
    pub(crate) bundle: Arc<Bundle>,
    shop: String,
    shop_db: String,
    faults: String,
    gateway: Arc<Gateway>,
    sealer: Arc<Sealer>,
    verifier: Arc<Verifier>,
    stop: CancellationToken,
    folder: TempDir,
}

const API_KEY: &str = "shop-secret-of-the-test";

impl World {
    pub(crate) async fn new(home: Home) -> Self {
        Self::at(home, RunningClock::new()).await
    }

    pub(crate) async fn at(home: Home, clock: Arc<RunningClock>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let shop = Shop::bind(ShopOptions {
            db: folder.path().join("shop.db"),
            listen: "127.0.0.1:0".parse().unwrap(),
            faults_listen: "127.0.0.1:0".parse().unwrap(),
            api_key: API_KEY.to_owned(),
            mails: vec![root.join("examples/refund-desk/mail")],
        })
        .await
        .unwrap();
        let ports = shop.ports().clone();
        let stop = CancellationToken::new();
        tokio::spawn(shop.serve(stop.clone()));
        let keys = Keys::new();
        let headers = vec![("X-Api-Key".to_owned(), SecretString::from(API_KEY))];
        let endpoint = Endpoint::new(&format!("http://{}/", ports.shop), headers).unwrap();
        let executor = Arc::new(HttpExecutor::new(clock.clone()).unwrap());
        let gateway = Arc::new(Gateway::new(
            BTreeMap::from([("shop".to_owned(), endpoint)]),
            executor,
            clock.clone(),
        ));
        let bundle = Arc::new(Bundle::load(&root.join("policies/refund-desk")).unwrap());
        let seed = SeededEntropy::new(5);
        let key_file = KeyFile::generate(seed.as_ref());
        std::fs::write(folder.path().join("seal.key"), key_file.render().as_bytes()).unwrap();
        let sealer = Arc::new(Sealer::new(key_file).unwrap());
        let verifier = Arc::new(keys.verifier());
        let mut world = Self {
            app: build(home.store(), &bundle, &gateway, &sealer, &verifier, &clock, 11),
            clock,
            keys,
            home,
            bundle,
            shop: format!("http://{}/", ports.shop),
            shop_db: ports.db.display().to_string(),
            faults: format!("http://{}/faults", ports.faults),
            gateway,
            sealer,
            verifier,
            stop,
            folder,
        };
        world.app = world.daemon(11).await;
        world
    }

    /// A configuration with which the binary is a daemon of this world.
    pub(crate) fn configuration(&self) -> std::path::PathBuf {
        let folder = self.folder.path();
        let issuers: Vec<Value> = self
            .keys
            .keys
            .iter()
            .enumerate()
            .map(|(n, (issuer, key))| {
                let jwks = folder.join(format!("{n}.jwks"));
                std::fs::write(&jwks, key.public_jwks()).unwrap();
                let types = match *issuer {
                    OPERATOR => json!(["sg-workload"]),
                    PEOPLE => json!(["sg-person"]),
                    _ => json!(["sg-session", "sg-principal", "sg-scope"]),
                };
                json!({"issuer": issuer, "tenant": "acme", "jwks_file": jwks, "algorithms": ["EdDSA"], "types": types})
            })
            .collect();
        std::fs::write(folder.join("shop.key"), API_KEY).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        // JSON is YAML.
        let document = json!({
            "mode": "production",
            "grpc": {"listen": "127.0.0.1:0"},
            "http": {"listen": "127.0.0.1:0"},
            "store": {"url": self.home.url()},
            "bundle": {"path": root.join("policies/refund-desk")},
            "identity": {"issuers": issuers},
            "seal": {"key": {"file": folder.join("seal.key")}},
            "tools": {"endpoints": {"shop": {"base_url": self.shop, "headers": {"X-Api-Key": {"file": folder.join("shop.key")}}}}},
            "log": {"level": "warn", "format": "json"},
        });
        let path = folder.join("stateguard.yaml");
        std::fs::write(&path, document.to_string()).unwrap();
        path
    }

    /// A token of the agent's workload.
    pub(crate) fn agent_token(&self) -> String {
        let claims = json!({"sub": "svc-desk", "tenant": "acme", "agent": "desk-agent",
            "agent_instance": "ai_1", "rights": ["session:run"]});
        self.keys.mint(OPERATOR, TokenKind::Workload, self.clock.now(), claims)
    }

    /// Another daemon over the same database.
    pub(crate) async fn daemon(&self, seed: u64) -> App {
        let store = self.home.another().await;
        build(store, &self.bundle, &self.gateway, &self.sealer, &self.verifier, &self.clock, seed)
    }

    pub(crate) fn sealer(&self) -> Arc<Sealer> {
        Arc::clone(&self.sealer)
    }

    pub(crate) fn caller(&self, token: &str) -> Caller {
        self.app.authenticate(Some(token)).unwrap()
    }

    pub(crate) fn agent_named(&self, workload: &str) -> Caller {
        let claims = json!({"sub": workload, "tenant": "acme", "agent": "desk-agent",
            "agent_instance": "ai_1", "rights": ["session:run"]});
        self.caller(&self.keys.mint(OPERATOR, TokenKind::Workload, self.clock.now(), claims))
    }

    pub(crate) fn agent(&self) -> Caller {
        self.agent_named("svc-desk")
    }

    pub(crate) fn person(&self, sub: &str, roles: &[&str]) -> Caller {
        self.caller(&self.person_token(sub, roles))
    }

    pub(crate) fn person_token(&self, sub: &str, roles: &[&str]) -> String {
        let now = self.clock.now();
        let claims = json!({"sub": sub, "tenant": "acme", "roles": roles,
            "auth_time": now.seconds(), "amr": ["hwk"]});
        self.keys.mint(PEOPLE, TokenKind::Person, now, claims)
    }

    /// The customer himself, through the portal; with the digest of what he confirms.
    pub(crate) fn customer(&self, customer: &str, digest: Option<&str>) -> Caller {
        self.caller(&self.customer_token(customer, digest))
    }

    pub(crate) fn customer_token(&self, customer: &str, digest: Option<&str>) -> String {
        let now = self.clock.now();
        let mut claims = json!({"sub": format!("p_{customer}"), "tenant": "acme",
            "auth_time": now.seconds(), "amr": ["pwd"], "azp": "portal"});
        if let Some(digest) = digest {
            claims["digest"] = Value::from(digest);
        }
        self.keys.mint(PORTAL, TokenKind::Principal, now, claims)
    }

    pub(crate) fn session_token(&self, customer: &str) -> String {
        let now = self.clock.now();
        let claims = json!({"sub": format!("p_{customer}"), "kind": "person", "tenant": "acme",
            "roles": ["customer"], "channel": "portal", "auth_time": now.seconds(), "amr": ["pwd"],
            "consents": [], "customer_id": customer});
        self.keys.mint(PORTAL, TokenKind::Session, now, claims)
    }

    pub(crate) fn scope_token(&self, customer: &str, orders: &[&str]) -> String {
        let claims = json!({"sub": format!("p_{customer}"), "tenant": "acme", "source": "principal",
            "acts": ["request_refund"], "targets": {"Order": orders}});
        self.keys.mint(PORTAL, TokenKind::Scope, self.clock.now(), claims)
    }

    pub(crate) async fn open(&self, customer: &str, scope: &[&str]) -> Session {
        let scope_token =
            if scope.is_empty() { String::new() } else { self.scope_token(customer, scope) };
        self.open_with(self.session_token(customer), scope_token).await.unwrap()
    }

    pub(crate) async fn open_with(
        &self,
        principal_token: String,
        scope_token: String,
    ) -> Result<Session, Refused> {
        let opening = Opening {
            workflow: "refund".to_owned(),
            purpose: "refund_request".to_owned(),
            principal_token,
            scope_token,
            narrower: None,
        };
        self.app.open_session(&self.agent(), opening).await
    }

    pub(crate) async fn say(&self, session: &Session, customer: &str, words: &str) -> Datum {
        let parts = vec![StatementPart { kind: PartKind::Typed, text: words.to_owned() }];
        self.app.state(&self.customer(customer, None), &name(session), parts).await.unwrap()
    }

    pub(crate) async fn ingest(&self, session: &Session, text: &str) -> Datum {
        let ingest = Ingest {
            session: name(session),
            kind: "mail".to_owned(),
            media_type: "text/plain".to_owned(),
            content: text.as_bytes().to_vec(),
        };
        self.app.ingest(&self.agent(), ingest).await.unwrap()
    }

    pub(crate) async fn submit(
        &self,
        session: &Session,
        intent: Intent,
    ) -> Result<ActionAnswer, Refused> {
        self.app.submit(&self.agent(), submission(session, intent)).await
    }

    pub(crate) async fn read_order(&self, session: &Session, order: &str) -> ActionAnswer {
        self.submit(session, intent("get_order", json!({"order_id": order}))).await.unwrap()
    }

    /// Reads the order and asks for its refund, citing the record.
    pub(crate) async fn refund(
        &self,
        session: &Session,
        order: &str,
    ) -> Result<ActionAnswer, Refused> {
        let intent = self.refund_intent(session, order).await;
        self.submit(session, intent).await
    }

    pub(crate) async fn refund_intent(&self, session: &Session, order: &str) -> Intent {
        let read = self.read_order(session, order).await;
        let datum = read.action.outcome.unwrap().result.unwrap();
        let mut intent = intent(
            "create_refund_request",
            json!({"order_id": order, "reason_code": "service_failure", "evidence_refs": [datum.as_str()]}),
        );
        intent.citations.push(cite("/order_id", datum.as_str(), "/order_id"));
        intent
    }

    pub(crate) async fn confirm(
        &self,
        customer: &str,
        answer: &ActionAnswer,
    ) -> Result<ActionAnswer, Refused> {
        let digest = answer.question.as_ref().unwrap().digest.to_string();
        let confirmation = Confirmation {
            action: format!("sessions/{}/actions/{}", answer.action.session, answer.action.id),
            digest: digest.clone(),
            confirm: true,
        };
        self.app.confirm(&self.customer(customer, Some(&digest)), confirmation).await
    }

    /// Makes the shop misbehave.
    pub(crate) async fn fault(&self, fault: Value) {
        // A second test of the process finds it installed; that is no failure.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let body = fault.to_string();
        let answer = client
            .put(&self.faults)
            .header("content-type", "application/json")
            .body(body)
            .send()
            .await
            .unwrap();
        assert!(answer.status().is_success(), "{fault}");
    }

    /// One number from the shop's own database.
    pub(crate) async fn shop_count(&self, sql: &'static str) -> i64 {
        let mut shop =
            SqliteConnection::connect(&format!("sqlite:{}", self.shop_db)).await.unwrap();
        sqlx::query(sql).fetch_one(&mut shop).await.unwrap().get(0)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn build(
    store: Arc<dyn Store>,
    bundle: &Arc<Bundle>,
    gateway: &Arc<Gateway>,
    sealer: &Arc<Sealer>,
    verifier: &Arc<Verifier>,
    clock: &Arc<RunningClock>,
    seed: u64,
) -> App {
    let entropy: Arc<dyn Entropy> = SeededEntropy::new(seed);
    App::new(Parts {
        store,
        bundle: Arc::clone(bundle),
        gateway: Arc::clone(gateway),
        sealer: Arc::clone(sealer),
        verifier: Arc::clone(verifier),
        clock: clock.clone(),
        entropy,
        retry: RetryPolicy::default(),
    })
}

pub(crate) fn name(session: &Session) -> String {
    format!("sessions/{}", session.id)
}

pub(crate) fn intent(tool: &str, arguments: Value) -> Intent {
    Intent {
        purpose: "refund_request".to_owned(),
        tool: tool.to_owned(),
        arguments_json: arguments.to_string(),
        citations: Vec::new(),
        evidence: Vec::new(),
        reason: "because the mail says so".to_owned(),
        expects_json: String::new(),
    }
}

pub(crate) fn cite(argument: &str, datum: &str, pointer: &str) -> Citation {
    Citation {
        argument: Pointer::parse(argument).unwrap(),
        datum: datum.to_owned(),
        place: CitedPlace::Pointer(Pointer::parse(pointer).unwrap()),
    }
}

pub(crate) fn submission(session: &Session, intent: Intent) -> Submission {
    Submission {
        session: name(session),
        intent,
        wait: None,
        wait_for: WaitFor::Verified,
        request: None,
        exposes: true,
    }
}

/// The codes of a decision, as the log has them.
pub(crate) fn codes(answer: &ActionAnswer) -> Vec<&'static str> {
    answer.action.decision.code_texts().into_iter().collect()
}

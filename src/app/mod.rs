//! Owns: the order of steps; the only place where I/O and decisions meet; one verb a file.
//! Must not know: SQL, protobuf, HTTP, config format.
//! Start reading at: `intent/submit.rs`.

mod access;
pub mod answer;
pub mod approval;
pub mod audit;
pub mod data;
pub mod intent;
mod journal;
mod refused;
pub mod session;
mod vault;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio_util::task::TaskTracker;

use self::session::page_limit as session_page;
pub use self::{
    access::Caller,
    refused::{Refused, RefusedKind},
};
use crate::{
    bundle::Bundle,
    domain::{
        canonical::Digest,
        clock::{Clock, Entropy, Timestamp},
        ids::{IdSource, SessionId, TenantId},
    },
    gateway::{Gateway, RetryPolicy},
    identity::Verifier,
    seal::Sealer,
    store::Store,
};

/// What an [`App`] is made of.
#[derive(Debug)]
pub struct Parts {
    /// Where everything is remembered.
    pub store: Arc<dyn Store>,
    /// The bundle that new sessions run under.
    pub bundle: Arc<Bundle>,
    /// The way to the tools.
    pub gateway: Arc<Gateway>,
    /// The tenants' keys.
    pub sealer: Arc<Sealer>,
    /// Who may issue tokens.
    pub verifier: Arc<Verifier>,
    /// The present.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// How often and how long a call is repeated.
    pub retry: RetryPolicy,
}

/// The daemon's verbs, behind the API.
#[derive(Debug, Clone)]
pub struct App {
    inner: Arc<Inner>,
}

/// Where those wait who lost a race for a session.
type Queue = Arc<tokio::sync::Mutex<()>>;

#[derive(Debug)]
struct Inner {
    parts: Parts,
    ids: IdSource,
    roads: TaskTracker,
    bundles: Mutex<HashMap<Digest, Arc<Bundle>>>,
    queues: Mutex<HashMap<(TenantId, SessionId), Queue>>,
}

impl App {
    /// Puts the parts together.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let ids = IdSource::new(Arc::clone(&parts.clock), Arc::clone(&parts.entropy));
        let bundles = HashMap::from([(parts.bundle.digest.clone(), Arc::clone(&parts.bundle))]);
        let inner = Inner {
            parts,
            ids,
            roads: TaskTracker::new(),
            bundles: Mutex::new(bundles),
            queues: Mutex::new(HashMap::new()),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Waits until every road that was begun has come to its end, or `patience` has passed; says
    /// how many are left.
    pub async fn finish_roads(&self, patience: Duration) -> usize {
        self.inner.roads.close();
        let _ = tokio::time::timeout(patience, self.inner.roads.wait()).await;
        self.inner.roads.len()
    }

    fn parts(&self) -> &Parts {
        &self.inner.parts
    }

    fn store(&self) -> &dyn Store {
        self.inner.parts.store.as_ref()
    }

    fn ids(&self) -> &IdSource {
        &self.inner.ids
    }

    fn now(&self) -> Timestamp {
        self.inner.parts.clock.now()
    }

    /// A random number, for jitter.
    fn random(&self) -> u64 {
        let mut bytes = [0; 8];
        self.inner.parts.entropy.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// The bundle of this digest: cached, or compiled again from the sources that were kept.
    async fn bundle(&self, digest: &str) -> Result<Arc<Bundle>, Refused> {
        let digest = Digest::parse(digest)
            .ok_or_else(|| Refused::corrupt("sessions", digest, "not a digest of a bundle"))?;
        let cached = self.inner.bundles.lock().ok().and_then(|held| held.get(&digest).cloned());
        if let Some(bundle) = cached {
            return Ok(bundle);
        }
        let row = self.store().bundle(&digest).await?.ok_or_else(|| {
            Refused::corrupt("bundles", digest.as_str(), "a session runs under it and it is gone")
        })?;
        let bundle = crate::bundle::from_kept(&row.sources)
            .map_err(|error| Refused::corrupt("bundles", digest.as_str(), &error.to_string()))?;
        let bundle = Arc::new(bundle);
        if let Ok(mut held) = self.inner.bundles.lock() {
            held.insert(digest, Arc::clone(&bundle));
        }
        Ok(bundle)
    }

    /// The queue of a session in this daemon: whoever lost a race for the session waits here
    /// instead of fighting over the row.
    fn queue(&self, tenant: &TenantId, session: &SessionId) -> Queue {
        let Ok(mut queues) = self.inner.queues.lock() else {
            return Arc::new(tokio::sync::Mutex::new(()));
        };
        queues.retain(|_, queue| Arc::strong_count(queue) > 1);
        Arc::clone(queues.entry((tenant.clone(), session.clone())).or_default())
    }
}

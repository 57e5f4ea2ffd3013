//! `audit verify`: from entries and stored inputs only, also on a copy of the database with the
//! daemon down. Every entry is checked, every session's record counted, every decision made again.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    app::vault::purpose,
    bundle::{self, Bundle},
    decision_log::check::{self, Fault, Finding},
    domain::{
        canonical::Digest,
        entry::EntryKind,
        ids::{ActionId, InputsRef, SessionId, TenantId},
        session_record::Session,
        unit::{EntryRow, SessionRow},
    },
    hook::pre::{self, Inputs},
    seal::{Place, Sealer},
    store::{EntryQuery, Store, StoreError},
};

/// What was checked and what is wrong.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Entries checked.
    pub entries: u64,
    /// Sessions whose record was counted.
    pub sessions: u64,
    /// Decisions made again.
    pub decisions: u64,
    /// What is wrong, in the order it was found.
    pub findings: Vec<Finding>,
}

/// Checks a store.
#[derive(Debug)]
pub struct Auditor {
    store: Arc<dyn Store>,
    sealer: Arc<Sealer>,
    bundles: HashMap<String, Option<Arc<Bundle>>>,
}

/// Rows read at a time.
const PAGE: i64 = 200;

/// Where a session's entries led.
#[derive(Debug, Default)]
struct Trail {
    seen: Vec<i64>,
    /// State by place; the last one counts, whatever order the entries came in.
    states: BTreeMap<i64, String>,
    actions: BTreeMap<ActionId, BTreeMap<i64, String>>,
}

impl Auditor {
    /// Over a store and the keys of its tenants.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, sealer: Arc<Sealer>) -> Self {
        Self { store, sealer, bundles: HashMap::new() }
    }

    /// Checks every tenant. `progress` is told how many entries were checked so far.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn verify(&mut self, progress: impl Fn(u64)) -> Result<Report, StoreError> {
        let mut report = Report::default();
        for tenant in self.store.tenants().await? {
            self.verify_tenant(&tenant, &mut report, &progress).await?;
        }
        Ok(report)
    }

    async fn verify_tenant(
        &mut self,
        tenant: &TenantId,
        report: &mut Report,
        progress: &impl Fn(u64),
    ) -> Result<(), StoreError> {
        let mut trails: BTreeMap<SessionId, Trail> = BTreeMap::new();
        let mut query = EntryQuery { limit: PAGE, ..EntryQuery::default() };
        loop {
            let rows = self.store.entries(tenant, &query).await?;
            let Some(last) = rows.last() else { break };
            query.after = Some((last.occurred_at, last.entry.clone()));
            for row in &rows {
                self.verify_entry(tenant, row, &mut trails, report).await?;
            }
            report.entries += u64::try_from(rows.len()).unwrap_or(0);
            progress(report.entries);
        }
        self.verify_sessions(tenant, &mut trails, report).await
    }

    async fn verify_entry(
        &mut self,
        tenant: &TenantId,
        row: &EntryRow,
        trails: &mut BTreeMap<SessionId, Trail>,
        report: &mut Report,
    ) -> Result<(), StoreError> {
        let sealer = Arc::clone(&self.sealer);
        let is_mac =
            |mac: &str, bytes: &[u8]| sealer.is_commitment(mac, tenant, purpose::ENTRY, bytes);
        if let (Some(session), Some(place)) = (&row.session, row.session_seq) {
            trails.entry(session.clone()).or_default().seen.push(place);
        }
        let document = match check::check_entry(tenant, row, is_mac) {
            Ok(document) => document,
            Err(finding) => {
                report.findings.push(*finding);
                return Ok(());
            }
        };
        if let (Some(session), Some(place)) = (&row.session, row.session_seq) {
            let trail = trails.entry(session.clone()).or_default();
            let opened_in = document.get("state").and_then(Value::as_str);
            if let Some(state) = check::led_to(&document, "session").or(opened_in) {
                trail.states.insert(place, state.to_owned());
            }
            if let (Some(action), Some(state)) = (&row.action, check::led_to(&document, "action")) {
                trail.actions.entry(action.clone()).or_default().insert(place, state.to_owned());
            }
        }
        let is_decision = row.kind == EntryKind::Decision.as_str();
        if is_decision && document.get("replayed").is_none() {
            report.decisions += 1;
            if let Err(finding) = self.decide_again(tenant, row, &document).await? {
                report.findings.push(*finding);
            }
        }
        Ok(())
    }

    /// Makes a decision again from its stored inputs and compares it with its entry.
    async fn decide_again(
        &mut self,
        tenant: &TenantId,
        row: &EntryRow,
        document: &Value,
    ) -> Result<Result<(), Box<Finding>>, StoreError> {
        let finding = |fault, detail: String| {
            Err(Box::new(Finding {
                fault,
                tenant: tenant.clone(),
                entry: Some(row.entry.clone()),
                session: row.session.clone(),
                action: row.action.clone(),
                detail,
            }))
        };
        let named = document.get("inputs_ref").and_then(Value::as_str);
        let Some(inputs_ref) = named.and_then(|name| InputsRef::parse(name).ok()) else {
            return Ok(finding(Fault::InputsMissing, "the entry names no inputs".to_owned()));
        };
        let Some(sealed) = self.store.inputs(tenant, &inputs_ref).await? else {
            return Ok(finding(Fault::InputsMissing, format!("`{inputs_ref}` is gone")));
        };
        let place = Place { tenant, table: "decision_inputs", row: inputs_ref.as_str() };
        let opened = self.sealer.open(place, &sealed).ok();
        let Some(inputs) = opened.and_then(|plain| serde_json::from_slice::<Inputs>(&plain).ok())
        else {
            return Ok(finding(Fault::InputsMissing, format!("`{inputs_ref}` cannot be opened")));
        };
        let digest = document.pointer("/bundle/digest").and_then(Value::as_str).unwrap_or_default();
        let Some(bundle) = self.bundle(digest).await? else {
            return Ok(finding(
                Fault::InputsMissing,
                format!("bundle `{digest}` is gone or does not load"),
            ));
        };
        let again = pre::assess(&bundle, &inputs).decision;
        let codes: Vec<&str> = again.code_texts().into_iter().collect();
        let needs: Vec<&str> = again.needs.iter().map(|need| need.as_str()).collect();
        let said = |name: &str| -> Vec<&str> {
            let items = document.get(name).and_then(Value::as_array);
            items.into_iter().flatten().filter_map(Value::as_str).collect()
        };
        let same = document.get("decision").and_then(Value::as_str) == Some(again.verdict.as_str())
            && said("reasons") == codes
            && said("needs") == needs
            && document.pointer("/matrix/row").and_then(Value::as_str) == Some(&again.matrix_row)
            && document.pointer("/matrix/column").and_then(Value::as_str)
                == Some(&again.matrix_column);
        if same {
            return Ok(Ok(()));
        }
        let detail = format!("made again it is `{}` for {codes:?}", again.verdict);
        Ok(finding(Fault::DecisionDiffers, detail))
    }

    async fn bundle(&mut self, digest: &str) -> Result<Option<Arc<Bundle>>, StoreError> {
        if let Some(known) = self.bundles.get(digest) {
            return Ok(known.clone());
        }
        let row = match Digest::parse(digest) {
            Some(digest) => self.store.bundle(&digest).await?,
            None => None,
        };
        let compiled = row
            .and_then(|row| bundle::from_kept(&row.sources).ok())
            .filter(|bundle| bundle.digest.as_str() == digest)
            .map(Arc::new);
        self.bundles.insert(digest.to_owned(), compiled.clone());
        Ok(compiled)
    }

    /// Counts every session's record and compares where things stand with where entries led.
    async fn verify_sessions(
        &self,
        tenant: &TenantId,
        trails: &mut BTreeMap<SessionId, Trail>,
        report: &mut Report,
    ) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let rows = self.store.sessions(tenant, None, after.as_ref(), PAGE).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.session.clone());
            for row in &rows {
                report.sessions += 1;
                let mut trail = trails.remove(&row.session).unwrap_or_default();
                trail.seen.sort_unstable();
                let mut found = |fault, action: Option<ActionId>, detail: String| {
                    report.findings.push(Finding {
                        fault,
                        tenant: tenant.clone(),
                        entry: None,
                        session: Some(row.session.clone()),
                        action,
                        detail,
                    });
                };
                // The sealed body counts: whoever cuts the end off can also lower the column.
                let entry_count = match self.sealed_count(tenant, row) {
                    Ok(entry_count) => entry_count,
                    Err(why) => {
                        found(Fault::RowUnreadable, None, why);
                        row.entry_count
                    }
                };
                if entry_count != row.entry_count {
                    let detail = format!("column `entry_count` is {}", row.entry_count);
                    found(Fault::ColumnDrift, None, detail);
                }
                for place in check::gaps(&trail.seen, entry_count) {
                    found(Fault::EntryMissing, None, format!("place {place} of {entry_count}"));
                }
                let led = trail.states.values().next_back().map_or("nowhere", String::as_str);
                if led != row.state.as_str() {
                    found(
                        Fault::StateDrift,
                        None,
                        format!("stands in {}, entries led to {led}", row.state),
                    );
                }
                for (action, states) in &trail.actions {
                    let Some(state) = states.values().next_back() else { continue };
                    let stands = self.store.action(tenant, action).await?.map(|row| row.state);
                    if stands.map(|state| state.as_str()) != Some(state.as_str()) {
                        let detail = format!("stands in {stands:?}, entries led to {state}");
                        found(Fault::StateDrift, Some(action.clone()), detail);
                    }
                }
            }
        }
        for (session, _) in std::mem::take(trails) {
            report.findings.push(Finding {
                fault: Fault::StateDrift,
                tenant: tenant.clone(),
                entry: None,
                session: Some(session),
                action: None,
                detail: "entries name a session that is gone".to_owned(),
            });
        }
        Ok(())
    }

    /// How many entries the session itself remembers.
    fn sealed_count(&self, tenant: &TenantId, row: &SessionRow) -> Result<i64, String> {
        let place = Place { tenant, table: "sessions", row: row.session.as_str() };
        let plain = self.sealer.open(place, &row.body).map_err(|error| error.to_string())?;
        let session: Session = serde_json::from_slice(&plain).map_err(|error| error.to_string())?;
        Ok(session.entry_count)
    }
}

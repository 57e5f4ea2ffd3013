//! Rows and units with plain values.

use stateguard::{
    domain::{
        action::ActionState,
        canonical::Digest,
        clock::Timestamp,
        contract_terms::Need,
        entry::{EntryHead, EntryKind, draft},
        ids::{ActionId, IdSource, SessionId, TenantId},
        session::SessionState,
        unit::{
            ActionRow, Change, DatumRow, Dispatch, EffectRow, EffectStatus, EntryRow, Guard,
            QuestionRow, QuestionState, SessionRow, Unit,
        },
    },
    store::{Receipt, Refusal, Store, commit_one},
};

use crate::support::seam::{ids, start};

/// Makes rows of one tenant.
pub(crate) struct World {
    pub(crate) tenant: TenantId,
    pub(crate) ids: IdSource,
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(start().micros() + seconds * 1_000_000)
}

impl World {
    pub(crate) fn of(tenant: &str) -> Self {
        let seed = tenant.bytes().fold(7, |seed: u64, b| seed.wrapping_mul(31) + u64::from(b));
        Self { tenant: TenantId::parse(tenant).unwrap(), ids: ids(seed) }
    }

    pub(crate) fn unit(&self, name: &'static str) -> Unit {
        Unit {
            name,
            tenant: self.tenant.clone(),
            at: at(1),
            guards: vec![],
            changes: vec![],
            entries: vec![],
            dispatch: None,
        }
    }

    pub(crate) fn session(&self) -> SessionRow {
        SessionRow {
            session: self.ids.session(),
            version: 1,
            state: SessionState::Analyzing,
            workflow: "lending".into(),
            workload: "hmac-sha256:w1".into(),
            principal: "hmac-sha256:p1".into(),
            entry_count: 0,
            data_count: 0,
            opened_at: at(0),
            expires_at: at(3_600),
            updated_at: at(0),
            body: b"sealed session".to_vec(),
        }
    }

    pub(crate) fn datum(&self, session: &SessionId, is_statement: bool) -> DatumRow {
        DatumRow {
            datum: self.ids.datum(if is_statement { "statement" } else { "mail" }).unwrap(),
            session: session.clone(),
            is_statement,
            created_at: at(1),
            size: 3,
            body: vec![0, 1, 2],
            content: vec![0xff, 0, 0xfe],
        }
    }

    pub(crate) fn action(&self, session: &SessionId) -> ActionRow {
        ActionRow {
            action: self.ids.action(),
            session: session.clone(),
            version: 1,
            state: ActionState::AwaitingApproval,
            tool: "lend_book".into(),
            effect_key: Some("hmac-sha256:k1".into()),
            effect_same: Some("hmac-sha256:s1".into()),
            fingerprint: Some(Digest::of(b"f1")),
            subject: Some("hmac-sha256:c1".into()),
            principal: "hmac-sha256:p1".into(),
            amount_minor: Some(1_000),
            send_before: None,
            proposed_at: at(1),
            updated_at: at(1),
            body: b"sealed action".to_vec(),
        }
    }

    pub(crate) fn claim(&self, key: &str, same: &str) -> EffectRow {
        EffectRow {
            effect: "lend_book".into(),
            key: key.into(),
            generation: 0,
            same: same.into(),
            ordinal: 0,
            fingerprint: Digest::of(b"f1"),
            action: self.ids.action(),
            session: self.ids.session(),
            principal: "hmac-sha256:p1".into(),
            status: EffectStatus::InFlight,
            claimed_at: at(1),
        }
    }

    pub(crate) fn question(&self, action: &ActionId, session: &SessionId) -> QuestionRow {
        QuestionRow {
            question: self.ids.question(),
            action: action.clone(),
            session: session.clone(),
            need: Need::Approval,
            state: QuestionState::Pending,
            digest: Digest::of(b"shown"),
            asked_at: at(1),
            expires_at: at(60),
            body: b"sealed question".to_vec(),
        }
    }

    pub(crate) fn entry(&self, session: &SessionId, seq: i64) -> EntryRow {
        self.entry_with(session, seq, at(seq), serde_json::json!({}))
    }

    pub(crate) fn entry_with(
        &self,
        session: &SessionId,
        seq: i64,
        occurred_at: Timestamp,
        members: serde_json::Value,
    ) -> EntryRow {
        let head = EntryHead {
            entry: self.ids.entry(),
            tenant: self.tenant.clone(),
            kind: EntryKind::Decision,
            session: Some((session.clone(), seq)),
            action: None,
            occurred_at,
        };
        let serde_json::Value::Object(members) = members else { panic!("an object") };
        draft(head, members).unwrap().keyed("hmac-sha256:00".into())
    }

    /// A stored session.
    pub(crate) async fn opened(&self, store: &dyn Store) -> SessionRow {
        let row = self.session();
        let unit =
            Unit { changes: vec![Change::OpenSession(row.clone())], ..self.unit("open_session") };
        commit_one(store, unit).await.unwrap();
        row
    }

    /// Commits a unit of these changes.
    pub(crate) async fn put(
        &self,
        store: &dyn Store,
        changes: Vec<Change>,
    ) -> Result<Receipt, Refusal> {
        commit_one(store, Unit { changes, ..self.unit("put") }).await
    }

    /// The next version of a session, guarded, with one entry.
    pub(crate) fn step(&self, session: &SessionRow) -> Unit {
        let next = SessionRow {
            version: session.version + 1,
            entry_count: session.entry_count + 1,
            updated_at: at(2),
            ..session.clone()
        };
        Unit {
            guards: vec![Guard::ExpectSession {
                session: session.session.clone(),
                version: session.version,
            }],
            entries: vec![self.entry(&session.session, session.entry_count + 1)],
            changes: vec![Change::PutSession(next)],
            ..self.unit("step")
        }
    }

    /// A unit that claims and dispatches.
    pub(crate) fn dispatching(&self, claim: EffectRow) -> Unit {
        let dispatch = Dispatch {
            action: claim.action.clone(),
            provider_key: "pk".into(),
            send_before: at(3),
        };
        Unit {
            guards: vec![Guard::ClaimKey(claim)],
            dispatch: Some(dispatch),
            ..self.unit("dispatch")
        }
    }
}

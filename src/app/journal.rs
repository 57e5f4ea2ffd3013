//! One unit of work in the making: the session it moves, what it writes, what the log says of it.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{App, Refused, vault::purpose};
use crate::{
    domain::{
        action::{ActionState, ActionTransition},
        action_record::Action,
        clock::Timestamp,
        datum::Datum,
        entry::{EntryHead, EntryKind, draft},
        ids::{ActionId, TenantId},
        session::SessionTransition,
        session_record::{OpenAction, Session},
        unit::{Change, Dispatch, EntryRow, Guard, Unit},
    },
    store::{Receipt, Refusal, commit_one},
};

/// A unit of one session.
#[derive(Debug)]
pub(super) struct Journal<'a> {
    app: &'a App,
    name: &'static str,
    pub(super) now: Timestamp,
    /// The session as it will stand.
    pub(super) session: Session,
    guards: Vec<Guard>,
    changes: Vec<Change>,
    entries: Vec<EntryRow>,
    dispatch: Option<Dispatch>,
    is_new: bool,
}

/// What an entry says beside its head.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) action: Option<ActionId>,
    pub(super) action_moves: Vec<ActionTransition>,
    pub(super) session_moves: Vec<SessionTransition>,
    pub(super) members: Map<String, Value>,
}

impl Said {
    /// About an action.
    pub(super) fn about(action: &ActionId, members: Value) -> Self {
        Self { action: Some(action.clone()), ..Self::with(members) }
    }

    /// About the session.
    pub(super) fn with(members: Value) -> Self {
        let members = match members {
            Value::Object(members) => members,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        Self { members, ..Self::default() }
    }

    /// The action moved.
    pub(super) fn action_moved(mut self, moved: ActionTransition) -> Self {
        self.action_moves.push(moved);
        self
    }

    /// The session moved.
    pub(super) fn session_moved(mut self, moved: Vec<SessionTransition>) -> Self {
        self.session_moves.extend(moved);
        self
    }
}

impl<'a> Journal<'a> {
    /// A unit that moves an existing session one version on.
    pub(super) fn of(app: &'a App, name: &'static str, session: &Session) -> Self {
        let mut next = session.clone();
        next.version += 1;
        let guard = Guard::ExpectSession { session: session.id.clone(), version: session.version };
        Self::start(app, name, next, vec![guard], false)
    }

    /// A unit that opens a session.
    pub(super) fn opening(app: &'a App, session: Session) -> Self {
        Self::start(app, "session.open", session, Vec::new(), true)
    }

    fn start(
        app: &'a App,
        name: &'static str,
        session: Session,
        guards: Vec<Guard>,
        is_new: bool,
    ) -> Self {
        Self {
            app,
            name,
            now: app.now(),
            session,
            guards,
            changes: Vec::new(),
            entries: Vec::new(),
            dispatch: None,
            is_new,
        }
    }

    pub(super) fn tenant(&self) -> &TenantId {
        &self.session.tenant
    }

    pub(super) fn guard(&mut self, guard: Guard) {
        self.guards.push(guard);
    }

    pub(super) fn change(&mut self, change: Change) {
        self.changes.push(change);
    }

    pub(super) fn dispatch(&mut self, dispatch: Dispatch) {
        self.dispatch = Some(dispatch);
    }

    /// Writes an action's first version.
    pub(super) fn new_action(&mut self, action: &Action) -> Result<(), Refused> {
        let row = self.app.action_row(&self.session, action)?;
        self.changes.push(Change::InsertAction(row));
        Ok(())
    }

    /// Writes an action's next version; `action.version` is the one that was read.
    pub(super) fn put_action(&mut self, action: &mut Action) -> Result<(), Refused> {
        let guard = Guard::ExpectAction { action: action.id.clone(), version: action.version };
        action.version += 1;
        let row = self.app.action_row(&self.session, action)?;
        self.guards.push(guard);
        self.changes.push(Change::PutAction(row));
        Ok(())
    }

    /// Stores a datum; the session counts it.
    pub(super) fn new_datum(&mut self, datum: &Datum) -> Result<(), Refused> {
        let row = self.app.datum_row(self.tenant(), datum)?;
        self.session.data_count += 1;
        self.changes.push(Change::InsertDatum(row));
        Ok(())
    }

    /// Notes where an action stands and moves the session.
    pub(super) fn note_action(
        &mut self,
        action: &Action,
    ) -> Result<Vec<SessionTransition>, Refused> {
        self.note_looking(action, false)
    }

    /// The same, for an outcome that is being looked for.
    pub(super) fn note_looking(
        &mut self,
        action: &Action,
        looking: bool,
    ) -> Result<Vec<SessionTransition>, Refused> {
        let open = OpenAction {
            tool: action.intent.tool.clone(),
            resource: action.resource(),
            state: action.state,
            looking: action.state == ActionState::OutcomeUnknown && looking,
        };
        self.session.note_action(&action.id, open).map_err(Refused::internal)
    }

    /// Writes an entry; a second arrow of session or action gets an entry of its own.
    pub(super) fn write(&mut self, kind: EntryKind, said: Said) -> Result<(), Refused> {
        let mut session_moves = said.session_moves.iter().map(ToString::to_string);
        let mut action_moves = said.action_moves.iter().map(ToString::to_string);
        let mut arrows = || {
            let mut arrows = Map::new();
            let pairs = [("session", session_moves.next()), ("action", action_moves.next())];
            for (name, moved) in pairs {
                if let Some(moved) = moved {
                    arrows.insert(name.to_owned(), Value::from(moved));
                }
            }
            (!arrows.is_empty()).then_some(arrows)
        };
        let mut members = said.members;
        if let Some(arrows) = arrows() {
            members.insert("transition".to_owned(), Value::Object(arrows));
        }
        let mut further = Vec::new();
        while let Some(arrows) = arrows() {
            further.push(Map::from_iter([("transition".to_owned(), Value::Object(arrows))]));
        }
        self.append(kind, said.action.clone(), members)?;
        for members in further {
            self.append(EntryKind::Transition, said.action.clone(), members)?;
        }
        Ok(())
    }

    fn append(
        &mut self,
        kind: EntryKind,
        action: Option<ActionId>,
        members: Map<String, Value>,
    ) -> Result<(), Refused> {
        self.session.entry_count += 1;
        let head = EntryHead {
            entry: self.app.ids().entry(),
            tenant: self.session.tenant.clone(),
            kind,
            session: Some((self.session.id.clone(), self.session.entry_count)),
            action,
            // Entries of one commit lie a microsecond apart, so that they sort as they were written.
            occurred_at: self.now.plus(Duration::from_micros(self.entries.len() as u64)),
        };
        self.entries.push(self.app.entry_row(head, members)?);
        Ok(())
    }

    /// The finished unit.
    pub(super) fn unit(mut self) -> Result<Unit, Refused> {
        let row = self.app.session_row(&self.session)?;
        let change = if self.is_new { Change::OpenSession(row) } else { Change::PutSession(row) };
        self.changes.insert(0, change);
        Ok(Unit {
            name: self.name,
            tenant: self.session.tenant.clone(),
            at: self.now,
            guards: self.guards,
            changes: self.changes,
            entries: self.entries,
            dispatch: self.dispatch,
        })
    }

    /// Commits the unit; the session as it stands then, and the receipt.
    pub(super) async fn commit(self) -> Result<Result<(Session, Receipt), Refusal>, Refused> {
        let (app, session) = (self.app, self.session.clone());
        let unit = self.unit()?;
        match commit_one(app.store(), unit).await {
            Ok(receipt) => Ok(Ok((session, receipt))),
            Err(Refusal::Store(error)) => Err(error.into()),
            Err(refusal) => Ok(Err(refusal)),
        }
    }
}

impl App {
    /// An entry as a row: canonical bytes, leaf hash, keyed digest.
    pub(super) fn entry_row(
        &self,
        head: EntryHead,
        mut members: Map<String, Value>,
    ) -> Result<EntryRow, Refused> {
        let tenant = head.tenant.clone();
        members.insert("engine".to_owned(), Value::from(ENGINE));
        let drafted = draft(head, members).map_err(Refused::internal)?;
        if drafted.bytes.len() > crate::domain::limits::ENTRY_MAX_BYTES {
            return Err(Refused::internal("an entry exceeds its size limit"));
        }
        let mac = self.keyed(&tenant, purpose::ENTRY, &drafted.bytes);
        Ok(drafted.keyed(mac))
    }
}

/// The program and its version, as entries name it.
const ENGINE: &str = concat!("stateguard/", env!("CARGO_PKG_VERSION"));

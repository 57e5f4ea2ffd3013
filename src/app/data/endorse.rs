//! EndorseValue: asks the daemon to try a contract's endorsement rules on one stored value. It says
//! what a proposal would find; it raises nothing by itself.

use serde_json::json;

use crate::{
    app::{App, Caller, Refused, access, journal::Said},
    bundle::contract::Endorsement,
    domain::{
        entry::EntryKind,
        ids::DatumId,
        label::{Integrity, Label},
        pointer::Pointer,
        reason::ReasonCode,
    },
    identity::rights::Rpc,
    provenance::cite,
};

/// Which value, for which argument.
#[derive(Debug, Clone)]
pub struct EndorseRequest {
    /// `sessions/ses_…`.
    pub session: String,
    /// The contract.
    pub tool: String,
    /// The argument.
    pub argument: String,
    /// The datum.
    pub datum: String,
    /// Where in it.
    pub pointer: String,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Endorsed {
    /// The rule that holds.
    pub rule: Option<&'static str>,
    /// The value's label, raised where a rule holds.
    pub label: Label,
}

impl App {
    /// Tries the rules.
    ///
    /// # Errors
    /// When the caller may not ask, or names what does not exist.
    pub async fn endorse(
        &self,
        caller: &Caller,
        request: EndorseRequest,
    ) -> Result<Endorsed, Refused> {
        let id = access::session_id(&request.session)?;
        self.authorize(caller, Rpc::EndorseValue, Some(&id)).await?;
        let session = self.session_for(caller, &id).await?;
        let bundle = self.bundle(&session.bundle_digest).await?;
        let contract = bundle
            .contracts
            .get(&request.tool)
            .ok_or_else(|| Refused::field("tool", "no contract of this name"))?;
        let at = Pointer::parse(&request.argument)
            .map_err(|error| Refused::field("argument", error.to_string()))?;
        let role = contract
            .role_of(&at)
            .ok_or_else(|| Refused::field("argument", "the contract has no such argument"))?;
        let handle = DatumId::parse(&request.datum).map_err(|_| Refused::not_found())?;
        let place = Pointer::parse(&request.pointer)
            .map_err(|error| Refused::field("pointer", error.to_string()))?;
        let row = self.store().datum(&session.tenant, &handle).await?;
        let row = row.filter(|row| row.session == session.id).ok_or_else(Refused::not_found)?;
        let datum = self.datum_from(&session.tenant, &row)?;
        let value = datum
            .content
            .at(&place)
            .ok_or_else(|| Refused::field("pointer", "nothing stands there"))?;
        let mut label = cite::label_at(&datum, &place);
        let listed = role.endorse.contains(&Endorsement::Enumerated) && role.harmless;
        let member = admits(contract.input.schema.source(), &at, &value);
        let rule = (listed && member).then(|| Endorsement::Enumerated.versioned());
        if rule.is_some() {
            label.integrity = label.integrity.max(Integrity::Endorsed);
        }
        let said = json!({
            "inputs": [format!("{}:{}", datum.id, label.integrity)],
            "rule": rule,
            "argument": at.as_str(),
            "tool": {"name": contract.name, "version": contract.version},
            "reasons": if rule.is_some() { json!([]) } else { json!([ReasonCode::EndorsementFailed.as_str()]) },
        });
        self.change_session(caller, &id, "data.endorse", |journal| {
            journal.write(EntryKind::Endorsement, Said::with(said.clone()))?;
            Ok(true)
        })
        .await?;
        Ok(Endorsed { rule, label })
    }
}

/// Whether a value is a member of the closed set at a place of a schema.
fn admits(schema: &serde_json::Value, at: &Pointer, value: &serde_json::Value) -> bool {
    let place = at.tokens().try_fold(schema, |schema, token| schema.get("properties")?.get(token));
    place
        .and_then(|schema| schema.get("enum"))
        .and_then(serde_json::Value::as_array)
        .is_some_and(|members| members.contains(value))
}

//! Calls that change nothing: the daemon's own (facts, look-ups, read-backs) and the agent's.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};

use super::decide::Road;
use crate::{
    app::{App, Refused},
    bundle::{
        Bundle,
        contract::{Call as ContractCall, Contract, FactUse},
    },
    domain::{
        clock::Timestamp,
        fact::{Fact, FactState, Facts},
        limits,
        reason::ReasonCode,
        response::RawResponse,
    },
    expr::{Bindings, Expr},
    facts::{
        plan,
        read::{Judged, ReadFailure, ReadReport, Reading},
    },
    gateway::{Call, Signal},
    hook::{
        post::{self, Accepted, Reader, StopKind, Stopped},
        pre,
    },
};

/// The gateway's call of a contract.
pub(super) fn rendered(contract: &Contract, bindings: &Bindings) -> Result<Call, ReasonCode> {
    let ContractCall::Http(http) = &contract.executor.call;
    let request = http.render(bindings).map_err(|error| {
        tracing::error!(tool = %contract.name, %error, "a request could not be rendered");
        ReasonCode::RequestUnrenderable
    })?;
    Ok(Call {
        tool: contract.name.clone(),
        request,
        idempotency_header: http.idempotency_header.clone(),
        accept: contract.response.content_type.clone(),
        max_bytes: usize::try_from(contract.response.max_bytes).unwrap_or(usize::MAX),
        timeout: contract.executor.timeout,
    })
}

/// How a stopped answer counts for repetition.
pub(super) fn signal(stopped: &Stopped) -> Signal {
    match stopped.kind {
        StopKind::Corrupt => Signal::Corrupt(stopped.code),
        StopKind::UnknownError { status } => Signal::Status(status),
        StopKind::KnownError { retryable } => Signal::Mapped { code: stopped.code, retryable },
        StopKind::NotRelated => Signal::Mapped { code: stopped.code, retryable: false },
    }
}

impl App {
    /// One read through a contract of class `read`.
    pub(super) async fn call_read(
        &self,
        contract: &Contract,
        bindings: &Bindings,
        reader: Reader,
        deadline: Timestamp,
    ) -> ReadReport<Accepted> {
        let not_sent = |code| ReadReport {
            outcome: Err(ReadFailure { code, cause: code, corrupt: None, detail: None }),
            attempts: 0,
            ended_at: self.now(),
        };
        let Some(permit) = plan::permit(contract.class()) else {
            return not_sent(ReasonCode::RequestUnrenderable);
        };
        let call = match rendered(contract, bindings) {
            Ok(call) => call,
            Err(code) => return not_sent(code),
        };
        let judge = |response: &RawResponse| {
            post::check_response(contract, response, bindings, reader).map_err(|stopped| Judged {
                signal: signal(&stopped),
                detail: match &stopped.rule {
                    Some(rule) => format!("{rule}: {}", stopped.detail),
                    None => stopped.detail.clone(),
                },
            })
        };
        let parts = self.parts();
        let reading = Reading {
            gateway: &parts.gateway,
            clock: parts.clock.as_ref(),
            policy: &parts.retry,
            deadline,
        };
        reading.read(&permit, &call, judge, || self.random()).await
    }

    /// One read of the daemon's own, with arguments computed by expressions.
    pub(super) async fn own_read(
        &self,
        bundle: &Bundle,
        tool: &str,
        args: &BTreeMap<String, Expr>,
        bindings: &Bindings,
        deadline: Timestamp,
    ) -> Result<ReadReport<Accepted>, ReasonCode> {
        let contract = bundle.contracts.get(tool).ok_or(ReasonCode::RequestUnrenderable)?;
        let mut arguments = Map::new();
        for (name, expr) in args {
            let value = expr.eval(bindings).map_err(|_| ReasonCode::RequestUnrenderable)?;
            arguments.insert(name.clone(), value);
        }
        let arguments = Value::Object(arguments);
        if !contract.input.schema.validate(&arguments).is_empty() {
            return Err(ReasonCode::ArgumentsInvalid);
        }
        let mut own = bindings.clone();
        own.bind("args", arguments);
        Ok(self.call_read(contract, &own, Reader::Daemon, deadline).await)
    }

    /// The facts of a decision: wave by wave, those of one wave together, all under one deadline.
    pub(super) async fn read_facts(
        &self,
        road: &Road,
        contract: &Arc<Contract>,
        arguments: &Value,
    ) -> Result<Facts, Refused> {
        let deadline = self.now().plus(limits::FACTS_DEADLINE);
        let mut facts = Facts::default();
        let mut bindings = pre::bindings(&road.inputs, arguments);
        for wave in &contract.fact_waves {
            let uses = wave.iter().filter_map(|name| contract.facts.get(name));
            let reads = uses.map(|fact| self.read_fact(&road.bundle, fact, &bindings, deadline));
            for fact in futures::future::join_all(reads).await {
                facts.insert(fact);
            }
            bindings.bind("facts", facts.values());
        }
        Ok(facts)
    }

    async fn read_fact(
        &self,
        bundle: &Bundle,
        fact: &FactUse,
        bindings: &Bindings,
        deadline: Timestamp,
    ) -> Fact {
        let read_at = self.now();
        let version = bundle.contracts.get(&fact.tool).map_or(0, |contract| contract.version);
        let state = match self.own_read(bundle, &fact.tool, &fact.args, bindings, deadline).await {
            Ok(report) => match report.outcome {
                Ok(accepted) => present(accepted),
                Err(failure) if failure.code == ReasonCode::FactMissing => FactState::Absent,
                Err(failure) => FactState::Unavailable { code: failure.code },
            },
            Err(ReasonCode::RequestUnrenderable) => FactState::Unresolved,
            Err(code) => FactState::Unavailable { code },
        };
        Fact {
            name: fact.name.clone(),
            tool: fact.tool.clone(),
            tool_version: version,
            state,
            read_at,
        }
    }
}

fn present(accepted: Accepted) -> FactState {
    let version = accepted.result.get("version").map(|version| match version {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            version.to_string()
        }
    });
    FactState::Present { value: accepted.result, labels: accepted.labels, version }
}

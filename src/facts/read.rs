//! One read, repeated within its deadline where that can help.

use std::time::Duration;

use crate::{
    domain::{
        clock::{Clock, Timestamp},
        contract_terms::EffectClass,
        reason::ReasonCode,
        response::RawResponse,
    },
    gateway::{
        AttemptReport, Call, Gateway, Next, Permit, RetryPolicy, Signal, TransportFault, classify,
        retry,
    },
};

/// What a read came to.
#[derive(Debug)]
pub struct ReadReport<T> {
    /// The accepted answer, or why there is none.
    pub outcome: Result<T, ReadFailure>,
    /// Attempts made.
    pub attempts: u32,
    /// When the last attempt ended.
    pub ended_at: Timestamp,
}

/// Why a read brought nothing.
#[derive(Debug)]
pub struct ReadFailure {
    /// What stopped it.
    pub code: ReasonCode,
    /// What the last attempt itself came to.
    pub cause: ReasonCode,
    /// The answer that failed a gate, for quarantine.
    pub corrupt: Option<RawResponse>,
    /// The rule that stopped it and what it found, for operators.
    pub detail: Option<String>,
}

/// What the judge of an answer says.
#[derive(Debug)]
pub struct Judged {
    /// How the attempt counts.
    pub signal: Signal,
    /// What was found, for operators.
    pub detail: String,
}

/// How a read is carried out.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The way to the tools.
    pub gateway: &'a Gateway,
    /// The present.
    pub clock: &'a dyn Clock,
    /// Repetitions.
    pub policy: &'a RetryPolicy,
    /// When everything must be over.
    pub deadline: Timestamp,
}

impl Reading<'_> {
    /// Sends the call until an answer is accepted, or trying again cannot help.
    pub async fn read<T>(
        &self,
        permit: &Permit,
        call: &Call,
        judge: impl Fn(&RawResponse) -> Result<T, Judged>,
        random: impl Fn() -> u64,
    ) -> ReadReport<T> {
        let mut attempts = 0;
        loop {
            let left = self.deadline.since(self.clock.now());
            let timeout = match self.policy.attempt_timeout(call.timeout, left) {
                Ok(timeout) => timeout,
                Err(code) => return self.failed(attempts, failure(code, code)),
            };
            let report = self.gateway.attempt(permit, call, timeout).await;
            attempts += 1;
            let (signal, corrupt, detail) = match judged(report, &judge) {
                Ok(accepted) => {
                    return ReadReport {
                        outcome: Ok(accepted),
                        attempts,
                        ended_at: self.clock.now(),
                    };
                }
                Err(stopped) => stopped,
            };
            let asked = corrupt.as_ref().and_then(|response| self.asked_wait(response));
            let last = classify(signal, EffectClass::Read, false);
            let left = self.deadline.since(self.clock.now());
            match self.policy.next(attempts, last, asked, left, random()) {
                Next::Again { after } => tokio::time::sleep(after).await,
                Next::Stop { code, cause } => {
                    let mut failed = failure(code, cause);
                    failed.detail = detail;
                    failed.corrupt = corrupt.filter(|_| matches!(signal, Signal::Corrupt(_)));
                    return self.failed(attempts, failed);
                }
            }
        }
    }

    fn asked_wait(&self, response: &RawResponse) -> Option<Duration> {
        let value = response.header("retry-after").into_iter().next()?;
        retry::retry_after(value, self.clock.now())
    }

    fn failed<T>(&self, attempts: u32, failure: ReadFailure) -> ReadReport<T> {
        ReadReport { outcome: Err(failure), attempts, ended_at: self.clock.now() }
    }
}

type NotAccepted = (Signal, Option<RawResponse>, Option<String>);

fn judged<T>(
    report: AttemptReport,
    judge: impl Fn(&RawResponse) -> Result<T, Judged>,
) -> Result<T, NotAccepted> {
    let Some(response) = report.response else {
        let fault = report.fault.unwrap_or(TransportFault::Closed);
        return Err((Signal::Transport(report.phase, fault), None, None));
    };
    judge(&response).map_err(|judged| (judged.signal, Some(response), Some(judged.detail)))
}

const fn failure(code: ReasonCode, cause: ReasonCode) -> ReadFailure {
    ReadFailure { code, cause, corrupt: None, detail: None }
}

//! What was decided, check by check.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    clock::Timestamp,
    contract_terms::{Check, Need, RoleKind, Verdict, vocabulary},
    label::Integrity,
    pointer::Pointer,
    reason::ReasonCode,
};

/// One reason, in full form; what an agent sees derives from its code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reason {
    /// The code.
    pub code: ReasonCode,
    /// The check that gave it.
    pub check: Check,
    /// The rule that gave it, where one did.
    pub rule: Option<String>,
    /// Where and what, for operators; never shown to an agent, never in the log.
    pub detail: Option<String>,
}

impl Reason {
    /// A reason without rule and detail.
    #[must_use]
    pub const fn of(check: Check, code: ReasonCode) -> Self {
        Self { code, check, rule: None, detail: None }
    }

    /// The same reason, naming the rule that gave it.
    #[must_use]
    pub fn by(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// The same reason, with what an operator wants to know.
    #[must_use]
    pub fn saying(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }
}

vocabulary! {
    /// What a check said.
    CheckVerdict {
        /// Nothing against it.
        Pass = "pass",
        /// Nothing against it by itself; something for the policy to weigh.
        Note = "note",
        /// An answer is needed.
        Needs = "needs",
        /// Refused.
        Refuse = "refuse",
        /// Not run, because an earlier one ended the road.
        Skipped = "skipped",
    }
}

vocabulary! {
    /// Columns of the decision matrix; the last that applies names a decision.
    MatrixColumn {
        /// Clean, named, asked for, facts agree, in scope.
        Clean = "clean",
        /// An authority argument is not clean or not named.
        UncleanOrUnnamed = "unclean_or_unnamed",
        /// The act was not asked for, or it is outside the scope.
        NotAskedFor = "not_asked_for_or_out_of_scope",
        /// Above a threshold, or facts or evidence contradict.
        AboveOrContradicted = "above_threshold_or_contradicted",
        /// The subject is only claimed, or the channel not authenticated.
        Claimed = "claimed",
        /// The identity is invalid, or the record is not the subject's.
        IdentityInvalid = "identity_invalid",
        /// The last answer about the resource was corrupt.
        InputsCorrupted = "inputs_corrupted",
        /// A sensitive action was done before in the session.
        SecondSensitive = "second_sensitive",
        /// The sign-in is older than its channel allows.
        StaleSignIn = "stale_sign_in",
        /// The road ended before the matrix was asked.
        Unasked = "none",
    }
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// Which.
    pub check: Check,
    /// What it said.
    pub verdict: CheckVerdict,
    /// Why.
    pub reasons: Vec<Reason>,
    /// Answers that it asks for.
    pub needs: BTreeSet<Need>,
    /// Rules that decided.
    pub rules: Vec<String>,
    /// How long it took, in microseconds; for facts with the reading of them. No part of what is
    /// compared when a decision is made again.
    #[serde(default)]
    pub us: i64,
}

impl CheckResult {
    /// Nothing against it.
    #[must_use]
    pub const fn pass(check: Check) -> Self {
        Self::new(check, CheckVerdict::Pass, Vec::new())
    }

    /// Not run.
    #[must_use]
    pub const fn skipped(check: Check) -> Self {
        Self::new(check, CheckVerdict::Skipped, Vec::new())
    }

    /// Refused, or passed where there is no reason.
    #[must_use]
    pub fn refuse_for(check: Check, reasons: Vec<Reason>) -> Self {
        if reasons.is_empty() {
            Self::pass(check)
        } else {
            Self::new(check, CheckVerdict::Refuse, reasons)
        }
    }

    /// A check with this verdict.
    #[must_use]
    pub const fn new(check: Check, verdict: CheckVerdict, reasons: Vec<Reason>) -> Self {
        Self { check, verdict, reasons, needs: BTreeSet::new(), rules: Vec::new(), us: 0 }
    }

    /// Whether it ends the road.
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.verdict == CheckVerdict::Refuse
    }
}

/// Where one argument came from, as it was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentProvenance {
    /// The argument.
    pub at: Pointer,
    /// What it is for.
    pub role: RoleKind,
    /// How far it can be trusted, endorsements included.
    pub integrity: Integrity,
    /// Handles of the data it came from.
    pub sources: BTreeSet<String>,
    /// Who may read it.
    pub readers: super::label::Readers,
    /// What named it: `scope`, `statement`, `fact`, `confirmation`; none when nothing did.
    pub named_by: Option<String>,
    /// The endorsement rule that raised it, such as `reconciled@1`.
    pub endorsed_by: Option<String>,
    /// Whether it reaches its role's least integrity.
    pub clean: bool,
    /// Where else the value occurs in the data that was looked at.
    pub detected: BTreeSet<String>,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The verdict, or the next answer it waits for.
    pub verdict: Verdict,
    /// All answers that are still needed.
    pub needs: BTreeSet<Need>,
    /// All reasons, sorted by code, each once.
    pub reasons: Vec<Reason>,
    /// All checks, in order.
    pub checks: Vec<CheckResult>,
    /// Where the arguments came from.
    pub arguments: Vec<ArgumentProvenance>,
    /// The matrix row: the strictest risk.
    pub matrix_row: String,
    /// The matrix column.
    pub matrix_column: String,
    /// The bundle's name.
    pub bundle: String,
    /// The bundle's version.
    pub bundle_version: String,
    /// The bundle's digest.
    pub bundle_digest: String,
    /// When.
    pub decided_at: Timestamp,
}

impl Decision {
    /// The codes of all reasons, sorted, each once.
    #[must_use]
    pub fn codes(&self) -> BTreeSet<ReasonCode> {
        self.reasons.iter().map(|reason| reason.code).collect()
    }

    /// Those codes as text, sorted by spelling.
    #[must_use]
    pub fn code_texts(&self) -> BTreeSet<&'static str> {
        self.reasons.iter().map(|reason| reason.code.as_str()).collect()
    }
}

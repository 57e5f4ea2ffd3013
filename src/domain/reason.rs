//! The one table of reason codes: what agents, operators, the API and the docs say derives from it.
//!
//! An agent gets the public code and text (`not_permitted` for foreign and unknown records alike,
//! no threshold, no budget); the log, approvers and auditors get the code itself.

use serde::{Deserialize, Serialize};

use super::contract_terms::vocabulary;

vocabulary! {
    /// How bad it is that this happened.
    Severity {
        /// Part of ordinary work.
        Info = "info",
        /// Worth counting.
        Notice = "notice",
        /// Somebody should look.
        Warning = "warning",
        /// Somebody must look.
        Alarm = "alarm",
    }
}

vocabulary! {
    /// Whether trying again can help.
    RetryHint {
        /// The same request gets the same answer.
        No = "no",
        /// The same request may pass later.
        Later = "later",
        /// Another request may pass.
        Changed = "changed",
    }
}

macro_rules! reasons {
    ($($variant:ident = $code:literal, $public:ident, $severity:ident, $retry:ident, $text:literal, $remedy:literal;)+) => {
        /// Why something was decided, refused, stopped or is still asked.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ReasonCode {
            $(
                #[doc = $text]
                #[serde(rename = $code)]
                $variant
            ),+
        }

        impl ReasonCode {
            /// Every code, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The exact code, `family:part` where it has a family.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code),+ }
            }

            /// What an agent is told instead; mostly the code itself.
            #[must_use]
            pub const fn public(self) -> Self {
                match self { $(Self::$variant => Self::$public),+ }
            }

            /// How bad it is.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity),+ }
            }

            /// Whether trying again can help.
            #[must_use]
            pub const fn retry(self) -> RetryHint {
                match self { $(Self::$variant => RetryHint::$retry),+ }
            }

            /// One sentence that says what happened.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// One sentence that says what to do.
            #[must_use]
            pub const fn remedy(self) -> &'static str {
                match self { $(Self::$variant => $remedy),+ }
            }
        }
    };
}

reasons! {
    // admission
    NotPermitted = "not_permitted", NotPermitted, Notice, No, "this is not permitted", "ask a person if it should be";
    UnknownTool = "unknown_tool", UnknownTool, Notice, Changed, "no contract of the session's bundle has this name", "call ListTools and use one of its names";
    ToolNotInState = "tool_not_in_state", ToolNotInState, Notice, Later, "the tool does not run in the session's present state", "read the records the workflow asks for first, or call ListTools";
    ToolNotInScope = "tool_not_in_scope", ToolNotInScope, Notice, No, "the tool is outside the session's scope", "open a session whose scope names it";
    PurposeUnknown = "purpose_unknown", PurposeUnknown, Notice, Changed, "the purpose is not one of the workflow's", "use the session's purpose";
    SessionClosed = "session_closed", SessionClosed, Info, No, "the session has ended", "open a new session";
    SessionHalted = "session_halted", SessionHalted, Warning, Later, "the session was stopped and waits for an operator", "ask an operator to resume it";
    SessionExpired = "session_expired", SessionExpired, Info, No, "the session has reached its end of life", "open a new session";
    ResourceBusy = "resource_busy", ResourceBusy, Info, Later, "another action on the same resource waits for an answer or is in flight", "wait for that action";
    WriteInFlight = "write_in_flight", WriteInFlight, Info, Later, "another write of the session is in flight", "wait for its outcome";
    IdentityExpired = "identity_expired", IdentityExpired, Notice, No, "the principal's identity is no longer valid", "open a new session with a fresh token";
    // binding
    ArgumentsMalformed = "arguments_malformed", ArgumentsMalformed, Notice, Changed, "the arguments are not one strict JSON object", "send one JSON object without repeated names, of exact numbers";
    ArgumentsNotStorable = "arguments_not_storable", ArgumentsNotStorable, Notice, Changed, "an argument holds NUL or a non-character", "leave such characters out";
    ArgumentsTooLarge = "arguments_too_large", ArgumentsTooLarge, Notice, Changed, "the arguments exceed the size limit", "send less, or pass content by handle";
    ArgumentsInvalid = "arguments_invalid", ArgumentsInvalid, Notice, Changed, "the arguments do not fit the tool's schema", "call ListTools and fit the arguments to its schema";
    ReferenceUnknown = "reference_unknown", ReferenceUnknown, Notice, Changed, "a `$datum` reference names nothing in this session", "use a handle that this session was given";
    // loop guard
    LoopSuspected = "loop_suspected", LoopSuspected, Warning, No, "the same call was made too often", "do something else, or hand the case over";
    StepsExhausted = "steps_exhausted", StepsExhausted, Warning, No, "the session has used all its steps", "close the session or hand the case over";
    CallsExhausted = "calls_exhausted", CallsExhausted, Warning, No, "the session has used all calls of this tool", "work with what was read, or hand the case over";
    // provenance
    CitationMismatch = "citation_mismatch", CitationMismatch, Warning, Changed, "a citation does not hold: the datum does not carry exactly this value exactly once at that place", "cite the place where the value stands, exactly as it stands";
    CitationUnknown = "citation_unknown", CitationUnknown, Notice, Changed, "a citation names a datum or an argument that does not exist here", "cite data of this session";
    EvidenceUnknown = "evidence_unknown", EvidenceUnknown, Notice, Changed, "an evidence handle is not a datum of this session", "use handles of this session";
    EvidenceConflict = "evidence_conflict", EvidenceConflict, Warning, Changed, "two cited data give one role different values", "settle which is right before acting";
    UntrustedSource = "untrusted_source_for_sensitive_action", UntrustedSource, Notice, Changed, "an argument that carries authority comes from a source that is not trusted enough", "cite a record of the system of record, or have the principal confirm";
    TargetNotNamed = "target_not_named", TargetNotNamed, Notice, Changed, "nobody entitled named this target", "let the principal name it or confirm it";
    ActNotAskedFor = "act_not_asked_for", ActNotAskedFor, Notice, Changed, "nobody entitled asked for this kind of action", "let the principal ask for it or confirm it";
    CredentialFromIntent = "credential_from_intent", CredentialFromIntent, Alarm, No, "an intent carries a credential", "leave credentials out; the daemon holds them";
    EgressNotAllowed = "egress_not_allowed", EgressNotAllowed, Warning, No, "the content may not go to these recipients", "send to readers of the content only";
    // facts
    IdentityMismatch = "identity_mismatch", NotPermitted, Warning, No, "the record does not belong to the session's subject", "nothing: the record is another's";
    FactMissing = "fact_missing", NotPermitted, Warning, No, "a fact that the decision needs does not exist", "check the record's id";
    FactUnavailable = "fact_unavailable", FactUnavailable, Warning, Later, "a fact that the decision needs could not be read", "try again when the system of record answers";
    FactStale = "fact_stale", FactStale, Warning, Later, "a fact is older than its contract allows", "try again";
    FactFuture = "fact_future", FactFuture, Warning, Later, "a fact claims to be from the future", "check the clock of the system of record";
    FactsDisagree = "facts_disagree", FactsDisagree, Notice, No, "the facts speak against this action", "let a person decide";
    NotInCase = "not_in_case", NotInCase, Notice, Changed, "the resource is not a record of the session's case", "read the record first, so that it becomes part of the case";
    SubjectUnknown = "subject_unknown", NotPermitted, Warning, No, "the session has no subject to compare the record with", "open the session with a principal who has one";
    // effect
    EffectUndefined = "effect_undefined", EffectUndefined, Alarm, No, "the effect's key, amount or identity could not be computed", "repair the contract";
    AmountAboveMaximum = "amount_above_maximum", NotPermitted, Warning, No, "the amount exceeds what the contract ever allows", "hand the case over";
    AmountAboveThreshold = "amount_above_threshold", ApprovalAlways, Notice, No, "the amount needs an approval", "wait for the approval";
    BudgetExceeded = "budget_exceeded", NotPermitted, Warning, Later, "a budget is used up", "wait for the window to pass, or hand the case over";
    PossibleDuplicate = "possible_duplicate", PossibleDuplicate, Warning, No, "the same effect was asked for before", "look at the earlier action";
    IdempotencyMismatch = "idempotency_mismatch", IdempotencyMismatch, Warning, Changed, "this effect key was used for another request", "send the earlier request again, or a new one";
    IdempotencyInFlight = "idempotency_in_flight", IdempotencyInFlight, Info, Later, "the same effect is being carried out", "ask again, or wait in the call";
    IdempotencyExpired = "idempotency_expired", IdempotencyExpired, Notice, No, "the outcome of this effect is no longer kept", "check the system of record";
    // policy
    PolicyError = "policy_error", NotPermitted, Alarm, No, "a policy could not be evaluated", "repair the policy";
    PolicyDenied = "policy_denied", NotPermitted, Notice, No, "no policy permits this", "ask the platform engineer if it should";
    PrincipalNotAuthenticated = "principal_not_authenticated", PrincipalNotAuthenticated, Notice, Changed, "the principal is only claimed, not authenticated", "let the principal sign in";
    AuthenticationTooOld = "authentication_too_old", AuthenticationTooOld, Notice, Changed, "the principal signed in too long ago", "let the principal sign in again";
    SensitiveActionRepeated = "second_sensitive_action", SensitiveActionRepeated, Notice, No, "a sensitive action was already done in this session", "let the principal confirm";
    UnusualCombination = "unusual_combination", NotPermitted, Warning, No, "this combination of actions is unusual", "let a person decide";
    SensitiveRead = "sensitive_read", SensitiveRead, Notice, Changed, "these data need more than ownership", "let the principal or an approver agree";
    ConfirmationAlways = "confirmation_always_needed", ConfirmationAlways, Info, No, "this kind of action is always confirmed", "let the principal confirm";
    ApprovalAlways = "approval_always_needed", ApprovalAlways, Info, No, "this kind of action always needs an approval", "wait for the approval";
    InputsCorrupted = "inputs_corrupted", InputsCorrupted, Warning, Later, "the last answer about this resource was corrupt", "read it again";
    QuestionsExhausted = "questions_exhausted", QuestionsExhausted, Warning, No, "too many questions were refused or unbacked", "propose only what was asked for";
    NoEligibleApprover = "no_eligible_approver", NoEligibleApprover, Warning, No, "nobody may approve this", "repair the approval rules";
    // answers of people
    RefusedByPerson = "refused_by_person", RefusedByPerson, Info, No, "the person who was asked said no", "accept the answer";
    QuestionExpired = "question_expired", QuestionExpired, Info, Changed, "nobody answered in time", "propose it again if it is still wanted";
    QuestionAnswered = "already_decided", QuestionAnswered, Info, No, "the question is already decided", "read the action's state";
    ViewOutdated = "view_outdated", ViewOutdated, Notice, Changed, "the digest is not that of the present question", "read the question again and answer that";
    ShownFactsChanged = "shown_facts_changed", ShownFactsChanged, Notice, Changed, "what was shown has changed since", "look at the new question";
    NotEligible = "not_eligible", NotEligible, Warning, No, "this person may not answer this question", "let somebody entitled and uninvolved answer";
    AnswerTooEarly = "authentication_before_question", AnswerTooEarly, Notice, Changed, "the answer's authentication is older than the question", "sign in again and answer";
    Cancelled = "cancelled", Cancelled, Info, No, "the action was withdrawn", "propose it again if it is still wanted";
    // gateway
    ToolUnreachable = "tool_unavailable:unreachable", ToolUnreachable, Warning, Later, "the tool could not be reached", "try again later";
    ToolTimeout = "tool_unavailable:timeout", ToolTimeout, Warning, Later, "the tool did not answer in time", "try again later";
    Tool5xx = "tool_unavailable:5xx", Tool5xx, Warning, Later, "the tool answered with a server error", "try again later";
    ToolOverloaded = "tool_unavailable:overloaded", ToolOverloaded, Warning, Later, "the tool asked us to come back later", "try again later";
    ToolCircuitOpen = "tool_unavailable:circuit_open", ToolCircuitOpen, Warning, Later, "calls to the tool are suspended after repeated failures", "try again later";
    ToolNonRetryable = "tool_failure:non_retryable", ToolNonRetryable, Warning, Changed, "the tool refused the request", "change the request";
    ToolRetryExhausted = "tool_failure:retry_exhausted", ToolRetryExhausted, Warning, Later, "the tool failed on every attempt", "try again later";
    ToolRetryBudgetSpent = "tool_failure:retry_budget_spent", ToolRetryBudgetSpent, Warning, Later, "the budget for repeated attempts is spent", "try again later";
    ToolErrorMapped = "tool_failure:error_mapped", ToolErrorMapped, Notice, Changed, "the tool answered with an error that its contract knows", "read the error's meaning in the contract";
    ToolErrorUnmapped = "tool_failure:error_unmapped", ToolErrorUnmapped, Warning, Changed, "the tool answered with an error that its contract does not know", "add the error to the contract";
    ToolRefused = "tool_refused", ToolRefused, Notice, Changed, "the tool refused for a business reason", "read the record again";
    RetryAfterBeyondDeadline = "retry_after_beyond_deadline", RetryAfterBeyondDeadline, Warning, Later, "the tool asked for a longer wait than the deadline leaves", "try again later";
    DeadlineTooClose = "deadline_too_close", DeadlineTooClose, Notice, Later, "too little time was left for an attempt", "allow more time";
    RequestUnrenderable = "request_unrenderable", RequestUnrenderable, Alarm, No, "the request could not be built from the contract", "repair the contract";
    OutcomeUnknown = "outcome_unknown", OutcomeUnknown, Alarm, No, "the tool may or may not have acted", "wait for the look-up, or ask an operator to settle it";
    SendWindowPassed = "send_window_passed", SendWindowPassed, Warning, Later, "the window for sending the request has passed", "try again";
    // response gates (CONVENTIONS D)
    StatusUnexpected = "response_corruption:status_unexpected", StatusUnexpected, Warning, Later, "the answer has a status that the contract does not expect", "read again later";
    HeadMalformed = "response_corruption:head_malformed", HeadMalformed, Warning, Later, "what came back is not an HTTP answer", "repair the tool";
    RedirectRefused = "response_corruption:redirect_refused", RedirectRefused, Alarm, No, "the answer points to another place", "repair the endpoint";
    MediaTypeMissing = "response_corruption:media_type_missing", MediaTypeMissing, Warning, Later, "the answer does not say what it is", "read again later";
    MediaTypeMismatch = "response_corruption:media_type_mismatch", MediaTypeMismatch, Warning, Later, "the answer is of another kind than the contract says", "read again later";
    CharsetUnsupported = "response_corruption:charset_unsupported", CharsetUnsupported, Warning, No, "the answer is in another character set than UTF-8", "repair the tool";
    LengthConflict = "response_corruption:length_conflict", LengthConflict, Alarm, No, "the answer states its length in two ways", "repair the tool";
    BodyTruncated = "response_corruption:body_truncated", BodyTruncated, Warning, Later, "the answer was cut", "read again later";
    BodyOverrun = "response_corruption:body_overrun", BodyOverrun, Alarm, No, "more bytes came than the answer announced", "repair the tool";
    BodyStalled = "response_corruption:body_stalled", BodyStalled, Warning, Later, "the answer stopped in the middle", "read again later";
    BodyEmpty = "response_corruption:body_empty", BodyEmpty, Warning, Later, "the answer is empty", "read again later";
    BodyTooLarge = "response_corruption:body_too_large", BodyTooLarge, Warning, No, "the answer exceeds the tool's size limit", "ask for less";
    EncodingUnsupported = "response_corruption:encoding_unsupported", EncodingUnsupported, Warning, No, "the answer is encoded in a way that was not asked for", "repair the tool";
    EncodingUndeclared = "response_corruption:encoding_undeclared", EncodingUndeclared, Warning, No, "the answer is compressed without saying so", "repair the tool";
    EncodingCorrupt = "response_corruption:encoding_corrupt", EncodingCorrupt, Warning, Later, "the answer's encoding is broken", "read again later";
    EncodingLayersExceeded = "response_corruption:encoding_layers_exceeded", EncodingLayersExceeded, Alarm, No, "the answer is encoded more than once", "repair the tool";
    JsonIncomplete = "response_corruption:json_incomplete", JsonIncomplete, Warning, Later, "the JSON ends too early", "read again later";
    JsonSyntax = "response_corruption:json_syntax", JsonSyntax, Warning, Later, "the answer is not JSON", "read again later";
    JsonDuplicateKey = "response_corruption:json_duplicate_key", JsonDuplicateKey, Alarm, No, "a member name occurs twice", "repair the tool";
    JsonConfusableKey = "response_corruption:json_confusable_key", JsonConfusableKey, Alarm, No, "two member names look alike", "repair the tool";
    JsonMultipleDocuments = "response_corruption:json_multiple_documents", JsonMultipleDocuments, Warning, No, "something follows the JSON document", "repair the tool";
    JsonBom = "response_corruption:json_bom", JsonBom, Warning, No, "the JSON begins with a byte-order mark", "repair the tool";
    JsonInvalidUtf8 = "response_corruption:json_invalid_utf8", JsonInvalidUtf8, Warning, No, "the answer is not UTF-8", "repair the tool";
    JsonLoneSurrogate = "response_corruption:json_lone_surrogate", JsonLoneSurrogate, Warning, No, "a character of the answer is only half there", "repair the tool";
    JsonDepthExceeded = "response_corruption:json_depth_exceeded", JsonDepthExceeded, Alarm, No, "the answer nests too deep", "repair the tool";
    JsonNodesExceeded = "response_corruption:json_nodes_exceeded", JsonNodesExceeded, Alarm, No, "the answer has too many parts", "ask for less";
    JsonNumberRange = "response_corruption:json_number_range", JsonNumberRange, Warning, No, "a number is out of range", "repair the tool";
    JsonNumberLossy = "response_corruption:json_number_lossy", JsonNumberLossy, Warning, No, "a number cannot be held exactly", "repair the tool";
    JsonKeyTooLong = "response_corruption:json_key_too_long", JsonKeyTooLong, Warning, No, "a member name is too long", "repair the tool";
    JsonReservedKey = "response_corruption:json_reserved_key", JsonReservedKey, Alarm, No, "a member name is reserved", "repair the tool";
    TextNotStorable = "response_corruption:text_not_storable", TextNotStorable, Warning, No, "the answer holds NUL or a non-character", "repair the tool";
    MailMalformed = "response_corruption:mail_malformed", MailMalformed, Warning, No, "the answer is not a mail message", "repair the tool";
    ErrorInSuccess = "response_corruption:error_in_success", ErrorInSuccess, Warning, Later, "the answer reports success and holds an error", "read again later";
    SchemaMissingField = "response_corruption:schema_missing_field", SchemaMissingField, Warning, No, "a required field is missing", "repair the tool or its contract";
    SchemaTypeChanged = "response_corruption:schema_type_changed", SchemaTypeChanged, Warning, No, "a field has another type than the contract says", "repair the tool or its contract";
    SchemaNull = "response_corruption:schema_null", SchemaNull, Warning, No, "a field is null that never is", "repair the tool or its contract";
    SchemaEnumUnknown = "response_corruption:schema_enum_unknown", SchemaEnumUnknown, Warning, No, "a field has a value that its list does not hold", "repair the tool or its contract";
    SchemaExtraField = "response_corruption:schema_extra_field", SchemaExtraField, Warning, No, "a closed object has a further field", "repair the tool or its contract";
    SchemaFormat = "response_corruption:schema_format", SchemaFormat, Warning, No, "a field has another form than the contract says", "repair the tool or its contract";
    SchemaViolated = "response_corruption:schema_violated", SchemaViolated, Warning, No, "the answer breaks the contract's schema", "repair the tool or its contract";
    EchoMismatch = "response_corruption:echo_mismatch", EchoMismatch, Alarm, No, "the answer is about something else than was asked", "repair the tool";
    InvariantViolated = "response_corruption:invariant_violated", InvariantViolated, Alarm, No, "an invariant of the contract does not hold", "compare the records with the contract";
    CheckOverBudget = "response_corruption:check_over_budget", CheckOverBudget, Warning, No, "a check of the answer would cost too much", "simplify the contract";
    // verification and closing
    EffectMissing = "effect_mismatch:missing", EffectMissing, Alarm, No, "the effect cannot be found in the system of record", "compare the systems by hand";
    EffectDuplicated = "effect_mismatch:duplicated", EffectDuplicated, Alarm, No, "the effect stands twice in the system of record", "compare the systems by hand";
    EffectMismatch = "effect_mismatch:values", EffectMismatch, Alarm, No, "the effect differs from what was decided", "compare the systems by hand";
    EffectUnverifiable = "effect_unverifiable", EffectUnverifiable, Warning, Later, "the effect could not be read back", "verify it by hand";
    // identity at the door
    TokenMissing = "token_missing", TokenMissing, Notice, Changed, "the call carries no token", "send `authorization: Bearer TOKEN`";
    TokenMalformed = "token_malformed", TokenMalformed, Notice, Changed, "the token is not a compact JWS of strict JSON", "send the token as it was issued";
    TokenTooLarge = "token_too_large", TokenTooLarge, Notice, Changed, "the token exceeds the size limit", "issue a smaller token";
    TokenType = "token_type", TokenType, Notice, Changed, "the token is of another type than this call takes", "send the token that the call's documentation names";
    TokenIssuerUnknown = "token_issuer_unknown", TokenIssuerUnknown, Warning, No, "nobody configured this issuer for such tokens", "configure the issuer, or use a token of a configured one";
    TokenKeyUnknown = "token_key_unknown", TokenKeyUnknown, Warning, Changed, "the issuer's key set has no such key", "use a current key of the issuer";
    TokenAlgorithm = "token_algorithm", TokenAlgorithm, Alarm, No, "the token's algorithm is not the key's", "sign with the key's own algorithm";
    TokenSignature = "token_signature", TokenSignature, Alarm, No, "the token's signature does not hold", "use the token as it was issued";
    TokenAudience = "token_audience", TokenAudience, Warning, No, "the token is meant for another audience", "get a token for this audience";
    TokenExpired = "token_expired", TokenExpired, Info, Changed, "the token has expired", "get a fresh token";
    TokenNotYetValid = "token_not_yet_valid", TokenNotYetValid, Notice, Later, "the token is not valid yet", "check the issuer's clock";
    TokenLifetime = "token_lifetime", TokenLifetime, Warning, Changed, "the token lives longer than its type may", "issue it for a shorter time";
    IdentityIncomplete = "identity_incomplete", IdentityIncomplete, Warning, Changed, "the token lacks a claim that this call needs", "issue it with that claim";
    TenantMismatch = "tenant_mismatch", NotPermitted, Alarm, No, "the token belongs to another tenant", "use a token of the session's tenant";
    RightMissing = "right_missing", RightMissing, Warning, No, "the caller lacks the right for this call", "use an identity that has the right";
    NotThePrincipal = "not_the_principal", NotThePrincipal, Alarm, No, "only the principal's own credential can do this", "let the principal call with his own token";
    ScopeWidened = "scope_widened", ScopeWidened, Alarm, No, "the scope asks for more than the workflow gives", "narrow the scope";
    // API
    NotFound = "not_found", NotFound, Info, No, "no such thing is known here", "check the name";
    FieldInvalid = "field_invalid", FieldInvalid, Notice, Changed, "a field of the message is missing or malformed", "correct the field named in the details";
    LimitExceeded = "limit_exceeded", LimitExceeded, Notice, Changed, "a limit of the message or session is exceeded", "send less";
    RequestIdReused = "request_id_reused", RequestIdReused, Warning, Changed, "this request id was used for another request", "use a new request id";
    StoreUnavailable = "store_unavailable", StoreUnavailable, Alarm, Later, "the store does not answer", "try again; tell the operator";
    StoreCorrupt = "store_corrupt", StoreCorrupt, Alarm, No, "a stored record cannot be read", "tell the operator; run audit verify";
    Overloaded = "overloaded", Overloaded, Warning, Later, "the daemon has too much to do", "try again after the time given";
    Conflict = "conflict", Conflict, Info, Later, "somebody else changed the same thing at the same time", "try again";
    ShuttingDown = "shutting_down", ShuttingDown, Info, Later, "the daemon is stopping", "try again, on another daemon or later";
    Internal = "internal", Internal, Alarm, No, "the daemon failed to do this", "tell the operator; the log has the cause";
    WrongState = "wrong_state", WrongState, Notice, No, "this cannot be done in the present state", "read the present state first";
    EndorsementFailed = "endorsement_failed", EndorsementFailed, Notice, Changed, "no endorsement rule raises this value", "cite a record, or have the principal confirm";
}

impl ReasonCode {
    /// Reads an exact code.
    #[must_use]
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.as_str() == code)
    }

    /// The `ErrorInfo.reason` form: UPPER_SNAKE of the last part.
    #[must_use]
    pub fn error_info_reason(self) -> String {
        self.as_str().rsplit(':').next().unwrap_or_default().to_ascii_uppercase()
    }

    /// The family, such as `response_corruption`; the code itself where it has none.
    #[must_use]
    pub fn family(self) -> &'static str {
        self.as_str().split(':').next().unwrap_or_default()
    }
}

impl std::fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The whole table as Markdown, for `docs/generated/reason-codes.md`.
#[must_use]
pub fn table() -> String {
    let mut lines = vec![
        "| code | what an agent sees | severity | try again | meaning | what to do |".to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
    ];
    for code in ReasonCode::ALL {
        lines.push(format!(
            "| `{code}` | `{}` | {} | {} | {} | {} |",
            code.public(),
            code.severity(),
            code.retry(),
            code.text(),
            code.remedy()
        ));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_unique_lower_snake_and_read_back() {
        let mut seen = BTreeSet::new();
        for &code in ReasonCode::ALL {
            assert!(seen.insert(code.as_str()), "{code} twice");
            assert_eq!(ReasonCode::parse(code.as_str()), Some(code));
            assert!(
                code.as_str()
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == ':'),
                "{code}"
            );
            assert_eq!(code.public().public(), code.public(), "{code}");
        }
    }

    #[test]
    fn foreign_and_unknown_records_look_alike_to_an_agent() {
        for code in
            [ReasonCode::IdentityMismatch, ReasonCode::FactMissing, ReasonCode::BudgetExceeded]
        {
            assert_eq!(code.public(), ReasonCode::NotPermitted, "{code}");
        }
        assert_eq!(ReasonCode::JsonDuplicateKey.error_info_reason(), "JSON_DUPLICATE_KEY");
        assert_eq!(ReasonCode::JsonDuplicateKey.family(), "response_corruption");
    }
}

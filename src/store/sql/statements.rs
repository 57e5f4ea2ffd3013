//! Every statement of the store, each in both dialects. A test prepares all of them on both databases.

/// One statement; the two texts are equal where the dialects agree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sql {
    pub(crate) name: &'static str,
    pub(crate) postgres: &'static str,
    pub(crate) sqlite: &'static str,
}

macro_rules! statements {
    ($($name:ident = $text:expr $(=> $sqlite:expr)?;)+) => {
        $(pub(crate) const $name: Sql = statements!(@one $name, $text $(, $sqlite)?);)+
        /// All of them, for the test that prepares each.
        pub(crate) const ALL: &[Sql] = &[$($name),+];
    };
    (@one $name:ident, $text:expr) => {
        Sql { name: stringify!($name), postgres: $text, sqlite: $text }
    };
    (@one $name:ident, $text:expr, $sqlite:expr) => {
        Sql { name: stringify!($name), postgres: $text, sqlite: $sqlite }
    };
}

macro_rules! select {
    (sessions $($rest:tt)*) => { concat!("SELECT session_id, version, state, workflow, workload, principal, entry_count, data_count, \
        opened_at, expires_at, updated_at, body FROM sessions ", $($rest)*) };
    (data $($rest:tt)*) => { concat!("SELECT datum_id, session_id, is_statement, created_at, size, body, content FROM data ", $($rest)*) };
    (actions $($rest:tt)*) => { concat!("SELECT tenant_id, action_id, session_id, version, state, tool, effect_key, effect_same, \
        fingerprint, subject, principal, amount_minor, send_before, proposed_at, updated_at, body FROM actions ", $($rest)*) };
    (effects $($rest:tt)*) => { concat!("SELECT effect, key, generation, same, ordinal, fingerprint, action_id, session_id, principal, \
        status, claimed_at FROM effects ", $($rest)*) };
    (questions $($rest:tt)*) => { concat!("SELECT tenant_id, question_id, action_id, session_id, need, state, digest, asked_at, \
        expires_at, body FROM questions ", $($rest)*) };
    (entries $($rest:tt)*) => { concat!("SELECT entry_id, session_id, session_seq, action_id, kind, occurred_at, tool, decision, \
        reasons, bytes, leaf_hash, mac FROM entries ", $($rest)*) };
}

/// The members of a JSON list that is bound as text.
macro_rules! listed {
    (postgres $place:literal) => {
        concat!("= ANY(ARRAY(SELECT jsonb_array_elements_text(", $place, "::jsonb)))")
    };
    (sqlite $place:literal) => {
        concat!("IN (SELECT value FROM json_each(", $place, "))")
    };
}

/// The filters of an entry query. `$1` tenant, `$2` what `$lead` compares, `$3` kind, `$4` tool, `$5` decision, `$6` reason,
/// `$7` since, `$8` until, `$9` and `$10` the last row of the page before, `$11` limit, `$12` action.
macro_rules! entries_where {
    ($lead:literal, $position:literal) => {
        select!(entries "WHERE tenant_id = $1 AND ", $lead, " AND (CAST($12 AS TEXT) IS NULL OR action_id = $12) \
            AND (CAST($3 AS TEXT) IS NULL OR kind = $3) AND (CAST($4 AS TEXT) IS NULL OR tool = $4) AND (CAST($5 AS TEXT) IS NULL OR decision = $5) \
            AND (CAST($6 AS TEXT) IS NULL OR ", $position, " > 0) \
            AND occurred_at >= $7 AND occurred_at < $8 AND (occurred_at, entry_id) > ($9, $10) \
            ORDER BY occurred_at, entry_id LIMIT $11")
    };
}

macro_rules! entries_in {
    ($lead:literal) => {
        entries_where!($lead, "position(' ' || CAST($6 AS TEXT) || ' ' in ' ' || reasons || ' ')")
    };
    (sqlite $lead:literal) => {
        entries_where!($lead, "instr(' ' || reasons || ' ', ' ' || CAST($6 AS TEXT) || ' ')")
    };
}

macro_rules! sum {
    ($tool:expr, $state:expr, $total:literal) => {
        concat!("SELECT ", $total, " FROM actions WHERE tenant_id = $1 AND tool ", $tool, " AND proposed_at >= $3 AND state ", $state,
            " AND (CAST($5 AS TEXT) IS NULL OR subject = $5) AND (CAST($6 AS TEXT) IS NULL OR principal = $6) AND (CAST($7 AS TEXT) IS NULL OR session_id = $7) \
            AND (CAST($8 AS TEXT) IS NULL OR action_id <> $8)")
    };
}

// Written.
statements! {
    CLAIM_KEY = "INSERT INTO effects (tenant_id, effect, key, generation, same, ordinal, fingerprint, action_id, session_id, principal, \
        status, claimed_at, updated_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING";
    HOLDER_OF_KEY = "SELECT action_id FROM effects WHERE tenant_id = $1 AND effect = $2 AND \
        ((key = $3 AND (status <> 'released' OR generation = $4)) OR (same = $5 AND ordinal = $6 AND status <> 'released')) \
        ORDER BY CASE WHEN key = $3 THEN 0 ELSE 1 END, generation DESC LIMIT 1";
    SETTLE_EFFECT = "UPDATE effects SET status = $4, updated_by = $5 WHERE tenant_id = $1 AND effect = $2 AND action_id = $3 \
        AND status <> 'released'";
    OPEN_SESSION = "INSERT INTO sessions (tenant_id, session_id, version, state, workflow, workload, principal, entry_count, data_count, \
        opened_at, expires_at, updated_at, updated_by, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    PUT_SESSION = "UPDATE sessions SET version = $3, state = $4, entry_count = $5, data_count = $6, expires_at = $7, updated_at = $8, \
        updated_by = $9, body = $10 WHERE tenant_id = $1 AND session_id = $2 AND version = $3 - 1";
    SESSION_AT = "SELECT version FROM sessions WHERE tenant_id = $1 AND session_id = $2 AND version = $3 FOR SHARE" =>
        "SELECT version FROM sessions WHERE tenant_id = $1 AND session_id = $2 AND version = $3";
    INSERT_DATUM = "INSERT INTO data (tenant_id, datum_id, session_id, is_statement, created_at, size, body, content) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    INSERT_ACTION = "INSERT INTO actions (tenant_id, action_id, session_id, version, state, tool, effect_key, effect_same, fingerprint, \
        subject, principal, amount_minor, send_before, proposed_at, updated_at, updated_by, body) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    PUT_ACTION = "UPDATE actions SET version = $3, state = $4, effect_key = $5, effect_same = $6, fingerprint = $7, subject = $8, \
        amount_minor = $9, send_before = $10, updated_at = $11, updated_by = $12, body = $13 \
        WHERE tenant_id = $1 AND action_id = $2 AND version = $3 - 1";
    ACTION_AT = "SELECT version FROM actions WHERE tenant_id = $1 AND action_id = $2 AND version = $3 FOR SHARE" =>
        "SELECT version FROM actions WHERE tenant_id = $1 AND action_id = $2 AND version = $3";
    INSERT_QUESTION = "INSERT INTO questions (tenant_id, question_id, action_id, session_id, need, state, digest, asked_at, expires_at, \
        updated_by, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    SPEND_QUESTION = "UPDATE questions SET state = $3, answered_by = $4, answered_at = $5, updated_by = $6 \
        WHERE tenant_id = $1 AND question_id = $2 AND state = 'pending'";
    QUESTION_STATE = "SELECT state FROM questions WHERE tenant_id = $1 AND question_id = $2";
    INSERT_INPUTS = "INSERT INTO inputs (tenant_id, inputs_id, session_id, sealed) VALUES ($1, $2, $3, $4)";
    INSERT_QUARANTINE = "INSERT INTO quarantine (tenant_id, quarantine_id, action_id, session_id, tool, reason, received_at, body) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    REMEMBER_REQUEST = "INSERT INTO requests (tenant_id, session_id, request_id, digest, action_id) VALUES ($1, $2, $3, $4, $5) \
        ON CONFLICT DO NOTHING";
    KEEP_BUNDLE = "INSERT INTO bundles (digest, name, version, sources, kept_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    INSERT_ENTRIES = "INSERT INTO entries (tenant_id, entry_id, session_id, session_seq, action_id, kind, occurred_at, tool, decision, \
        reasons, bytes, leaf_hash, mac) SELECT $1, * FROM UNNEST($2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], \
        $7::bigint[], $8::text[], $9::text[], $10::text[], $11::bytea[], $12::text[], $13::text[])" =>
        "INSERT INTO entries (tenant_id, entry_id, session_id, session_seq, action_id, kind, occurred_at, tool, decision, \
        reasons, bytes, leaf_hash, mac) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

    // Read.
    SESSION = select!(sessions "WHERE tenant_id = $1 AND session_id = $2");
    SESSIONS = select!(sessions "WHERE tenant_id = $1 AND (CAST($2 AS TEXT) IS NULL OR workload = $2) AND session_id > $3 ORDER BY session_id LIMIT $4");
    ROAD_DATA = select!(data "WHERE tenant_id = $1 AND session_id = $2 AND (is_statement OR datum_id ", listed!(postgres "$3"), ") ORDER BY datum_id") =>
        select!(data "WHERE tenant_id = $1 AND session_id = $2 AND (is_statement OR datum_id ", listed!(sqlite "$3"), ") ORDER BY datum_id");
    REQUEST = "SELECT digest, action_id FROM requests WHERE tenant_id = $1 AND session_id = $2 AND request_id = $3";
    EFFECTS = select!(effects "WHERE tenant_id = $1 AND effect = $2 AND (key = $3 OR (same = $4 AND status <> 'released')) \
        ORDER BY key, generation");
    WAITING = select!(actions "WHERE tenant_id = $1 AND effect_key = $2 AND state IN ('awaiting_confirmation', 'awaiting_approval') \
        ORDER BY action_id LIMIT 1");
    SUM = sum!(listed!(postgres "$2"), listed!(postgres "$4"), "LEAST(COALESCE(SUM(amount_minor), 0), 9223372036854775807)::bigint") =>
        sum!(listed!(sqlite "$2"), listed!(sqlite "$4"), "COALESCE(SUM(amount_minor), 0)");
    DATUM = select!(data "WHERE tenant_id = $1 AND datum_id = $2");
    DATA = select!(data "WHERE tenant_id = $1 AND session_id = $2 AND datum_id > $3 ORDER BY datum_id LIMIT $4");
    ACTION = select!(actions "WHERE tenant_id = $1 AND action_id = $2");
    ACTIONS = select!(actions "WHERE tenant_id = $1 AND session_id = $2 AND action_id > $3 ORDER BY action_id LIMIT $4");
    ACTIONS_IN = select!(actions "WHERE state ", listed!(postgres "$1"), " AND (state <> 'succeeded' OR effect_key IS NOT NULL) \
        ORDER BY proposed_at, action_id LIMIT $2") =>
        select!(actions "WHERE state ", listed!(sqlite "$1"), " AND (state <> 'succeeded' OR effect_key IS NOT NULL) \
        ORDER BY proposed_at, action_id LIMIT $2");
    QUESTION = select!(questions "WHERE tenant_id = $1 AND question_id = $2");
    QUESTION_OF = select!(questions "WHERE tenant_id = $1 AND action_id = $2 \
        ORDER BY CASE WHEN state = 'pending' THEN 0 ELSE 1 END, question_id DESC LIMIT 1");
    QUESTIONS = select!(questions "WHERE tenant_id = $1 AND state = $2 AND need = $3 AND question_id > $4 ORDER BY question_id LIMIT $5");
    OVERDUE_QUESTIONS = select!(questions "WHERE state = 'pending' AND expires_at <= $1 ORDER BY expires_at, question_id LIMIT $2");
    QUARANTINED = "SELECT quarantine_id, action_id, session_id, tool, reason, received_at, body FROM quarantine \
        WHERE tenant_id = $1 AND quarantine_id = $2";
    INPUTS = "SELECT sealed FROM inputs WHERE tenant_id = $1 AND inputs_id = $2";
    BUNDLE = "SELECT digest, name, version, sources, kept_at FROM bundles WHERE digest = $1";
    ENTRY = select!(entries "WHERE tenant_id = $1 AND entry_id = $2");
    ENTRIES_OF_SESSION = entries_in!("session_id = $2") => entries_in!(sqlite "session_id = $2");
    ENTRIES_OF_ACTION = entries_in!("action_id = $2") => entries_in!(sqlite "action_id = $2");
    ENTRIES_OF_TENANT = entries_in!("CAST($2 AS TEXT) IS NULL") => entries_in!(sqlite "CAST($2 AS TEXT) IS NULL");
    TENANTS = "SELECT tenant_id FROM sessions UNION SELECT tenant_id FROM entries ORDER BY tenant_id";
    PING = "SELECT 1";
    HAS_HISTORY = "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = 'schema_version'" =>
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'";
}

/// Not in the list: they run before there is a schema.
pub(crate) const MAKE_HISTORY: &str = "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL PRIMARY KEY, \
    name TEXT NOT NULL, checksum TEXT NOT NULL)";
pub(crate) const HISTORY: &str =
    "SELECT version, name, checksum FROM schema_version ORDER BY version";
pub(crate) const ADD_TO_HISTORY: &str =
    "INSERT INTO schema_version (version, name, checksum) VALUES ($1, $2, $3)";

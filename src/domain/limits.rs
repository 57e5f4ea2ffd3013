//! Every limit, with its unit in its name. The configuration reference is derived from this table.

use std::time::Duration;

/// Bytes of one gRPC message.
pub const MESSAGE_MAX_BYTES: usize = 1 << 20;
/// Bytes of one ingested datum.
pub const DATUM_MAX_BYTES: usize = 768 * 1024;
/// Data of one session.
pub const DATA_PER_SESSION_MAX: i64 = 2_000;
/// Bytes of an intent's arguments.
pub const ARGUMENTS_MAX_BYTES: usize = 64 * 1024;
/// Citations of one intent.
pub const CITATIONS_MAX: usize = 64;
/// Evidence handles of one intent.
pub const EVIDENCE_MAX: usize = 64;
/// Bytes of the model's reason and of what it expects, each.
pub const MODEL_TEXT_MAX_BYTES: usize = 4 * 1024;
/// Bytes of one quoted span of a citation.
pub const CITATION_SPAN_MAX_BYTES: usize = 4 * 1024;
/// Bytes of a name (tool, workflow, purpose, kind, page token).
pub const NAME_MAX_BYTES: usize = 128;
/// Parts of one statement.
pub const STATEMENT_PARTS_MAX: usize = 32;
/// Bytes of one token.
pub const TOKEN_MAX_BYTES: usize = 8 * 1024;
/// Rows of one page.
pub const PAGE_MAX: i64 = 200;
/// Rows of a page when the caller names none.
pub const PAGE_DEFAULT: i64 = 50;
/// Bytes of one entry of the decision log (C2SP tlog-tiles: two-byte length).
pub const ENTRY_MAX_BYTES: usize = 65_535;
/// The longest life of a session.
pub const SESSION_MAX_LIFE: Duration = Duration::from_secs(24 * 3_600);
/// How long a caller may wait in one call.
pub const WAIT_MAX: Duration = Duration::from_secs(60);
/// The deadline of all facts of one decision together.
pub const FACTS_DEADLINE: Duration = Duration::from_secs(10);
/// How long after COMMIT 1 the first byte of a write may still leave.
pub const SEND_BEFORE: Duration = Duration::from_secs(2);
/// How long COMMIT 2 waits for a verdict of the effect verification.
pub const VERIFY_INLINE: Duration = Duration::from_millis(250);
/// How often a road is run again after losing its session to another writer.
pub const ROAD_ATTEMPTS_MAX: u32 = 200;
/// How long a confirmation waits for the principal.
pub const CONFIRMATION_LIFE: Duration = Duration::from_secs(3_600);
/// How old a re-authentication may be at a checkpoint.
pub const CHECKPOINT_AUTH_AGE: Duration = Duration::from_secs(15 * 60);

-- Confirmations and approvals: asked, answered once, spent in the commit that uses the answer.
CREATE TABLE questions (
    tenant_id    TEXT NOT NULL,     -- whose
    question_id  TEXT NOT NULL,     -- que_...
    action_id    TEXT NOT NULL,     -- the action it belongs to
    session_id   TEXT NOT NULL,     -- its session
    need         TEXT NOT NULL CHECK (need IN ('confirmation', 'approval')),
    state        TEXT NOT NULL CHECK (state IN ('pending', 'granted', 'refused', 'expired', 'stale', 'withdrawn')),
    digest       TEXT NOT NULL,     -- what an answer must echo
    asked_at     INTEGER NOT NULL,  -- microseconds UTC
    expires_at   INTEGER NOT NULL,  -- expiry denies
    answered_at  INTEGER,           -- when it left `pending`
    answered_by  TEXT,              -- keyed digest of who answered; null where nobody did
    updated_by   TEXT NOT NULL,     -- name of the unit of work that wrote it last
    body         BLOB NOT NULL,     -- sealed JSON of what is shown
    PRIMARY KEY (tenant_id, question_id),
    CHECK ((state = 'pending') = (answered_at IS NULL)),
    CHECK (state <> 'granted' OR answered_by IS NOT NULL)
) STRICT;

CREATE INDEX questions_by_action ON questions (tenant_id, action_id);
CREATE INDEX questions_by_state ON questions (tenant_id, state, need, question_id);
CREATE INDEX questions_pending ON questions (expires_at) WHERE state = 'pending';

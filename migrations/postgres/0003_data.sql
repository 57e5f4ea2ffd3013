-- Content of sessions, sealed, with its labels and origin.
CREATE TABLE data (
    tenant_id     TEXT NOT NULL,                      -- whose
    datum_id      TEXT NOT NULL,                      -- <kind>_...
    session_id    TEXT NOT NULL,                      -- the session it belongs to
    is_statement  BOOLEAN NOT NULL,                   -- words of the principal
    created_at    BIGINT NOT NULL,                    -- microseconds UTC
    size          BIGINT NOT NULL CHECK (size >= 0),  -- bytes of the plain content
    body          BYTEA NOT NULL,                     -- sealed JSON of kind, media type, labels, origin
    content       BYTEA NOT NULL,                     -- sealed content
    PRIMARY KEY (tenant_id, datum_id)
);

CREATE INDEX data_by_session ON data (tenant_id, session_id, datum_id);

-- Responses that failed a gate, kept away from agent and model.
CREATE TABLE quarantine (
    tenant_id      TEXT NOT NULL,    -- whose
    quarantine_id  TEXT NOT NULL,    -- qua_...
    action_id      TEXT NOT NULL,    -- the action whose answer it is
    session_id     TEXT NOT NULL,    -- its session
    tool           TEXT NOT NULL,    -- the contract's name
    reason         TEXT NOT NULL,    -- the exact reason code
    received_at    BIGINT NOT NULL,  -- microseconds UTC
    body           BYTEA NOT NULL,   -- sealed response: status, headers, bytes
    PRIMARY KEY (tenant_id, quarantine_id)
);

CREATE INDEX quarantine_by_action ON quarantine (tenant_id, action_id);

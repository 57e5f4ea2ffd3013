-- One run of one agent under one identity, workflow and state.
CREATE TABLE sessions (
    tenant_id    TEXT NOT NULL,                              -- whose
    session_id   TEXT NOT NULL,                              -- ses_...
    version      INTEGER NOT NULL CHECK (version >= 1),      -- one more with every commit; every update names the old one
    state        TEXT NOT NULL CHECK (state IN ('ANALYZING', 'RESOLVING', 'AWAITING_CONFIRMATION', 'ESCALATED',
                     'EXECUTING', 'VERIFYING', 'HALTED', 'CLOSED')),
    workflow     TEXT NOT NULL,                              -- the workflow's name
    workload     TEXT NOT NULL,                              -- keyed digest of the workload that opened it
    principal    TEXT NOT NULL,                              -- keyed digest of the principal
    entry_count  INTEGER NOT NULL CHECK (entry_count >= 0),  -- entries of the log written so far
    data_count   INTEGER NOT NULL CHECK (data_count >= 0),   -- data stored so far
    opened_at    INTEGER NOT NULL,                           -- microseconds UTC
    expires_at   INTEGER NOT NULL,                           -- when it ends by itself
    updated_at   INTEGER NOT NULL,                           -- when it was last written
    updated_by   TEXT NOT NULL,                              -- name of the unit of work that wrote it last
    body         BLOB NOT NULL,                              -- sealed JSON of the whole session
    PRIMARY KEY (tenant_id, session_id)
) STRICT;

CREATE INDEX sessions_by_workload ON sessions (tenant_id, workload, session_id);

-- Request ids of callers, so that the same call leads to the same action.
CREATE TABLE requests (
    tenant_id   TEXT NOT NULL,  -- whose
    session_id  TEXT NOT NULL,  -- where it was sent
    request_id  TEXT NOT NULL,  -- the caller's id
    digest      TEXT NOT NULL,  -- sha256 of the request's bytes
    action_id   TEXT NOT NULL,  -- what it led to
    PRIMARY KEY (tenant_id, session_id, request_id)
) STRICT;

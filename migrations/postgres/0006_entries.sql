-- The decision log: canonical bytes as they were hashed, and columns derived from them.
CREATE TABLE entries (
    tenant_id    TEXT NOT NULL,                                             -- whose log
    entry_id     TEXT NOT NULL,                                             -- ent_...
    session_id   TEXT,                                                      -- null for entries about the daemon
    session_seq  BIGINT CHECK (session_seq >= 1),                           -- 1, 2, 3 ... within the session
    action_id    TEXT,                                                      -- the action it is about
    kind         TEXT NOT NULL,                                             -- such as decision
    occurred_at  BIGINT NOT NULL,                                           -- microseconds UTC
    tool         TEXT,                                                      -- the tool it is about
    decision     TEXT,                                                      -- the verdict, where it is a decision
    reasons      TEXT NOT NULL,                                             -- reason codes, sorted, joined by one space
    bytes        BYTEA NOT NULL CHECK (length(bytes) BETWEEN 2 AND 65535),  -- canonical JSON, verbatim
    leaf_hash    TEXT NOT NULL,                                             -- RFC 6962 leaf hash of the bytes
    mac          TEXT NOT NULL,                                             -- keyed digest of the bytes
    PRIMARY KEY (tenant_id, entry_id),
    CHECK ((session_id IS NULL) = (session_seq IS NULL))
);

CREATE UNIQUE INDEX entries_by_session ON entries (tenant_id, session_id, session_seq);
CREATE INDEX entries_by_action ON entries (tenant_id, action_id);
CREATE INDEX entries_by_time ON entries (tenant_id, occurred_at, entry_id);

-- Entries are only ever added, also by the owner of the table.
CREATE FUNCTION refuse_change_of_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'entries of the decision log are only ever added';
END;
$$;
CREATE TRIGGER entries_never_change BEFORE UPDATE OR DELETE ON entries
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_entries();
CREATE TRIGGER entries_never_go BEFORE TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_entries();

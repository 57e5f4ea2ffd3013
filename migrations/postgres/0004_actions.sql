-- Intents that passed admission, with their life cycle.
CREATE TABLE actions (
    tenant_id     TEXT NOT NULL,                         -- whose
    action_id     TEXT NOT NULL,                         -- act_...
    session_id    TEXT NOT NULL,                         -- its session
    version       BIGINT NOT NULL CHECK (version >= 1),  -- one more with every commit; every update names the old one
    state         TEXT NOT NULL CHECK (state IN ('proposed', 'denied', 'awaiting_confirmation', 'awaiting_approval',
                      'ready', 'dispatched', 'succeeded', 'failed', 'outcome_unknown', 'pending', 'verified', 'mismatched',
                      'duplicated', 'unverifiable', 'abandoned', 'expired', 'cancelled', 'stale')),
    tool          TEXT NOT NULL,                         -- the contract's name
    effect_key    TEXT,                                  -- keyed digest of the effect key; null for reads
    effect_same   TEXT,                                  -- keyed digest of the business effect; null for reads
    fingerprint   TEXT,                                  -- digest of the request
    subject       TEXT,                                  -- keyed digest of the subject, for sums
    principal     TEXT NOT NULL,                         -- keyed digest of the principal, for sums
    amount_minor  BIGINT,                                -- the effect's amount in minor units, for sums
    send_before   BIGINT,                                -- until when the first byte may leave
    proposed_at   BIGINT NOT NULL,                       -- microseconds UTC
    updated_at    BIGINT NOT NULL,                       -- when it was last written
    updated_by    TEXT NOT NULL,                         -- name of the unit of work that wrote it last
    body          BYTEA NOT NULL,                        -- sealed JSON of the whole action
    PRIMARY KEY (tenant_id, action_id),
    CHECK (state <> 'dispatched' OR send_before IS NOT NULL),
    CHECK (effect_key IS NULL OR fingerprint IS NOT NULL)
);

CREATE INDEX actions_by_session ON actions (tenant_id, session_id, action_id);
CREATE INDEX actions_by_effect_key ON actions (tenant_id, effect_key) WHERE effect_key IS NOT NULL;
CREATE INDEX actions_for_sums ON actions (tenant_id, tool, proposed_at);
CREATE INDEX actions_by_state ON actions (state, proposed_at, action_id);

-- Effects that were claimed: one live claim per key, and one per business effect and ordinal.
CREATE TABLE effects (
    tenant_id    TEXT NOT NULL,                            -- whose
    effect       TEXT NOT NULL,                            -- the effect's name
    key          TEXT NOT NULL,                            -- keyed digest of the effect key
    generation   BIGINT NOT NULL CHECK (generation >= 0),  -- 0 at first, one more after each release
    same         TEXT NOT NULL,                            -- keyed digest of the business effect
    ordinal      BIGINT NOT NULL CHECK (ordinal >= 0),     -- 0, or the count of equal effects that a person allowed before
    fingerprint  TEXT NOT NULL,                            -- digest of the request
    action_id    TEXT NOT NULL,                            -- who claimed it
    session_id   TEXT NOT NULL,                            -- its session
    principal    TEXT NOT NULL,                            -- keyed digest of the principal
    status       TEXT NOT NULL CHECK (status IN ('in_flight', 'settled', 'released')),
    claimed_at   BIGINT NOT NULL,                          -- microseconds UTC
    updated_by   TEXT NOT NULL,                            -- name of the unit of work that wrote it last
    PRIMARY KEY (tenant_id, effect, key, generation)
);

CREATE UNIQUE INDEX effects_live_key ON effects (tenant_id, effect, key) WHERE status <> 'released';
CREATE UNIQUE INDEX effects_live_same ON effects (tenant_id, effect, same, ordinal) WHERE status <> 'released';
CREATE INDEX effects_by_action ON effects (tenant_id, action_id);

-- What each decision rested on, so that it can be made again.
CREATE TABLE inputs (
    tenant_id   TEXT NOT NULL,   -- whose
    inputs_id   TEXT NOT NULL,   -- dec_...
    session_id  TEXT NOT NULL,   -- its session
    sealed      BYTEA NOT NULL,  -- sealed canonical JSON
    PRIMARY KEY (tenant_id, inputs_id)
);

CREATE INDEX inputs_by_session ON inputs (tenant_id, session_id);

-- Bundles that sessions run under. A reference table: a bundle's digest means the same for every tenant.
CREATE TABLE bundles (
    digest   TEXT NOT NULL PRIMARY KEY,  -- sha256 of the bundle's canonical sources
    name     TEXT NOT NULL,              -- as in bundle.yaml
    version  TEXT NOT NULL,              -- as in bundle.yaml
    sources  BYTEA NOT NULL,             -- canonical JSON of path -> text of every source file
    kept_at  BIGINT NOT NULL             -- when a session first ran under it
);

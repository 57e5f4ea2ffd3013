//! Owns: reading systems of record through the gateway, with version and age; absent, stale, erroring as values.
//! Must not know: hook, store.
//! Start reading at: `resolve.rs`.

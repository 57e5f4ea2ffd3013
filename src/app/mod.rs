//! Owns: the order of steps; the only place where I/O and decisions meet; one verb a file.
//! Must not know: SQL, protobuf, HTTP, config format.
//! Start reading at: `intent/submit.rs`.

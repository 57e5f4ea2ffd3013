//! The map holds: directions between modules, homes of heavy crates, heads, sizes, names. A text scan.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// What each module may use besides itself. A new edge is one line here and a record in `docs/decisions`.
const MAY_USE: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("expr", &["domain"]),
    ("policy", &["domain"]),
    ("bundle", &["domain", "expr", "policy"]),
    ("provenance", &["domain", "bundle", "expr"]),
    ("hook", &["domain", "bundle", "provenance", "policy", "expr"]),
    ("gateway", &["domain", "store"]),
    ("facts", &["domain", "bundle", "expr", "gateway"]),
    ("store", &["domain", "telemetry"]),
    ("approval", &["domain"]),
    ("identity", &["domain"]),
    ("seal", &["domain"]),
    ("decision_log", &["domain"]),
    ("telemetry", &["domain"]),
    ("config", &["domain"]),
    ("pb", &[]),
    (
        "app",
        &[
            "domain",
            "hook",
            "bundle",
            "provenance",
            "policy",
            "expr",
            "facts",
            "gateway",
            "store",
            "approval",
            "identity",
            "seal",
            "decision_log",
            "telemetry",
        ],
    ),
    ("api", &["domain", "app", "identity", "pb", "telemetry"]),
    (
        "daemon",
        &[
            "domain",
            "api",
            "app",
            "bundle",
            "gateway",
            "store",
            "identity",
            "seal",
            "config",
            "telemetry",
        ],
    ),
    ("demo", &["domain", "pb", "identity"]),
    (
        "cli",
        &[
            "domain",
            "app",
            "daemon",
            "demo",
            "pb",
            "config",
            "telemetry",
            "bundle",
            "hook",
            "policy",
            "expr",
            "provenance",
            "store",
            "identity",
            "seal",
            "decision_log",
        ],
    ),
    ("main", &["cli"]),
    ("lib", &[]),
];

/// Crates with one home: name in code, and the folders or files that may use it.
const HOMES: &[(&str, &[&str])] = &[
    ("sqlx", &["store/sql", "store/sqlite", "store/postgres", "demo"]),
    ("tonic", &["api/grpc", "pb", "cli", "demo"]),
    ("axum", &["api/http", "demo"]),
    ("reqwest", &["gateway/executor", "demo"]),
    ("cedar_policy", &["policy"]),
    ("cel", &["expr"]),
    ("jsonschema", &["bundle/schema"]),
];

/// Modules that decide and therefore never wait.
const WITHOUT_TOKIO: &[&str] = &[
    "domain",
    "expr",
    "policy",
    "bundle",
    "provenance",
    "hook",
    "approval",
    "identity",
    "seal",
    "decision_log",
];

/// Names of one business; the guard knows none of them. The demonstration does.
const BUSINESS_NAMES: &[&str] = &[
    "refund",
    "cmd-",
    "order_id",
    "get_order",
    "read_mail",
    "add_case_note",
    "::order",
    "order::",
    "refundable",
];

/// Who may make the permission to read: the planner of facts and, after an allow, the road of one intent.
const READ_PERMIT_HOMES: &[&str] = &["gateway", "facts", "app/intent"];

const MAX_LINES: usize = 600;

struct Source {
    /// Relative to `src/`, with `/`.
    path: String,
    text: String,
}

impl Source {
    fn module(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    fn is_in(&self, home: &str) -> bool {
        self.path.strip_prefix(home).is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
    }

    /// Lines that are no comment, with their numbers from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate();
        lines
            .map(|(n, line)| (n + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources_under(folder: &str) -> Vec<Source> {
    let base = root().join(folder);
    let mut found = Vec::new();
    collect(&base, &base, &mut found);
    assert!(!found.is_empty(), "no source under {folder}");
    found
}

fn collect(base: &Path, folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(base, &path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let relative = path.strip_prefix(base).unwrap().to_string_lossy().replace('\\', "/");
            found.push(Source { path: relative, text: fs::read_to_string(&path).unwrap() });
        }
    }
}

/// The names that follow `prefix` in a text, `{a, b::c}` groups opened one level.
fn names_after(text: &str, prefix: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in text.match_indices(prefix) {
        if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &text[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => names.extend(group_heads(group)),
            None => names.extend(head(rest)),
        }
    }
    names
}

fn head(text: &str) -> Option<String> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

fn group_heads(group: &str) -> Vec<String> {
    let (mut depth, mut heads, mut start) = (0_i32, Vec::new(), 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                heads.extend(head(group[start..at].trim_start()));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                heads.extend(head(group[start..at].trim_start()));
                start = at + 1;
            }
            _ => {}
        }
    }
    heads
}

fn code_of(source: &Source) -> String {
    source.code().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

fn wrong_directions(source: &Source) -> Vec<String> {
    let from = source.module();
    let Some((_, allowed)) = MAY_USE.iter().find(|(module, _)| *module == from) else {
        return vec![format!("{}: module `{from}` is not in the map", source.path)];
    };
    let known = |name: &String| MAY_USE.iter().any(|(module, _)| module == name);
    let prefix = if from == "main" { "stateguard::" } else { "crate::" };
    names_after(&code_of(source), prefix)
        .into_iter()
        .filter(|name| known(name) && name != from && !allowed.contains(&name.as_str()))
        .map(|name| format!("{}: `{from}` must not use `{name}`", source.path))
        .collect()
}

fn homeless_crates(source: &Source) -> Vec<String> {
    let code = code_of(source);
    let uses = |name: &str| {
        names_after(&code, &format!("{name}::")).iter().next().is_some()
            || code.contains(&format!("use {name};"))
            || code.contains(&format!("use {name} as"))
    };
    let mut wrong: Vec<String> = HOMES
        .iter()
        .filter(|(name, homes)| uses(name) && !homes.iter().any(|home| source.is_in(home)))
        .map(|(name, homes)| format!("{}: `{name}` lives in {homes:?} only", source.path))
        .collect();
    if WITHOUT_TOKIO.contains(&source.module()) && uses("tokio") {
        wrong.push(format!("{}: this module decides and must not wait (tokio)", source.path));
    }
    wrong
}

fn more_of_the_store_than_committed(source: &Source) -> Vec<String> {
    if source.module() != "gateway" {
        return Vec::new();
    }
    let names = names_after(&code_of(source), "crate::store::");
    let other = names.into_iter().filter(|name| name != "Committed");
    other.map(|name| format!("{}: the gateway uses `store::{name}`", source.path)).collect()
}

fn missing_head(source: &Source) -> Option<String> {
    if !source.path.ends_with("mod.rs") {
        return None;
    }
    // A line may go on below, so the three are looked for in the block that opens the file.
    let mut block = source.text.lines().take_while(|line| line.starts_with("//!"));
    for wanted in ["//! Owns: ", "//! Must not know: ", "//! Start reading at: "] {
        if !block.any(|line| line.starts_with(wanted) && line.len() > wanted.len()) {
            return Some(format!("{}: the head needs a line `{wanted}…`", source.path));
        }
    }
    None
}

fn too_long(source: &Source) -> Option<String> {
    let lines = source.text.lines().count();
    (lines > MAX_LINES)
        .then(|| format!("{}: {lines} lines, {MAX_LINES} are the limit", source.path))
}

fn business_names(source: &Source) -> Vec<String> {
    if source.is_in("demo") {
        return Vec::new();
    }
    let lower = source.text.to_lowercase();
    BUSINESS_NAMES
        .iter()
        .filter(|name| lower.contains(**name))
        .map(|name| format!("{}: `{name}` is a name of one business", source.path))
        .collect()
}

fn stray_read_permits(source: &Source) -> Vec<String> {
    let built = |line: &str| line.contains("ReadPermit::") || line.contains("ReadPermit {");
    if READ_PERMIT_HOMES.iter().any(|home| source.is_in(home)) {
        return Vec::new();
    }
    let lines =
        source.code().filter(|(_, line)| built(line) && !line.trim_start().starts_with("use "));
    lines.map(|(n, _)| format!("{}:{n}: a read permit is built here", source.path)).collect()
}

fn unsafe_sql(source: &Source) -> Option<String> {
    code_of(source)
        .contains("AssertSqlSafe")
        .then(|| format!("{}: SQL is constants in `statements.rs`, never built", source.path))
}

fn none(violations: impl IntoIterator<Item = String>) {
    let violations: Vec<String> = violations.into_iter().collect();
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}

#[test]
fn modules_point_inward() {
    none(sources_under("src").iter().flat_map(wrong_directions));
}

#[test]
fn heavy_crates_stay_at_home() {
    none(sources_under("src").iter().flat_map(homeless_crates));
}

#[test]
fn the_gateway_knows_nothing_of_the_store_but_committed() {
    none(sources_under("src").iter().flat_map(more_of_the_store_than_committed));
}

#[test]
fn every_folder_says_what_it_owns() {
    none(sources_under("src").iter().filter_map(missing_head));
}

#[test]
fn files_stay_readable() {
    let all = sources_under("src").into_iter().chain(sources_under("tests"));
    none(all.collect::<Vec<_>>().iter().filter_map(too_long));
}

#[test]
fn the_guard_knows_no_business() {
    none(sources_under("src").iter().flat_map(business_names));
}

#[test]
fn read_permits_are_built_where_reads_are_decided() {
    none(sources_under("src").iter().flat_map(stray_read_permits));
}

#[test]
fn sql_is_never_built() {
    none(sources_under("src").iter().filter_map(unsafe_sql));
}

#[test]
fn the_map_lists_every_module_and_has_no_cycle() {
    let mods: BTreeSet<String> =
        sources_under("src").iter().map(|source| source.module().to_owned()).collect();
    let listed: BTreeSet<String> = MAY_USE.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(mods, listed);
    let mut settled: BTreeSet<&str> = BTreeSet::new();
    while settled.len() < MAY_USE.len() {
        let ready = MAY_USE.iter().find(|(name, uses)| {
            !settled.contains(name) && uses.iter().all(|used| settled.contains(used))
        });
        settled.insert(ready.expect("the map has a cycle").0);
    }
}

mod the_scan_itself {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn sees_an_edge_in_every_way_it_can_be_written() {
        for text in [
            "use crate::store::Store;",
            "use crate::{domain::ids::SessionId, store};",
            "use crate::{\n    domain::{a, b},\n    store::{Store, Committed},\n};",
            "fn f(s: &dyn crate::store::Store) {}",
            "pub(crate) use crate::store as s;",
        ] {
            assert_eq!(wrong_directions(&source("hook/pre/mod.rs", text)).len(), 1, "{text}");
        }
        let fine = "// crate::store\nuse crate::{domain::ids, bundle};\nuse mycrate::store;";
        assert!(wrong_directions(&source("hook/pre/mod.rs", fine)).is_empty());
        assert_eq!(wrong_directions(&source("strange/mod.rs", "")).len(), 1);
    }

    #[test]
    fn sees_a_crate_away_from_home() {
        let sqlx = "let x = sqlx::query(\"\");";
        assert_eq!(homeless_crates(&source("app/mod.rs", sqlx)).len(), 1);
        assert!(homeless_crates(&source("store/sqlite/read.rs", sqlx)).is_empty());
        assert_eq!(homeless_crates(&source("store/mod.rs", sqlx)).len(), 1);
        assert_eq!(homeless_crates(&source("hook/mod.rs", "use tokio::time;")).len(), 1);
        assert!(homeless_crates(&source("app/mod.rs", "use tokio::time;")).is_empty());
        assert!(
            homeless_crates(&source("app/mod.rs", "let a = model::x;\nlet b = excel::y;"))
                .is_empty()
        );
        assert!(homeless_crates(&source("bundle/schema.rs", "jsonschema::options()")).is_empty());
    }

    #[test]
    fn sees_what_the_gateway_takes_from_the_store() {
        let both = "use crate::store::{Committed, Store};";
        assert_eq!(more_of_the_store_than_committed(&source("gateway/mod.rs", both)).len(), 1);
        let one = "use crate::store::Committed;";
        assert!(more_of_the_store_than_committed(&source("gateway/mod.rs", one)).is_empty());
    }

    #[test]
    fn sees_heads_sizes_names_permits_and_built_sql() {
        let head = "//! Owns: a.\n//! Must not know: b.\n//! Start reading at: c.\n";
        assert!(missing_head(&source("seal/mod.rs", head)).is_none());
        assert!(missing_head(&source("seal/mod.rs", "//! Owns: a.\n")).is_some());
        assert!(missing_head(&source("seal/sealer.rs", "")).is_none());
        assert!(too_long(&source("a.rs", &"x\n".repeat(600))).is_none());
        assert!(too_long(&source("a.rs", &"x\n".repeat(601))).is_some());
        assert_eq!(business_names(&source("app/mod.rs", "// a Refund")).len(), 1);
        assert!(business_names(&source("demo/mod.rs", "// a Refund")).is_empty());
        assert!(business_names(&source("app/mod.rs", "// in order of time")).is_empty());
        assert_eq!(stray_read_permits(&source("app/data.rs", "ReadPermit::new(c)")).len(), 1);
        assert!(
            stray_read_permits(&source("app/intent/submit.rs", "ReadPermit::new(c)")).is_empty()
        );
        assert!(unsafe_sql(&source("store/sqlite/read.rs", "AssertSqlSafe(text)")).is_some());
    }
}

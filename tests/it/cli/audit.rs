//! The decision log is asked of a copy, with no daemon.

use std::{
    path::Path,
    process::{Command, Output},
};

use serde_json::{Value, json};
use stateguard::seal::KeyFile;
use tempfile::TempDir;

use crate::support::{
    seam::SeededEntropy,
    stores::Home,
    world::{World, intent},
};

/// A store that was played on, and the files that an auditor needs.
struct Case {
    world: World,
    folder: TempDir,
    url: String,
    action: String,
}

impl Case {
    async fn on(home: Home) -> Self {
        let world = World::new(home).await;
        let session = world.open("cus_1001", &["CMD-9988"]).await;
        let answer = world.refund(&session, "CMD-9988").await.unwrap();
        let other = world.open("cus_1001", &[]).await;
        world.submit(&other, intent("wire_money", json!({}))).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let key = KeyFile::generate(SeededEntropy::new(5).as_ref());
        std::fs::write(folder.path().join("seal.key"), key.render().as_str()).unwrap();
        let mut case = Self {
            url: world.home.url().to_owned(),
            world,
            folder,
            action: answer.action.id.to_string(),
        };
        if case.world.home.database().is_none() {
            let copy = case.path("copy.db");
            case.world.home.tamper(&format!("VACUUM INTO '{copy}'")).await.unwrap();
            case.url = format!("sqlite:{copy}");
        }
        case
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn audit(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_stateguard"))
            .arg("audit")
            .args(arguments)
            .args(["--store", &self.url, "--seal-key", &self.path("seal.key")])
            .output()
            .unwrap()
    }
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

async fn a_copy_is_verified_queried_and_explained(home: Home) {
    let case = Case::on(home).await;
    let verified = case.audit(&["verify", "--output", "json"]);
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified));
    let report: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert!(
        report["entries"].as_u64().unwrap() > 5
            && report["decisions_made_again"].as_u64().unwrap() >= 3,
        "{report}"
    );

    let denied = case.audit(&["query", "--decision", "deny", "--output", "json"]);
    let lines = String::from_utf8(denied.stdout).unwrap();
    let entry: Value = serde_json::from_str(lines.trim()).expect("one line, one entry");
    assert_eq!(entry["reasons"], json!(["unknown_tool"]));
    let none = case.audit(&["query", "--reason", "identity_mismatch"]);
    assert_eq!((none.status.code(), none.stdout.len()), (Some(0), 0));
    let wrong = case.audit(&["query", "--since", "yesterday"]);
    assert!(wrong.status.code() == Some(1) && text(&wrong).contains("yesterday"));

    let told = text(&case.audit(&["explain", &case.action]));
    for part in [
        "create_refund_request",
        "where the arguments came from",
        "/order_id",
        "[dispatched -> succeeded]",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = case.audit(&["explain", &case.action, "--output", "json"]);
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(told["decisions"][0]["decision"], "allow");
    let unknown = case.audit(&["explain", "act_00000000000000000000000000"]);
    assert!(unknown.status.code() == Some(1) && text(&unknown).contains("no entry"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_copy_is_verified_queried_and_explained() {
    a_copy_is_verified_queried_and_explained(Home::sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_verified_queried_and_explained() {
    a_copy_is_verified_queried_and_explained(Home::postgres().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edited_copy_ends_with_3_and_names_the_entry() {
    use sqlx::{Connection, Executor, SqliteConnection};
    let case = Case::on(Home::sqlite().await).await;
    let mut copy = SqliteConnection::connect(&case.url).await.unwrap();
    copy.execute("DROP TRIGGER entries_never_change").await.unwrap();
    let edit = "UPDATE entries SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"deny\"', '\"allow\"') AS BLOB) WHERE decision = 'deny'";
    assert_eq!(copy.execute(edit).await.unwrap().rows_affected(), 1);
    let edited: String = sqlx::query_scalar("SELECT entry_id FROM entries WHERE decision = 'deny'")
        .fetch_one(&mut copy)
        .await
        .unwrap();
    copy.close().await.unwrap();
    let verified = case.audit(&["verify"]);
    assert_eq!(verified.status.code(), Some(3), "{}", text(&verified));
    assert!(text(&verified).contains(&format!("entry_edited {edited}")), "{}", text(&verified));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_was_cut_at_its_end_is_found_although_the_columns_were_mended() {
    use sqlx::{Connection, Executor, SqliteConnection};
    let case = Case::on(Home::sqlite().await).await;
    let mut copy = SqliteConnection::connect(&case.url).await.unwrap();
    for sql in [
        "DROP TRIGGER entries_never_go",
        "DELETE FROM entries WHERE (session_id, session_seq) IN (SELECT session_id, entry_count FROM sessions)",
        "UPDATE sessions SET entry_count = entry_count - 1",
    ] {
        copy.execute(sql).await.unwrap();
    }
    copy.close().await.unwrap();
    let verified = case.audit(&["verify"]);
    assert_eq!(verified.status.code(), Some(3), "{}", text(&verified));
    assert!(text(&verified).contains("entry_missing"), "{}", text(&verified));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_key_or_the_file_nothing_is_claimed() {
    let case = Case::on(Home::sqlite().await).await;
    std::fs::write(
        case.path("seal.key"),
        KeyFile::generate(SeededEntropy::new(6).as_ref()).render().as_str(),
    )
    .unwrap();
    let verified = case.audit(&["verify"]);
    assert_eq!(
        verified.status.code(),
        Some(3),
        "another key makes no entry true: {}",
        text(&verified)
    );
    std::fs::remove_file(case.path("seal.key")).unwrap();
    let keyless = case.audit(&["verify"]);
    assert!(
        keyless.status.code() == Some(1) && text(&keyless).contains("seal.key"),
        "{}",
        text(&keyless)
    );
    assert!(Path::new(&case.path("copy.db")).exists());
    std::fs::remove_file(case.path("copy.db")).unwrap();
    let nothing = case.audit(&["query"]);
    assert!(nothing.status.code() == Some(1) && text(&nothing).contains("there is no file"));
    assert!(!Path::new(&case.path("copy.db")).exists(), "asking makes no file");
}

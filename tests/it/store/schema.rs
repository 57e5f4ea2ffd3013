use sqlx::{Connection, Executor, SqlSafeStr, SqliteConnection};
use stateguard::store::{self, Refusal, StoreError};

use super::build::World;
use crate::support::{postgres::Database, stores::Home};

pub(super) async fn every_statement_can_be_prepared(home: &Home) {
    for (name, postgres, sqlite) in store::every_statement() {
        let prepared = match home.database() {
            Some(database) => {
                database.connect().await.prepare(postgres.into_sql_str()).await.map(drop)
            }
            None => {
                let mut connection = SqliteConnection::connect(home.url()).await.unwrap();
                connection.prepare(sqlite.into_sql_str()).await.map(drop)
            }
        };
        prepared.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

pub(super) async fn opening_again_migrates_nothing(home: &Home) {
    let world = World::of("acme");
    let session = world.opened(&*home.store()).await;
    let again = home.another().await;
    assert_eq!(again.session(&world.tenant, &session.session).await.unwrap(), Some(session));
    again.ping().await.unwrap();
}

pub(super) async fn a_newer_schema_is_refused(home: &Home) {
    let insert =
        "INSERT INTO schema_version (version, name, checksum) VALUES (999, '0999_future', '00')";
    home.tamper(insert).await.unwrap();
    for refused in
        [store::open(home.url(), None, 1).await, store::open_to_read(home.url(), None).await]
    {
        assert!(matches!(refused.unwrap_err(), StoreError::NewerSchema { found: 999, .. }));
    }
}

pub(super) async fn a_schema_of_other_files_is_refused(home: &Home) {
    home.tamper("UPDATE schema_version SET checksum = '00' WHERE version = 2").await.unwrap();
    let refused = store::open(home.url(), None, 1).await.unwrap_err();
    assert!(matches!(refused, StoreError::Corrupt { table: "schema_version", .. }), "{refused}");
}

pub(super) async fn several_handles_migrate_an_empty_database_once(home: &Home) {
    let database = match home.database() {
        Some(_) => Some(Database::empty().await),
        None => None,
    };
    let url = match &database {
        Some(database) => database.url.clone(),
        None => format!("{}-second", home.url()),
    };
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let url = url.clone();
        opening.spawn(async move { store::open(&url, None, 2).await.map(|_| ()) });
    }
    for opened in opening.join_all().await {
        opened.unwrap();
    }
}

pub(super) async fn a_store_opened_to_read_refuses_every_commit(home: &Home) {
    let world = World::of("acme");
    let session = world.opened(&*home.store()).await;
    let reading = store::open_to_read(home.url(), None).await.unwrap();
    assert_eq!(
        reading.session(&world.tenant, &session.session).await.unwrap(),
        Some(session.clone())
    );
    let refused = store::commit_one(&*reading, world.step(&session)).await.unwrap_err();
    assert!(matches!(refused, Refusal::Store(StoreError::Unavailable(_))), "{refused}");
    let missing = store::open_to_read("sqlite:/nowhere/at/all.db", None).await.unwrap_err();
    assert!(missing.to_string().contains("there is no file"), "{missing}");
}

/// (table, column, kind, may be null), with kinds in one spelling.
type Column = (String, String, String, bool);

#[tokio::test]
async fn both_schemas_have_the_same_tables_and_columns() {
    let (lite, pg) = (Home::sqlite().await, Home::postgres().await);
    let mut connection = SqliteConnection::connect(lite.url()).await.unwrap();
    let tables = "SELECT m.name, c.name, lower(c.type), c.\"notnull\" = 0 FROM sqlite_master m, pragma_table_info(m.name) c \
        WHERE m.type = 'table' AND m.name <> 'schema_version' ORDER BY m.name, c.cid";
    let of_sqlite: Vec<Column> = sqlx::query_as(tables).fetch_all(&mut connection).await.unwrap();
    let mut connection = pg.database().unwrap().connect().await;
    let tables = "SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'YES' FROM information_schema.columns \
        WHERE table_schema = 'public' AND table_name <> 'schema_version' ORDER BY table_name, ordinal_position";
    let of_postgres: Vec<Column> = sqlx::query_as(tables).fetch_all(&mut connection).await.unwrap();
    let spelled = |(table, column, kind, null): Column| {
        let kind = match kind.as_str() {
            "bigint" | "boolean" => "integer".to_owned(),
            "bytea" => "blob".to_owned(),
            other => other.to_owned(),
        };
        (table, column, kind, null)
    };
    let of_postgres: Vec<Column> = of_postgres.into_iter().map(spelled).collect();
    assert!(of_sqlite.len() > 50);
    assert_eq!(of_sqlite, of_postgres);
}

#[tokio::test]
async fn every_key_begins_with_the_tenant() {
    let pg = Home::postgres().await;
    let mut connection = pg.database().unwrap().connect().await;
    let keys = "SELECT i.indexrelid::regclass::text, a.attname::text FROM pg_index i \
        JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace \
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0] \
        WHERE n.nspname = 'public' AND i.indisunique AND t.relname NOT IN ('bundles', 'schema_version')";
    let keys: Vec<(String, String)> =
        sqlx::query_as(keys).fetch_all(&mut connection).await.unwrap();
    assert!(keys.len() >= 12, "{keys:?}");
    for (index, first) in keys {
        assert_eq!(first, "tenant_id", "{index}");
    }
    let foreign: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_constraint WHERE contype = 'f'")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(foreign, 0);
}

#[tokio::test]
async fn sqlite_tables_are_strict() {
    let lite = Home::sqlite().await;
    let mut connection = SqliteConnection::connect(lite.url()).await.unwrap();
    let loose = "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 \
        AND name NOT LIKE 'sqlite_%' AND name <> 'schema_version'";
    let loose: i64 = sqlx::query_scalar(loose).fetch_one(&mut connection).await.unwrap();
    assert_eq!(loose, 0);
    let mode: String =
        sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut connection).await.unwrap();
    assert_eq!(mode, "wal");
}

//! PostgreSQL for tests: a database of its own for every test, copied from a template that was migrated once.
//!
//! `scripts/test` names a server in `STATEGUARD_TEST_POSTGRES`; without it this process starts a private one in a
//! temporary folder, from the binaries that `pg_config` names, and it ends with this process however that ends.

use std::{
    fs,
    io::Read,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::PathBuf,
    process::{Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::sync::OnceCell;

static SERVER: OnceLock<String> = OnceLock::new();
static TEMPLATE: OnceCell<String> = OnceCell::const_new();
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A database of one test; dropped with it.
#[derive(Debug)]
pub(crate) struct Database {
    name: String,
    pub(crate) url: String,
}

impl Database {
    /// A copy of the migrated template.
    pub(crate) async fn fresh() -> Self {
        let template = TEMPLATE.get_or_init(make_template).await;
        Self::make(&format!("TEMPLATE {template}")).await
    }

    /// A database without any table.
    pub(crate) async fn empty() -> Self {
        Self::make("").await
    }

    async fn make(from: &str) -> Self {
        let name = format!("sg_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
        let mut admin = admin().await;
        let make = format!("CREATE DATABASE {name} {from}");
        admin.execute(AssertSqlSafe(make)).await.expect("the test's database");
        Self { url: url_of(&name), name }
    }

    pub(crate) async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.expect("a connection to the test's database")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let name = self.name.clone();
        // A test may run on a single-threaded runtime, which cannot wait here itself.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                let _ = admin().await.execute(AssertSqlSafe(drop)).await;
            });
        });
        let _ = dropped.join();
    }
}

async fn make_template() -> String {
    let name = format!("sg_template_{}", std::process::id());
    let mut admin = admin().await;
    let again = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    admin.execute(AssertSqlSafe(again)).await.expect("no template of an earlier process");
    let make = format!("CREATE DATABASE {name}");
    admin.execute(AssertSqlSafe(make)).await.expect("the template");
    stateguard::store::open(&url_of(&name), None, 1).await.expect("a migrated template");
    // Nobody may be connected to a database that is copied.
    let lock = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false");
    admin.execute(AssertSqlSafe(lock)).await.expect("a closed template");
    let leave =
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    admin.execute(AssertSqlSafe(leave)).await.expect("a template without visitors");
    name
}

async fn admin() -> PgConnection {
    let url = SERVER.get_or_init(server);
    for _ in 0..300 {
        match PgConnection::connect(url).await {
            Ok(connection) => return connection,
            // The private server is still starting.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    panic!("no connection to PostgreSQL at {url}");
}

fn url_of(database: &str) -> String {
    let url = SERVER.get_or_init(server);
    let (front, query) = url.split_once('?').unwrap_or((url, ""));
    let (server, _) = front.rsplit_once('/').expect("a database in the address");
    format!("{server}/{database}?{query}")
}

fn server() -> String {
    #[allow(
        clippy::disallowed_methods,
        reason = "scripts/test hands the server over by environment"
    )]
    let given = std::env::var("STATEGUARD_TEST_POSTGRES").ok();
    given.unwrap_or_else(start_private_server)
}

/// Starts a server whose life hangs on a pipe: when this process ends, `cat` ends, and the shell stops the server and
/// removes its folder.
fn start_private_server() -> String {
    let bin = postgres_bin();
    let folder = tempfile::Builder::new().prefix("sg-it-").tempdir().expect("a folder").keep();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("a readable folder");
    let script = r#"
        trap '' INT
        bin=$1; dir=$2
        run=
        if [ "$(id -u)" = 0 ]; then
            account=nobody
            id postgres >/dev/null 2>&1 && account=postgres
            chown "$account" "$dir"
            run="setpriv --reuid=$account --regid=$(id -g $account) --clear-groups"
        fi
        cd "$dir"
        $run "$bin/initdb" -D "$dir/data" -U stateguard -A trust -E UTF8 --locale=C --no-sync --no-instructions >"$dir/log" 2>&1 || exit 1
        $run "$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c max_connections=300 -c shared_buffers=64MB \
            -c fsync=off -c synchronous_commit=off -c full_page_writes=off >>"$dir/log" 2>&1 &
        server=$!
        echo started
        cat >/dev/null
        kill -INT $server
        wait $server
        cd /
        rm -rf "$dir"
    "#;
    let mut shell = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(&bin)
        .arg(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut said = [0; 8];
    let started = shell.stdout.take().expect("its output").read_exact(&mut said);
    assert!(started.is_ok(), "PostgreSQL did not start; see {}/log", folder.display());
    // Held to the end of the process, and with it the pipe.
    std::mem::forget(shell);
    format!("postgres://stateguard@localhost/postgres?host={}", folder.display())
}

fn postgres_bin() -> PathBuf {
    let named = Command::new("pg_config").arg("--bindir").output().ok();
    let named = named.map(|out| PathBuf::from(String::from_utf8_lossy(&out.stdout).trim()));
    let mut folders: Vec<PathBuf> = named.into_iter().collect();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let runs = |path: PathBuf| path.metadata().is_ok_and(|file| file.mode() & 0o111 != 0);
    folders
        .into_iter()
        .find(|bin| runs(bin.join("initdb")) && runs(bin.join("postgres")))
        .expect("PostgreSQL is missing: run scripts/test, which installs or names the package")
}

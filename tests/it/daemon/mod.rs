//! A daemon starts, says where it is, refuses what must not start, and ends in order.

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use stateguard::{
    config::{Config, Environment, Mode},
    daemon::{self, Listening, Seam, dev},
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::support::stores::Home;

fn bundle() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("policies/library-desk")
}

fn config(folder: &Path) -> Config {
    let mut config = Config { mode: Mode::Dev, ..Config::default() };
    config.grpc.listen.set_port(0);
    config.http.listen.set_port(0);
    config.store.url = format!("sqlite:{}", folder.join("daemon.db").display());
    config.bundle.path = bundle();
    let library = stateguard::config::Endpoint {
        base_url: "http://127.0.0.1:9/".into(),
        headers: Default::default(),
    };
    config.tools.endpoints.insert("library".into(), library);
    dev::complete(&mut config, folder, Seam::system().entropy.as_ref()).unwrap();
    config
}

struct Running {
    listening: Listening,
    stop: CancellationToken,
    ended: tokio::task::JoinHandle<Result<(), daemon::DaemonError>>,
}

async fn start(config: Config) -> Running {
    let stop = CancellationToken::new();
    let (announce, announced) = tokio::sync::oneshot::channel();
    let stopped = stop.clone();
    let ended = tokio::spawn(async move {
        let environment = Environment::default();
        let tell = |listening: &Listening| drop(announce.send(listening.clone()));
        Box::pin(daemon::run(&config, &environment, Seam::system(), stopped, tell)).await
    });
    Running { listening: announced.await.expect("a daemon that serves"), stop, ended }
}

async fn refused(config: Config) -> String {
    let (environment, stop) = (Environment::default(), CancellationToken::new());
    let run = daemon::run(&config, &environment, Seam::system(), stop, |_| {});
    Box::pin(run).await.unwrap_err().to_string()
}

async fn get(listening: &Listening, path: &str) -> (u16, String) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(listening.http).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

async fn serves_and_stops(config: Config) {
    let daemon = start(config).await;
    assert_eq!(get(&daemon.listening, "/livez").await.0, 200);
    assert_eq!(get(&daemon.listening, "/readyz").await, (200, r#"{"ready":true}"#.to_owned()));
    assert!(daemon.listening.bundle.starts_with("library-desk@"));
    let address = format!("http://{}", daemon.listening.grpc);
    let channel = tonic::transport::Endpoint::new(address).unwrap().connect().await.unwrap();
    let mut health = HealthClient::new(channel);
    for service in ["", "stateguard.v1.IntentService"] {
        let request = HealthCheckRequest { service: service.to_owned() };
        assert_eq!(health.check(request).await.unwrap().into_inner().status, 1, "{service}");
    }
    let unknown = HealthCheckRequest { service: "stateguard.v1.Other".into() };
    assert!(health.check(unknown).await.is_err());
    drop(health);
    daemon.stop.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(20), daemon.ended).await;
    ended.expect("an end in time").unwrap().unwrap();
    assert!(tokio::net::TcpStream::connect(daemon.listening.grpc).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_on_sqlite_serves_both_ports_and_ends_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    serves_and_stops(config).await;
    assert!(!folder.path().join("daemon.db-wal").exists(), "the database lies in its file");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_on_postgres_serves_both_ports_and_ends_in_order() {
    let (home, folder) = (Home::postgres().await, tempfile::tempdir().unwrap());
    let mut config = config(folder.path());
    config.store.url = home.url().to_owned();
    serves_and_stops(config).await;
}

#[tokio::test]
async fn what_must_not_start_does_not_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let base = || config(folder.path());
    let with = |change: fn(&mut Config)| {
        let mut config = base();
        change(&mut config);
        config
    };
    let open = refused(with(|c| c.grpc.listen = "0.0.0.0:0".parse().unwrap())).await;
    assert!(open.contains("loopback"), "{open}");
    let unbundled = refused(with(|c| c.bundle.path = "/nowhere".into())).await;
    assert!(unbundled.contains("/nowhere") && unbundled.contains("bundle.yaml"), "{unbundled}");
    let endless = refused(with(|c| c.tools.endpoints.clear())).await;
    assert!(endless.contains("tools.endpoints.library"), "{endless}");
    let keyless = refused(with(|c| c.identity.issuers[0].jwks_file = "/nowhere.jwks".into())).await;
    assert!(keyless.contains("identity.issuers[0].jwks_file"), "{keyless}");
    let lax = refused(with(|c| c.identity.issuers[0].types = vec!["sg-king".into()])).await;
    assert!(lax.contains("`sg-king`"), "{lax}");
    let shared = refused(with(|c| {
        c.identity.issuers[1].jwks_file = c.identity.issuers[0].jwks_file.clone()
    }))
    .await;
    assert!(shared.contains("another issuer"), "{shared}");
    let store = refused(with(|c| c.store.url = "mysql://h/d".into())).await;
    assert!(store.contains("store.url"), "{store}");
}

fn serve_as_a_process(folder: &TempDir) -> (Child, serde_json::Value) {
    let path = folder.path().display();
    let mut child = Command::new(env!("CARGO_BIN_EXE_stateguard"))
        .args([
            "serve",
            "--dev",
            "--dev-folder",
            &format!("{path}/keys"),
            "--store",
            &format!("sqlite:{path}/p.db"),
        ])
        .args(["--set", "grpc.listen=127.0.0.1:0", "--set", "http.listen=127.0.0.1:0"])
        .args(["--set", "tools.endpoints={library: {base_url: 'http://127.0.0.1:9/'}}"])
        .arg("--bundle")
        .arg(bundle())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said = serde_json::from_str(&line).unwrap_or_else(|_| {
        let mut why = String::new();
        child.stderr.take().unwrap().read_to_string(&mut why).unwrap();
        panic!("no line: {line} {why}")
    });
    (child, said)
}

#[test]
fn a_process_prints_where_it_listens_and_ends_well_at_sigterm() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let (mut child, said) = serve_as_a_process(&folder);
        assert_eq!((said["store"].as_str(), said["mode"].as_str()), (Some("sqlite"), Some("dev")));
        let grpc: std::net::SocketAddr = said["grpc"].as_str().unwrap().parse().unwrap();
        assert!(std::net::TcpStream::connect(grpc).is_ok());
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert!(child.wait().unwrap().success());
    }
}

//! The demonstration's shop, over its own HTTP ports and its own database.

use std::{net::SocketAddr, time::Duration};

use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use sqlx::{SqlitePool, sqlite::SqliteConnectOptions};
use stateguard::demo::shop::{Shop, ShopOptions, ShopPorts};
use tokio_util::sync::{CancellationToken, DropGuard};

const KEY: &str = "shop-test-key";

struct Running {
    ports: ShopPorts,
    client: Client,
    rows: SqlitePool,
    _stop: DropGuard,
    _folder: tempfile::TempDir,
}

impl Running {
    async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = tempfile::tempdir().unwrap();
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let options = ShopOptions {
            db: folder.path().join("shop.db"),
            listen: any,
            faults_listen: any,
            api_key: KEY.to_owned(),
            mails: Vec::new(),
        };
        let shop = Shop::bind(options).await.unwrap();
        let ports = shop.ports().clone();
        let stop = CancellationToken::new();
        tokio::spawn(shop.serve(stop.clone()));
        let rows = SqlitePool::connect_with(SqliteConnectOptions::new().filename(&ports.db))
            .await
            .unwrap();
        let client = Client::builder().no_proxy().timeout(Duration::from_secs(5)).build().unwrap();
        Self { ports, client, rows, _stop: stop.drop_guard(), _folder: folder }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.ports.shop)
    }

    async fn get(&self, path: &str) -> Response {
        self.client.get(self.url(path)).header("X-Api-Key", KEY).send().await.unwrap()
    }

    async fn try_post(&self, path: &str, key: &str, body: Value) -> reqwest::Result<Response> {
        let request = self.client.post(self.url(path)).header("X-Api-Key", KEY);
        request
            .header("Idempotency-Key", key)
            .header("Content-Type", "application/json")
            .body(body.to_string())
            .send()
            .await
    }

    async fn post(&self, path: &str, key: &str, body: Value) -> (StatusCode, Value) {
        let answer = self.try_post(path, key, body).await.unwrap();
        (answer.status(), read(answer).await)
    }

    async fn fault(&self, path: &str, mode: &str, times: Option<u32>) {
        let body = json!({"path": path, "mode": mode, "times": times});
        let url = format!("http://{}/faults", self.ports.faults);
        let put = self.client.put(url).header("Content-Type", "application/json");
        let answer = put.body(body.to_string()).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    }

    async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.rows).await.unwrap()
    }
}

async fn read(answer: Response) -> Value {
    serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
}

fn wanted(order: &str, cents: i64) -> Value {
    json!({"order_id": order, "reason": "service_failure", "expected_cents": cents})
}

#[tokio::test]
async fn a_refund_is_paid_once_per_key_and_the_stored_answer_comes_back() {
    let shop = Running::start().await;
    let (first, paid) = shop.post("/v1/refunds", "k-1", wanted("CMD-9988", 4990)).await;
    let (second, again) = shop.post("/v1/refunds", "k-1", wanted("CMD-9988", 4990)).await;

    assert_eq!((first, second), (StatusCode::CREATED, StatusCode::OK));
    assert_eq!(paid, again);
    assert_eq!(
        paid,
        json!({"refund_id": "rf_1001", "order_id": "CMD-9988", "amount_cents": 4990,
               "currency": "EUR", "status": "paid"})
    );
    assert_eq!(shop.count("SELECT count(*) FROM refunds WHERE order_id = 'CMD-9988'").await, 1);
    let order = read(shop.get("/v1/orders/CMD-9988").await).await;
    assert_eq!((&order["refundable_cents"], &order["version"]), (&json!(0), &json!(8)));
    let listed = read(shop.get("/v1/refunds?order_id=CMD-9988").await).await;
    assert_eq!(listed["items"][0]["refund_id"], "rf_1001");
    let by_key = read(shop.get("/v1/refunds?request_key=k-1").await).await;
    assert_eq!(by_key["items"], listed["items"]);
}

#[tokio::test]
async fn a_key_with_another_body_a_missing_key_and_an_empty_order_are_refused() {
    let shop = Running::start().await;
    shop.post("/v1/refunds", "k-1", wanted("CMD-9988", 4990)).await;

    let (reused, _) = shop.post("/v1/refunds", "k-1", wanted("CMD-8120", 24900)).await;
    let (empty, body) = shop.post("/v1/refunds", "k-2", wanted("CMD-9988", 4990)).await;
    let (cancelled, _) = shop.post("/v1/refunds", "k-3", wanted("CMD-3300", 5400)).await;
    let (other_sum, changed) = shop.post("/v1/refunds", "k-4", wanted("CMD-8120", 1)).await;
    let url = shop.url("/v1/refunds");
    let post = shop.client.post(url).header("X-Api-Key", KEY).body("{}").send().await.unwrap();

    assert_eq!(reused, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!((empty, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("not_eligible")));
    assert_eq!(cancelled, StatusCode::CONFLICT);
    assert_eq!(
        (other_sum, &changed["error"]["code"]),
        (StatusCode::CONFLICT, &json!("amount_changed"))
    );
    assert_eq!(post.status(), StatusCode::BAD_REQUEST);
    assert_eq!(shop.count("SELECT count(*) FROM refunds WHERE refund_id != 'rf_1000'").await, 1);
}

#[tokio::test]
async fn without_the_api_key_nothing_is_answered_but_the_request_is_logged() {
    let shop = Running::start().await;
    let answer = shop.client.get(shop.url("/v1/orders/CMD-9988")).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    let logged =
        "SELECT count(*) FROM requests WHERE status = 401 AND path = '/v1/orders/CMD-9988'";
    assert_eq!(shop.count(logged).await, 1);
}

#[tokio::test]
async fn a_note_is_written_once_per_key_and_listed_by_order() {
    let shop = Running::start().await;
    let note = json!({"order_id": "CMD-9988", "text": "lamp broken, photos announced"});
    let (first, written) = shop.post("/v1/notes", "n-1", note.clone()).await;
    let (second, again) = shop.post("/v1/notes", "n-1", note).await;
    let listed = read(shop.get("/v1/notes?order_id=CMD-9988").await).await;
    let (unknown, _) =
        shop.post("/v1/notes", "n-2", json!({"order_id": "CMD-1", "text": "x"})).await;

    assert_eq!((first, second), (StatusCode::CREATED, StatusCode::OK));
    assert_eq!(written, again);
    assert_eq!(listed["items"], json!([written]));
    assert_eq!(unknown, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_mail_is_served_as_its_bytes() {
    let shop = Running::start().await;
    let answer = shop.get("/v1/mails/skarha-na-tovar").await;
    assert_eq!(answer.headers()["content-type"], "message/rfc822");
    let bytes = answer.bytes().await.unwrap();
    let file = include_bytes!("../../../examples/refund-desk/mail/skarha-na-tovar.eml");
    assert_eq!(&bytes[..], &file[..]);
    let list = read(shop.get("/v1/mails").await).await;
    assert!(list["items"].as_array().unwrap().len() >= 10);
    assert_eq!(shop.get("/v1/mails/none").await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_lie_says_paid_and_writes_nothing_or_another_sum() {
    let shop = Running::start().await;
    shop.fault("/v1/refunds", "lie", Some(1)).await;
    let (told, lied) = shop.post("/v1/refunds", "k-1", wanted("CMD-9988", 4990)).await;
    assert_eq!((told, &lied["status"]), (StatusCode::CREATED, &json!("paid")));
    assert_eq!(shop.count("SELECT count(*) FROM refunds WHERE order_id = 'CMD-9988'").await, 0);

    shop.fault("/v1/refunds", "lie:100", Some(1)).await;
    let (_, lied) = shop.post("/v1/refunds", "k-2", wanted("CMD-9988", 4990)).await;
    assert_eq!(lied["amount_cents"], 4990);
    let paid = "SELECT sum(amount_cents) FROM refunds WHERE order_id = 'CMD-9988'";
    assert_eq!(shop.count(paid).await, 100);
}

#[tokio::test]
async fn faults_that_act_leave_the_effect_and_spoil_the_answer() {
    let shop = Running::start().await;
    shop.fault("/v1/refunds", "act_then_hang", Some(1)).await;
    let hang = tokio::time::timeout(
        Duration::from_millis(700),
        shop.try_post("/v1/refunds", "k-1", wanted("CMD-9988", 4990)),
    );
    assert!(hang.await.is_err());
    assert_eq!(shop.count("SELECT count(*) FROM refunds WHERE order_id = 'CMD-9988'").await, 1);
    assert_eq!(shop.count("SELECT count(*) FROM requests WHERE status IS NULL").await, 1);

    shop.fault("/v1/refunds", "cut:20", Some(1)).await;
    let cut = shop.try_post("/v1/refunds", "k-2", wanted("CMD-8120", 24900)).await.unwrap();
    assert!(cut.bytes().await.is_err());
    shop.fault("/v1/orders", "duplicate_key", Some(1)).await;
    let twice = shop.get("/v1/orders/CMD-4410").await.text().await.unwrap();
    assert_eq!(twice.matches("\"order_id\":").count(), 2);
    shop.fault("/v1/orders", "wrong_total", Some(1)).await;
    let wrong = read(shop.get("/v1/orders/CMD-4410").await).await;
    assert_eq!(wrong["refundable_cents"], 67500);
}

#[tokio::test]
async fn faults_that_do_not_act_leave_no_effect() {
    let shop = Running::start().await;
    for (mode, status) in [("503", 503), ("html_200", 200), ("429", 429)] {
        shop.fault("/v1/refunds", mode, Some(1)).await;
        let answer = shop.try_post("/v1/refunds", "k-1", wanted("CMD-9988", 4990)).await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{mode}");
    }
    shop.fault("/v1/refunds", "down", Some(1)).await;
    let dropped = shop.try_post("/v1/refunds", "k-1", wanted("CMD-9988", 4990)).await;
    assert!(!dropped.unwrap_err().is_connect());
    assert_eq!(shop.count("SELECT count(*) FROM refunds WHERE order_id = 'CMD-9988'").await, 0);
}

#[tokio::test]
async fn a_shop_that_is_down_refuses_connections_and_comes_back() {
    let shop = Running::start().await;
    shop.fault("*", "down", None).await;
    let order = shop.url("/v1/orders/CMD-9988");
    let mut refused = false;
    for _ in 0..50 {
        let fresh = Client::builder().no_proxy().build().unwrap();
        let failed = fresh.get(&order).header("X-Api-Key", KEY).send().await.unwrap_err();
        refused |= failed.is_connect();
        if refused {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(refused, "the port was never closed");
    shop.fault("*", "", None).await;
    for _ in 0..200 {
        let fresh = Client::builder().no_proxy().build().unwrap();
        if let Ok(answer) = fresh.get(&order).header("X-Api-Key", KEY).send().await {
            assert_eq!(answer.status(), StatusCode::OK);
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the port did not open again");
}

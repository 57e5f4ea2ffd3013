//! Owns: which fault is set for which path, and the port on which a test sets it.
//! Must not know: how a fault is played; that is `front.rs`.
//! Start reading at: `Mode`.

use std::{
    str::FromStr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::State,
    http::{Method, StatusCode},
    routing::put,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// What the shop does wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    /// Does what was asked and never answers.
    ActThenHang,
    /// Answers a sign-in page with 200 and does nothing.
    Html200,
    /// Does what was asked and closes the connection after so many bytes of the answer's body.
    Cut(usize),
    /// Does what was asked; the first name of the answer stands in it twice.
    DuplicateKey,
    /// Does what was asked; the money in the answer is another.
    WrongTotal,
    /// Answers this status and does nothing.
    Status(u16),
    /// For `*`: refuses connections. For a path: takes the request and closes the connection without a byte.
    Down,
    /// Does what was asked and answers this much later.
    Delay(Duration),
    /// Says that it was done; nothing is done, or only so many cents of it.
    Lie(Option<i64>),
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "unknown mode `{text}`; use act_then_hang, html_200, cut:BYTES, duplicate_key, \
                 wrong_total, a status such as 503, down, delay:800ms, lie or lie:CENTS"
            )
        };
        let (name, value) = text.split_once(':').map_or((text, None), |(n, v)| (n, Some(v)));
        match (name, value) {
            ("act_then_hang", None) => Ok(Self::ActThenHang),
            ("html_200", None) => Ok(Self::Html200),
            ("cut", Some(bytes)) => bytes.parse().map(Self::Cut).map_err(|_| unknown()),
            ("duplicate_key", None) => Ok(Self::DuplicateKey),
            ("wrong_total", None) => Ok(Self::WrongTotal),
            ("down", None) => Ok(Self::Down),
            ("delay", Some(time)) => milliseconds(time).map(Self::Delay).ok_or_else(unknown),
            ("lie", None) => Ok(Self::Lie(None)),
            ("lie", Some(cents)) => {
                cents.parse().map(|c| Self::Lie(Some(c))).map_err(|_| unknown())
            }
            (status, None) => match status.parse() {
                Ok(code @ 400..=599) => Ok(Self::Status(code)),
                Ok(_) | Err(_) => Err(unknown()),
            },
            (_, Some(_)) => Err(unknown()),
        }
    }
}

fn milliseconds(text: &str) -> Option<Duration> {
    if let Some(ms) = text.strip_suffix("ms") {
        return ms.parse().ok().map(Duration::from_millis);
    }
    text.strip_suffix('s').and_then(|s| s.parse().ok()).map(Duration::from_secs)
}

/// One fault as a test sets it: `PUT /faults {"path","mode","times"}`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultSet {
    /// A path (`/v1/refunds`), which covers what stands below it, or `*`.
    path: String,
    /// Only requests of this method, when given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    /// See [`Mode`]; the empty text clears the path.
    mode: String,
    /// For how many requests; without it until it is cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<u32>,
}

impl FaultSet {
    fn covers(&self, method: &Method, path: &str) -> bool {
        let path_fits = self.path == "*"
            || path
                .strip_prefix(self.path.as_str())
                .is_some_and(|r| r.is_empty() || r.starts_with('/'));
        path_fits && self.method.as_deref().is_none_or(|m| m.eq_ignore_ascii_case(method.as_str()))
    }
}

/// The faults that are set now.
#[derive(Debug, Clone)]
pub(super) struct Faults {
    set: Arc<Mutex<Vec<FaultSet>>>,
    closed: watch::Sender<bool>,
}

impl Default for Faults {
    fn default() -> Self {
        Self { set: Arc::default(), closed: watch::Sender::new(false) }
    }
}

impl Faults {
    /// True while the whole shop is down.
    pub(super) fn closed(&self) -> watch::Receiver<bool> {
        self.closed.subscribe()
    }

    /// The fault for this request, if any; counts one of its times.
    pub(super) fn take(&self, method: &Method, path: &str) -> Option<Mode> {
        let mut set = self.lock();
        let at = set.iter().position(|fault| fault.covers(method, path))?;
        let fault = set.get_mut(at)?;
        let mode = fault.mode.parse().ok();
        if let Some(times) = &mut fault.times {
            *times = times.saturating_sub(1);
            if *times == 0 {
                set.remove(at);
            }
        }
        mode
    }

    /// Sets a fault until it is cleared.
    pub(super) fn set_first(&self, method: &str, path: &str, mode: &str) -> Result<(), String> {
        self.put(FaultSet {
            path: path.to_owned(),
            method: Some(method.to_owned()),
            mode: mode.to_owned(),
            times: None,
        })
    }

    fn put(&self, fault: FaultSet) -> Result<(), String> {
        let clears = fault.mode.is_empty();
        if !clears {
            let _: Mode = fault.mode.parse()?;
        }
        let mut set = self.lock();
        set.retain(|old| old.path != fault.path || old.method != fault.method);
        if !clears && fault.times != Some(0) {
            set.push(fault);
        }
        let closed = set.iter().any(|f| f.path == "*" && f.mode == "down");
        drop(set);
        self.closed.send_replace(closed);
        Ok(())
    }

    fn clear(&self) {
        self.lock().clear();
        self.closed.send_replace(false);
    }

    fn list(&self) -> Vec<FaultSet> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<FaultSet>> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The faults port: `PUT /faults` sets one, `GET /faults` lists them, `DELETE /faults` clears all.
pub(super) fn router(faults: Faults) -> Router {
    Router::new().route("/faults", put(set).get(list).delete(clear)).with_state(faults)
}

async fn set(State(faults): State<Faults>, Json(fault): Json<FaultSet>) -> (StatusCode, String) {
    match faults.put(fault) {
        Ok(()) => (StatusCode::NO_CONTENT, String::new()),
        Err(text) => (StatusCode::BAD_REQUEST, text),
    }
}

async fn list(State(faults): State<Faults>) -> Json<Vec<FaultSet>> {
    Json(faults.list())
}

async fn clear(State(faults): State<Faults>) -> StatusCode {
    faults.clear();
    StatusCode::NO_CONTENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_of_the_table_parses_and_others_name_what_is_allowed() {
        assert_eq!("cut:120".parse(), Ok(Mode::Cut(120)));
        assert_eq!("delay:800ms".parse(), Ok(Mode::Delay(Duration::from_millis(800))));
        assert_eq!("503".parse(), Ok(Mode::Status(503)));
        assert_eq!("lie:7".parse(), Ok(Mode::Lie(Some(7))));
        for wrong in ["", "200", "cut", "delay:soon", "lie:x", "html", "down:1"] {
            assert!(wrong.parse::<Mode>().unwrap_err().contains("act_then_hang"), "{wrong}");
        }
    }

    #[test]
    fn a_fault_covers_its_path_and_what_stands_below_it_and_ends_after_its_times() {
        let faults = Faults::default();
        let fault = FaultSet {
            path: "/v1/orders".to_owned(),
            method: None,
            mode: "503".to_owned(),
            times: Some(1),
        };
        faults.put(fault).unwrap();
        assert_eq!(faults.take(&Method::GET, "/v1/ordersomething"), None);
        assert_eq!(faults.take(&Method::GET, "/v1/orders/1"), Some(Mode::Status(503)));
        assert_eq!(faults.take(&Method::GET, "/v1/orders/1"), None);
    }
}

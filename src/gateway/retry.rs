//! Again or stop: pure, from what an attempt came to, the time left and an injected random number.

use std::time::Duration;

use super::classify::{Classification, Kind};
use crate::domain::{clock::Timestamp, reason::ReasonCode};

/// The numbers of CONVENTIONS C-4, C-6, C-10 and C-11.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all.
    pub max_attempts: u32,
    /// The first upper bound of the wait after a passing failure.
    pub base: Duration,
    /// The first upper bound of the wait after the tool asked for less traffic.
    pub throttled_base: Duration,
    /// The highest upper bound of a wait.
    pub cap: Duration,
    /// How much longer than our own wait a tool may ask us to wait.
    pub ask_slack: Duration,
    /// No attempt starts with less time left.
    pub least_left: Duration,
    /// No attempt takes longer.
    pub attempt_cap: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            base: Duration::from_millis(50),
            throttled_base: Duration::from_secs(1),
            cap: Duration::from_secs(20),
            ask_slack: Duration::from_secs(5),
            least_left: Duration::from_millis(100),
            attempt_cap: Duration::from_secs(10),
        }
    }
}

/// What follows an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Another attempt, after this wait.
    Again {
        /// How long to wait first.
        after: Duration,
    },
    /// No further attempt.
    Stop {
        /// The stop reason.
        code: ReasonCode,
        /// What the last attempt itself came to.
        cause: ReasonCode,
    },
}

impl RetryPolicy {
    /// The time of the next attempt, for a contract that allows `timeout` and a deadline in `left`.
    ///
    /// # Errors
    /// `deadline_too_close` when too little is left to begin.
    pub fn attempt_timeout(
        &self,
        timeout: Duration,
        left: Duration,
    ) -> Result<Duration, ReasonCode> {
        if left < self.least_left {
            return Err(ReasonCode::DeadlineTooClose);
        }
        let reserve = Duration::from_millis(20).max(left / 20);
        Ok(timeout.min(self.attempt_cap).min(left.saturating_sub(reserve)))
    }

    /// Whether another attempt follows the `made`-th one.
    ///
    /// `asked` is the wait that the tool asked for, `left` the time to the deadline, `random` a
    /// number from the injected source (full jitter).
    #[must_use]
    pub fn next(
        &self,
        made: u32,
        last: Classification,
        asked: Option<Duration>,
        left: Duration,
        random: u64,
    ) -> Next {
        let stop = |code| Next::Stop { code, cause: last.code };
        match last.kind {
            Kind::NonRetryable => return stop(last.code),
            Kind::Ambiguous => return stop(ReasonCode::OutcomeUnknown),
            Kind::Retryable => {}
        }
        if made >= self.max_attempts {
            let only_one = made <= 1;
            return stop(if only_one { last.code } else { ReasonCode::ToolRetryExhausted });
        }
        let own = self.jittered(made, last.throttled, random);
        let after = asked.map_or(own, |asked| asked.clamp(own, own.saturating_add(self.ask_slack)));
        if left.saturating_sub(after) >= self.least_left {
            return Next::Again { after };
        }
        let tool_asks = asked.is_some_and(|asked| asked > own);
        stop(if tool_asks {
            ReasonCode::RetryAfterBeyondDeadline
        } else {
            ReasonCode::DeadlineTooClose
        })
    }

    /// A wait between zero and the doubling bound.
    fn jittered(&self, made: u32, throttled: bool, random: u64) -> Duration {
        let base = if throttled { self.throttled_base } else { self.base };
        let doublings = made.saturating_sub(1).min(20);
        let bound = base.saturating_mul(1_u32 << doublings).min(self.cap);
        let micros = u64::try_from(bound.as_micros()).unwrap_or(u64::MAX - 1);
        Duration::from_micros(random % (micros + 1))
    }
}

/// The wait that a `Retry-After` header asks for: seconds, or an HTTP date. What is neither is
/// ignored; a date in the past is no wait.
#[must_use]
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let since_epoch = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    let now = Duration::from_micros(u64::try_from(now.micros()).unwrap_or(0));
    Some(since_epoch.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn failed(kind: Kind, throttled: bool) -> Classification {
        let code = ReasonCode::Tool5xx;
        Classification { kind, code, proven_not_executed: false, throttled }
    }

    fn waits(made: u32, throttled: bool, random: u64) -> Duration {
        let next = RetryPolicy::default().next(
            made,
            failed(Kind::Retryable, throttled),
            None,
            LONG,
            random,
        );
        match next {
            Next::Again { after } => after,
            Next::Stop { code, .. } => panic!("stopped: {code}"),
        }
    }

    fn stops(next: Next) -> ReasonCode {
        match next {
            Next::Stop { code, .. } => code,
            Next::Again { after } => panic!("again after {after:?}"),
        }
    }

    #[test]
    fn waits_are_spread_over_the_whole_doubling_bound() {
        assert_eq!(waits(1, false, 0), Duration::ZERO);
        assert_eq!(waits(1, false, 50_000), Duration::from_millis(50));
        assert_eq!(waits(1, false, 50_001), Duration::ZERO);
        assert_eq!(waits(2, false, 100_000), Duration::from_millis(100));
        assert_eq!(waits(2, true, 2_000_000), Duration::from_secs(2));
        let many = RetryPolicy { max_attempts: 40, ..RetryPolicy::default() };
        assert!(many.jittered(39, true, u64::MAX) <= many.cap);
    }

    #[test]
    fn three_attempts_are_all_and_what_may_not_be_repeated_is_not() {
        let policy = RetryPolicy::default();
        let retryable = failed(Kind::Retryable, false);
        assert_eq!(stops(policy.next(3, retryable, None, LONG, 1)), ReasonCode::ToolRetryExhausted);
        let refused = failed(Kind::NonRetryable, false);
        assert_eq!(stops(policy.next(1, refused, None, LONG, 1)), ReasonCode::Tool5xx);
        let unknown = failed(Kind::Ambiguous, false);
        assert_eq!(stops(policy.next(1, unknown, None, LONG, 1)), ReasonCode::OutcomeUnknown);
        let single = RetryPolicy { max_attempts: 1, ..policy };
        assert_eq!(stops(single.next(1, retryable, None, LONG, 1)), ReasonCode::Tool5xx);
    }

    #[test]
    fn what_the_tool_asks_for_is_followed_within_bounds_and_the_deadline() {
        let policy = RetryPolicy::default();
        let ask = |seconds, left| {
            let asked = Some(Duration::from_secs(seconds));
            policy.next(1, failed(Kind::Retryable, false), asked, left, 10_000)
        };
        assert_eq!(ask(2, LONG), Next::Again { after: Duration::from_secs(2) });
        assert_eq!(ask(0, LONG), Next::Again { after: Duration::from_millis(10) });
        let most = Duration::from_millis(5_010);
        assert_eq!(ask(1_000_000_000, LONG), Next::Again { after: most });
        let short = Duration::from_secs(1);
        assert_eq!(stops(ask(2, short)), ReasonCode::RetryAfterBeyondDeadline);
        let none = policy.next(2, failed(Kind::Retryable, true), None, short, 1_999_999);
        assert_eq!(stops(none), ReasonCode::DeadlineTooClose);
    }

    #[test]
    fn no_attempt_begins_without_time_and_none_outlives_the_deadline() {
        let policy = RetryPolicy::default();
        let timeout = |timeout: u64, left: u64| {
            policy.attempt_timeout(Duration::from_millis(timeout), Duration::from_millis(left))
        };
        assert_eq!(timeout(3_000, 99), Err(ReasonCode::DeadlineTooClose));
        assert_eq!(timeout(3_000, 100), Ok(Duration::from_millis(80)));
        assert_eq!(timeout(3_000, 30_000), Ok(Duration::from_secs(3)));
        assert_eq!(timeout(60_000, 30_000), Ok(Duration::from_secs(10)));
        assert_eq!(timeout(60_000, 2_000), Ok(Duration::from_millis(1_900)));
    }

    #[test]
    fn odd_retry_after_values_neither_crash_nor_sleep() {
        let now = Timestamp::from_rfc3339("2026-01-05T09:00:00Z").unwrap();
        assert_eq!(retry_after("7", now), Some(Duration::from_secs(7)));
        assert_eq!(
            retry_after("Mon, 05 Jan 2026 09:00:30 GMT", now),
            Some(Duration::from_secs(30))
        );
        assert_eq!(retry_after("Mon, 05 Jan 2026 08:00:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("99999999999999999999", now), Some(Duration::from_secs(u64::MAX)));
        for odd in ["-1", "", "soon", "1.5", "Mon, 05 Jan 99999 09:00:30 GMT"] {
            assert_eq!(retry_after(odd, now), None, "{odd}");
        }
        assert!(retry_after("Fri, 31 Dec 9999 23:59:59 GMT", now).is_some());
    }
}

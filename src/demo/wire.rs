//! What the director and the parties say to each other: JSON lines over standard input and output.
//!
//! The first line a party reads is its [`Hello`]: its credentials, which are written to no file and given to no other
//! process. Then one order a line, and one answer a line. A party ends when its input does.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::{error::Failed, people::PeopleOrder, portal::PortalOrder};

/// The guard's address and what this party holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// `127.0.0.1:7420`; the only thing of the guard that a party knows.
    pub(crate) address: String,
    /// Whose business this is, as its tokens say.
    pub(crate) tenant: String,
    /// Keys and tokens by name.
    pub(crate) credentials: std::collections::BTreeMap<String, String>,
}

impl Hello {
    /// One of the credentials.
    pub(crate) fn credential(&self, name: &str) -> Result<&str, Failed> {
        let found = self.credentials.get(name).map(String::as_str);
        found.ok_or_else(|| Failed::here(format!("this party was given no `{name}`")))
    }
}

/// The answer to one order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// It was done.
    Done(serde_json::Value),
    /// It was not.
    Failed(Failed),
}

/// What the agent can be told. None of it says what to decide; the mail does.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum AgentOrder {
    /// The guard is somewhere else now.
    Reconnect {
        /// The new address.
        address: String,
    },
    /// Opens a session with what the front door hands over.
    Open {
        /// Names the principal.
        principal_token: String,
        /// What the principal allowed; empty for nothing.
        scope_token: String,
    },
    /// Reads a mail of the mailbox.
    Read {
        /// Its name there.
        mail: String,
    },
    /// Looks up all records that mail and statements name.
    LookUp,
    /// Leaves a note for the people of the desk.
    Note,
    /// Does what the mail says.
    Act {
        /// Cites records that were looked up, instead of the place that gives the instruction.
        citing_records: bool,
    },
    /// Sends the last write again, to the letter.
    Again,
    /// Withdraws an action.
    Cancel {
        /// Its name.
        action: String,
    },
    /// Tries to speak for the principal and to widen its own scope, in every way it knows.
    Reach {
        /// An action that waits for the principal, and the digest of its question.
        action: String,
        /// See above.
        digest: String,
        /// A scope that the portal signed for somebody else and that leaked.
        leaked_scope: String,
    },
    /// Says where the session stands.
    Look,
}

/// A party: carries out orders, one after the other.
pub(crate) trait Party: Sized {
    /// What it can be told.
    type Order: DeserializeOwned;

    /// Carries out one order.
    async fn carry_out(&mut self, order: Self::Order) -> Result<serde_json::Value, Failed>;
}

/// Marks the orders of the three parties, so that the director cannot send one to another's.
pub(crate) trait Order: Serialize {}
impl Order for AgentOrder {}
impl Order for PortalOrder {}
impl Order for PeopleOrder {}

/// The lines that come in.
pub(crate) type Lines = tokio::io::Lines<BufReader<tokio::io::Stdin>>;

/// Standard input, line by line.
pub(crate) fn lines() -> Lines {
    BufReader::new(tokio::io::stdin()).lines()
}

/// Reads the first line.
pub(crate) async fn hello<H: DeserializeOwned>(lines: &mut Lines) -> Result<H, Failed> {
    let line = lines.next_line().await.map_err(|error| Failed::here(error.to_string()))?;
    let line = line.ok_or_else(|| Failed::here("nobody said who this is".to_owned()))?;
    serde_json::from_str(&line).map_err(|error| Failed::here(error.to_string()))
}

/// Carries out orders until there are no more.
pub(crate) async fn serve<P: Party>(mut party: P, mut lines: Lines) -> Result<(), Failed> {
    say(&Answer::Done(serde_json::Value::Null)).await?;
    while let Ok(Some(line)) = lines.next_line().await {
        let answer = match serde_json::from_str(&line) {
            Ok(order) => match party.carry_out(order).await {
                Ok(done) => Answer::Done(done),
                Err(failed) => Answer::Failed(failed),
            },
            Err(error) => Answer::Failed(Failed::here(format!("not an order: {error}"))),
        };
        say(&answer).await?;
    }
    Ok(())
}

async fn say(answer: &Answer) -> Result<(), Failed> {
    let failed = |error: std::io::Error| Failed::here(error.to_string());
    let mut line = serde_json::to_vec(answer).map_err(|error| Failed::here(error.to_string()))?;
    line.push(b'\n');
    let mut out = tokio::io::stdout();
    out.write_all(&line).await.map_err(failed)?;
    out.flush().await.map_err(failed)
}

//! Processes of the same binary: started, spoken to over lines, ended by their own id.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::demo::{
    error::{DemoError, Failed},
    wire::{Answer, Order},
};

/// How long a process may take to say that it is ready.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// How long an order may take; the agent alone waits up to 20 s for an outcome.
const ORDER_PATIENCE: Duration = Duration::from_secs(90);
/// How long a process may take to end when it is asked to.
const END_PATIENCE: Duration = Duration::from_secs(10);
/// Lines of a log that are shown when its process fails.
const LOG_LINES: usize = 12;

/// A process that prints lines. Dropped, it is killed.
#[derive(Debug)]
pub(super) struct Process {
    who: &'static str,
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    log: PathBuf,
}

impl Process {
    /// Starts `binary ARGUMENTS`; what it says on standard error goes to a file of the folder.
    pub(super) fn start(
        who: &'static str,
        folder: &Path,
        configure: impl FnOnce(&mut Command),
    ) -> Result<Self, DemoError> {
        let failed = |cause| DemoError::Start { who, cause };
        let log = folder.join(format!("{who}.log"));
        let errors =
            std::fs::OpenOptions::new().create(true).append(true).open(&log).map_err(failed)?;
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors).kill_on_drop(true);
        configure(&mut command);
        let mut child = command.spawn().map_err(failed)?;
        let out =
            child.stdout.take().ok_or_else(|| failed(std::io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self { who, child, lines: BufReader::new(out).lines(), log })
    }

    /// Its standard input, once.
    pub(super) fn take_input(&mut self) -> Result<ChildStdin, DemoError> {
        let taken = self.child.stdin.take();
        taken.ok_or_else(|| self.lost("has no standard input".to_owned()))
    }

    /// Its process id, while it runs.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// The next line as JSON.
    pub(super) async fn line<T: DeserializeOwned>(
        &mut self,
        patience: Duration,
    ) -> Result<T, DemoError> {
        let line = match tokio::time::timeout(patience, self.lines.next_line()).await {
            Err(_) => return Err(self.lost(format!("said nothing for {} s", patience.as_secs()))),
            Ok(Err(error)) => return Err(self.lost(format!("cannot be heard: {error}"))),
            Ok(Ok(None)) => return Err(self.lost("ended".to_owned())),
            Ok(Ok(Some(line))) => line,
        };
        serde_json::from_str(&line).map_err(|_| self.lost(format!("said `{line}`")))
    }

    /// The first line, which says that it is ready.
    pub(super) async fn ready<T: DeserializeOwned>(&mut self) -> Result<T, DemoError> {
        self.line(START_PATIENCE).await
    }

    /// SIGKILL: no last word, no clean end.
    pub(super) async fn kill(&mut self) -> Result<(), DemoError> {
        self.child.kill().await.map_err(|cause| DemoError::Start { who: self.who, cause })
    }

    /// SIGTERM, and SIGKILL if that is not enough.
    pub(super) async fn end(&mut self) {
        if let Some(pid) =
            self.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        if tokio::time::timeout(END_PATIENCE, self.child.wait()).await.is_err() {
            let _ = self.child.kill().await;
        }
    }

    fn lost(&self, what: String) -> DemoError {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines.get(lines.len().saturating_sub(LOG_LINES)..).unwrap_or_default();
        let log = if tail.is_empty() {
            String::new()
        } else {
            format!("; its log ends:\n{}", tail.join("\n"))
        };
        DemoError::Lost { who: self.who, what, log }
    }
}

/// A process that takes orders of one kind.
#[derive(Debug)]
pub(super) struct Party {
    process: Process,
    input: ChildStdin,
}

impl Party {
    /// Starts a role of the demonstration and tells it who it is.
    pub(super) async fn start<H: Serialize>(
        who: &'static str,
        folder: &Path,
        hello: &H,
    ) -> Result<Self, DemoError> {
        let mut party = Self::spoken_to(who, folder, hello).await?;
        match party.process.ready().await? {
            Answer::Done(_) => Ok(party),
            Answer::Failed(failed) => Err(party.process.lost(format!("could not start: {failed}"))),
        }
    }

    /// The same for a role whose first line is its own affair.
    pub(super) async fn spoken_to<H: Serialize>(
        who: &'static str,
        folder: &Path,
        hello: &H,
    ) -> Result<Self, DemoError> {
        let mut process = Process::start(who, folder, |command| {
            command.args(["demo-role", who]).stdin(Stdio::piped());
        })?;
        let input = process.take_input()?;
        let mut party = Self { process, input };
        party.tell(hello).await?;
        Ok(party)
    }

    pub(super) fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    async fn tell<T: Serialize>(&mut self, message: &T) -> Result<(), DemoError> {
        let mut line =
            serde_json::to_vec(message).map_err(|error| self.process.lost(error.to_string()))?;
        line.push(b'\n');
        let sent = async {
            self.input.write_all(&line).await?;
            self.input.flush().await
        };
        sent.await.map_err(|error| self.process.lost(format!("does not listen: {error}")))
    }

    /// Gives an order and takes the answer, refusals included.
    pub(super) async fn ask<O: Order>(
        &mut self,
        order: &O,
    ) -> Result<Result<Value, Failed>, DemoError> {
        self.tell(order).await?;
        Ok(match self.process.line(ORDER_PATIENCE).await? {
            Answer::Done(value) => Ok(value),
            Answer::Failed(failed) => Err(failed),
        })
    }

    /// Closes its input, which ends it.
    pub(super) async fn end(self) {
        let Self { mut process, input } = self;
        drop(input);
        if tokio::time::timeout(END_PATIENCE, process.child.wait()).await.is_err() {
            process.end().await;
        }
    }
}

/// Runs a subcommand of the binary to its end.
pub(super) fn run_once(
    who: &'static str,
    arguments: &[std::ffi::OsString],
    folder: &Path,
) -> Result<(), DemoError> {
    let failed = |cause| DemoError::Start { who, cause };
    let binary = std::env::current_exe().map_err(failed)?;
    let done = std::process::Command::new(binary)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(failed)?;
    if done.status.success() {
        return Ok(());
    }
    let log = format!("; it said: {}", String::from_utf8_lossy(&done.stderr).trim());
    Err(DemoError::Lost { who, what: format!("ended with {}", done.status), log })
}

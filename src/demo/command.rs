//! `stateguard demo`: plays stories, one world each, and prints what happened.

use std::{
    io::{IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use super::{
    error::DemoError,
    present::Present,
    shop,
    stage::{Settings, Stage},
    stories::{NORA_MAIL, Own, Part, Scene, Story, Told},
    timeline::{self, Paint},
};
use crate::pb;

/// Plays refund stories: a hostile-capable agent, a portal, an approver and a shop, as separate processes around a real
/// daemon. Ends with 1 when a story does not end as it must.
#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// Plays one story: 1, 2, 3, 5, 6 or 9.
    #[arg(long, value_name = "N", value_parser = a_story())]
    story: Option<u8>,
    /// Plays a mail of your own (RFC 5322), as it came and with its sender signed in.
    #[arg(long, value_name = "FILE", conflicts_with = "story")]
    mail: Option<PathBuf>,
    /// Where the daemon remembers: `sqlite:PATH` or `postgres://…`; a new file of its own when left out.
    #[arg(long, value_name = "URL", value_parser = absolute)]
    store: Option<String>,
    /// How it prints; `json` is one document a story, with `ExplainAction`'s message for every action.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    output: Form,
    /// Leaves the last world running until Ctrl-C, and prints what to try by hand.
    #[arg(long)]
    keep: bool,
    /// Where its files go; they stay there. Left out: a temporary folder that is removed.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// What the shop does wrong when it is asked for a refund, such as `lie`, `act_then_hang` or `503`; the stories are
    /// told for a shop that does nothing wrong, so they may end otherwise.
    #[arg(long, value_name = "MODE")]
    fault: Option<String>,
    /// Prints without colours.
    #[arg(long, env = "NO_COLOR", hide_env = true, value_parser = clap::builder::FalseyValueParser::new())]
    no_color: bool,
}

/// How stories are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Form {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// Plays what was asked for; says whether every story ended as it must.
///
/// # Errors
/// When a process cannot be started, a party cannot follow its story, or the command asks for what does not exist.
pub async fn run(args: DemoArgs) -> Result<bool, DemoError> {
    let mut interrupted = signal(SignalKind::interrupt()).map_err(DemoError::Print)?;
    let mut terminated = signal(SignalKind::terminate()).map_err(DemoError::Print)?;
    let folder = Folder::of(args.folder.as_deref())?;
    let mut asked_to_stop = async || {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    };
    // Dropping what is being played kills its processes, each by its own id.
    let played = tokio::select! {
        played = play_all(&args, &folder.path) => played?,
        () = asked_to_stop() => return Ok(false),
    };
    if let Some(stage) = played.kept {
        asked_to_stop().await;
        stage.strike().await;
    }
    Ok(played.is_good)
}

/// What came of it.
struct Played {
    is_good: bool,
    /// The world that was to be left running.
    kept: Option<Stage>,
}

async fn play_all(args: &DemoArgs, folder: &Path) -> Result<Played, DemoError> {
    let stories = stories(args)?;
    let settings = Settings {
        folder: folder.to_path_buf(),
        store: args.store.clone(),
        mails: args.mail.iter().cloned().collect(),
        fault: args.fault.clone(),
    };
    let paint = Paint { colours: !args.no_color && std::io::stdout().is_terminal() };
    let mut failed = Vec::new();
    let mut last = None;
    for story in &stories {
        if let Some(before) = last.take() {
            Stage::strike(before).await;
        }
        if args.output == Form::Text {
            print(&timeline::heading(story, paint))?;
        }
        let mut scene = Scene::new(Stage::set_up(&settings, story.label()).await?);
        let played = story.play(&mut scene).await;
        let Scene { stage, told } = scene;
        match args.output {
            Form::Text => print(&format!("{}\n", timeline::story(&told, paint)))?,
            Form::Json => print(&format!("{}\n", document(story, &told)))?,
        }
        // What was told until it could not go on is worth reading first.
        played?;
        if !told.is_good() {
            failed.push(story.label());
        }
        last = Some(stage);
    }
    if args.output == Form::Text {
        print(&summary(stories.len(), &failed, paint))?;
    }
    let kept = match last {
        Some(stage) if args.keep => Some(keep(stage, args.output).await?),
        Some(stage) => {
            stage.strike().await;
            None
        }
        None => None,
    };
    Ok(Played { is_good: failed.is_empty(), kept })
}

fn stories(args: &DemoArgs) -> Result<Vec<Story>, DemoError> {
    let Some(mail) = &args.mail else {
        let mut chosen = Story::chosen(args.story);
        if args.keep && args.story.is_none() {
            // The world that stays is the one with most to try: an escalation waits in it.
            chosen.retain(|story| *story != Story::HonestMail);
            chosen.push(Story::HonestMail);
        }
        return Ok(chosen);
    };
    let raw = std::fs::read(mail).map_err(|cause| DemoError::File { path: mail.clone(), cause })?;
    let own = Own {
        mail: shop::mail_name(mail),
        from: sender(&raw).unwrap_or_else(|| NORA_MAIL.to_owned()),
    };
    Ok(vec![Story::OwnByMail(own.clone()), Story::OwnSignedIn(own)])
}

fn sender(raw: &[u8]) -> Option<String> {
    let message = mail_parser::MessageParser::default().parse_headers(raw)?;
    let address = message.from()?.first()?.address.as_deref()?.to_owned();
    Some(address)
}

fn a_story() -> impl TypedValueParser<Value = u8> {
    PossibleValuesParser::new(["1", "2", "3", "5", "6", "9"]).try_map(|number| number.parse::<u8>())
}

/// A store's path counts from where the command was typed, not from where the daemon runs.
fn absolute(store: &str) -> Result<String, String> {
    match store.strip_prefix("sqlite:") {
        Some("") => Err("name a file: `sqlite:PATH`".to_owned()),
        Some(path) => {
            let path = std::path::absolute(path).map_err(|error| error.to_string())?;
            Ok(format!("sqlite:{}", path.display()))
        }
        None if store.starts_with("postgres://") || store.starts_with("postgresql://") => {
            Ok(store.to_owned())
        }
        None => Err("use `sqlite:PATH` or `postgres://…`".to_owned()),
    }
}

/// One story for programs: the explained actions as the API's own message, and what else was seen.
fn document(story: &Story, told: &Told) -> Value {
    let mut explanations = Vec::new();
    let (mut attempts, mut escalations, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    for part in &told.parts {
        match part {
            Part::Action(explained) => {
                explanations.push(pb::json::of(&explained.explanation).unwrap_or_default());
            }
            Part::Tried(tried) => attempts.extend(tried.iter().map(|attempt| json!(attempt))),
            Part::Waiting(escalation) => escalations.push(escalation.clone()),
            Part::Entries(found) => entries.extend(found.iter().cloned()),
            Part::Said(_) | Part::AgentSaw(_) => {}
        }
    }
    let expectations: Vec<Value> =
        told.expectations.iter().map(|e| json!({"text": e.text, "held": e.held})).collect();
    json!({
        "story": story.label(),
        "title": story.title(),
        "good": told.is_good(),
        "explanations": explanations,
        "attempts": attempts,
        "escalations": escalations,
        "entries": entries,
        "expectations": expectations,
        "shop": told.found,
    })
}

fn summary(played: usize, failed: &[&str], paint: Paint) -> String {
    let good = format!("{} of {played} stories ended as they must", played - failed.len());
    if failed.is_empty() {
        return format!("{}\n", paint.all_good(&format!("{good}.")));
    }
    format!("{}\n", paint.not_good(&format!("{good}; these did not: {}.", failed.join(", "))))
}

/// Says what is running.
async fn keep(mut stage: Stage, form: Form) -> Result<Stage, DemoError> {
    let tokens = stage.hand_out_tokens().await?;
    if form == Form::Text {
        print(&by_hand(&mut stage, &tokens))?;
        return Ok(stage);
    }
    let (shop, daemon) = stage.ids();
    let document = json!({
        "grpc": stage.at.grpc, "http": stage.at.http, "daemon_pid": daemon,
        "shop": stage.shop_at.shop, "shop_faults": stage.shop_at.faults, "shop_pid": shop,
        "shop_database": stage.folder.join("shop.db"), "tokens": tokens, "config": stage.config(),
    });
    print(&format!("{document}\n"))?;
    Ok(stage)
}

fn by_hand(stage: &mut Stage, tokens: &Path) -> String {
    let (shop, daemon) = stage.ids();
    let id = |id: Option<u32>| id.map_or_else(|| "ended".to_owned(), |id| id.to_string());
    let token = |name: &str| tokens.join(name).display().to_string();
    let call = |who: &str, method: &str, message: &str| {
        format!(
            "  grpcurl -plaintext -H \"authorization: Bearer $(cat {})\" \\\n    -d '{message}' {} stateguard.v1.{method}\n",
            token(who),
            stage.at.grpc
        )
    };
    let mut text = format!(
        "The world is still up: daemon {} on {} (health and metrics on {}), shop {} on {}.\nTenant {}. Files: {}\n\n",
        id(daemon),
        stage.at.grpc,
        stage.at.http,
        id(shop),
        stage.shop_at.shop,
        stage.tenant,
        stage.folder.display(),
    );
    text.push_str("Escalations that wait, and a vote:\n");
    text.push_str(&call("refund-approver.jwt", "ApprovalService/ListEscalations", "{}"));
    text.push_str(&call(
        "refund-approver.jwt",
        "ApprovalService/Vote",
        "{\"name\": \"escalations/…\", \"digest\": \"…\", \"approve\": true}",
    ));
    text.push_str("\nThe decision log:\n");
    text.push_str(&call("auditor.jwt", "AuditService/QueryEntries", "{\"kind\": \"decision\"}"));
    text.push_str(&format!(
        "\nThe same log and its check, straight from the store:\n  stateguard audit query --config {0}\n  stateguard audit verify --config {0}\n",
        stage.config().display()
    ));
    text.push_str(&format!(
        "\nThe shop's own database:\n  sqlite3 {} 'SELECT * FROM refunds'\n",
        stage.folder.join("shop.db").display()
    ));
    text.push_str(&format!(
        "\nLet the shop lie about the next refund:\n  curl -X PUT -H 'content-type: application/json' \\\n    -d '{{\"path\":\"/v1/refunds\",\"method\":\"POST\",\"mode\":\"lie\",\"times\":1}}' http://{}/faults\n",
        stage.shop_at.faults
    ));
    text.push_str("\nCtrl-C ends all of it.\n");
    text
}

fn print(text: &str) -> Result<(), DemoError> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(DemoError::Print)
}

/// Where the files of a run are.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    is_ours: bool,
}

impl Folder {
    fn of(named: Option<&Path>) -> Result<Self, DemoError> {
        let (path, is_ours) = match named {
            Some(path) => {
                let failed = |cause| DemoError::File { path: path.to_path_buf(), cause };
                (std::path::absolute(path).map_err(failed)?, false)
            }
            None => {
                (std::env::temp_dir().join(format!("stateguard-demo-{}", Present.hex(6))), true)
            }
        };
        let failed = |cause| DemoError::File { path: path.clone(), cause };
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(!is_ours).create(&path).map_err(failed)?;
        Ok(Self { path, is_ours })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_ours {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        demo: DemoArgs,
    }

    fn parse(line: &[&str]) -> DemoArgs {
        Command::try_parse_from([&["demo"], line].concat()).unwrap().demo
    }

    #[test]
    fn a_kept_world_is_the_one_with_an_escalation() {
        let labels =
            |line| stories(&parse(line)).unwrap().iter().map(Story::label).collect::<Vec<_>>();
        assert_eq!(labels(&[]).first(), Some(&"1a"));
        assert_eq!(labels(&["--keep"]).last(), Some(&"1b"));
        assert_eq!(labels(&["--keep", "--story", "2"]), ["2"]);
    }

    #[test]
    fn a_mail_is_played_twice_and_not_within_a_numbered_story() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/refund-desk/mail/html-only.eml");
        let own = Own { mail: "html-only".to_owned(), from: "pat@example.com".to_owned() };
        let chosen = stories(&parse(&["--mail", file])).unwrap();
        assert_eq!(chosen, [Story::OwnByMail(own.clone()), Story::OwnSignedIn(own)]);
        assert!(Command::try_parse_from(["demo", "--mail", file, "--story", "1"]).is_err());
        assert!(stories(&parse(&["--mail", "/nowhere.eml"])).is_err());
        assert!(Command::try_parse_from(["demo", "--story", "4"]).is_err());
    }

    #[test]
    fn stores_are_named_in_two_ways() {
        assert!(absolute("sqlite:x.db").unwrap().starts_with("sqlite:/"));
        assert_eq!(absolute("postgres://h/d").unwrap(), "postgres://h/d");
        for wrong in ["sqlite:", "mysql://h/d", "x.db"] {
            assert!(absolute(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_folder_of_ours_goes_and_a_named_one_stays() {
        let ours = Folder::of(None).unwrap();
        let path = ours.path.clone();
        assert!(path.is_dir());
        drop(ours);
        assert!(!path.exists());
        let parent = tempfile::tempdir().unwrap();
        let named = parent.path().join("kept");
        drop(Folder::of(Some(&named)).unwrap());
        assert!(named.is_dir());
    }
}

//! `stateguard policy`: check a bundle, print its matrix and its Cedar schema.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::Subcommand;
use serde_json::json;

use super::output::{Exit, Output};
use crate::{
    bundle::{Bundle, LoadErrors, LoadProblem, matrix::Matrix, start},
    hook::fixtures::{self, Report},
};

/// What can be asked about a bundle without a daemon.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Load a bundle and say everything that is wrong with it.
    Check {
        /// The bundle's folder.
        #[arg(default_value = ".")]
        bundle: PathBuf,
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Output,
    },
    /// Print the decision matrix that follows from a bundle's policies.
    Matrix {
        /// The bundle's folder.
        #[arg(default_value = ".")]
        bundle: PathBuf,
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Output,
    },
    /// Run a bundle's fixtures through the real hook, without network.
    Test {
        /// The bundle's folder.
        #[arg(default_value = ".")]
        bundle: PathBuf,
        /// Draft cases for rules that no case exercises, into `fixtures/drafted.yaml`.
        #[arg(long)]
        write: bool,
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Output,
    },
    /// Print the Cedar schema generated from a bundle's contracts.
    Schema {
        /// The bundle's folder.
        #[arg(default_value = ".")]
        bundle: PathBuf,
    },
}

/// Runs a command; what it finds goes to `out`.
///
/// # Errors
/// When `out` cannot be written.
pub fn run(command: &PolicyCommand, out: &mut dyn io::Write) -> io::Result<Exit> {
    match command {
        PolicyCommand::Check { bundle, output } => check(Bundle::load(bundle), *output, out),
        PolicyCommand::Matrix { bundle, output } => match Bundle::load(bundle) {
            Ok(bundle) => matrix(&bundle, *output, out),
            Err(errors) => check(Err(errors), *output, out),
        },
        PolicyCommand::Test { bundle, write: true, output: _ } => write_draft(bundle, out),
        PolicyCommand::Test { bundle, write: false, output } => {
            match Bundle::load(bundle).and_then(|bundle| fixtures::run(&bundle)) {
                Ok(report) => test(&report, *output, out),
                Err(errors) => check(Err(errors), *output, out),
            }
        }
        PolicyCommand::Schema { bundle } => match Bundle::load(bundle) {
            Ok(bundle) => {
                write!(out, "{}", bundle.policies.schema_text)?;
                Ok(Exit::Good)
            }
            Err(errors) => check(Err(errors), Output::Text, out),
        },
    }
}

fn check(
    loaded: Result<Bundle, LoadErrors>,
    output: Output,
    out: &mut dyn io::Write,
) -> io::Result<Exit> {
    let (problems, exit) = match &loaded {
        Ok(bundle) => (bundle.warnings.as_slice(), Exit::Good),
        Err(errors) => (errors.0.as_slice(), Exit::Bad),
    };
    match output {
        Output::Json => {
            let list: Vec<_> = problems.iter().map(problem_json).collect();
            let kind = if loaded.is_ok() { "warnings" } else { "errors" };
            let mut report = json!({"loads": loaded.is_ok(), kind: list});
            if let (Ok(bundle), Some(report)) = (&loaded, report.as_object_mut()) {
                report.insert("bundle".to_owned(), json!(bundle.name));
                report.insert("version".to_owned(), json!(bundle.version));
                report.insert("digest".to_owned(), json!(bundle.digest.as_str()));
            }
            writeln!(out, "{report:#}")?;
        }
        Output::Text => {
            for problem in problems {
                writeln!(out, "{}{problem}", if loaded.is_ok() { "warning: " } else { "" })?;
            }
            match &loaded {
                Ok(bundle) => summary(bundle, out)?,
                Err(errors) => {
                    writeln!(out, "\n{} found, nothing loaded", count(errors.0.len(), "error"))?
                }
            }
        }
    }
    Ok(exit)
}

fn summary(bundle: &Bundle, out: &mut dyn io::Write) -> io::Result<()> {
    let writes = bundle.contracts.values().filter(|contract| !contract.is_read()).count();
    writeln!(out, "{} {} loads: {}", bundle.name, bundle.version, bundle.digest)?;
    writeln!(
        out,
        "{} ({} of them writes), {}, {}, workflow `{}`",
        count(bundle.contracts.len(), "contract"),
        writes,
        count(bundle.policies.rules.len(), "rule"),
        count(bundle.approvals.rules.len(), "approval rule"),
        bundle.workflow.name,
    )
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn problem_json(problem: &LoadProblem) -> serde_json::Value {
    json!({
        "file": problem.file,
        "line": problem.place.line,
        "column": problem.place.column,
        "text": problem.text,
        "remedy": problem.remedy,
    })
}

fn test(report: &Report, output: Output, out: &mut dyn io::Write) -> io::Result<Exit> {
    match output {
        Output::Json => {
            let cases: Vec<_> = report
                .cases
                .iter()
                .map(|case| {
                    json!({
                        "id": case.id,
                        "file": case.file,
                        "line": case.place.line,
                        "holds": case.failures.is_empty(),
                        "failures": case.failures,
                    })
                })
                .collect();
            let report = json!({
                "good": report.is_good(),
                "cases": cases,
                "never_passed": report.never_passed,
                "never_stopped": report.never_stopped,
            });
            writeln!(out, "{report:#}")?;
        }
        Output::Text => test_text(report, out)?,
    }
    Ok(if report.is_good() { Exit::Good } else { Exit::Bad })
}

/// Where drafts are written.
const DRAFTED: &str = "fixtures/drafted.yaml";

fn write_draft(folder: &Path, out: &mut dyn io::Write) -> io::Result<Exit> {
    let drafted = Bundle::load(folder)
        .and_then(|bundle| fixtures::draft(&bundle, "drafted").map(|draft| (bundle, draft)));
    let (bundle, draft) = match drafted {
        Ok(drafted) => drafted,
        Err(errors) => return check(Err(errors), Output::Text, out),
    };
    if draft.cases > 0 {
        let target = folder.join(DRAFTED);
        if target.exists() {
            writeln!(
                out,
                "{} exists; keep its cases in another file, or remove it",
                target.display()
            )?;
            return Ok(Exit::Bad);
        }
        let manifest =
            bundle.sources.get("bundle.yaml").map(|bytes| String::from_utf8_lossy(bytes));
        let Some(manifest) = start::with_fixtures(manifest.as_deref().unwrap_or_default(), DRAFTED)
        else {
            writeln!(
                out,
                "no `fixtures:` list was found in bundle.yaml: add `fixtures: [{DRAFTED}]`"
            )?;
            return Ok(Exit::Bad);
        };
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&target, &draft.text)?;
        fs::write(folder.join("bundle.yaml"), manifest)?;
        let cases = count(draft.cases, "case");
        writeln!(
            out,
            "wrote {} with {cases}; read them: they expect what is decided now",
            target.display()
        )?;
    }
    for rule in &draft.left {
        writeln!(out, "no case could be drafted for {rule}")?;
    }
    if draft.cases == 0 && draft.left.is_empty() {
        writeln!(out, "every rule is exercised; nothing was written")?;
    }
    Ok(if draft.left.is_empty() { Exit::Good } else { Exit::Bad })
}

fn test_text(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let failed: Vec<_> = report.cases.iter().filter(|case| !case.failures.is_empty()).collect();
    for case in &failed {
        writeln!(out, "{}:{}:{}: {}", case.file, case.place.line, case.place.column, case.id)?;
        for failure in &case.failures {
            writeln!(out, "    {failure}")?;
        }
    }
    for (rules, what) in [
        (&report.never_passed, "no case passes these rules (add them to a `passes`)"),
        (&report.never_stopped, "no case is stopped by these rules (add them to a `stops`)"),
    ] {
        if !rules.is_empty() {
            writeln!(out, "{what}:")?;
            for rule in rules {
                writeln!(out, "    {rule}")?;
            }
        }
    }
    writeln!(out, "{}, {} failed", count(report.cases.len(), "case"), failed.len())
}

fn matrix(bundle: &Bundle, output: Output, out: &mut dyn io::Write) -> io::Result<Exit> {
    let matrix = Matrix::of(bundle);
    match output {
        Output::Json => writeln!(out, "{:#}", matrix.to_json(bundle))?,
        Output::Text => write!(out, "{}", matrix.render(bundle))?,
    }
    Ok(Exit::Good)
}

//! `seamripper audit`: whether each verdict that the journal's order gives was published, once, as it should be.

use super::report::{Form, print_json, print_report};
use super::words::{counted, verb};
use super::{Common, Ending};
use crate::bus;
use crate::http::{Role, State};
use crate::pipeline::run::audit::{Findings, audit};
use crate::pipeline::run::{Instance, Options};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The arguments of `seamripper audit`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper audit                             the embedded bus of the folder seamripper-data
  seamripper audit -c kafka.toml               a store on Kafka
  seamripper audit --json                      the findings for a machine

Reads the whole journal and all verdicts; it needs about 200 bytes of memory for each verdict beside the store. The exit code \
is 1 if anything differs.")]
pub struct AuditArguments {
    #[command(flatten)]
    form: Form,
}

/// Audits.
pub fn run(arguments: AuditArguments, common: &Common) -> anyhow::Result<Ending> {
    let settings = Arc::new(common.settings()?);
    super::run::log(common.quiet, false);
    let bus = bus::open_to_read(&settings)?;
    let options = Options { accept_loss: false, first_store: None, ends_when_idle: None };
    let state = Arc::new(State::new(Role::All));
    let instance = Instance::new(settings, bus, options, state, Arc::new(AtomicBool::new(false)))?;
    let findings = audit(&instance)?;
    if arguments.form.is_report() {
        print_report(&lines(&findings))?
    } else {
        print_json(&findings)?
    }
    Ok(if findings.is_good() { Ending::Good } else { Ending::SomeFailed })
}

fn lines(findings: &Findings) -> String {
    let Findings { n_entries, n_expected, n_published, n_earlier, .. } = findings;
    let (entries, verdicts) = (counted(*n_entries, "journal entry"), counted(*n_expected, "verdict"));
    let (give, are) = (verb(*n_entries, "gives", "give"), verb(*n_published, "is", "are"));
    let mut lines = format!("{entries} {give} {verdicts}, {n_published} {are} published\n");
    if *n_earlier > 0 {
        lines += &format!("{n_earlier} of them from before the snapshot that the audit began with\n");
    }
    for (n, what) in [
        (findings.n_lost, "not published"),
        (findings.n_twice, "published more than once"),
        (findings.n_different, "published otherwise"),
        (findings.n_foreign, "published and not in the journal"),
        (findings.n_own_mirrors, "said to be a mirror of itself"),
    ] {
        if n > 0 {
            lines += &format!("{} {what}\n", counted(n, "verdict"));
        }
    }
    if findings.n_entries_different > 0 {
        lines += &format!("{} with another digest\n", counted(findings.n_entries_different, "journal entry"));
    }
    if findings.is_good() {
        lines += "nothing is lost, nothing is there twice, nothing differs\n";
    }
    for finding in &findings.told {
        lines += &format!("  {finding}\n");
    }
    lines
}

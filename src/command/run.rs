//! `seamripper run`: the filter on a bus, for as long as one likes.

use super::output::{ERROR, tell};
use super::{Common, Ending};
use crate::bus::{self, Bus, BusError};
use crate::config::Settings;
use crate::http::{Http, Phase, Role, State};
use crate::pipeline::checks::Checks;
use crate::pipeline::directory::Directory;
use crate::pipeline::run::signer::Signer;
use crate::pipeline::run::{Instance, Options};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tracing::warn;
use tracing_subscriber::EnvFilter;

/// The arguments of `seamripper run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper run                               on the embedded bus, in the folder seamripper-data
  seamripper run -c kafka.toml                 on Kafka
  seamripper run --until-idle 2                judges what is there, and ends
  seamripper run --role sign -c kafka.toml     signs for a store elsewhere, on many machines

Another terminal: seamripper ingest mails/, seamripper tail. A browser: http://127.0.0.1:8470/ (http.listen). RUST_LOG=debug says more. SIGTERM and Ctrl-C end it in order.")]
pub struct RunArguments {
    /// What this instance does
    #[arg(long, value_enum, default_value = "all")]
    role: RoleArgument,
    /// Go on from what there is where records, journal or snapshots were lost; the journal says so
    #[arg(long)]
    accept_loss: bool,
    /// Begin with a store that `scan --store` made, if nothing was judged yet
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// End when there was nothing to read for so many seconds. Beside an instance that judges it stands by, and does not end
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    until_idle: Option<Duration>,
    /// Log JSON rather than text
    #[arg(long)]
    log_json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum RoleArgument {
    /// Sign, match and judge
    All,
    /// Sign for a store elsewhere
    Sign,
    /// Match and judge what signers signed
    Store,
}

/// Runs.
pub fn run(arguments: RunArguments, common: &Common) -> anyhow::Result<Ending> {
    let settings = Arc::new(common.settings()?);
    log(common.quiet, arguments.log_json);
    if settings.secret == Settings::default().secret {
        warn!("`secret` is the public default: set your own where senders are hostile");
    }
    let stopping = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stopping, Duration::from_millis(settings.bus.stop_timeout_ms))?;
    let role = match arguments.role {
        RoleArgument::All => Role::All,
        RoleArgument::Sign => Role::Sign,
        RoleArgument::Store => Role::Store,
    };
    let state = Arc::new(State::with(role, Directory::new(&settings.http), Checks::new(&settings.check)));
    let Some(bus) = opened(&settings, &stopping)? else { return Ok(Ending::Good) };
    let RunArguments { accept_loss, store: first_store, until_idle: ends_when_idle, .. } = arguments;
    let options = Options { accept_loss, first_store, ends_when_idle };
    let work: Box<dyn FnOnce() -> anyhow::Result<()>> = match role {
        Role::Sign => {
            let signer = Signer::new(settings.clone(), bus.clone(), options, state.clone(), stopping)?;
            Box::new(move || signer.run())
        }
        Role::All | Role::Store => {
            let instance = Instance::new(settings.clone(), bus.clone(), options, state.clone(), stopping)?;
            Box::new(move || instance.run())
        }
    };
    let http = match settings.http.enabled {
        true => Some(Http::start(settings.clone(), bus, state.clone())?),
        false => None,
    };
    let ended = work();
    if ended.is_err() {
        state.set_phase(Phase::Failed);
    }
    state.checks().turn_away();
    state.checks().waiters.close();
    if let Some(http) = http {
        http.stop(Duration::from_millis(settings.bus.stop_timeout_ms / 4));
    }
    ended.map(|()| Ending::Good)
}

/// The bus, waited for where it cannot be reached yet; `None` if we were asked to stop meanwhile.
fn opened(settings: &Settings, stopping: &AtomicBool) -> anyhow::Result<Option<Arc<dyn Bus>>> {
    while !stopping.load(Ordering::Relaxed) {
        match bus::open(settings) {
            Err(error @ BusError::Unreachable { .. }) => warn!("{error}; trying again"),
            outcome => return Ok(outcome.map(Some)?),
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    Ok(None)
}

/// Says on stderr what happens.
pub fn log(quiet: bool, json: bool) {
    let default = if quiet { "error" } else { "info" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let logger = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let set = if json { logger.json().try_init() } else { logger.with_ansi(false).try_init() };
    // A test may have set one before.
    let _already_set = set;
}

/// The first signal asks to stop, the second does not ask. Who does not stop in time is stopped.
fn stop_on_signals(stopping: &Arc<AtomicBool>, within: Duration) -> anyhow::Result<()> {
    let stopping = stopping.clone();
    ctrlc::set_handler(move || {
        if stopping.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
        tell(format_args!("stopping: what was begun is being finished"));
        std::thread::spawn(move || {
            std::thread::sleep(within);
            tell(format_args!(
                "{ERROR}: not stopped within {} ms (bus.stop_timeout_ms), leaving; nothing that was committed is lost",
                within.as_millis()
            ));
            std::process::exit(1);
        });
    })?;
    Ok(())
}

//! `seamripper milter`: Postfix and Sendmail ask it about every mail, and it asks a run.
//!
//! A mail server speaks the milter protocol ([`packet`], [`command`], [`reply`]) over a connection of its own ([`session`]), which
//! puts the [`mail`] together. The [`server`] is asked about it, and what it says becomes header fields and, by the labels, an
//! action ([`stamp`]). A filter must not stand between people and their mail: what fails, in whatever way, lets the mail go on
//! ([`unchecked`]).
//!
//! The protocol is a dozen kinds of packets; crates that speak it have no bound on silence, on memory or on connections, and cannot
//! be stopped between two mails.

mod authentication;
mod command;
mod forged;
mod listener;
mod mail;
mod packet;
mod pause;
mod raw;
mod reply;
mod server;
mod session;
mod stamp;
mod tally;
mod unchecked;

use super::output::tell;
use super::{Common, Ending};
use crate::config::Settings;
use crate::http::{Exposition, asked};
use anyhow::Context;
use listener::Listener;
use raw::Room;
use server::Server;
use session::{Session, Shared};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tally::Tally;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tracing::{debug, info, warn};

/// Threads of the runtime: they copy bytes, the rest waits.
const N_WORKERS: usize = 2;
/// Out of file descriptors, say: trying at once again helps nobody.
const PAUSE: Duration = Duration::from_millis(50);

/// The arguments of `seamripper milter`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper run                               the filter, in another terminal
  seamripper milter                            asks it, on inet:127.0.0.1:8472
  seamripper milter -c mail.toml               with your own [milter] settings
  postconf -e smtpd_milters=inet:127.0.0.1:8472 milter_default_action=accept

A mail gets X-Seamripper-Status, -Class, -Group, -Size, -Spread, -Labels, -Cluster, -Id and -Mode; such fields that came with it go. What \
cannot be checked in time goes on with X-Seamripper-Status: unchecked. SIGTERM and Ctrl-C end it in order. docs/MAIL.md has more.")]
pub struct MilterArguments {
    /// Log JSON rather than text
    #[arg(long)]
    log_json: bool,
}

/// Serves mail servers until it is asked to stop.
pub fn run(arguments: MilterArguments, common: &Common) -> anyhow::Result<Ending> {
    let settings = common.settings()?;
    super::run::log(common.quiet, arguments.log_json);
    let (stop, stopping) = watch::channel(false);
    ctrlc::set_handler(move || {
        if stop.send_replace(true) {
            std::process::exit(1);
        }
        tell(format_args!("stopping: mails that were begun are being finished"));
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(N_WORKERS)
        .thread_name("milter")
        .enable_all()
        .build()
        .context("the runtime cannot be made")?;
    let served = runtime.block_on(serve(&settings, stopping));
    // Whoever is still there was given its time.
    runtime.shutdown_background();
    served.map(|()| Ending::Good)
}

async fn serve(settings: &Settings, mut stopping: watch::Receiver<bool>) -> anyhow::Result<()> {
    let milter = &settings.milter;
    let metrics = crate::metrics::install();
    if let Some(address) = milter.metrics_listen {
        let listener = TcpListener::bind(address).await;
        let listener = listener.with_context(|| format!("cannot listen on {address} (milter.metrics_listen)"))?;
        info!(address = %listener.local_addr()?, "metrics listening");
        tokio::spawn(Exposition { listener, metrics, stopping: stopping.clone() }.run());
    } else {
        tokio::spawn(crate::http::upkeep(metrics));
    }
    let listener = Listener::open(&milter.listen, milter.socket_mode).await?;
    let shared = Arc::new(Shared {
        settings: milter.clone(),
        server: Server::new(settings),
        room: Room::new(milter.mail_bytes_max, milter.waiting_bytes_max),
        tally: Tally::default(),
        has_warned: AtomicBool::new(false),
    });
    info!(address = %listener.address(), server = milter.server.url(), "milter listening");
    if listener.is_open() {
        warn!("other machines can reach this: whoever does can have mails judged and learnt");
    }
    tokio::spawn(report(shared.clone()));
    let connections = Arc::new(Semaphore::new(milter.connections_max));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = asked(&mut stopping) => break,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // One that would have to wait is closed: the mail server goes on without us at once.
        let Ok(permit) = connections.clone().try_acquire_owned() else {
            shared.tally.refused("too_many");
            continue;
        };
        let (shared, stopping) = (shared.clone(), stopping.clone());
        tokio::spawn(async move {
            shared.tally.connected();
            let ended = Session::new(stream, shared.clone()).run(stopping).await;
            shared.tally.disconnected();
            if let Err(broken) = ended {
                debug!(%broken, "a connection ended early");
                broken.reason().into_iter().for_each(|reason| shared.tally.refused(reason));
            }
            drop(permit);
        });
    }
    drop(listener);
    finish(&connections, settings).await;
    shared.tally.say(false);
    Ok(())
}

/// Waits for the mails that were begun, for a while.
async fn finish(connections: &Semaphore, settings: &Settings) {
    let milter = &settings.milter;
    let all = u32::try_from(milter.connections_max).unwrap_or(u32::MAX);
    let within = Duration::from_millis(milter.stop_timeout_ms);
    if tokio::time::timeout(within, connections.acquire_many(all)).await.is_err() {
        let n_left = milter.connections_max - connections.available_permits();
        warn!(n_left, "not all mails that were begun were finished in time (milter.stop_timeout_ms)");
    }
}

/// Says the counts, every now and then.
async fn report(shared: Arc<Shared>) {
    let every = Duration::from_secs(shared.settings.report_s);
    while !every.is_zero() {
        tokio::time::sleep(every).await;
        shared.tally.say(true);
    }
}

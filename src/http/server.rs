//! Connections: so many at once, each given up when it is slow, all ended in order.
//!
//! # Invariants
//! - Connections that send nothing, or a head or body byte by byte, keep nobody else out for longer than `http.timeout_ms`.
//!   (`slow_and_silent_connections_are_given_up`)
//! - Asked to stop, we finish the requests that have begun. (`a_request_that_has_begun_is_answered`)

use super::patience::Patient;
use super::rate::Peer;
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tracing::{debug, warn};

/// The largest head of a request.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Out of file descriptors, say: trying at once again helps nobody.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Server {
    pub(super) listener: TcpListener,
    pub(super) router: Router,
    pub(super) connections_max: usize,
    pub(super) timeout: Duration,
    /// Becomes true.
    pub(super) stopping: watch::Receiver<bool>,
}

impl Server {
    /// Serves until asked to stop, and until what had begun by then is done.
    pub(super) async fn run(mut self) {
        let connections = Arc::new(Semaphore::new(self.connections_max));
        loop {
            // Further connections wait in the kernel's queue.
            let permit = tokio::select! {
                permit = connections.clone().acquire_owned() => permit.expect("it is never closed"),
                () = asked(&mut self.stopping) => break,
            };
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = asked(&mut self.stopping) => break,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let peer = Peer(peer.ip());
                    let connection =
                        connection((stream, peer), self.router.clone(), self.timeout, self.stopping.clone());
                    tokio::spawn(async move {
                        connection.await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
        drop(self.listener);
        // All are back when all connections have ended.
        let all = u32::try_from(self.connections_max).unwrap_or(u32::MAX);
        let _all_ended = connections.acquire_many(all).await;
    }
}

async fn connection(
    (stream, peer): (TcpStream, Peer),
    router: Router,
    timeout: Duration,
    mut stopping: watch::Receiver<bool>,
) {
    // Answers are short and somebody waits for them.
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "nodelay");
    }
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(timeout).max_buf_size(HEAD_BYTES_MAX);
    let io = TokioIo::new(Patient::new(stream, timeout));
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let mut served = pin!(builder.serve_connection(io, service));
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = asked(&mut stopping) => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        debug!(%error, "a connection ended early");
    }
}

/// Returns when we are to stop, also when there is nobody left to say so.
pub(crate) async fn asked(stopping: &mut watch::Receiver<bool>) {
    let _or_nobody_left = stopping.wait_for(|stopping| *stopping).await.is_ok();
}

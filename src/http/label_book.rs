//! The register of labels, held for whoever asks over HTTP and read on when somebody does.
//!
//! It is filled by the first question, so that a run without questions holds nothing, and bounded by `http.labels_bytes_max`. Whoever
//! asks waits until it has caught up with the topic: what was written before is seen.

use super::App;
use super::problem::Problem;
use crate::bus::sweep::Sweep;
use crate::pipeline::register::Register;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The register, as far as it was read.
pub(super) struct Book {
    open: Arc<Mutex<Open>>,
    patience: Duration,
}

pub(super) struct Open {
    sweep: Sweep,
    register: Register,
}

impl Book {
    /// Of the labels in `topic`, in `bytes_max` bytes; who cannot have it within `patience` is turned away.
    pub(super) fn new(topic: &str, bytes_max: usize, patience: Duration) -> Self {
        let open = Open { sweep: Sweep::new(topic), register: Register::new(bytes_max) };
        Self { open: Arc::new(Mutex::new(open)), patience }
    }

    /// Asks the register when it has caught up.
    pub(super) async fn ask<T: Send + 'static>(
        app: &Arc<App>,
        question: impl FnOnce(&Register) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (mut open, asking) = (app.labels.opened().await?, app.clone());
        let asked = tokio::task::spawn_blocking(move || {
            let Open { sweep, register } = &mut *open;
            sweep.catch_up(&*asking.bus, &mut |record| register.take(&record))?;
            Ok(question(register))
        });
        asked.await.map_err(|error| Problem::bug(&error))?.map_err(|error| Problem::of_bus(&error))
    }

    /// Does something that takes a while, one at a time: the threads for that are few.
    pub(super) async fn alone<T: Send + 'static>(
        app: &Arc<App>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let open = app.labels.opened().await?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(open);
            done
        });
        done.await.map_err(|error| Problem::bug(&error))
    }

    async fn opened(&self) -> Result<OwnedMutexGuard<Open>, Problem> {
        let opened = tokio::time::timeout(self.patience, self.open.clone().lock_owned()).await;
        opened.map_err(|_| Problem::busy("labels", "too many ask for labels just now"))
    }
}

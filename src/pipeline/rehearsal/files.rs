//! A rehearsal over files: both settings scan them, in one reading.

use super::differences::Differences;
use crate::corpus::{Entry, Tally, Trouble, With};
use crate::pipeline::filter::{Event, Filter};
use crate::pipeline::run::scheme::Scheme;
use crate::pipeline::scan::{Arriver, Signed};
use crate::pipeline::sign::in_order;
use crate::store::Arrival;
use crate::verdict::event::Verdict;
use std::convert::Infallible;
use std::num::NonZeroUsize;

/// What both settings make of an entry.
type Both = (Signed, Signed);

/// Lets both schemes judge what `read` produces; `tell` hears how many documents were met, and what could not be read.
pub fn rehearse(
    read: impl FnOnce(With<'_>) -> Tally + Send,
    was: &Scheme,
    is: &Scheme,
    n_threads: NonZeroUsize,
    differences: &mut Differences,
    mut tell: impl FnMut(u64, Option<String>),
) -> Tally {
    let signs_alike = is.signs_like(was);
    let arriver = |scheme: &Scheme| Arriver::new(&scheme.settings, scheme.lexicons.clone()).for_store(&scheme.settings);
    let worker = || {
        let (mut old, mut new) = (arriver(was), (!signs_alike).then(|| arriver(is)));
        move |entry: Result<Entry, Trouble>| both(entry, &mut old, new.as_mut())
    };
    let bug = |place: &str| (Signed::of_bug(place), Signed::of_bug(place));
    let (mut old, mut new) = (was.filter(), is.filter());
    let n_fold_threads = (n_threads.get() / 4).max(1);
    let tally = in_order(read, n_threads, worker, bug, |signed: Vec<Both>| {
        let (mut old_side, mut new_side) = (Batch::default(), Batch::default());
        for (was, is) in signed {
            if let Some(report) = old_side.add(was) {
                tell(differences.n_documents(), Some(report));
            }
            // The same trouble, or one that only a tighter limit sees: the counts tell.
            let _told = new_side.add(is);
        }
        differences.take(&old_side.folded(&mut old, n_fold_threads), &new_side.folded(&mut new, n_fold_threads));
        tell(differences.n_documents(), None);
        Ok::<_, Infallible>(())
    })
    .unwrap_or_else(|never| match never {});
    differences.take(&last_words(&mut old), &last_words(&mut new));
    tally
}

fn both(entry: Result<Entry, Trouble>, old: &mut Arriver, new: Option<&mut Arriver>) -> Both {
    match (entry, new) {
        (Ok(entry), Some(new)) => (old.sign(Ok(entry.clone())), new.sign(Ok(entry))),
        (entry, _) => {
            let signed = old.sign(entry);
            (signed.clone(), signed)
        }
    }
}

/// What one side folds together.
#[derive(Default)]
struct Batch {
    arrivals: Vec<Arrival>,
    verdicts: Vec<Verdict>,
}

impl Batch {
    /// Adds an entry; what is to be said of one that could not be read.
    fn add(&mut self, signed: Signed) -> Option<String> {
        match signed {
            Signed::Arrival(arrival, _) => {
                self.arrivals.push(*arrival);
                None
            }
            Signed::Rejected(verdict, report) => {
                self.verdicts.push(*verdict);
                Some(report)
            }
            Signed::Unread(report) => Some(report),
        }
    }

    fn folded(mut self, filter: &mut Filter, n_threads: usize) -> Vec<Verdict> {
        filter.fold(&self.arrivals, n_threads, |event| keep(event, &mut self.verdicts));
        self.verdicts
    }
}

/// What is said when there is time to decide all that waits to be looked at again.
pub(super) fn last_words(filter: &mut Filter) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    filter.settle_revisions(|event| keep(event, &mut verdicts));
    verdicts
}

/// Keeps verdicts alone.
pub(super) fn keep(event: Event, verdicts: &mut Vec<Verdict>) {
    if let Event::Verdict(verdict) = event {
        verdicts.push(*verdict);
    }
}

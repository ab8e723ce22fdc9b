//! The scan once more, with an eye on one document.

use super::files::Files;
use super::nearest::Nearest;
use super::{ExplainArguments, Unknown};
use crate::command::complaints::Complaints;
use crate::command::scan::labels;
use crate::config::Settings;
use crate::corpus;
use crate::pipeline::explanation::near::NoMirror;
use crate::pipeline::explanation::scores::Measure;
use crate::pipeline::explanation::shared::Bounds;
use crate::pipeline::explanation::{Explanation, SCHEMA, scores, shared};
use crate::pipeline::filter::{Event, Filter};
use crate::pipeline::lexicon;
use crate::pipeline::progress::Progress;
use crate::pipeline::scan::{Told, place, scan};
use crate::signature::Signer;
use crate::verdict::event::Verdict;
use std::num::NonZeroUsize;
use std::thread;

/// What was heard of the document.
struct Heard {
    wanted: String,
    last: Option<Verdict>,
    n_events: usize,
    n_documents: u64,
    nearest: Nearest,
}

impl Heard {
    fn hear(&mut self, event: Event) {
        let Event::Verdict(verdict) = event else { return };
        self.n_documents += u64::from(verdict.revision == 0);
        let is_it = match &self.last {
            Some(known) => known.id == verdict.id,
            None => verdict.id == self.wanted || place(&verdict.source) == self.wanted,
        };
        if is_it {
            self.n_events += 1;
            self.last = Some(*verdict);
        } else if self.last.is_none() {
            self.nearest.add(&verdict.id);
        }
    }
}

pub(super) fn explained(
    arguments: &ExplainArguments,
    settings: &Settings,
    quiet: bool,
) -> anyhow::Result<Result<Explanation, Unknown>> {
    let lexicons = lexicon::load(settings)?;
    let key_id = Signer::new(settings, lexicons.clone()).key_id();
    Filter::room(settings)?;
    let mut filter = Filter::new(settings, labels(arguments.labels.as_deref())?, key_id);
    let n_threads = arguments.threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let options = corpus::Options { form: arguments.format, ..corpus::Options::default() };
    let progress = Progress::new(&arguments.from, &options, !quiet);
    let complaints = Complaints::default();
    let mut heard = Heard {
        wanted: arguments.id.clone(),
        last: None,
        n_events: 0,
        n_documents: 0,
        nearest: Nearest::to(&arguments.id),
    };
    let read = |with: corpus::With<'_>| corpus::read(&arguments.from, &options, &settings.limits, with);
    scan(read, settings, &lexicons, n_threads, &mut filter, |told| {
        match told {
            Told::Event(event) => heard.hear(event),
            Told::Bytes(_) => progress.show(heard.n_documents),
            Told::Trouble(report) => complaints.say(&progress, &report),
        }
        Ok(())
    })?;
    filter.settle_revisions(|event| heard.hear(event));
    progress.finish();
    let Heard { last, n_events, nearest, .. } = heard;
    let Some(verdict) = last else { return Ok(Err(Unknown { nearest })) };
    let (document, named) = ((verdict.id.as_str(), &verdict.source), shared::named(&verdict));
    let store = filter.store();
    let mut files = Files::new(store, &options, settings)?;
    let (shared, own) = shared::of(document, named, &mut files, Bounds::NONE, settings);
    let near = own.as_deref().and_then(|own| NoMirror::of(&verdict, own, store, &mut files, &settings.mirror));
    let measure = own.map(|own| Measure::of(&own.text, &own.signatures));
    Ok(Ok(Explanation {
        schema: SCHEMA,
        id: verdict.id.clone(),
        recomputed: true,
        record: None,
        scores: scores::of(&verdict, measure, settings),
        cluster: verdict.cluster.as_deref().and_then(|cluster| filter.cluster(cluster)),
        shared,
        near,
        text_is_gone: measure.is_none(),
        n_events,
        verdict: Some(verdict),
    }))
}

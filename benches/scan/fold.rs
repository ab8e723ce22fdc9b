//! Match and judge, step by step, as the filter has them.

use cpu_time::ThreadTime;
use seamripper::config::Settings;
use seamripper::document::Record;
use seamripper::pipeline::lexicon;
use seamripper::pipeline::scan::{Arriver, source};
use seamripper::signature::frame::Frame;
use seamripper::signature::keyed::mix;
use seamripper::signature::minhash::MinHash;
use seamripper::signature::style::{BINS, Bins, Form};
use seamripper::store::{Arrival, Clerk, Store};
use seamripper::verdict::judge::Judge;
use seamripper::verdict::labels::Labels;
use std::hint::black_box;
use std::time::Duration;

/// Documents that are folded together, as in a scan.
const BATCH: usize = 32;

/// CPU time of the steps.
#[derive(Clone, Copy, Default)]
pub(crate) struct Times {
    pub(crate) sign: Duration,
    pub(crate) settle: Duration,
    pub(crate) weigh: Duration,
    pub(crate) judge: Duration,
}

impl Times {
    /// What comes after signing.
    pub(crate) fn fold(&self) -> Duration {
        self.settle + self.weigh + self.judge
    }

    pub(crate) fn all(&self) -> Duration {
        self.sign + self.fold()
    }
}

/// A store and its judge.
pub(crate) struct Fold {
    pub(crate) store: Store,
    pub(crate) judge: Judge,
    pub(crate) clerk: Clerk,
    pub(crate) n_verdicts: usize,
}

impl Fold {
    pub(crate) fn new(settings: &Settings) -> Self {
        let store = Store::new(settings);
        let judge = Judge::new(settings, store.plan().n_cells_standing(), Labels::new(0));
        Self { store, judge, clerk: Clerk::new(settings), n_verdicts: 0 }
    }

    /// Folds a batch and adds what it took.
    pub(crate) fn fold(&mut self, batch: &[Arrival], times: &mut Times) {
        let start = ThreadTime::now();
        let settled = self.store.settle(batch);
        times.settle += start.elapsed();
        let start = ThreadTime::now();
        let hits = self.store.weigh(batch, &settled, 1);
        times.weigh += start.elapsed();
        let start = ThreadTime::now();
        black_box(self.store.take_cluster_events());
        let n_verdicts = &mut self.n_verdicts;
        self.judge.judge(batch, &settled, &hits, &self.store, 1, |_, verdict| {
            black_box(&verdict);
            *n_verdicts += 1;
        });
        self.store.end_batch();
        drop((settled, hits));
        times.judge += start.elapsed();
    }

    /// Takes records through all steps.
    pub(crate) fn pass(&mut self, records: &[Record], arriver: &mut Arriver, round: usize) -> Times {
        let mut times = Times::default();
        // Lexicons make their tables when the first texts ask for them.
        for record in records.iter().take(BATCH) {
            arriver.arrival(record, source("first")).unwrap_or_else(|rejection| panic!("{rejection}"));
        }
        for (number, records) in records.chunks(BATCH).enumerate() {
            let start = ThreadTime::now();
            let mut batch: Vec<Arrival> = Vec::with_capacity(BATCH);
            for (place, record) in records.iter().enumerate() {
                let source = source(&format!("round-{round}#{}", number * BATCH + place));
                batch.push(arriver.arrival(record, source).unwrap_or_else(|rejection| panic!("{rejection}")));
            }
            times.sign += start.elapsed();
            batch.iter_mut().for_each(|arrival| estrange(arrival, round));
            // Whoever signs gives an arrival its papers: here when its keys are those of the round.
            let start = ThreadTime::now();
            batch.iter_mut().for_each(|arrival| self.clerk.issue(arrival));
            times.sign += start.elapsed();
            self.fold(&batch, &mut times);
            let start = ThreadTime::now();
            drop(batch);
            times.sign += start.elapsed();
        }
        times
    }
}

/// Signs by the default settings.
pub(crate) fn arriver() -> Arriver {
    let settings = Settings::default();
    Arriver::new(&settings, lexicon::load(&settings).expect("the built-in lexicons load"))
}

/// Makes of a document that of a round: one of the same words, as there are many, that shares no key with those of other rounds.
pub(crate) fn estrange(arrival: &mut Arrival, round: usize) {
    arrival.id.push_str(&format!("#{round}"));
    let salt = mix(mix(round as u64, 1), 1);
    let signatures = &mut arrival.signatures;
    let views = [Some(&mut signatures.shown), signatures.core.as_mut(), signatures.full.as_mut()];
    for view in views.into_iter().flatten() {
        view.digest = view.digest.map(|digest| digest ^ u128::from(salt));
        view.minhash = view.minhash.as_ref().map(|minhash| salted(minhash, salt));
    }
    for shingles in [&mut signatures.shingles, &mut signatures.shown_shingles] {
        *shingles = shingles.as_ref().map(|minhash| salted(minhash, salt));
    }
    if let Some(imatch) = &mut signatures.imatch {
        imatch.coordinates.iter_mut().flatten().for_each(|coordinate| *coordinate ^= salt);
    }
    for digest in [&mut signatures.body, &mut signatures.little_core] {
        *digest = digest.map(|digest| digest ^ salt);
    }
    signatures.grams.iter_mut().for_each(|gram| gram.hash ^= salt);
    signatures.sentences.iter_mut().for_each(|sentence| sentence.hash ^= salt);
    // 0 is an empty bin, and stays one.
    let bins =
        |values: &[u8; BINS]| Box::new(values.map(|bin| if bin == 0 { 0 } else { (bin ^ (salt as u8 | 1)).max(1) }));
    if let Some(sketch) = signatures.style.as_mut().and_then(|style| style.tag_noise.as_mut()) {
        match &mut sketch.form {
            Form::Bins(values) => *values = Bins::from_values(bins(values.values())),
            Form::Digest(digest) => *digest ^= u128::from(salt),
        }
    }
    signatures.frame = signatures.frame.as_ref().map(|frame| {
        let stylesheets = frame.stylesheets.iter().map(|sheet| sheet ^ salt).collect();
        Frame::from_parts(frame.n_items, bins(frame.slots()), stylesheets)
    });
}

fn salted(minhash: &MinHash, salt: u64) -> MinHash {
    MinHash::from_slots(minhash.slots().map(|slot| slot ^ salt as u32))
}

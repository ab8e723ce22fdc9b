//! Match and judge, step by step, as the filter has them.

use cpu_time::ThreadTime;
use seamripper::config::Settings;
use seamripper::document::Record;
use seamripper::pipeline::lexicon;
use seamripper::pipeline::scan::{Arriver, source};
use seamripper::store::{Arrival, Store};
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
    pub(crate) n_verdicts: usize,
}

impl Fold {
    pub(crate) fn new(settings: &Settings) -> Self {
        let store = Store::new(settings);
        let judge = Judge::new(settings, store.plan().n_cells_standing(), Labels::new(0));
        Self { store, judge, n_verdicts: 0 }
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
                let mut arrival = arriver.arrival(record, source).unwrap_or_else(|rejection| panic!("{rejection}"));
                // In every round it is another document.
                arrival.id.push_str(&format!("#{round}"));
                batch.push(arrival);
            }
            times.sign += start.elapsed();
            self.fold(&batch, &mut times);
            let start = ThreadTime::now();
            drop(batch);
            times.sign += start.elapsed();
        }
        times
    }
}

/// Signs with a secret of the round's own: nothing that a store knows has a key in common with it.
pub(crate) fn arriver(round: usize) -> Arriver {
    let mut settings = Settings::default();
    let secret = serde_json::from_value(format!("round {round}").into());
    settings.secret = secret.expect("a secret is a string");
    Arriver::new(&settings, lexicon::load(&settings).expect("the built-in lexicons load"))
}

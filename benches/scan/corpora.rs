//! Documents to measure with.

use seamripper::config::Settings;
use seamripper::corpus;
use seamripper::document::{Format, Record, envelope};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Documents to measure with.
pub(crate) struct Corpus {
    pub(crate) name: &'static str,
    pub(crate) records: Vec<Record>,
}

#[allow(dead_code, reason = "the benchmark of signing asks for neither")]
impl Corpus {
    pub(crate) fn is_mail(&self) -> bool {
        self.records[0].format == Format::Mail
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.records.iter().map(|record| record.body.len()).sum()
    }
}

/// All corpora, a part of each.
#[allow(dead_code, reason = "the benchmark of buses takes more of fewer")]
pub(crate) fn corpora() -> Vec<Corpus> {
    every([1, 8, 2])
}

/// Every so manyth mail, documentation page and web page; 0 for none.
pub(crate) fn every(steps: [usize; 3]) -> Vec<Corpus> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let data = std::env::var_os("SEAMRIPPER_DATA").map_or_else(|| root.join("../shared/data"), PathBuf::from);
    let corpora = if data.is_dir() {
        vec![
            ("mails", data.join("mail_spamassassin/mails.tar.zst"), steps[0]),
            ("documentation pages", data.join("html_generators/pages.jsonl.zst"), steps[1]),
            ("web pages", data.join("html_web/pages.jsonl.zst"), steps[2]),
        ]
    } else {
        vec![("bundled mails", root.join("demo/mails"), 1), ("bundled pages", root.join("demo/pages"), 1)]
    };
    let corpora = corpora.into_iter().filter(|(.., step)| *step > 0);
    let corpora = corpora.map(|(name, path, step)| Corpus { name, records: records(&path, step) });
    corpora.inspect(|corpus| assert!(!corpus.records.is_empty(), "{}: nothing to measure", corpus.name)).collect()
}

/// Every `step`th document of a file, its envelope opened: what is measured is a raw page or mail.
fn records(path: &Path, step: usize) -> Vec<Record> {
    let settings = Settings::default();
    let mut records = Vec::new();
    let mut n = 0;
    corpus::read(&[path.to_path_buf()], &corpus::Options::default(), &settings.limits, &mut |entry| {
        let entry = entry.unwrap_or_else(|trouble| panic!("{trouble}"));
        if n % step == 0 {
            records.push(opened(entry.record, &settings));
        }
        n += 1;
        ControlFlow::Continue(())
    });
    records
}

fn opened(record: Record, settings: &Settings) -> Record {
    let (open, format): (fn(&[u8], &_, &_) -> _, _) = match record.format {
        Format::PageEnvelope => (envelope::open_page, Format::Page),
        Format::MailEnvelope => (envelope::open_mail, Format::Mail),
        Format::Page | Format::Mail => return record,
    };
    let envelope::Opened { body, carrier } =
        open(&record.body, &record.carrier, &settings.limits).expect("an envelope");
    Record { format, body, carrier }
}

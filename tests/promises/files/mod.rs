//! Every kind of file is read, whole or damaged: what is broken is named, and the rest goes on.

mod folders;
mod packed;
mod warc;

use flate2::Compression;
use flate2::read::GzEncoder;
use seamripper::config::{Limits, Settings};
use seamripper::corpus::{self, Cause, Entry, Form, Options, Tally, Trouble};
use seamripper::document::{Format, Rejection};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A file of these bytes in `folder`.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder is ours");
    std::fs::write(&path, bytes).expect("the folder is ours");
    path
}

/// What a reading gave.
#[derive(Debug, Default)]
struct Found {
    entries: Vec<Entry>,
    troubles: Vec<Trouble>,
    tally: Tally,
}

impl Found {
    fn with(read: impl FnOnce(corpus::With<'_>) -> Tally) -> Self {
        let mut found = Self::default();
        found.tally = read(&mut |entry| {
            match entry {
                Ok(entry) => found.entries.push(entry),
                Err(trouble) => found.troubles.push(trouble),
            }
            ControlFlow::Continue(())
        });
        found
    }

    fn in_bytes(name: &str, bytes: &[u8]) -> Self {
        Self::within(name, bytes, &limits())
    }

    fn within(name: &str, bytes: &[u8], limits: &Limits) -> Self {
        Self::with(|with| corpus::read_bytes(name, bytes, &Options::default(), limits, with))
    }

    fn under(path: &Path) -> Self {
        Self::with(|with| corpus::read(&[path.to_path_buf()], &Options::default(), &limits(), with))
    }

    fn places(&self) -> Vec<&str> {
        self.entries.iter().map(|entry| entry.place.as_str()).collect()
    }

    fn bodies(&self) -> Vec<String> {
        self.entries.iter().map(|entry| String::from_utf8_lossy(&entry.record.body).into_owned()).collect()
    }

    /// The bodies, where nothing went wrong.
    #[track_caller]
    fn good(&self) -> Vec<String> {
        assert!(self.troubles.is_empty(), "{:?}", self.troubles);
        self.bodies()
    }

    /// What went wrong, as a user reads it.
    fn reports(&self) -> Vec<String> {
        self.troubles.iter().map(ToString::to_string).collect()
    }
}

fn limits() -> Limits {
    Settings::default().limits
}

fn gzip(bytes: impl Read) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(bytes, Compression::default()).read_to_end(&mut packed).expect("memory does not fail");
    packed
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("memory does not fail")
}

/// Text that does not pack well, so that packed members are long enough to be damaged in the middle.
fn noise(seed: u64, n_words: usize) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:x} ", state >> 20)
    };
    (0..n_words).map(|_| word()).collect()
}

fn response(url: &str, status: &str, headers: &str, body: &str) -> String {
    let block = format!("HTTP/1.1 {status}\r\n{headers}\r\n{body}");
    record(
        "response",
        &format!("WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n"),
        &block,
    )
}

fn record(sort: &str, headers: &str, block: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {sort}\r\n{headers}WARC-Date: 2026-01-02T03:04:05Z\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

fn page(number: u64) -> String {
    let body = format!("<p>page {number} {}", noise(number, 300));
    response(&format!("http://a.example/{number}"), "200 OK", "Content-Type: text/html\r\n", &body)
}

fn tar_member(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut head = vec![0; 512];
    head[..name.len()].copy_from_slice(name.as_bytes());
    head[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
    head[156] = b'0';
    head[257..263].copy_from_slice(b"ustar\0");
    head[148..156].copy_from_slice(b"        ");
    let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
    head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let padding = vec![0; bytes.len().next_multiple_of(512) - bytes.len()];
    [head, bytes.to_vec(), padding].concat()
}

const MBOX: &str = "From a@b.example Sat Jan  3 01:05:34 1996\nSubject: one\n\nHello.\n\nFrom here on it is text.\n\
                    >From the start, quoted.\n>>From twice\n\nFrom - Tue Mar 30 02:21:02 2010\r\nSubject: two\r\n\r\nBye.\r\n";

#[test]
fn every_form_is_read_plain_and_packed() {
    let warc = [
        record("warcinfo", "Content-Type: application/warc-fields\r\n", "software: x\r\n"),
        response("http://a.example/", "200 OK", "Content-Type: text/html\r\n", "<p>page"),
    ]
    .concat();
    let tar = [tar_member("x/a.html", b"<p>page"), vec![0; 1024]].concat();
    let jsonl = "{\"id\":\"x\",\"html\":\"<p>page\"}\n";
    for (name, bytes, body, place, format) in [
        ("a.html", "<p>page".as_bytes(), "<p>page", "", Format::Page),
        ("a.htm", b"<p>page", "<p>page", "", Format::Page),
        ("a.xhtml", b"<p>page", "<p>page", "", Format::Page),
        ("a.txt", b"page", "page", "", Format::Page),
        ("a.eml", b"From: z\nSubject: x\n\ny", "From: z\nSubject: x\n\ny", "", Format::Mail),
        ("a.mbox", b"From a Sat Jan  3 01:05:34 1996\nSubject: x\n\ny\n", "Subject: x\n\ny\n", "#1", Format::Mail),
        ("a.jsonl", jsonl.as_bytes(), jsonl.trim_end(), "#1", Format::PageEnvelope),
        ("a.ndjson", b"\n{\"raw\":\"x: y\"}", "{\"raw\":\"x: y\"}", "#2", Format::MailEnvelope),
        ("a.warc", warc.as_bytes(), "<p>page", "#2", Format::Page),
        ("a.tar", &tar, "<p>page", "#x/a.html", Format::Page),
    ] {
        let packed = [
            (String::new(), bytes.to_vec()),
            (".gz".into(), gzip(bytes)),
            (".zst".into(), zstd(bytes)),
            // Downloads are sometimes unpacked on the way and keep their names.
            (".gz".into(), bytes.to_vec()),
        ];
        for (suffix, bytes) in packed {
            let name = format!("{name}{suffix}");
            let found = Found::in_bytes(&name, &bytes);
            assert_eq!(found.good(), [body], "{name}");
            assert_eq!(found.places(), [format!("{name}{place}")]);
            assert_eq!(found.entries[0].record.format, format, "{name}");
        }
        // The same without a name that helps.
        for bytes in [bytes.to_vec(), gzip(bytes), zstd(bytes)] {
            let found = Found::in_bytes("unnamed", &bytes);
            assert_eq!(found.good(), [body], "{name} without its name");
            assert_eq!(found.entries[0].record.format, format, "{name} without its name");
        }
    }
}

#[test]
fn zstd_with_a_long_window_is_read() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.window_log(27).unwrap();
    std::io::Write::write_all(&mut encoder, b"<p>page").unwrap();
    assert_eq!(Found::in_bytes("a.html.zst", &encoder.finish().unwrap()).good(), ["<p>page"]);
}

#[test]
fn a_sentence_that_begins_with_from_is_text() {
    let found = Found::in_bytes("in.mbox", MBOX.as_bytes());
    assert_eq!(
        found.good(),
        [
            "Subject: one\n\nHello.\n\nFrom here on it is text.\nFrom the start, quoted.\n>From twice\n",
            "Subject: two\r\n\r\nBye.\r\n",
        ]
    );
    assert_eq!(found.places(), ["in.mbox#1", "in.mbox#2"]);
}

#[test]
fn a_huge_mail_is_rejected_alone() {
    let line = "x".repeat(60) + "\n";
    let huge = format!("From a Sat Jan  3 01:05:34 1996\nSubject: huge\n\n{}\n", line.repeat(2000));
    let small = "From a Sat Jan  3 01:05:34 1996\nSubject: small\n\ny\n\n";
    let limits = Limits { body_bytes_max: 100_000, ..limits() };
    let found = Found::within("in.mbox", [small, &huge, small].concat().as_bytes(), &limits);
    assert_eq!(found.places(), ["in.mbox#1", "in.mbox#3"]);
    assert_eq!(found.reports(), ["in.mbox#2: body has 122016 bytes, limit is 100000 (limits.body_bytes_max)"]);
    // One line alone may be too much, too.
    let line = format!("From a Sat Jan  3 01:05:34 1996\nSubject: huge\n\n{}\n\n", "x".repeat(200_000));
    let found = Found::within("in.mbox", [small, &line, small].concat().as_bytes(), &limits);
    assert_eq!(found.places(), ["in.mbox#1", "in.mbox#3"]);
}

#[test]
fn a_mail_that_fits_exactly_is_read() {
    let mail = format!("Subject: x\n\n{}\n", "y".repeat(100));
    let limits = Limits { body_bytes_max: mail.len(), ..limits() };
    for end in ["\n", "\r\n", ""] {
        let mbox = format!("From a Sat Jan  3 01:05:34 1996\n{mail}{end}");
        assert_eq!(Found::within("in.mbox", mbox.as_bytes(), &limits).good(), [mail.as_str()]);
    }
}

#[test]
fn bad_lines_are_named_by_number_and_the_rest_goes_on() {
    let jsonl = "{\"id\":\"a\",\"html\":\"x\"}\n\n[1]\n  {\"text\":\"y\"}\r\nnonsense\n{\"raw\":\"z: z\"}";
    let found = Found::in_bytes("in.jsonl", jsonl.as_bytes());
    assert_eq!(found.places(), ["in.jsonl#1", "in.jsonl#4", "in.jsonl#6"]);
    let [third, fifth] = found.troubles.as_slice() else { panic!("{:?}", found.troubles) };
    assert_eq!((third.place.as_str(), fifth.place.as_str()), ("in.jsonl#3", "in.jsonl#5"));
    assert_eq!(third.cause.rejection().unwrap().reason(), "envelope");

    let limits = Limits { body_bytes_max: 20, ..limits() };
    let long = format!("{{\"html\":\"{}\"}}\n{{\"html\":\"x\"}}\n", "x".repeat(100_000));
    let found = Found::within("in.jsonl", long.as_bytes(), &limits);
    assert_eq!(found.places(), ["in.jsonl#2"]);
    assert_eq!(found.reports(), ["in.jsonl#1: body has 100012 bytes, limit is 20 (limits.body_bytes_max)"]);
    assert_eq!(found.troubles[0].cause.rejection().unwrap().reason(), "too_large");
}

#[test]
fn a_format_can_be_forced() {
    let options = Options { form: Some(Form::Mail), ..Options::default() };
    let mbox_line = b"From a Sat Jan  3 01:05:34 1996\nSubject: x\n\ny";
    let found = Found::with(|with| corpus::read_bytes("a.html", mbox_line, &options, &limits(), with));
    assert_eq!((found.good(), found.entries[0].record.format), (vec!["Subject: x\n\ny".into()], Format::Mail));
}

#[test]
fn reading_ends_when_the_caller_has_enough() {
    let mut n = 0;
    let jsonl = "{\"html\":\"x\"}\n".repeat(1000);
    corpus::read_bytes("a.jsonl", jsonl.as_bytes(), &Options::default(), &limits(), &mut |_| {
        n += 1;
        if n == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(n, 3);
}

#[test]
fn one_document_is_found_by_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let mbox = write(folder.path(), "in.mbox", MBOX.as_bytes());
    let tar = write(folder.path(), "in.tar", &[tar_member("x/in.mbox", MBOX.as_bytes()), vec![0; 1024]].concat());
    let page = write(folder.path(), "a#1.html", b"<p>a");
    let body = |spec: String| {
        let entry = corpus::one(&spec, &Options::default(), &limits());
        entry
            .map(|entry| String::from_utf8_lossy(&entry.record.body).into_owned())
            .map_err(|trouble| trouble.to_string())
    };
    let (mbox, tar, page) = (mbox.to_str().unwrap(), tar.to_str().unwrap(), page.to_str().unwrap());
    assert_eq!(body(format!("{mbox}#2")).unwrap(), "Subject: two\r\n\r\nBye.\r\n");
    assert_eq!(body(format!("{tar}#x/in.mbox#2")).unwrap(), "Subject: two\r\n\r\nBye.\r\n");
    assert_eq!(body(page.to_owned()).unwrap(), "<p>a");
    assert!(body(format!("{mbox}#3")).unwrap_err().contains("holds no such document"));
    assert!(body(mbox.to_owned()).unwrap_err().contains("holds several documents"));
    assert!(body(format!("{page}x")).unwrap_err().contains("no such file"));
}

/// One of each container, plain and packed.
fn containers() -> Vec<(&'static str, Vec<u8>)> {
    let warc: String = (0..3).map(page).collect();
    let tar =
        [tar_member("in.mbox", MBOX.as_bytes()), tar_member("a.html.gz", &gzip(&b"<p>b"[..])), vec![0; 1024]].concat();
    let plain = [
        ("a.mbox", MBOX.as_bytes().to_vec()),
        ("a.jsonl", b"{\"html\":\"x\"}\n{\"raw\":\"y\"}\n".to_vec()),
        ("a.warc", warc.clone().into_bytes()),
        ("a.tar", tar),
        ("unnamed", MBOX.as_bytes().to_vec()),
    ];
    let mut all = Vec::new();
    for (name, bytes) in plain {
        all.extend([(name, gzip(&bytes[..])), (name, zstd(&bytes)), (name, bytes)]);
    }
    all.push(("a.warc", (0..3).flat_map(|number| gzip(page(number).as_bytes())).collect()));
    all
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(32))]

    /// Bytes changed, cut out and put in at random: every container is read to its end, and nothing is lost silently.
    #[test]
    fn no_damage_makes_a_reader_panic(
        changes in proptest::collection::vec((proptest::prelude::any::<(usize, u8)>(), 0usize..40), 1..8),
    ) {
        static CONTAINERS: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(containers);
        for (name, whole) in CONTAINERS.iter() {
            let n_whole = Found::in_bytes(name, whole).entries.len();
            let mut bytes = whole.clone();
            for ((at, byte), n_cut) in &changes {
                let at = at % (bytes.len() + 1);
                let end = (at + n_cut).min(bytes.len());
                bytes.splice(at..end, [*byte]);
            }
            let found = Found::in_bytes(name, &bytes);
            if *name == "a.warc" && found.entries.len() < n_whole {
                proptest::prop_assert!(
                    !found.troubles.is_empty() || found.tally.n_other_records + found.tally.n_other_status + found.tally.n_other_types > 0,
                    "{} of {} records, and not a word", found.entries.len(), n_whole
                );
            }
        }
    }
}

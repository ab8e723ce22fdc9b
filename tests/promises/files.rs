//! Every kind of file is read, whole or damaged: what is broken is named, and the rest goes on.

use flate2::Compression;
use flate2::read::GzEncoder;
use seamripper::config::{Limits, Settings};
use seamripper::corpus::{self, Cause, Entry, Form, Options, Tally, Trouble};
use seamripper::document::{Format, Rejection};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

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
    assert_eq!((found.places(), found.troubles.len()), (vec!["in.jsonl#2"], 1));
    assert_eq!(found.troubles[0].cause.rejection().unwrap().reason(), "too_large");
}

#[test]
fn a_warc_gives_its_pages_with_what_it_says_of_them() {
    let request = "WARC-Target-URI: http://a.example/\r\n";
    let dns = "WARC-Target-URI: dns:a.example\r\nContent-Type: text/dns\r\n";
    let resource =
        "WARC-Target-URI: <http://a.example/r>\r\nContent-Type: text/plain\r\nWARC-IP-Address: 192.0.2.7\r\n";
    let records = [
        record("warcinfo", "", "software: x\r\n"),
        record("request", request, "GET / HTTP/1.1\r\n\r\n"),
        response("http://a.example/", "200 OK", "Content-Type: text/html; charset=latin1\r\n", "<p>a"),
        response("http://a.example/missing", "404 Not Found", "Content-Type: text/html\r\n", "<p>no"),
        response("http://a.example/i.png", "200 OK", "Content-Type: image/png\r\n", "PNG"),
        record("response", dns, "a.example. 1 IN A 192.0.2.1"),
        record("resource", resource, "plain"),
        response("http://a.example/br", "200 OK", "Content-Type: text/html\r\nContent-Encoding: br\r\n", "xyz"),
        record("metadata", "", ""),
        record("conversion", "Content-Type: text/plain\r\n", "from a WET file"),
    ];
    let plain = records.concat();
    let by_member: Vec<u8> = records.iter().flat_map(|record| gzip(record.as_bytes())).collect();
    let by_frame: Vec<u8> = records.iter().flat_map(|record| zstd(record.as_bytes())).collect();
    for bytes in [plain.clone().into_bytes(), by_member, by_frame, gzip(plain.as_bytes()), zstd(plain.as_bytes())] {
        let found = Found::in_bytes("in.warc.gz", &bytes);
        assert_eq!(found.bodies(), ["<p>a", "plain", "from a WET file"]);
        assert_eq!(found.places(), ["in.warc.gz#3", "in.warc.gz#7", "in.warc.gz#10"]);
        assert_eq!(found.reports(), ["in.warc.gz#8: content encoding `br` is not supported"]);
        let tally = found.tally;
        assert_eq!((tally.n_other_records, tally.n_other_status, tally.n_other_types), (3, 1, 2));

        let carrier = &found.entries[0].record.carrier;
        assert_eq!(carrier.url.as_deref(), Some("http://a.example/"));
        assert_eq!((carrier.id.as_deref(), carrier.time.as_deref()), (None, Some("2026-01-02T03:04:05Z")));
        assert_eq!(carrier.content_type.as_deref(), Some("text/html; charset=latin1"));
        let carrier = &found.entries[1].record.carrier;
        assert_eq!(carrier.url.as_deref(), Some("http://a.example/r"));
        assert_eq!(carrier.ip, Some("192.0.2.7".parse().unwrap()));
        assert_eq!(found.entries[2].record.carrier.id.as_deref(), Some("in.warc.gz#10"));
    }
}

/// One byte is changed, at many places in turn: never is more lost than the record it is in.
#[test]
fn a_damaged_member_loses_one_record() {
    type Pack = fn(&str) -> Vec<u8>;
    let packs: [(&str, Pack); 2] =
        [("gzip", |record| gzip(record.as_bytes())), ("zstd", |record| zstd_checked(record))];
    for (name, pack) in packs {
        let members: Vec<Vec<u8>> = (0..9).map(|number| pack(&page(number))).collect();
        let start: usize = members[..4].iter().map(Vec::len).sum();
        let whole = members.concat();
        for offset in (0..members[4].len()).step_by(29).chain([1, 2, 3, members[4].len() - 1]) {
            for mask in [0xff, 0x01] {
                let mut damaged = whole.clone();
                damaged[start + offset] ^= mask;
                let found = Found::in_bytes("in.warc.gz", &damaged);
                let mut urls: Vec<_> =
                    found.entries.iter().map(|entry| entry.record.carrier.url.clone().unwrap()).collect();
                let intact = found.entries.iter().all(|entry| {
                    let body = String::from_utf8_lossy(&entry.record.body);
                    (0..9).any(|number| page(number).contains(body.as_ref()))
                });
                assert!(intact, "{name}: byte {offset}: a damaged record was handed over");
                // A byte of the head that means nothing (a time, say) may change without harm.
                if urls.len() == 8 {
                    assert_eq!(found.troubles.len(), 1, "{name}: byte {offset}: {:?}", found.reports());
                    assert_eq!(found.troubles[0].place, "in.warc.gz#5", "{name}: byte {offset}");
                    urls.insert(4, "http://a.example/4".into());
                }
                let expected: Vec<_> = (0..9).map(|number| format!("http://a.example/{number}")).collect();
                assert_eq!(urls, expected, "{name}: byte {offset} with {mask:#x}");
            }
        }
    }
}

/// A frame with a checksum, as `zstd` writes it.
fn zstd_checked(record: &str) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("memory does not fail");
    encoder.include_checksum(true).expect("it is a valid setting");
    std::io::Write::write_all(&mut encoder, record.as_bytes()).expect("memory does not fail");
    encoder.finish().expect("memory does not fail")
}

#[test]
fn a_missing_or_cut_member_loses_one_record() {
    let members: Vec<Vec<u8>> = (0..5).map(|number| gzip(page(number).as_bytes())).collect();
    let cut = [&members[0][..], &members[1][..100], &members[2], b"garbage", &members[3], &members[4]].concat();
    let found = Found::in_bytes("in.warc.gz", &cut);
    let urls: Vec<_> = found.entries.iter().filter_map(|entry| entry.record.carrier.url.as_deref()).collect();
    assert_eq!(urls, ["http://a.example/0", "http://a.example/2", "http://a.example/3", "http://a.example/4"]);
    assert_eq!(found.troubles.len(), 2, "{:?}", found.reports());

    let truncated = [&members[0][..], &members[1][..members[1].len() - 5]].concat();
    let found = Found::in_bytes("in.warc.gz", &truncated);
    assert_eq!(found.entries.len(), 1);
    assert_eq!(found.reports(), ["in.warc.gz#2: ends too early: the file is cut off"]);
}

#[test]
fn a_wrong_length_loses_one_record() {
    for wrong in ["1", "999999", "99999999999999999999", "-1", "x", ""] {
        let right = page(1);
        let length = right.split("Content-Length: ").nth(1).unwrap().split("\r\n").next().unwrap();
        let damaged = right.replace(&format!("Content-Length: {length}"), &format!("Content-Length: {wrong}"));
        for bytes in [
            [page(0), damaged.clone(), page(2), page(3)].concat().into_bytes(),
            gzip([page(0), damaged.clone(), page(2), page(3)].concat().as_bytes()),
            [page(0), damaged.clone(), page(2), page(3)].iter().flat_map(|record| gzip(record.as_bytes())).collect(),
        ] {
            let found = Found::in_bytes("in.warc", &bytes);
            let urls: Vec<_> = found.entries.iter().filter_map(|entry| entry.record.carrier.url.as_deref()).collect();
            assert_eq!(urls, ["http://a.example/0", "http://a.example/2", "http://a.example/3"], "length {wrong}");
            assert_eq!(found.troubles.len(), 1, "{:?}", found.reports());
            assert_eq!(found.troubles[0].place, "in.warc#2");
        }
    }
}

/// Records that each claim to be long must not be read again and again: that would be 75 GB.
#[test]
fn many_wrong_lengths_cost_linear_time() {
    let lie = "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 3000000\r\n\r\n";
    let started = std::time::Instant::now();
    let found = Found::in_bytes("in.warc", lie.repeat(50_000).as_bytes());
    assert!(found.entries.is_empty() && !found.troubles.is_empty());
    assert!(started.elapsed().as_secs() < 10, "{:?} for 3 MB", started.elapsed());
}

#[test]
fn a_bomb_is_rejected() {
    let limits = Limits { unpacked_bytes_max: 3_000_000, body_bytes_max: 1_000_000, ..limits() };
    let zeros = || std::io::repeat(b' ').take(60_000_000);
    let bomb = gzip(zeros());
    assert!(bomb.len() < 100_000);
    for name in ["a.html.gz", "a.mbox.gz", "a.jsonl.gz", "a.txt.gz", "a.eml.gz", "a.gz"] {
        let bytes = match name {
            "a.mbox.gz" => gzip(b"From a Sat Jan  3 01:05:34 1996\nSubject: x\n\n".chain(zeros())),
            "a.jsonl.gz" => gzip(b"{\"html\":\"x\"}\n{".chain(zeros())),
            _ => bomb.clone(),
        };
        let found = Found::within(name, &bytes, &limits);
        assert!(found.entries.len() <= 1, "{name}");
        let [trouble] = found.troubles.as_slice() else { panic!("{name}: {:?}", found.reports()) };
        let rejection = trouble.cause.rejection().expect(name);
        assert!(matches!(rejection, Rejection::UnpacksTooLarge { limit: 3_000_000 }), "{name}: {rejection}");
    }
}

#[test]
fn a_bomb_in_an_archive_loses_only_itself() {
    let limits = Limits { unpacked_bytes_max: 10_000_000, body_bytes_max: 1_000_000, ..limits() };
    let bomb = gzip(std::io::repeat(b'a').take(40_000_000));
    let tar = [
        tar_member("a.html", b"<p>a"),
        tar_member("bomb.html.gz", &bomb),
        tar_member("b.html", b"<p>b"),
        vec![0; 1024],
    ]
    .concat();
    let found = Found::within("in.tar", &tar, &limits);
    assert_eq!(found.bodies(), ["<p>a", "<p>b"]);
    assert_eq!(found.troubles[0].cause.rejection().unwrap().reason(), "unpacks_too_large");

    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n",
        u64::MAX
    );
    let record = gzip(head.as_bytes().chain(std::io::repeat(b'a').take(40_000_000)));
    let warc = [gzip(page(0).as_bytes()), record, gzip(page(1).as_bytes())].concat();
    let found = Found::within("in.warc.gz", &warc, &limits);
    assert_eq!(found.entries.len(), 2);
    assert_eq!(found.reports(), ["in.warc.gz#2: body unpacks to more than 10000000 bytes (limits.unpacked_bytes_max)"]);
}

#[test]
fn a_truncated_gzip_is_named_and_gives_what_came_before() {
    let html = gzip(noise(1, 5000).as_bytes());
    let found = Found::in_bytes("a.html.gz", &html[..html.len() / 2]);
    assert_eq!(
        (found.entries.len(), found.reports()),
        (0, vec!["a.html.gz: ends too early: the file is cut off".into()])
    );

    let jsonl: String = (0..50).map(|number| format!("{{\"html\":\"{}\"}}\n", noise(number, 300))).collect();
    let packed = gzip(jsonl.as_bytes());
    let found = Found::in_bytes("a.jsonl.gz", &packed[..packed.len() / 2]);
    assert!((20..30).contains(&found.entries.len()), "{}", found.entries.len());
    let lost = found.entries.len() + 1;
    assert_eq!(found.reports(), [format!("a.jsonl.gz#{lost}: ends too early: the file is cut off")]);

    for (name, bytes) in [("a.html.gz", &b""[..]), ("a.html.zst", &[0, 1, 2, 3]), ("a.html.gz", &html[..7])] {
        let found = Found::in_bytes(name, bytes);
        assert_eq!((found.entries.len(), found.troubles.len()), (0, 1), "{name} of {} bytes", bytes.len());
    }
}

#[test]
fn members_of_a_tar_are_read_by_their_names() {
    let long = format!("{}/page.html", "folder".repeat(30));
    let pax = format!("path={long}\n");
    let pax = format!("{} {pax}", pax.len() + 4);
    assert_eq!(pax.len(), pax.split(' ').next().unwrap().parse::<usize>().unwrap());
    let mut gnu_name = tar_member("././@LongLink", format!("{long}\0").as_bytes());
    let mut pax_name = tar_member("pax", pax.as_bytes());
    for (head, flag) in [(&mut gnu_name, b'L'), (&mut pax_name, b'x')] {
        // The checksum counts the flag.
        let sum: u32 = u32::from_str_radix(std::str::from_utf8(&head[148..154]).unwrap(), 8).unwrap();
        head[156] = flag;
        head[148..154].copy_from_slice(format!("{:06o}", sum - u32::from(b'0') + u32::from(flag)).as_bytes());
    }
    let tar = [
        tar_member("./a.html", b"<p>a"),
        tar_member("style.css", b"p {}"),
        tar_member(".hidden.html", b"<p>hidden"),
        tar_member("box/cur/123:2,S", b"Subject: x\n\ny"),
        tar_member("in.mbox", MBOX.as_bytes()),
        tar_member("b.html.gz", &gzip(&b"<p>b"[..])),
        tar_member("picture", b"\x89PNG\0\0"),
        tar_member("inner.tar", b"x"),
        gnu_name,
        tar_member("cut", b"<p>c"),
        pax_name,
        tar_member("cut", b"<p>d"),
        tar_member("e.html", b"<p>e"),
        vec![0; 1024],
    ]
    .concat();
    let found = Found::in_bytes("in.tgz", &gzip(&tar[..]));
    let places: Vec<_> = found.places().iter().map(|place| place.strip_prefix("in.tgz#").unwrap().to_owned()).collect();
    assert_eq!(places, ["./a.html", "box/cur/123:2,S", "in.mbox#1", "in.mbox#2", "b.html.gz", &long, &long, "e.html"]);
    assert_eq!(found.entries[1].record.format, Format::Mail);
    assert_eq!(found.reports(), ["in.tgz#inner.tar: an archive in an archive is not read: unpack it first"]);
    assert_eq!(found.tally.n_other_files, 3);
}

#[test]
fn a_damaged_head_in_a_tar_loses_one_member() {
    let mut damaged = tar_member("b.html", b"<p>b");
    damaged[3] = b'!';
    let tar = [tar_member("a.html", b"<p>a"), damaged, tar_member("c.html", b"<p>c"), vec![0; 1024]].concat();
    let found = Found::in_bytes("in.tar", &tar);
    assert_eq!(found.bodies(), ["<p>a", "<p>c"]);
    assert_eq!(found.reports(), ["in.tar: damaged after member 1: looking for the next one"]);
    let found = Found::in_bytes("in.tar", &tar[..700]);
    assert_eq!(found.bodies(), ["<p>a"]);
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder is ours");
    std::fs::write(&path, bytes).expect("the folder is ours");
    path
}

#[test]
fn directories_are_walked_in_name_order() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.html", "a/z.txt", "a/b.eml", "c/deep/er/x.html", ".git/x.html", "a.css", "B.html"] {
        write(folder.path(), name, b"From: x\n\ny");
    }
    write(folder.path(), "c/photo", b"\x89PNG\0");
    let found = Found::under(folder.path());
    let root = folder.path().to_string_lossy().into_owned() + "/";
    let names: Vec<_> = found.places().iter().map(|place| place.replace(&root, "")).collect();
    assert_eq!(names, ["B.html", "a/b.eml", "a/z.txt", "b.html", "c/deep/er/x.html"]);
    assert_eq!(found.tally.n_other_files, 2);
    assert_eq!(found.entries[0].record.carrier.id.as_deref(), Some(found.entries[0].place.as_str()));
    let total = corpus::total_bytes(&[folder.path().to_path_buf()]);
    assert_eq!(total, Some(6 * 10 + 5));
    assert_eq!(Found::under(&folder.path().join("c/deep")).entries.len(), 1);
}

#[test]
fn the_files_of_a_maildir_are_mails() {
    let folder = tempfile::tempdir().unwrap();
    for name in
        ["cur/1:2,S", "new/2.host", ".Sent/cur/3", ".Sent/new/4", "tmp/5", "dovecot-uidlist", ".Sent/maildirfolder"]
    {
        write(folder.path(), name, b"Hello: x\n\ny");
    }
    std::fs::create_dir_all(folder.path().join(".Sent/tmp")).unwrap();
    write(folder.path(), "cur/6.gz", &gzip(&b"Hello: packed\n\ny"[..]));
    let found = Found::under(folder.path());
    assert!(found.entries.iter().all(|entry| entry.record.format == Format::Mail));
    let root = folder.path().to_string_lossy().into_owned() + "/";
    let names: Vec<_> = found.places().iter().map(|place| place.replace(&root, "")).collect();
    assert_eq!(names, [".Sent/cur/3", ".Sent/new/4", "cur/1:2,S", "cur/6.gz", "new/2.host"]);
    assert_eq!(found.good()[3], "Hello: packed\n\ny");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_loops_are_not() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    write(folder.path(), "a/x.html", b"<p>x");
    write(other.path(), "y.html", b"<p>y");
    symlink(folder.path(), folder.path().join("a/loop")).unwrap();
    symlink(other.path(), folder.path().join("b")).unwrap();
    symlink("nowhere.html", folder.path().join("dangling.html")).unwrap();
    let found = Found::under(folder.path());
    assert_eq!(found.bodies(), ["<p>x", "<p>y"]);
    let [trouble] = found.troubles.as_slice() else { panic!("{:?}", found.reports()) };
    assert!(trouble.place.ends_with("dangling.html"), "{trouble}");
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_named_and_the_rest_goes_on() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.html", b"<p>a");
    let secret = write(folder.path(), "b.html", b"<p>b");
    write(folder.path(), "c.html", b"<p>c");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o000)).unwrap();
    let found = Found::under(folder.path());
    if std::fs::File::open(&secret).is_ok() {
        println!("running as root: nothing is unreadable here");
        assert_eq!(found.good().len(), 3);
        return;
    }
    assert_eq!(found.bodies(), ["<p>a", "<p>c"]);
    assert!(matches!(found.troubles.as_slice(), [Trouble { cause: Cause::Unreadable(_), .. }]));
}

#[test]
fn nothing_is_not_an_error_and_a_missing_file_is() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Found::under(folder.path()).good().len(), 0);
    for (name, n_entries) in [("a.mbox", 0), ("a.jsonl", 0), ("a.warc", 0), ("a.tar", 0), ("a.html", 1), ("empty", 1)] {
        let found = Found::under(&write(folder.path(), name, b""));
        assert_eq!(found.good().len(), n_entries, "{name}");
    }
    let found = Found::under(&folder.path().join("missing.html"));
    assert!(found.reports()[0].ends_with("missing.html: no such file or folder (`-` reads standard input)"));
    let found = Found::under(&write(folder.path(), "photo.jpg", b"\xff\xd8\xff\0"));
    assert!(
        matches!(found.troubles.as_slice(), [Trouble { cause: Cause::Unsupported(_), .. }]),
        "{:?}",
        found.reports()
    );
    let found = Found::in_bytes("a.mbox", b"Subject: one mail\n\nand no mailbox\n");
    assert!(matches!(found.troubles.as_slice(), [Trouble { cause: Cause::Damaged(_), .. }]));
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

//! No input makes the reader panic, and none takes much more time per byte than ordinary pages and mails do.

#[path = "../../fuzz/properties.rs"]
mod properties;

use cpu_time::ThreadTime;
use seamripper::document::Format;
use std::path::PathBuf;
use std::time::Duration;

/// Hostile bytes may take this many times as long as ordinary ones.
const SLOWDOWN_MAX: f64 = 5.0;
const N_BYTES: usize = 10_000_000;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A small deterministic generator: a failing run can be run again.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    /// `bytes` with a few bytes replaced, removed, repeated or moved.
    fn mutated(&mut self, bytes: &[u8]) -> Vec<u8> {
        const SPECIAL: &[u8] = b"<>&;\"'=/!-[]{}@:.\r\n\0\x80\xff \t#?%\\=_";
        let mut mutated = bytes.to_vec();
        for _ in 0..1 + self.below(8) {
            let at = self.below(mutated.len());
            match self.below(5) {
                0 if !mutated.is_empty() => mutated[at] = SPECIAL[self.below(SPECIAL.len())],
                1 => mutated.truncate(at.max(1)),
                2 => mutated.insert(at.min(mutated.len()), SPECIAL[self.below(SPECIAL.len())]),
                3 => drop(mutated.drain(at..(at + self.below(64)).min(mutated.len()))),
                _ => {
                    let piece = mutated[at.min(mutated.len())..(at + self.below(64)).min(mutated.len())].to_vec();
                    let to = self.below(mutated.len());
                    mutated.splice(to..to, piece);
                }
            }
        }
        mutated
    }
}

/// The kept inputs of a fuzz target, and bundled documents that fit it.
fn seeds(target: &str, more: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for folder in std::iter::once(format!("fuzz/seeds/{target}")).chain(more.iter().map(|more| (*more).to_owned())) {
        let mut files: Vec<_> =
            std::fs::read_dir(root().join(&folder)).unwrap_or_else(|error| panic!("{folder}: {error}")).collect();
        files.sort_by_key(|file| file.as_ref().unwrap().path());
        for file in files {
            let path = file.unwrap().path();
            if path.is_file() {
                seeds.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    assert!(!seeds.is_empty(), "{target} has no inputs");
    seeds
}

fn hold(target: &str, more: &[&str], n_mutations: usize, property: fn(&[u8])) {
    let mut dice = Dice(0x5EA3);
    for (name, bytes) in seeds(target, more) {
        property(&bytes);
        for n in 0..n_mutations {
            let mutated = dice.mutated(&bytes);
            if std::panic::catch_unwind(|| property(&mutated)).is_err() {
                let kept = std::env::temp_dir().join(format!("seamripper-{target}-{n}"));
                std::fs::write(&kept, &mutated).unwrap();
                panic!("mutation {n} of {name} breaks `{target}`: kept as {}", kept.display());
            }
        }
    }
}

#[test]
fn mutated_pages_break_nothing() {
    hold("html", &["demo/pages"], 300, properties::html);
}

#[test]
fn mutated_mails_break_nothing() {
    hold("mime", &["demo/mails", "tests/data/mail"], 100, properties::mime);
}

#[test]
fn mutated_charsets_break_nothing() {
    hold("charset", &["demo/pages"], 100, properties::charset);
}

#[test]
fn mutated_envelopes_break_nothing() {
    hold("envelope", &["schemas/examples"], 500, properties::envelope);
}

#[test]
fn mutated_archives_break_nothing() {
    hold("archive", &[], 300, properties::archive);
}

#[test]
fn mutated_lexicons_break_nothing() {
    hold("lexicon", &["src/signature/lexicons"], 20, properties::lexicon);
}

/// `unit` again and again, to about ten megabytes, after `head`.
fn flood(head: &str, unit: &str) -> Vec<u8> {
    let mut bytes = head.as_bytes().to_vec();
    while bytes.len() + unit.len() <= N_BYTES {
        bytes.extend_from_slice(unit.as_bytes());
    }
    bytes
}

/// CPU time per byte, the better of two runs.
fn per_byte(format: Format, bytes: &[u8]) -> f64 {
    let run = || {
        let start = ThreadTime::now();
        properties::signed(format, bytes);
        start.elapsed()
    };
    run().min(run()).max(Duration::from_nanos(1)).as_secs_f64() / bytes.len() as f64
}

/// What ordinary documents cost, the bundled ones again and again.
fn ordinary(folder: &str, format: Format) -> f64 {
    let documents: Vec<Vec<u8>> = std::fs::read_dir(root().join(folder))
        .unwrap()
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect();
    let n_bytes: usize = documents.iter().map(Vec::len).sum();
    let round = || {
        let start = ThreadTime::now();
        documents.iter().for_each(|document| properties::signed(format, document));
        start.elapsed().as_secs_f64() / n_bytes as f64
    };
    (0..50).map(|_| round()).fold(f64::MAX, f64::min)
}

fn assert_linear(format: Format, ordinary: f64, inputs: Vec<(&str, Vec<u8>)>) {
    let mut slow = Vec::new();
    for (name, bytes) in inputs {
        let mut ratio = per_byte(format, &bytes) / ordinary;
        // A neighbour's load can slow one run down; it does not slow all of them.
        for _ in 0..3 {
            if ratio > SLOWDOWN_MAX {
                ratio = ratio.min(per_byte(format, &bytes) / ordinary);
            }
        }
        println!("{name:<28} {:>10} bytes {ratio:>6.2} x ordinary", bytes.len());
        if ratio > SLOWDOWN_MAX {
            slow.push(format!("{name}: {ratio:.1} times as slow as ordinary input"));
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

#[test]
fn hostile_pages_take_linear_time() {
    let flooded = [
        ("div", "", "<div>"),
        ("open brackets", "", "<"),
        ("open brackets and a", "", "<a"),
        ("one attribute", "<a ", "a"),
        ("one attribute value", "<a href=\"", "a"),
        ("unclosed quotes", "", "<a b=\"c'"),
        ("many attributes", "<a ", "b=c "),
        ("tags with attributes", "", "<a b=c d>"),
        ("ampersands", "", "&"),
        ("entities", "", "&amp"),
        ("numeric entities", "", "&#x41;"),
        ("long entity names", "&", "aaaaaaaa"),
        ("open comments", "", "<!--"),
        ("comment ends", "<!--", "--!"),
        ("bogus comments", "", "<!a>"),
        ("cdata", "<svg>", "<![CDATA["),
        ("open scripts", "", "<script>"),
        ("script ends", "<script>", "</script"),
        ("script escapes", "<script>", "<!--<script"),
        ("open titles", "", "<title>"),
        ("open textareas", "<textarea>", "</textare"),
        ("nested tables", "", "<table><tr><td>"),
        ("misnested", "", "<b><p><i></b>"),
        ("end tags", "", "</div>"),
        ("hidden elements", "", "<i hidden>x"),
        ("inline styles", "", "<i style=\"display:none;;\">x</i>"),
        ("select lists", "<select>", "<option>x"),
        ("links", "", "<a href=/x/../y>z</a>"),
        ("paragraphs", "", "<p>x"),
        ("one word", "", "a"),
        ("words", "", "a "),
        ("full stops", "", "."),
        ("short sentences", "", "A. "),
        ("addresses", "", "a@"),
        ("urls", "", "http://"),
        ("hosts", "", "a.b."),
        ("digits", "", "1-"),
        ("apostrophes", "", "a'"),
        ("combining marks", "e", "\u{301}"),
        ("wide letters", "", "Ａ"),
        ("han", "", "漢"),
        ("thai", "", "ไ"),
        ("ligatures", "", "\u{fdfa} "),
        ("ligatures in a row", "", "\u{fdfa}"),
        ("small ligatures", "", "\u{fdfb}\u{fb03}"),
        ("squared words", "", "\u{3316}"),
        ("zero width", "a", "\u{200b}"),
        ("emoji", "", "👩\u{200d}🔧"),
        ("nul", "", "\0"),
        ("white space", "", " \n"),
        ("brackets of sentences", "", "「」"),
    ];
    let mut inputs: Vec<(&str, Vec<u8>)> =
        flooded.into_iter().map(|(name, head, unit)| (name, flood(head, unit))).collect();
    inputs.push(("invalid utf-8", vec![0xff; N_BYTES]));
    inputs.push(("high bytes", (0..N_BYTES).map(|i| 0x80 | (i * 7 % 128) as u8).collect()));
    assert_linear(Format::Page, ordinary("demo/pages", Format::Page), inputs);
}

#[test]
fn hostile_mails_take_linear_time() {
    let head = "From: a@b.example\r\nSubject: s\r\n";
    let mixed = format!("{head}Content-Type: multipart/mixed; boundary=b\r\n\r\n");
    let mut nested = head.to_owned();
    for n in 0..100_000 {
        nested.push_str(&format!("Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n"));
    }
    let mut forwarded = head.to_owned();
    for _ in 0..100_000 {
        forwarded.push_str("Content-Type: message/rfc822\r\n\r\nSubject: s\r\n");
    }
    let below = format!("{head}Content-Type: text/html\r\n\r\n{}", "<div id=divRplyFwdMsg>".repeat(250));
    let inputs = vec![
        ("100,000 multiparts", nested.into_bytes()),
        ("100,000 forwarded mails", forwarded.into_bytes()),
        ("boundaries", flood(&mixed, "--b\r\n")),
        ("almost boundaries", flood(&mixed, "\r\n--")),
        ("empty parts", flood(&mixed, "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n")),
        ("one header", flood("Subject: ", "a")),
        ("header lines", flood("", "A: b\r\n")),
        ("folded header", flood("Subject: a\r\n", " b\r\n")),
        ("recipients", flood("To: ", "a <b@c.example>, ")),
        ("encoded words", flood("Subject: ", "=?utf-8?B?YQ==?= ")),
        ("open encoded words", flood("Subject: ", "=?utf-8?Q?")),
        ("comments", flood("From: ", "(")),
        ("base64", flood(&format!("{head}Content-Transfer-Encoding: base64\r\n\r\n"), "YWJj")),
        ("quoted-printable", flood(&format!("{head}Content-Transfer-Encoding: quoted-printable\r\n\r\n"), "=3D")),
        ("soft breaks", flood(&format!("{head}Content-Transfer-Encoding: quoted-printable\r\n\r\n"), "=\r\n")),
        ("quoted lines", flood(&format!("{head}\r\n"), "> x\r\n")),
        ("deeply quoted", flood(&format!("{head}\r\n"), ">")),
        ("rule lines", flood(&format!("{head}\r\n"), "----\r\n")),
        ("wrote lines", flood(&format!("{head}\r\n"), "On a wrote:\r\n")),
        ("html", flood(&format!("{head}Content-Type: text/html\r\n\r\n"), "<div>")),
        (
            "nested quotations",
            flood(
                &format!("{head}Content-Type: text/html\r\n\r\n"),
                "<div class=gmail_quote>a@b:<blockquote type=cite>x<br>",
            ),
        ),
        ("headers above a line of stars", flood(&format!("{below}De: x<br>"), "*")),
        ("a line of dashes in many elements", flood(&below, "-")),
        ("no line end", flood("", "x")),
        ("line ends", flood("", "\r\n")),
    ];
    assert_linear(Format::Mail, ordinary("demo/mails", Format::Mail), inputs);
}

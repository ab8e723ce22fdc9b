//! The same document gives the same signatures on every machine and in every release of one scheme.
//!
//! `tests/golden/signatures-<scheme>-<document>.json` holds what the documents beside it are signed with under the default
//! settings and a lexicon of their own words, so that a new built-in lexicon changes nothing here. `SEAMRIPPER_GOLDEN=write cargo test golden` writes the files that are missing and changes none. Bits that
//! change need a new number in `seamripper::signature::SCHEME` and with it new files; those of older schemes stay.

use seamripper::config::Settings;
use seamripper::document::{Carrier, Format, Record};
use seamripper::pipeline::Steps;
use seamripper::signature::imatch::Lexicons;
use seamripper::signature::lexicon::{About, Lexicon};
use seamripper::signature::{SCHEME, Signatures};
use seamripper::text::words::spelled_terms;
use std::collections::BTreeSet;
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

/// Every term of `body`, markup included, each in 150 of 1,000 documents: inside the bands of pages and of mails.
fn lexicon(body: &[u8]) -> Vec<u8> {
    let mut terms = BTreeSet::new();
    spelled_terms(&String::from_utf8_lossy(body), |term| {
        terms.insert(term.to_owned());
    });
    let about = About { name: "golden".into(), n_documents: 1000, df_min: 1, ..About::default() };
    Lexicon::new(about, terms.iter().map(|term| (term.as_str(), 150))).unwrap().to_bytes()
}

fn signatures(document: &str, format: Format, url: Option<&str>) -> String {
    let body = std::fs::read(Path::new(FOLDER).join(document)).unwrap();
    let mut json = serde_json::to_string_pretty(&signed(&body, format, url)).unwrap();
    json.push('\n');
    json
}

fn signed(body: &[u8], format: Format, url: Option<&str>) -> Signatures {
    let mut settings = Settings::default();
    let imatch = &mut settings.imatch;
    for name in [&mut imatch.page_lexicon, &mut imatch.mail_lexicon, &mut imatch.unspaced_lexicon] {
        *name = "golden.lexicon".into();
    }
    let lexicons = Lexicons::new(&settings, |_| Ok(lexicon(body))).unwrap();
    let mut steps = Steps::new(&settings, lexicons);
    let carrier = Carrier { url: url.map(str::to_owned), ..Carrier::default() };
    steps.sign(&Record { format, body: body.to_vec(), carrier }).unwrap().signatures
}

fn assert_golden(document: &str, format: Format, url: Option<&str>) {
    let made = signatures(document, format, url);
    let (name, _) = document.split_once('.').unwrap();
    let file = Path::new(FOLDER).join(format!("signatures-{SCHEME}-{name}.json"));
    if !file.exists() && std::env::var_os("SEAMRIPPER_GOLDEN").is_some_and(|wish| wish == "write") {
        std::fs::write(&file, &made).unwrap();
        println!("{}: written", file.display());
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_else(|error| {
        panic!("{}: {error}; SEAMRIPPER_GOLDEN=write makes it, for a new SCHEME or document", file.display())
    });
    let differing = golden.lines().zip(made.lines()).zip(1..).find(|((golden, made), _)| golden != made);
    if let Some(((golden, made), line)) = differing {
        panic!(
            "{}: line {line} is\n{golden}\nand {document} now gives\n{made}\n\
             signatures that were stored no longer match: if that is meant, raise signature::SCHEME and write new files",
            file.display()
        );
    }
    assert_eq!(golden.lines().count(), made.lines().count(), "{}: has another length", file.display());
}

#[test]
fn golden_signatures_of_a_page() {
    assert_golden("page.html", Format::Page, Some("https://canal.example/notes/counting-boats"));
}

#[test]
fn golden_signatures_of_a_japanese_page() {
    assert_golden("japanese.html", Format::Page, Some("https://touge.example/"));
}

/// Most of its head is what any page has.
#[test]
fn golden_signatures_of_a_page_with_public_libraries() {
    assert_golden("libraries.html", Format::Page, Some("https://ferry.example/timetable"));
}

/// It has no words of its own.
#[test]
fn golden_signatures_of_a_forwarded_mail() {
    assert_golden("forwarded.eml", Format::Mail, None);
}

#[test]
fn golden_signatures_of_a_japanese_reply() {
    assert_golden("reply.eml", Format::Mail, None);
}

/// The program that wrote it speaks a language that nobody has told us of.
#[test]
fn nothing_but_its_markup_says_what_the_reply_quotes() {
    let body = std::fs::read_to_string(Path::new(FOLDER).join("reply.eml")).unwrap();
    let core = |body: String| {
        let signed = signed(body.as_bytes(), Format::Mail, None);
        serde_json::to_value(signed).unwrap()["core"].is_object()
    };
    assert!(!core(body.replace("gmail_quote", "quote")) && core(body));
}

#[test]
fn golden_signatures_of_a_mail() {
    assert_golden("mail.eml", Format::Mail, None);
}

/// The golden documents have something of everything, so that the files say something about it.
#[test]
fn golden_documents_meet_every_signature() {
    let page: serde_json::Value =
        serde_json::from_str(&signatures("page.html", Format::Page, Some("https://canal.example/notes/"))).unwrap();
    for key in ["shown", "core", "full", "shingles", "imatch", "frame"] {
        assert!(page[key].is_object() || page[key].is_string(), "the page has no {key}");
    }
    for key in ["grams", "sentences", "links", "link_domains"] {
        assert!(!page[key].as_array().unwrap().is_empty(), "the page has no {key}");
    }
    assert!(page["style"]["noise"]["bins"].is_string() && page["style"]["tag_noise"].is_object());
    let mail: serde_json::Value = serde_json::from_str(&signatures("mail.eml", Format::Mail, None)).unwrap();
    assert!(mail["core"].is_object() && mail["imatch"].is_object() && mail["style"].is_object());
}

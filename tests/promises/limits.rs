//! Every limit has its own outcome: a truncation that is named while the rest is read, or a rejection with its reason.

use seamripper::config::{Limits, Settings};
use seamripper::corpus;
use seamripper::document::{Carrier, Format, Reader, Record, Truncation};
use seamripper::signature::keyed::Keys;
use seamripper::text::Cutter;
use std::io::Write;
use std::ops::ControlFlow;

fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Settings::default().limits;
    change(&mut limits);
    limits
}

/// The truncations and the text of one document under `limits`.
fn read(format: Format, body: &str, limits: Limits) -> (Vec<Truncation>, String) {
    let record = Record { format, body: body.as_bytes().to_vec(), carrier: Carrier::default() };
    let mut reader = Reader::new(limits, Keys::derive("limits"));
    let document = reader.read(&record).unwrap();
    (document.reading.truncated.clone(), document.text.clone())
}

fn page(body: &str, change: impl FnOnce(&mut Limits)) -> (Vec<Truncation>, String) {
    read(Format::Page, body, limits(change))
}

#[test]
fn ordinary_documents_are_not_truncated() {
    let (truncated, _) = page("<title>t</title><div><p>one <a href=/x>two</a></div>", |_| ());
    assert_eq!(truncated, []);
}

#[test]
fn text_beyond_its_limit_is_not_read() {
    let (truncated, text) = page(&"<p>word word".repeat(100), |limits| limits.text_bytes_max = 50);
    assert_eq!(truncated, [Truncation::Text]);
    assert!(text.len() <= 50 && text.starts_with("word word"), "{text:?}");
}

#[test]
fn deep_elements_are_read_as_if_they_were_less_deep() {
    let (truncated, text) = page(&format!("{}deep", "<div>".repeat(20)), |limits| limits.nesting_max = 8);
    assert_eq!((truncated, text.as_str()), (vec![Truncation::Nesting], "deep"));
}

#[test]
fn further_attributes_are_not_looked_at() {
    let (truncated, text) = page("<p a b c d hidden>shown", |limits| limits.attributes_max = 3);
    assert_eq!((truncated, text.as_str()), (vec![Truncation::Attributes], "shown"));
}

#[test]
fn further_links_are_not_kept() {
    let (truncated, text) = page(&"<a href=/x>y</a> ".repeat(5), |limits| limits.links_max = 3);
    assert_eq!((truncated, text.as_str()), (vec![Truncation::Links], "y y y y y"));
}

#[test]
fn further_frame_items_are_not_kept() {
    let body: String = (b'a'..=b'z').map(|letter| format!("<div id=part-{}>x</div>", letter as char)).collect();
    let (truncated, _) = page(&body, |limits| limits.frame_items_max = 5);
    assert_eq!(truncated, [Truncation::Frame]);
}

#[test]
fn further_parts_of_a_mail_are_not_read() {
    let parts = "--b\r\nContent-Type: text/plain\r\n\r\npart\r\n".repeat(9);
    let mail = format!("From: a@b.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n{parts}--b--\r\n");
    let (truncated, text) = read(Format::Mail, &mail, limits(|limits| limits.parts_max = 4));
    assert_eq!(truncated, [Truncation::Parts]);
    assert!(text.matches("part").count() < 9, "{text}");
}

#[test]
fn further_words_are_not_read() {
    let mut settings = Settings::default();
    settings.limits.words_max = 10;
    let keys = Keys::derive("limits");
    let record = Record { body: "word ".repeat(50).into_bytes(), ..Record::default() };
    let mut reader = Reader::new(settings.limits.clone(), keys);
    let mut cutter = Cutter::new(&settings, keys);
    let text = cutter.cut(reader.read(&record).unwrap());
    assert!(text.truncated);
    assert_eq!(text.words.len(), 10);
}

#[test]
fn a_body_over_its_limit_is_rejected() {
    let record = Record { body: vec![b'x'; 11], ..Record::default() };
    let error =
        Reader::new(limits(|limits| limits.body_bytes_max = 10), Keys::derive("limits")).read(&record).unwrap_err();
    assert_eq!(error.reason(), "too_large");
}

#[test]
fn a_bomb_is_rejected_and_the_next_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    bomb.write_all(&vec![b' '; 5_000_000]).unwrap();
    std::fs::write(folder.path().join("a.html.gz"), bomb.finish().unwrap()).unwrap();
    std::fs::write(folder.path().join("b.html"), "<p>next").unwrap();
    let mut seen = Vec::new();
    let limits = limits(|limits| (limits.body_bytes_max, limits.unpacked_bytes_max) = (10_000, 100_000));
    corpus::read(&[folder.path().into()], &corpus::Options::default(), &limits, &mut |entry| {
        seen.push(match entry {
            Ok(_) => "read",
            Err(trouble) => trouble.cause.rejection().expect("a rejection").reason(),
        });
        ControlFlow::Continue(())
    });
    assert_eq!(seen, ["unpacks_too_large", "read"]);
}

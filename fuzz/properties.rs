//! What must hold for any bytes: nothing panics, and what comes out is well formed. Shared by the fuzz targets and by
//! `tests/promises/hostile.rs`.
#![allow(dead_code, reason = "a fuzz target uses one of these")]

use seamripper::config::Settings;
use seamripper::corpus;
use seamripper::document::{Carrier, Format, Reader, Record, charset, envelope};
use seamripper::pipeline;
use seamripper::signature::lexicon::Lexicon;
use seamripper::signature::{Signer, keyed::Keys};
use seamripper::text::Cutter;
use std::cell::RefCell;
use std::ops::ControlFlow;

/// The steps, made once per thread: their buffers see one input after the other, as in the product.
struct Steps {
    reader: Reader,
    cutter: Cutter,
    signer: Signer,
}

thread_local! {
    static STEPS: RefCell<Steps> = RefCell::new({
        let settings = Settings::default();
        let keys = Keys::derive(settings.secret.reveal());
        let lexicons = pipeline::lexicon::load(&settings).expect("the built-in lexicons load");
        Steps {
            reader: Reader::new(settings.limits.clone(), keys),
            cutter: Cutter::new(&settings, keys),
            signer: Signer::new(&settings, lexicons),
        }
    });
}

/// Reads, cuts and signs; checks that all that is said about the text lies in the text.
pub(crate) fn signed(format: Format, bytes: &[u8]) {
    STEPS.with_borrow_mut(|Steps { reader, cutter, signer }| {
        let record = Record { format, body: bytes.to_vec(), carrier: Carrier::default() };
        let Ok(document) = reader.read(&record) else { return };
        let text = &document.text;
        let within = |span: seamripper::document::Span, text: &str| {
            assert!(text.get(span.range()).is_some(), "{span:?} does not lie in a text of {} bytes", text.len());
        };
        document.outline.iter().for_each(|element| within(element.span, text));
        document.asides.iter().for_each(|aside| within(aside.span, text));
        document.links.anchors.iter().for_each(|anchor| {
            within(anchor.text, text);
            within(anchor.href, &document.links.hrefs);
        });
        let cut = cutter.cut(document);
        cut.words.spans.iter().for_each(|span| within(*span, text));
        cut.hidden.spans.iter().for_each(|span| within(*span, &document.hidden));
        cut.sentences.iter().for_each(|sentence| within(sentence.span, text));
        cut.blocks.iter().for_each(|block| within(block.span, text));
        assert!(cut.words.spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "words overlap");
        let signatures = signer.sign(document, cut);
        assert!(signatures.grams.iter().all(|gram| (gram.position as usize) < cut.words.len()));
        assert!(signatures.shown.terms.is_sorted());
    });
}

/// Any bytes are a page.
pub(crate) fn html(bytes: &[u8]) {
    signed(Format::Page, bytes);
}

/// Any bytes are a mail, or no mail.
pub(crate) fn mime(bytes: &[u8]) {
    signed(Format::Mail, bytes);
}

/// Any bytes are text in some charset; the first line stands for the content type.
pub(crate) fn charset(bytes: &[u8]) {
    let (content_type, body) = bytes.split_at(bytes.iter().position(|&b| b == b'\n').unwrap_or(0));
    let declared = charset::decode(body, std::str::from_utf8(content_type).ok());
    assert!(declared.text.len() <= 4 * body.len() + 4, "decoding blows up");
    charset::decode(bytes, None);
}

/// Any bytes are an envelope, or refused; what is no JSON for `serde_json` is no envelope either.
pub(crate) fn envelope(bytes: &[u8]) {
    let limits = Settings::default().limits;
    let page = envelope::open_page(bytes, &Carrier::default(), &limits);
    let mail = envelope::open_mail(bytes, &Carrier::default(), &limits);
    if page.is_ok() || mail.is_ok() {
        assert!(serde_json::from_slice::<serde_json::Value>(bytes).is_ok(), "taken, though it is no JSON");
    }
}

/// Any bytes are a file: WARC, mbox, JSON lines, tar, packed or not, by what they begin with.
pub(crate) fn archive(bytes: &[u8]) {
    let limits = Settings::default().limits;
    let mut n_seen = 0;
    corpus::read_bytes("input", bytes, &corpus::Options::default(), &limits, &mut |entry| {
        if let Ok(entry) = entry {
            assert!(entry.record.body.len() <= limits.unpacked_bytes_max);
        }
        n_seen += 1;
        if n_seen < 10_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
}

/// Any bytes are a lexicon, or refused by name; a lexicon that is taken says what it holds.
pub(crate) fn lexicon(bytes: &[u8]) {
    if let Err(error) = Lexicon::from_bytes(bytes) {
        assert!(!error.to_string().is_empty());
    }
}

//! Rules that types cannot say: ranges, and contradictions between keys. All are collected, each with its values.

use super::{Band, Settings};

/// Offsets into a document are 32-bit; a quarter of that leaves room for what decoding and joining add.
const BYTES_CEILING: usize = 1 << 30;
/// The terms of a lexicon keep their membership in all copies in one 64-bit word, the original included.
const COPIES_CEILING: usize = 63;

pub(super) fn problems(settings: &Settings) -> Vec<String> {
    let mut problems = Vec::new();
    let Settings { secret, limits, text, content, imatch, .. } = settings;
    let mut refuse = |wrong: bool, problem: String| {
        if wrong {
            problems.push(problem);
        }
    };

    refuse(secret.reveal().is_empty(), "secret must not be empty".into());
    for (key, value) in [
        ("limits.body_bytes_max", limits.body_bytes_max),
        ("limits.unpacked_bytes_max", limits.unpacked_bytes_max),
        ("limits.text_bytes_max", limits.text_bytes_max),
        ("limits.words_max", limits.words_max),
        ("limits.nesting_max", limits.nesting_max),
        ("limits.attributes_max", limits.attributes_max),
        ("limits.links_max", limits.links_max),
        ("limits.parts_max", limits.parts_max),
        ("limits.frame_items_max", limits.frame_items_max),
        ("text.terms_min", text.terms_min),
        ("text.digits_masked_min", text.digits_masked_min),
    ] {
        refuse(value == 0, format!("{key} (0) must be at least 1"));
    }
    for (key, value) in
        [("limits.body_bytes_max", limits.body_bytes_max), ("limits.text_bytes_max", limits.text_bytes_max)]
    {
        refuse(value > BYTES_CEILING, format!("{key} ({value}) must be at most {BYTES_CEILING}"));
    }
    refuse(
        limits.nesting_max > usize::from(u16::MAX),
        format!("limits.nesting_max ({}) must be at most {}", limits.nesting_max, u16::MAX),
    );
    refuse(
        limits.unpacked_bytes_max < limits.body_bytes_max,
        format!(
            "limits.unpacked_bytes_max ({}) must not be below limits.body_bytes_max ({})",
            limits.unpacked_bytes_max, limits.body_bytes_max
        ),
    );
    refuse(
        content.sentence_chars_max >= text.sentence_chars_min,
        format!(
            "content.sentence_chars_max ({}) must be below text.sentence_chars_min ({})",
            content.sentence_chars_max, text.sentence_chars_min
        ),
    );
    refuse(
        imatch.terms_min.get() < text.terms_min,
        format!("imatch.terms_min ({}) must not be below text.terms_min ({})", imatch.terms_min, text.terms_min),
    );
    refuse(
        imatch.copies > COPIES_CEILING,
        format!("imatch.copies ({}) must be at most {COPIES_CEILING}", imatch.copies),
    );
    for (key, value) in [
        ("content.node_share", content.node_share),
        ("content.link_share", content.link_share),
        ("imatch.drop_share", imatch.drop_share),
    ] {
        refuse(!(value > 0.0 && value < 1.0), format!("{key} ({value}) must lie between 0 and 1"));
    }
    for (key, band) in [
        ("imatch.page_band", imatch.page_band),
        ("imatch.mail_band", imatch.mail_band),
        ("imatch.unspaced_band", imatch.unspaced_band),
    ] {
        let Band { min, max } = band;
        refuse(
            !(0.0 <= min && min < max && max <= 1.0),
            format!("{key} ([{min}, {max}]) must ascend and lie in 0 to 1"),
        );
    }
    problems
}

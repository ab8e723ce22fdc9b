//! HTML noise: the source without its letters and digits (Urvoy 2006).
//!
//! What is left (brackets, quotes, punctuation, white space) is the way the page was made, not what it says. Letters
//! and digits of every script go, since a translated page keeps its template; punctuation of every script stays.
//! Every byte of every page passes here, so that the work is done 16 or 64 bytes at a time where the processor can
//! ([`vector`]), and by a table where it can't ([`scalar`]); both give the same bytes.
//!
//! # Invariants
//! - The noise is the source filtered by [`char::is_alphanumeric`], whichever way it is computed.
//!   (`every_way_strips_alike`, `every_way_strips_tags_alike`)
//! - Noise is UTF-8 when the source is, and never longer. (`noise_is_text_and_no_longer_than_its_source`)

mod scalar;
#[cfg(target_arch = "x86_64")]
mod vector;

use super::Span;

/// Adds the noise of `source` to `noise`: every character that is not alphanumeric, in order, as UTF-8.
pub fn strip(source: &str, noise: &mut Vec<u8>) {
    Way::best().strip(source, noise);
}

/// The same for the tags of a page (each from `<` to `>`), with each run of white space as one space: `tags` are their places in
/// `source`. A run of white space ends with its tag.
///
/// Panics when a span does not lie in `source` or cuts a character: that is a bug in the caller.
pub fn strip_tags(source: &str, tags: &[Span], noise: &mut Vec<u8>) {
    Way::best().strip_tags(source, tags, noise);
}

/// How many bytes a vector step may write beyond what it keeps.
const SLACK: usize = 64;

/// The ways to do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Byte by byte.
    Scalar,
    /// 16 bytes at a time (SSSE3: nearly every x86-64 processor in use).
    #[cfg(target_arch = "x86_64")]
    Shuffle(vector::Ssse3),
    /// 64 bytes at a time (AVX-512 VBMI2: Ice Lake, Zen 4 and later).
    #[cfg(target_arch = "x86_64")]
    Compress(vector::Vbmi2),
}

impl Way {
    /// The fastest way that this processor has; the answer is cached by the standard library.
    fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(proof) = vector::Vbmi2::detected() {
                return Self::Compress(proof);
            }
            if let Some(proof) = vector::Ssse3::detected() {
                return Self::Shuffle(proof);
            }
        }
        Self::Scalar
    }

    fn strip(self, source: &str, noise: &mut Vec<u8>) {
        let start = noise.len();
        noise.resize(start + source.len() + SLACK, 0);
        let out = &mut noise[start..];
        let kept = match self {
            Self::Scalar => scalar::strip(source, out),
            #[cfg(target_arch = "x86_64")]
            Self::Shuffle(ssse3) => ssse3.strip(source, out),
            #[cfg(target_arch = "x86_64")]
            Self::Compress(vbmi2) => vbmi2.strip(source, out),
        };
        noise.truncate(start + kept);
    }

    fn strip_tags(self, source: &str, tags: &[Span], noise: &mut Vec<u8>) {
        let start = noise.len();
        let bytes: usize = tags.iter().map(|tag| source[tag.range()].len()).sum();
        noise.resize(start + bytes + SLACK, 0);
        let out = &mut noise[start..];
        let kept = match self {
            Self::Scalar => scalar::strip_tags(source, tags, out),
            #[cfg(target_arch = "x86_64")]
            Self::Shuffle(ssse3) => ssse3.strip_tags(source, tags, out),
            #[cfg(target_arch = "x86_64")]
            Self::Compress(vbmi2) => vbmi2.strip_tags(source, tags, out),
        };
        noise.truncate(start + kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Noise, written the slow and obvious way.
    fn naive(source: &str) -> String {
        source.chars().filter(|c| !c.is_alphanumeric()).collect()
    }

    /// Noise of a tag, written the slow and obvious way.
    fn naive_tag(tag: &str) -> String {
        let mut noise = String::new();
        let mut after_space = false;
        for c in tag.chars() {
            let space = c.is_ascii_whitespace();
            if space && !after_space {
                noise.push(' ');
            } else if !space && !c.is_alphanumeric() {
                noise.push(c);
            }
            after_space = space;
        }
        noise
    }

    fn ways() -> Vec<Way> {
        let mut ways = vec![Way::Scalar];
        #[cfg(target_arch = "x86_64")]
        {
            ways.extend(vector::Ssse3::detected().map(Way::Shuffle));
            ways.extend(vector::Vbmi2::detected().map(Way::Compress));
        }
        ways
    }

    fn stripped(way: Way, source: &str) -> String {
        let mut noise = b"before".to_vec();
        way.strip(source, &mut noise);
        String::from_utf8(noise.split_off(6)).unwrap()
    }

    fn tags_stripped(way: Way, source: &str, tags: &[Span]) -> String {
        let mut noise = b"before".to_vec();
        way.strip_tags(source, tags, &mut noise);
        String::from_utf8(noise.split_off(6)).unwrap()
    }

    /// Sources as pages have them: markup, words, and characters of every width, in runs of every length.
    fn source() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-zA-Z0-9]{0,40}",
            4 => "[ -~]{0,80}",
            2 => "[<>=\"'/ ]{0,20}",
            2 => "[ \t\r\n\x0b\x0c]{0,20}",
            1 => "[а-яぁ-ヿ一-龥。、「」！？・ａ-ｚ０-９äöüßéñ«»–— ·]{0,20}",
            1 => "\\PC{0,20}",
            1 => any::<String>(),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn letters_and_digits_of_every_script_go() {
        for (source, noise) in [
            ("", ""),
            ("abc", ""),
            ("<a href=\"/x/y.html?z=1\">Text, more text.</a>\n", "< =\"//.?=\">,  .</>\n"),
            ("日本語、テスト。「ー」", "、。「」"),
            ("ＡＢ１２！？　（全角）", "！？　（）"),
            ("naïve «Ça» – 5 €", " «» –  €"),
            ("١٢٣،", "،"),
            ("😀a😀", "😀😀"),
            ("a\u{0301}", "\u{0301}"),
        ] {
            for way in ways() {
                assert_eq!(stripped(way, source), noise, "{source:?} by {way:?}");
            }
        }
    }

    #[test]
    fn white_space_in_a_tag_is_one_space() {
        for (tag, noise) in [
            ("<a>", "<>"),
            ("<a  href = 'x y'\n\t class=\"b  c\">", "<  = ' ' =\" \">"),
            ("<\n>", "< >"),
            ("</p >", "</ >"),
            ("<img alt=\"日本、　x\" />", "< =\"、　\" />"),
        ] {
            for way in ways() {
                assert_eq!(tags_stripped(way, tag, &[Span::new(0, tag.len())]), noise, "{tag:?} by {way:?}");
            }
        }
    }

    #[test]
    fn a_run_of_white_space_ends_with_its_tag() {
        let source = "<a > < b>";
        let tags = [Span::new(0, 4), Span::new(4, 5), Span::new(5, 9)];
        for way in ways() {
            assert_eq!(tags_stripped(way, source, &tags), "< > < >", "{way:?}");
        }
    }

    #[test]
    #[should_panic(expected = "byte index")]
    fn a_span_outside_of_the_source_is_a_bug() {
        strip_tags("<a>", &[Span::new(0, 4)], &mut Vec::new());
    }

    /// Every length and every offset against the width of a step, and every ASCII character.
    #[test]
    fn edges_of_a_step_strip_alike() {
        let ascii: String = (0..=127u8).cycle().take(300).map(char::from).collect();
        for way in ways() {
            for from in 0..130 {
                for to in (from..300).step_by(7) {
                    let source = &ascii[from..to];
                    assert_eq!(stripped(way, source), naive(source), "{from}..{to} by {way:?}");
                    let tag = Span::new(from, to);
                    assert_eq!(tags_stripped(way, &ascii, &[tag]), naive_tag(source), "{from}..{to} by {way:?}");
                }
            }
        }
    }

    /// Every character there is.
    #[test]
    fn the_whole_of_unicode_strips_alike() {
        let all: String = ('\0'..=char::MAX).collect();
        let noise = naive(&all);
        for way in ways() {
            assert!(stripped(way, &all) == noise, "{way:?} differs");
        }
    }

    proptest! {
        #[test]
        fn every_way_strips_alike(source in source()) {
            for way in ways() {
                prop_assert_eq!(stripped(way, &source), naive(&source), "by {:?}", way);
            }
        }

        #[test]
        fn every_way_strips_tags_alike(pieces in prop::collection::vec(source(), 1..6)) {
            let source = pieces.concat();
            let mut tags = Vec::new();
            let mut noise = String::new();
            let mut at = 0;
            for (index, piece) in pieces.iter().enumerate() {
                if index % 2 == 0 {
                    tags.push(Span::new(at, at + piece.len()));
                    noise.push_str(&naive_tag(piece));
                }
                at += piece.len();
            }
            for way in ways() {
                prop_assert_eq!(tags_stripped(way, &source, &tags), noise.as_str(), "by {:?}", way);
            }
        }

        #[test]
        fn noise_is_text_and_no_longer_than_its_source(source in source()) {
            let mut noise = Vec::new();
            strip(&source, &mut noise);
            prop_assert!(noise.len() <= source.len());
            prop_assert!(String::from_utf8(noise).is_ok());
        }
    }
}

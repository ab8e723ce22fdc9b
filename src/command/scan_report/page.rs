//! HTML under construction: markup is known when this program is compiled, everything else is escaped.
//!
//! Documents are hostile, and so are their ids, URLs and labels. [`Page::markup`] takes `&'static str` and nothing
//! else, so a string that came from a document can only get in through the functions that escape it.
//!
//! # Invariants
//! - No string of a document becomes markup. (`hostile_text_stays_text`)
//! - No character that turns the reading direction or controls a terminal is written as itself.
//!   (`direction_marks_are_spelled_out`)

use super::super::report::{plain, shortened};
use std::fmt::{Display, Write as _};

/// Characters of an id, a URL or a label that are shown.
const NAME_CHARS_MAX: usize = 200;

/// The page so far.
#[derive(Debug, Default)]
pub(super) struct Page(String);

impl Page {
    /// Markup of ours.
    pub(super) fn markup(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text of a document, with its line breaks. Fits between tags and between the quotes of an attribute.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(character),
                _ if is_hostile(character) => {
                    write!(self.0, "{}", character.escape_unicode()).expect("a string takes all that is written");
                }
                _ => self.0.push(character),
            }
        }
        self
    }

    /// An id, a URL, a label: one line, isolated from the reading direction around it, found by the search box.
    pub(super) fn name(&mut self, name: &str) -> &mut Self {
        self.markup("<bdi class=\"n\">").text(&plain(&shortened(name, NAME_CHARS_MAX))).markup("</bdi>")
    }

    /// A number, with its thousands apart.
    pub(super) fn count(&mut self, n: u64) -> &mut Self {
        let digits = n.to_string();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                self.0.push(',');
            }
            self.0.push(digit);
        }
        self
    }

    /// A number and its noun.
    pub(super) fn counted(&mut self, n: u64, one: &'static str, many: &'static str) -> &mut Self {
        self.count(n).markup(" ").markup(if n == 1 { one } else { many })
    }

    /// A share as a percentage.
    pub(super) fn percent(&mut self, share: f64) -> &mut Self {
        let percent = 100.0 * finite(share);
        // A few of many are not none, and nearly all are not all.
        let decimals = usize::from(percent > 0.0 && percent < 9.95 || percent > 99.0 && percent < 100.0);
        self.shown(format_args!("{percent:.decimals$}%"))
    }

    /// A score with two decimals.
    pub(super) fn score(&mut self, score: f64) -> &mut Self {
        self.shown(format_args!("{:.2}", finite(score)))
    }

    /// What a number of ours looks like, escaped all the same.
    pub(super) fn shown(&mut self, value: impl Display) -> &mut Self {
        self.text(&value.to_string())
    }

    /// A small bar that is filled by `share`. The number stands beside it: it is hidden from screen readers.
    pub(super) fn meter(&mut self, share: f64) -> &mut Self {
        self.markup("<svg class=\"meter\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">")
            .markup("<rect class=\"track\" width=\"100\" height=\"10\"/><rect class=\"fill\" height=\"10\" width=\"")
            .shown(format_args!("{:.1}", 100.0 * finite(share).clamp(0.0, 1.0)))
            .markup("\"/></svg>")
    }

    /// How much there is so far.
    pub(super) fn n_bytes(&self) -> usize {
        self.0.len()
    }

    /// The finished page.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

/// Events may come from elsewhere: what is not a number is shown as none.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// Whether a character of a text must not be written as itself. Joiners and the marks that only separate stay: Persian
/// and emoji need them, and every text stands in an element of its own direction.
fn is_hostile(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{180e}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{e0000}'..='\u{e001f}')
        || (character as u32) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(write: impl FnOnce(&mut Page) -> &mut Page) -> String {
        let mut page = Page::default();
        write(&mut page);
        String::from_utf8(page.into_bytes()).unwrap()
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</script><img src=x onerror='alert(1)'> & \"q\"\0\u{1b}";
        let text = page(|page| page.text(hostile));
        let escaped = "&lt;/script&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt; &amp; &quot;q&quot;\\u{0}\\u{1b}";
        assert_eq!(text, escaped);
        assert_eq!(page(|page| page.name(hostile)), format!("<bdi class=\"n\">{escaped}</bdi>"));
    }

    #[test]
    fn direction_marks_are_spelled_out() {
        assert_eq!(page(|page| page.text("a\u{202e}b\u{2066}c")), "a\\u{202e}b\\u{2066}c");
        assert_eq!(page(|page| page.text("می\u{200c}خواهم 👩\u{200d}🚀")), "می\u{200c}خواهم 👩\u{200d}🚀");
        assert_eq!(page(|page| page.name("a\nb\u{200f}")), "<bdi class=\"n\">a⏎b\\u{200f}</bdi>");
    }

    #[test]
    fn numbers_are_readable() {
        let counts = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (n, shown) in counts {
            assert_eq!(page(|page| page.count(n)), shown);
        }
        let shares = [(0.0, "0%"), (0.004, "0.4%"), (0.31, "31%"), (0.996, "99.6%"), (1.0, "100%"), (f64::NAN, "0%")];
        for (share, shown) in shares {
            assert_eq!(page(|page| page.percent(share)), shown);
        }
    }

    #[test]
    fn a_long_name_loses_its_middle() {
        let name = page(|page| page.name(&"x".repeat(100_000)));
        assert!(name.len() < NAME_CHARS_MAX + 40 && name.contains('…'), "{name}");
    }
}

//! The lines that introduce what a mail quotes or forwards: "On … wrote:", a block of headers, "Original Message" between dashes.
//!
//! Programs write them in the language of whoever uses them. Those of known languages are told by their words, wherever they stand. In
//! any language nearly all of them end in a colon, and hold an address or a date; letters do too, so that this counts only where the
//! markup says that something is quoted.
//!
//! # Invariants
//! - Without the colon, the words and the date together no line is one. (`letters_with_dates_introduce_nothing`)
//! - A block of headers is told in each of the languages that are listed. (`headers_of_all_languages_begin_the_original`)

use super::phrases::{
    HEADER_NAMES, INTRODUCTION_VERBS, INTRODUCTION_WORDS, ORIGINAL_MESSAGE, PERSON_FIRST_VERBS, PERSON_LAST_VERBS,
};
use super::{Lines, NOTICE_BYTES_MAX, begins_with};

/// Lines over which an introduction ("On … wrote:") may be wrapped, and within which a header block shows itself.
const WRAPPED_LINES_MAX: usize = 3;
const HEADER_LINES_MAX: usize = 8;
/// Nobody wraps a line below this many characters: a word that would have made it longer began the next line.
const WRAPPED_CHARS_MIN: usize = 60;
/// Names of headers are shorter. Most lines have no colon so near their beginning, and need not be compared with any.
const NAME_BYTES_MAX: usize = 32;

/// What an introduction ends in, before its colon.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// "wrote", "schrieb Ann".
    Verb,
    /// "写道": date and person stand before it, in any order.
    PersonFirst,
    /// "<ann@a.example>", as Gmail ends it in Japanese and Russian.
    Address,
}

impl Ending {
    pub(super) fn of(line: &str) -> Option<Self> {
        let line = before_colon(line.trim_end_matches(['>', ' ']))?;
        if PERSON_FIRST_VERBS.iter().any(|verb| line.ends_with(verb)) {
            return Some(Self::PersonFirst);
        }
        // "schrieb Ann:" puts the person last.
        let has_verb = INTRODUCTION_VERBS.iter().any(|verb| line.ends_with(verb))
            || PERSON_LAST_VERBS.iter().any(|verb| memchr::memmem::find(line.as_bytes(), verb.as_bytes()).is_some());
        if has_verb {
            return Some(Self::Verb);
        }
        (line.ends_with(['>', ')']) && line.contains('@')).then_some(Self::Address)
    }
}

/// Where an introduction begins, and whether it needs no quoted line below it to be one.
#[derive(Clone, Copy)]
pub(super) struct Introduction {
    pub(super) begin: usize,
    pub(super) is_certain: bool,
}

impl Lines<'_> {
    /// The introduction that ends in this line, if it has the form of one: "On", or a date, or in the words of other languages an
    /// address and a date somewhere. A time of day or an address makes it certain; where it has no verb, both and a year: a
    /// programme says when who speaks.
    pub(super) fn introduction(&self, index: usize, ending: Ending) -> Option<Introduction> {
        let first = (index + 1).saturating_sub(WRAPPED_LINES_MAX);
        let (mut has_digit, mut has_address, mut is_timed, mut is_of_a_year) = (false, false, false, false);
        let mut is_one_line = true;
        for begin in (first..=index).rev() {
            let line = self.at(begin);
            if line.len() > NOTICE_BYTES_MAX || begin < index && self.list[begin].sort.is_some() {
                return None;
            }
            is_one_line = is_one_line && (begin == index || is_wrapped(line, self.at(begin + 1)));
            has_digit |= line.bytes().any(|byte| byte.is_ascii_digit());
            has_address |= line.contains('@');
            is_timed |= has_time(line);
            is_of_a_year |= has_year(line);
            // Own words above "Ann wrote:" may hold a date too.
            let is_dated = has_time(line) && has_year(line) && is_one_line;
            let has_form = line.starts_with(|c: char| c.is_ascii_digit())
                || INTRODUCTION_WORDS.iter().any(|word| begins_with_word(line, word))
                || is_dated && (has_address || begin == index && ending == Ending::PersonFirst);
            if has_digit && has_form {
                let is_certain = match ending {
                    Ending::Verb | Ending::PersonFirst => has_address || is_timed,
                    Ending::Address => has_address && is_timed && is_of_a_year,
                };
                return Some(Introduction { begin, is_certain });
            }
        }
        None
    }

    /// Whether the original mail begins here, as Outlook shows it: a line that says so, or a block of headers.
    pub(super) fn begins_original(&self, index: usize) -> bool {
        let line = self.at(index);
        if line.len() > NOTICE_BYTES_MAX {
            return false;
        }
        if line.starts_with("--") {
            let words = line.trim_matches(['-', ' ']);
            return line.ends_with("--") && ORIGINAL_MESSAGE.iter().any(|known| words.eq_ignore_ascii_case(known));
        }
        if !is_field(line) {
            return false;
        }
        let end = self.list.len().min(index + HEADER_LINES_MAX);
        let among = |wanted: &[&str]| {
            (index + 1..end).any(|below| wanted.iter().any(|name| header_value(self.at(below), name)))
        };
        // Languages share names: "De" begins the headers of three.
        HEADER_NAMES.iter().any(|names| header_value(line, names[0]) && among(&names[1..3]) && among(&names[3..]))
    }

    /// Whether this line introduces what is quoted or forwarded, in whatever language.
    pub(super) fn is_introduction(&self, index: usize) -> bool {
        let line = self.at(index);
        let is_titled = || line.starts_with("-----") && line.ends_with("-----") && line.contains(char::is_alphabetic);
        line.len() <= NOTICE_BYTES_MAX
            && (Ending::of(line).is_some() || names_author(line) || is_titled() || self.begins_original(index))
    }

    /// Whether a block of headers begins here, in whatever language.
    pub(super) fn is_header(&self, index: usize) -> bool {
        self.begins_original(index)
            || is_field(self.at(index)) && index + 1 < self.list.len() && is_field(self.at(index + 1))
    }
}

/// "Anna <ann@a.example> kirjutas:", "1. jaan 2024 kirjutas Anna:", "2010/1/1 Anna <ann@a.example>".
pub(super) fn names_author(line: &str) -> bool {
    let has_date = || has_time(line) || has_year(line);
    match before_colon(line) {
        Some(line) => line.contains('@') || has_date(),
        None => line.ends_with(['>', ')']) && line.contains('@') && has_date(),
    }
}

/// A line without the colon that ends it, if one does.
pub(super) fn before_colon(line: &str) -> Option<&str> {
    line.strip_suffix([':', '：']).map(str::trim_end)
}

/// `Name: value`
fn is_field(line: &str) -> bool {
    let lead = &line.as_bytes()[..line.len().min(NAME_BYTES_MAX)];
    memchr::memchr2(b':', "：".as_bytes()[0], lead).is_some_and(|at| at > 0)
}

/// Whether a program broke one line into these two.
fn is_wrapped(line: &str, below: &str) -> bool {
    let n_chars = || line.chars().count() + 1 + below.split(' ').next().map_or(0, |word| word.chars().count());
    line.ends_with(['<', '(']) || below.starts_with(['<', '(']) || n_chars() > WRAPPED_CHARS_MIN
}

fn begins_with_word(line: &str, word: &str) -> bool {
    begins_with(line, word) && line[word.len()..].starts_with([' ', ':'])
}

/// `10:32`
fn has_time(line: &str) -> bool {
    line.as_bytes().windows(4).any(|window| matches!(window, [b'0'..=b'9', b':', b'0'..=b'5', b'0'..=b'9']))
}

/// `2024`
fn has_year(line: &str) -> bool {
    let mut numbers = line.split(|c: char| !c.is_ascii_digit());
    numbers.any(|number| number.len() == 4 && (number.starts_with("19") || number.starts_with("20")))
}

fn header_value(line: &str, name: &str) -> bool {
    // The line may be megabytes long. Bold names keep their stars in plain text: `*From:* Ann`.
    let lead = line[..line.floor_char_boundary(NAME_BYTES_MAX)].trim_start_matches('*');
    lead.strip_prefix(name).is_some_and(|rest| rest.trim_start_matches([' ', '*', '\u{a0}']).starts_with([':', '：']))
}

#[cfg(test)]
mod tests {
    use super::super::tests::marked;
    use super::*;

    #[test]
    fn letters_with_dates_introduce_nothing() {
        for body in [
            "News\nUpdated 3 June 2024, 10:30 GMT\nThe minister said:\nDear friends\nanother story",
            "Updated 3 June 2024, 10:30 GMT\nThe minister said:\nDear friends\nanother story",
            "News\nUpdated 3 June 2024, 10:30 GMT, editor@news.example\nThe minister wrote:\nDear friends",
            "On 3 June 2024, 10:30, all of us met\nThe minister said:\nDear friends",
            "Hello\nIn John 3:16 (NIV 2011) Jesus said:\nFor God so loved the world",
            "Hello\nIn line 3:16 of page 1024 (ann@a.example) Paul wrote:\nHere is more",
            "Programme\n9:30 Opening, chair Ann Smith (ann@uni.example):\nA talk",
            "Programme\n9:30 Opening, room 2912, chair Ann Smith (ann@uni.example):\nA talk",
            "Open to all\n2024 prices from Ann <a@b.example>:\nten",
        ] {
            assert_eq!(marked(body).trim(), "", "{body}");
        }
        for (body, margins) in [
            ("Let us meet on 3 June 2024 at 10:30\nAnn wrote:\n> asked", " QQ"),
            ("Let us meet on 3 June 2024 at 10:30\nAnn <ann@a.example> wrote:\n> asked", " QQ"),
            ("In a message dated: Thu, 22 Aug 2002 13:03:57 CDT\nAnn said:\n> asked\nYes", "QQQ "),
            ("В сообщении от 08 апреля 2010 10:26:03 автор Анна\nнаписал:\n> раз\nДа", "QQQ "),
            // Two lines that were one.
            (
                "Tak\npon., 1 sty 2024 o 10:00 Anna Bardzo Długie Nazwisko z Krakowa\n<a@b.example> napisał(a):\nraz",
                " QQQ",
            ),
            (
                "Evet\nPzt, 1 Oca 2024, 10:00 tarihinde Ayşe Uzunsoyadı Büyükşehirli\n(ayse@b.example) şunu yazdı:\nbir",
                " QQQ",
            ),
        ] {
            assert_eq!(marked(body), margins, "{body}");
        }
    }

    #[test]
    fn headers_of_all_languages_begin_the_original() {
        for [from, sent, date, to, subject] in HEADER_NAMES {
            for (when, what) in [(sent, subject), (date, to)] {
                let body = format!("Text\n{from}: Ann\n{when}: x\n{what}: y\nMore");
                assert_eq!(marked(&body), " QQQQ", "{body}");
            }
        }
        assert_eq!(marked("Sí\nDe: Ana\nEnviado: hoy\nPara: Bob\nAsunto: x\nNo"), " QQQQQ");
        assert_eq!(marked("Sí\nDe: todos\nPara: nadie\nNo"), "    ");
    }
}

//! The parts of a mail's text that are not its sender's own new words: quoted lines, signatures, list footers,
//! notices of confidentiality.
//!
//! Two replies share what they quote, two mails of one list its footer, two of one person the signature; none of it
//! makes them copies. The rules look at whole lines of the visible text, where white space is collapsed already (the
//! signature's `-- ` is `--`), and at what the markup of mail programs says of them. They are those that readers of mail
//! know from sight; a rule that would take the only text of a mail away (a header block with nothing above it is a
//! forwarded mail) is not applied, except to the bare footer of a list, which is no text. So a quotation is an aside only beside words of the sender's own: where there are none, it
//! is the message, and what is an aside is told inside of it.
//!
//! # Invariants
//! - What a mail without words of its own quotes or forwards is no aside; the footers and signatures in it and below it are.
//!   (`what_a_mail_only_quotes_is_its_message`)
//! - Asides are whole lines below the subject, in order, apart from each other. (`asides_are_whole_lines_in_order`)
//! - Elements that mail programs quote in are quotations, whatever the language around them. (`certain_markup_quotes_in_any_language`)
//! - Time is linear in the text. (`a_text_of_introductions_is_marked_in_linear_time`)
//! - A footer is the short end of a mail, in plain text and in HTML. (`a_footer_is_the_short_end_of_a_mail`)
//! - A company's notice of confidentiality is a footer, wherever in the rest of the mail it ends what was written.
//!   (`a_disclaimer_is_a_footer`)

mod disclaimer;
mod markup;
mod phrases;

use super::html::Tag;
use super::{Element, Span};
use phrases::{
    DEVICES, HEADER_NAMES, INTRODUCTION_VERBS, INTRODUCTION_WORDS, LEAVE_WORDS, LIST_WORDS, ORIGINAL_MESSAGE,
    PERSON_LAST_VERBS,
};
use serde::Serialize;

/// A marked stretch of a mail's text, whole lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Aside {
    /// What it is.
    pub sort: AsideSort,
    /// Where it is.
    pub span: Span,
}

/// What an aside is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AsideSort {
    /// Lines quoted from another mail, with the line that introduces them.
    Quoted,
    /// The sender's signature.
    Signature,
    /// What a list or a provider puts below every mail.
    Footer,
}

/// How far from the end a footer may begin, in lines that are not empty (lists need no more).
const FOOTER_LINES_MAX: usize = 15;
/// How many bytes a footer may have whatever stands above it: 95 of 100 tails below a rule or a notice have no more (3,687 of
/// SpamAssassin, CSDMC2010 and phishing_pot), and among the longer ones are mails that draw a line below their title.
const FOOTER_BYTES_MIN: usize = 600;
/// And where at least as much stands above it: so many lines, as wide as plain mails have them. A line of an HTML mail is a
/// paragraph.
const FOOTER_BYTES_MAX: usize = FOOTER_LINES_MAX * 80;
/// How many lines a signature may have. Four is good manners; more than this is text below a dash.
const SIGNATURE_LINES_MAX: usize = 15;
/// Characters of a line that may be an introduction or a notice; a paragraph is neither.
const NOTICE_BYTES_MAX: usize = 300;
/// Lines over which an introduction ("On … wrote:") may be wrapped, and within which a header block shows itself.
const WRAPPED_LINES_MAX: usize = 3;
const HEADER_LINES_MAX: usize = 8;
/// So often the `>` of a mail that only quotes are taken off: who forwards what was forwarded has two or three of them.
const UNQUOTED_MAX: usize = 4;
/// A key of 4096 bits makes 14 lines, with a comment or two.
const PGP_LINES_MAX: usize = 40;

/// Finds the asides of a mail's visible `text` below its subject, which ends at byte `body`, and adds them to
/// `asides`. The `outline` says what an HTML mail quotes, and how far.
pub fn mark(text: &str, body: usize, outline: &[Element], asides: &mut Vec<Aside>) {
    let mut lines = Lines::of(text, body, outline);
    lines.mark();
    while lines.only_quote() && lines.n_unquoted < UNQUOTED_MAX {
        lines.unquote();
        lines.mark();
    }
    lines.collect(asides);
}

/// A line of text, and what it is found to be.
#[derive(Clone, Copy)]
struct Line {
    span: Span,
    sort: Option<AsideSort>,
    /// In how many quotations of the markup it stands.
    n_quotes: u8,
    /// Whether the markup says that the original mail begins here.
    begins_original: bool,
}

/// The lines that are not empty.
struct Lines<'t> {
    text: &'t str,
    outline: &'t [Element],
    list: Vec<Line>,
    /// How many marks of a quotation are left out where a line begins with them.
    n_unquoted: usize,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str, body: usize, outline: &'t [Element]) -> Self {
        let mut list = Vec::new();
        let mut start = body;
        for end in memchr::memchr_iter(b'\n', &text.as_bytes()[body..]).map(|n| body + n).chain([text.len()]) {
            if !text[start..end].trim_ascii().is_empty() {
                list.push(Line { span: Span::new(start, end), sort: None, n_quotes: 0, begins_original: false });
            }
            start = end + 1;
        }
        markup::note(outline, &mut list);
        Self { text, outline, list, n_unquoted: 0 }
    }

    fn at(&self, index: usize) -> &'t str {
        let line = self.text[self.list[index].span.range()].trim_ascii();
        // Quotations of the markup stand around those of the text.
        (usize::from(self.list[index].n_quotes)..self.n_unquoted).fold(line, |line, _| unquoted(line))
    }

    fn mark(&mut self) {
        self.mark_quotes();
        self.mark_signatures();
        self.mark_footer();
        self.mark_disclaimer();
    }

    /// Whether something is quoted, and nothing but rules and signs stands beside the asides.
    fn only_quote(&self) -> bool {
        let is_own = |index: usize| {
            let line = self.at(index);
            self.list[index].sort.is_none() && !is_rule(line) && line.contains(char::is_alphanumeric)
        };
        !(0..self.list.len()).any(is_own) && (0..self.list.len()).any(|index| self.is_quoted(index))
    }

    /// Takes the quoted lines for the mail. What introduces them stays an aside, as do signatures and footers below them.
    fn unquote(&mut self) {
        for index in 0..self.list.len() {
            if self.list[index].sort == Some(AsideSort::Quoted) && self.is_quoted(index) {
                self.list[index].sort = None;
            }
        }
        self.n_unquoted += 1;
    }

    fn is_quoted(&self, index: usize) -> bool {
        index < self.list.len() && (self.is_in_quote(index) || is_quoted_line(self.at(index)))
    }

    /// Whether the markup says that it is quoted.
    fn is_in_quote(&self, index: usize) -> bool {
        self.list.get(index).is_some_and(|line| usize::from(line.n_quotes) > self.n_unquoted)
    }

    fn set(&mut self, range: std::ops::Range<usize>, sort: AsideSort) {
        for line in &mut self.list[range] {
            line.sort = Some(sort);
        }
    }

    fn mark_quotes(&mut self) {
        let mut own_words = false;
        let mut index = 0;
        while index < self.list.len() {
            let line = self.at(index);
            let is_short = line.len() <= NOTICE_BYTES_MAX;
            let mut end = index + 1;
            if self.list[index].sort.is_some() {
                // It was before the mail was found to be a quotation.
            } else if self.is_quoted(index) {
                self.set(index..end, AsideSort::Quoted);
            } else if is_short && (self.list[index].begins_original || self.begins_original(index)) {
                // People who answer above leave everything below as it was; without an answer it is forwarded.
                if own_words {
                    end = self.list.len();
                    self.set(index..end, AsideSort::Quoted);
                }
            } else if is_short && let Some(ending) = Ending::of(line) {
                let begin = self.introduction_begin(index, ending);
                if self.is_quoted(end) {
                    self.set(begin.map_or(index, |(begin, _)| begin)..end, AsideSort::Quoted);
                } else if own_words && let Some((begin, true)) = begin {
                    end = self.quotation_end(index);
                    self.set(begin..end, AsideSort::Quoted);
                } else if ending == Ending::Address {
                    own_words = true;
                }
            } else if is_short && self.is_in_quote(end) && (line.ends_with([':', '：']) || line.contains('@')) {
                // What stands right above certain markup needs no form that we know.
                self.set(index..end, AsideSort::Quoted);
            } else {
                own_words = own_words || !is_rule(line);
            }
            index = end;
        }
    }

    /// The end of the quotation that this line introduces and no `>` shows: that of the element it stands in.
    fn quotation_end(&self, index: usize) -> usize {
        let n_lines = self.list.len();
        let (Some(below), line_end) = (self.list.get(index + 1), self.list[index].span.end) else { return n_lines };
        let first = self.outline.partition_point(|element| element.span.start < line_end);
        let quote = self.outline[first..]
            .iter()
            .take_while(|element| element.span.start <= below.span.start)
            .find(|element| element.tag == Tag::Blockquote);
        let Some(quote) = quote else { return n_lines };
        index + 1 + self.list[index + 1..].partition_point(|line| line.span.start < quote.span.end)
    }

    /// Whether the original mail begins here, as Outlook shows it: a line that says so, or a block of headers.
    fn begins_original(&self, index: usize) -> bool {
        let line = self.at(index);
        if line.starts_with("--") {
            let words = line.trim_matches(['-', ' ']);
            return line.ends_with("--") && ORIGINAL_MESSAGE.iter().any(|known| words.eq_ignore_ascii_case(known));
        }
        // Most lines have no colon near their beginning, of either width, and need not be compared with any name.
        const NAME_BYTES_MAX: usize = 32;
        if memchr::memchr2(b':', "：".as_bytes()[0], &line.as_bytes()[..line.len().min(NAME_BYTES_MAX)]).is_none() {
            return false;
        }
        let Some(names) = HEADER_NAMES.iter().find(|names| header_value(line, names[0])) else { return false };
        let end = self.list.len().min(index + HEADER_LINES_MAX);
        let among = |wanted: &[&str]| {
            (index + 1..end).any(|below| wanted.iter().any(|name| header_value(self.at(below), name)))
        };
        among(&names[1..3]) && among(&names[3..])
    }

    /// Where the introduction that ends in this line begins, if it has the form of one ("On", a date, somebody), and
    /// whether a time of day or an address makes it certain: both, where it has no verb.
    fn introduction_begin(&self, index: usize, ending: Ending) -> Option<(usize, bool)> {
        let first = (index + 1).saturating_sub(WRAPPED_LINES_MAX);
        let (mut has_digit, mut has_address, mut is_timed) = (false, false, false);
        for begin in (first..=index).rev() {
            let line = self.at(begin);
            if line.len() > NOTICE_BYTES_MAX || begin < index && self.list[begin].sort.is_some() {
                return None;
            }
            has_digit |= line.bytes().any(|byte| byte.is_ascii_digit());
            has_address |= line.contains('@');
            is_timed |= has_time(line);
            let has_form = line.starts_with(|c: char| c.is_ascii_digit())
                || INTRODUCTION_WORDS.iter().any(|word| begins_with_word(line, word))
                || has_time(line) && (line.contains('@') || has_year(line));
            if has_digit && has_form {
                let is_certain = match ending {
                    Ending::Verb => has_address || is_timed,
                    Ending::Address => has_address && is_timed,
                };
                return Some((begin, is_certain));
            }
        }
        None
    }

    /// `--` and what follows, up to a quote or rule, if it is short; the block that PGP puts below a mail; and the
    /// advertisement of a device in the last lines.
    fn mark_signatures(&mut self) {
        let mut index = 0;
        while index < self.list.len() {
            let line = self.at(index);
            let end = match line {
                _ if self.list[index].sort.is_some() || !line.starts_with("--") => None,
                // With nothing above it, it is the message.
                "--" if index > 0 => self.signature_end(index),
                "-----BEGIN PGP SIGNATURE-----" => {
                    let most = self.list.len().min(index + PGP_LINES_MAX);
                    (index + 1..most).find(|&below| self.at(below) == "-----END PGP SIGNATURE-----").map(|end| end + 1)
                }
                _ => None,
            };
            if let Some(end) = end {
                self.set(index..end, AsideSort::Signature);
            }
            index = end.unwrap_or(index + 1);
        }
        for index in self.tail()..self.list.len() {
            let line = self.at(index);
            if self.list[index].sort.is_none() && DEVICES.iter().any(|device| begins_with(line, device)) {
                self.set(index..index + 1, AsideSort::Signature);
            }
        }
    }

    fn signature_end(&self, index: usize) -> Option<usize> {
        let most = self.list.len().min(index + 1 + SIGNATURE_LINES_MAX + 1);
        let is_end = |&below: &usize| self.list[below].sort.is_some() || is_rule(self.at(below));
        let end = (index + 1..most).find(is_end).unwrap_or(most);
        (end - index <= SIGNATURE_LINES_MAX + 1).then_some(end)
    }

    /// The first line from which a footer may begin.
    fn tail(&self) -> usize {
        self.list.len().saturating_sub(FOOTER_LINES_MAX)
    }

    /// The tail below the first rule in the last lines, or from the first notice on how to leave the list, that is short.
    fn mark_footer(&mut self) {
        let tail = self.tail();
        let is_notice = self.leave_notices(tail);
        let is_begin =
            |&index: &usize| self.list[index].sort.is_none() && (is_notice[index - tail] || is_rule(self.at(index)));
        let is_text = |line: &&Line| matches!(line.sort, None | Some(AsideSort::Quoted));
        let n_bytes = self.list.iter().filter(is_text).map(|line| line.span.len()).sum();
        let is_short = |&begin: &usize| is_footer_length(self.free_bytes(begin), n_bytes);
        let mut begins = (tail..self.list.len()).filter(is_begin);
        let Some(begin) = begins.next() else { return };
        // Where nothing stands above, only the words of a list program make it the footer of an empty mail;
        // otherwise somebody drew a line and wrote below it.
        if begin == 0 && !LIST_WORDS.iter().any(|word| self.text[self.list[0].span.start as usize..].contains(word)) {
            return;
        }
        // Who draws a line below a title has written what follows; the footer may still come.
        let begin = [begin].into_iter().chain(begins).find(is_short);
        if let Some(begin) = begin {
            for line in self.list[begin..].iter_mut().filter(|line| line.sort.is_none()) {
                line.sort = Some(AsideSort::Footer);
            }
        }
    }

    /// Bytes that are not marked yet, from a line on.
    fn free_bytes(&self, begin: usize) -> usize {
        self.list[begin..].iter().filter(|line| line.sort.is_none()).map(|line| line.span.len()).sum()
    }

    /// The [disclaimer] that ends what is not marked yet: the end of the mail, or what stands above a quotation. With no words
    /// above it, not even quoted ones, it is the message.
    fn mark_disclaimer(&mut self) {
        let is_free = |line: &Line| line.sort.is_none();
        let Some(last) = self.list.iter().rposition(is_free) else { return };
        let first = self.list[..last].iter().rposition(|line| !is_free(line)).map_or(0, |marked| marked + 1);
        let first = first.max((last + 1).saturating_sub(disclaimer::LINES_MAX));
        let end = self.list[last].span.end as usize;
        let below = |index: usize| &self.text[self.list[index].span.start as usize..end];
        if !disclaimer::is_possible(below(first)) {
            return;
        }
        let is_text = |line: &Line| matches!(line.sort, None | Some(AsideSort::Quoted));
        let has_text = |index: usize| (0..index).any(|above| is_text(&self.list[above]) && !is_rule(self.at(above)));
        let begin = (first..=last).find(|&index| disclaimer::is_one(below(index)));
        if let Some(begin) = begin.filter(|&begin| has_text(begin)) {
            self.set(begin..last + 1, AsideSort::Footer);
        }
    }

    /// Which short lines from `tail` on say how to leave the list. All lines are searched at once, word by word: that is
    /// much quicker than line by line.
    fn leave_notices(&self, tail: usize) -> [bool; FOOTER_LINES_MAX] {
        let mut notices = [false; FOOTER_LINES_MAX];
        let Some(start) = self.list.get(tail).map(|line| line.span.start as usize) else { return notices };
        for word in LEAVE_WORDS.iter() {
            let mut at = start;
            while let Some(n) = word.find(&self.text.as_bytes()[at..]) {
                let index = self.list.partition_point(|line| line.span.start as usize <= at + n) - 1;
                notices[index - tail] |= self.list[index].span.len() <= NOTICE_BYTES_MAX;
                at = self.list[index].span.end as usize;
            }
        }
        notices
    }

    /// Neighbouring lines of one sort become one aside.
    fn collect(&self, asides: &mut Vec<Aside>) {
        let mut last = None;
        for line in &self.list {
            match (line.sort, asides.last_mut()) {
                (Some(sort), Some(aside)) if last == Some(sort) => aside.span.end = line.span.end,
                (Some(sort), _) => asides.push(Aside { sort, span: line.span }),
                (None, _) => {}
            }
            last = line.sort;
        }
    }
}

/// Whether a mail of `n_all` bytes may end in a footer of `n_bytes`: it is the short end of it.
fn is_footer_length(n_bytes: usize, n_all: usize) -> bool {
    n_bytes <= FOOTER_BYTES_MIN || n_bytes <= FOOTER_BYTES_MAX && n_bytes <= n_all / 2
}

/// `>`, `> >`, `|`, `Jo>`; but not the `>From` that mailboxes make of a line that begins with `From`.
fn is_quoted_line(line: &str) -> bool {
    match line.as_bytes() {
        [b'>', rest @ ..] => !rest.starts_with(b"From "),
        // A bar at both ends is a table.
        [b'|', b' ', .., last] => *last != b'|',
        // The initials of the quoted person, as some mailers put them.
        [a, b, b'>', ..] if a.is_ascii_uppercase() && b.is_ascii_alphabetic() => true,
        _ => false,
    }
}

/// A line without the outermost of the marks that make it a quoted one.
fn unquoted(line: &str) -> &str {
    let n_mark = match line.as_bytes() {
        _ if !is_quoted_line(line) => 0,
        [b'>' | b'|', ..] => 1,
        _ => "Jo>".len(),
    };
    line[n_mark..].trim_ascii_start()
}

/// Four or more of the characters that lines are drawn with, and nothing else; or a title between two long rules.
fn is_rule(line: &str) -> bool {
    let is_stroke = |c: char| matches!(c, '_' | '-' | '=' | '*' | '~' | '#' | '\u{2014}' | '\u{2500}' | '\u{2501}');
    let inner = line.trim_start_matches(is_stroke);
    let n_left = line.len() - inner.len();
    if inner.is_empty() {
        return n_left >= 4;
    }
    let n_right = inner.len() - inner.trim_end_matches(|c| is_stroke(c) || c == '>').len();
    n_left >= 10 && n_right >= 10
}

fn begins_with(line: &str, begin: &str) -> bool {
    line.as_bytes().get(..begin.len()).is_some_and(|lead| lead.eq_ignore_ascii_case(begin.as_bytes()))
}

fn begins_with_word(line: &str, word: &str) -> bool {
    begins_with(line, word) && line[word.len()..].starts_with(' ')
}

/// `10:32`
fn has_time(line: &str) -> bool {
    line.as_bytes().windows(3).any(|window| matches!(window, [b'0'..=b'9', b':', b'0'..=b'9']))
}

/// `2024`
fn has_year(line: &str) -> bool {
    line.as_bytes().windows(4).any(|window| matches!(window, [b'1' | b'2', b'0' | b'9', b'0'..=b'9', b'0'..=b'9']))
}

fn header_value(line: &str, name: &str) -> bool {
    // Bold names keep their stars in plain text: `*From:* Ann`.
    let line = line.trim_start_matches('*');
    line.strip_prefix(name).is_some_and(|rest| rest.trim_start_matches([' ', '*', '\u{a0}']).starts_with([':', '：']))
}

/// What an introduction ends in, before its colon.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// "wrote", "schrieb Ann".
    Verb,
    /// "<ann@a.example>", as Gmail ends it in Japanese and Russian.
    Address,
}

impl Ending {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_end_matches(['>', ' ']);
        let line = line.strip_suffix(':').or_else(|| line.strip_suffix('：'))?.trim_end();
        // "schrieb Ann:" puts the person last.
        let has_verb = INTRODUCTION_VERBS.iter().any(|verb| line.ends_with(verb))
            || PERSON_LAST_VERBS.iter().any(|verb| memchr::memmem::find(line.as_bytes(), verb.as_bytes()).is_some());
        if has_verb {
            return Some(Self::Verb);
        }
        (line.ends_with(['>', ')']) && line.contains('@')).then_some(Self::Address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::document::{Document, Quote, html, mime};
    use proptest::prelude::*;

    /// The lines below the subject, each with `Q`, `S`, `F` or a space in the margin.
    fn marked(body: &str) -> String {
        let text = format!("The subject\n{body}");
        let mut asides = Vec::new();
        mark(&text, "The subject".len(), &[], &mut asides);
        margins(&text, &asides).split_off(1)
    }

    fn margins(text: &str, asides: &[Aside]) -> String {
        let mut start = 0;
        let margin = |line: &str| {
            let found = asides.iter().find(|aside| aside.span.range().contains(&start));
            start += line.len() + 1;
            found.map_or(' ', |aside| match aside.sort {
                AsideSort::Quoted => 'Q',
                AsideSort::Signature => 'S',
                AsideSort::Footer => 'F',
            })
        };
        text.split('\n').map(margin).collect()
    }

    #[test]
    fn lines_are_told_by_their_form() {
        let long = "a line of text\n".repeat(20);
        for (body, margins) in [
            ("Hello\n> one\n> > two\n>three\nBye", " QQQ "),
            ("Hello\n| one\n| two\n| a | table |", " QQ "),
            ("JS> one\nNo", "Q "),
            (">From here on it is text", " "),
            ("On Mon, 1 Jan 2024, Ann wrote:\n> one\nYes", "QQ "),
            ("Ann <a@b.example> writes:\n> one\nYes", "QQ "),
            ("On Mon, 1 Jan 2024 at 10:00, Ann Very Long Name <\nann@b.example> wrote:\n> one\nYes", "QQQ "),
            ("Yes\nAm 01.01.24 um 10:00 schrieb Ann Müller:\n> eins", " QQ"),
            ("Oui\nLe lun. 1 janv. 2024 à 10:00, Ann <a@b.example> a écrit :\nUn\nDeux", " QQQ"),
            ("はい\n2024年1月1日 10:00 田中 <a@b.example>さんは書きました：\n一", " QQ"),
            ("はい\n2024年1月1日(月) 10:00 田中 <a@b.example>:\n一", " QQ"),
            ("はい\n2024年1月1日(月) 10:00 田中の長い名前\n<a@b.example>:\n> 一", " QQQ"),
            ("はい\n2024/01/01 10:00、田中 のメール:\n一", " QQ"),
            ("Да\nпн, 1 янв. 2024 г. в 10:00, Анна <a@b.example>:\nраз", " QQ"),
            ("Да\n1 января 2024 г., в 10:00, Анна <a@b.example> написал(а):\nраз", " QQ"),
            ("Да\n01.01.2024 10:00, Анна пишет:\nраз", " QQ"),
            ("Tak\npon., 1 sty 2024 o 10:00 Anna <a@b.example> napisał(a):\nraz", " QQ"),
            ("Tak\nW dniu 01.01.2024 o 10:00, Anna pisze:\nraz", " QQ"),
            ("是\n安 <a@b.example> 于2024年1月1日周一 10:00写道：\n一", " QQ"),
            ("是\n在 2024/1/1 10:00, 安 写道:\n一", " QQ"),
            ("是\n安 於 2024/1/1 10:00 寫道:\n一", " QQ"),
            ("네\n2024년 1월 1일 (월) 오전 10:00, 안나 <a@b.example>님이 작성:\n하나", " QQ"),
            ("네\n2024-01-01 오전 10:00에 안나 이(가) 쓴 글:\n하나", " QQ"),
            ("Evet\nAyşe <a@b.example>, 1 Oca 2024 Pzt, 10:00 tarihinde şunu yazdı:\nbir", " QQ"),
            ("Evet\n1.01.2024 10:00 tarihinde Ayşe yazdı:\nbir", " QQ"),
            ("Tak\nOd: Anna\nWysłano: dziś\nDo: Jan\nTemat: x\nNie", " QQQQQ"),
            ("Open to all\n2024 prices from Ann <a@b.example>:\nten", "   "),
            ("On 5 May 1800 the minister wrote:\nDear friends", "  "),
            ("Yes\n-----Original Message-----\nFrom: Ann\nNo", " QQQ"),
            ("-----Original Message-----\nFrom: Ann\nNothing above: a forwarded mail", "   "),
            ("Yes\nFrom: Ann\nSent: today\nTo: Bob\nSubject: x\nNo", " QQQQQ"),
            ("Ja\n*Von:* Ann\n*Gesendet:* heute\n*An:* Bob\n*Betreff:* x\nNein", " QQQQQ"),
            ("Yes\nFrom: the farm\nwe deliver", "   "),
            ("From: Ann\nSent: today\nTo: Bob\nSubject: a forwarded mail\nText", "     "),
            ("Text\n--\nAnn\nweaver", " SSS"),
            ("Text\n--\nAnn\n____\nlist", " SSFF"),
            ("Text\n-----BEGIN PGP SIGNATURE-----\nabc\n-----END PGP SIGNATURE-----\nMore", " SSS "),
            ("Text\nSent from my telephone", " S"),
            ("Text\n_________\nseams mailing list\nseams@list.example", " FFF"),
            ("Text\n------------ Sponsor ------------>\nbuy\n====\nleave", " FFFF"),
            ("____\nnothing above the line", "  "),
            ("____\nseams mailing list\nseams@list.example", "FFF"),
            ("--\nnothing above the dashes", "  "),
            ("Yes\n> quoted\n--\nAnn", " QSS"),
            ("Text\nTo unsubscribe, write to x-unsubscribe@list.example\nRegards", " FF"),
            ("Text\nUm sich abzumelden oder abmelden zu lassen", " F"),
            ("- one\n- two", "  "),
            ("a -- b\n--flag", "  "),
            ("", ""),
        ] {
            // An empty body has one empty line.
            assert_eq!(marked(body), if body.is_empty() { " " } else { margins }, "{body}");
        }
        assert_eq!(marked(&format!("Text\n--\n{long}")).trim(), "", "too long for a signature");
        assert_eq!(marked(&format!("Text\n____\n{long}")).trim(), "", "too far up for a footer");
    }

    #[test]
    fn what_a_mail_only_quotes_is_its_message() {
        for (body, margins) in [
            ("> one\n> two", "  "),
            ("> > one\n> > two", "  "),
            ("JS> one\n| two", "  "),
            ("> one\n> > two\n> three", " Q "),
            ("> Yes\n> On Mon, 1 Jan 2024 at 10:00, Ann wrote:\n> > one\n> > two", " QQQ"),
            ("On Mon, 1 Jan 2024, Ann wrote:\n> one\n> two", "Q  "),
            ("Begin forwarded message:\n> From: Ann\n> Date: today\n> To: Bob\n> one", "Q    "),
            ("> one\n...\n> two\n:-)", "    "),
            ("+1\n> one\n> two", " QQ"),
            ("> one\n> two\n+1", "QQ "),
            ("> one\n--\nAnn", " SS"),
            ("> one\n> --\n> Ann", " SS"),
            ("> one\nSent from my telephone", " S"),
            ("> one\n____\nseams mailing list", " FF"),
            ("> one\n> ____\n> seams mailing list\n____\nseams mailing list", " FFFF"),
            ("> ____\n> seams mailing list", "FF"),
            ("____\nseams mailing list", "FF"),
            ("-----Original Message-----\nFrom: Ann\nSent: today\nTo: Bob\nSubject: x\none", "      "),
            ("---------- Forwarded message ---------\nFrom: Ann\nDate: today\nSubject: x\nTo: Bob\none", "      "),
            ("See below\n-------- Forwarded Message --------\none", " QQ"),
            ("----- Forwarded Message -----\nYes\n-----Original Message-----\nFrom: Ann\none", "  QQQ"),
        ] {
            assert_eq!(marked(body), margins, "{body}");
        }
        let deep = "> > > > > > one\n".repeat(3);
        assert_eq!(marked(deep.trim_end()), "QQQ", "nobody forwards as often as that");
    }

    #[test]
    fn a_footer_is_the_short_end_of_a_mail() {
        let [short, long, longer] = [300, 700, 1300].map(|n_bytes| "word ".repeat(n_bytes / 5));
        for (body, margins) in [
            (format!("Sale\n____\n{short}"), " FF"),
            (format!("Sale\n____\n{long}"), "   "),
            (format!("Sale\nTo unsubscribe write to us\n{long}"), "   "),
            (format!("Sale\n____\n{long}\n____\nseams mailing list"), "   FF"),
            (format!("Sale\n____\n{long}\nTo unsubscribe write to us"), "   F"),
            (format!("{long}\n____\n{short}"), " FF"),
            (format!("{longer}\n____\n{long}"), " FF"),
            (format!("> {longer}\nYes\n____\n{long}"), "Q FF"),
            (format!("{longer}{longer}\n____\n{longer}"), "   "),
            (format!("____\nseams mailing list\n{long}"), "   "),
        ] {
            assert_eq!(marked(&body), margins, "{body}");
        }
    }

    #[test]
    fn a_disclaimer_is_a_footer() {
        let notice = "This e-mail and any attachments are confidential. If you are not\nthe intended recipient, please delete it.";
        for (body, margins) in [
            (format!("Text\n\n{notice}"), "  FF"),
            (format!("Text\nRegards\n{notice}\nA company, 12 High Street"), "  FFF"),
            (format!("Text\n{notice}\n____\nseams mailing list"), " FFFF"),
            (format!("Text\n{notice}\n\n-----Original Message-----\nFrom: Ann\n{notice}"), " FF QQQQ"),
            (format!("Text\n> {notice}\nAnd more text"), " Q  "),
            (notice.to_owned(), "  "),
            (format!("____\n{notice}"), "   "),
            (format!("> quoted\n{notice}"), " FF"),
            (format!("Text\n{notice}\n{}", "a line of text\n".repeat(90)), ""),
        ] {
            assert_eq!(marked(&body).trim_end(), margins.trim_end(), "{body}");
        }
    }

    #[test]
    fn an_outline_ends_the_quotation_of_an_html_mail() {
        let text = "Re\nYes\nOn 1 Jan 2024 at 10:00 Ann wrote:\nasked\nmore\nMy answer";
        let quote = text.find("asked").unwrap();
        let element = |tag, start, end| Element { tag, quote: Quote::None, depth: 0, span: Span::new(start, end) };
        let outline = [element(Tag::Div, 3, 6), element(Tag::Blockquote, quote, quote + 10)];
        let mut asides = Vec::new();
        mark(text, 2, &outline, &mut asides);
        assert_eq!(margins(text, &asides), "  QQQ ");
    }

    /// The same of an HTML mail.
    fn html_marked(source: &str) -> String {
        let mail = Some(mime::MailFacts::default());
        let mut document = Document { text: "The subject".to_owned(), mail, ..Document::default() };
        html::read(source, &Settings::default().limits, 1, &mut html::Scratch::default(), &mut document);
        let mut asides = Vec::new();
        mark(&document.text, "The subject".len(), &document.outline, &mut asides);
        margins(&document.text, &asides).split_off(1)
    }

    #[test]
    fn certain_markup_quotes_in_any_language() {
        let gmail = |introduction: &str, quoted: &str| {
            format!(
                "<div class=\"gmail_quote gmail_quote_container\"><div class=gmail_attr>{introduction}<br></div>\
                 <blockquote class=\"gmail_quote\" style=\"margin:0\">{quoted}</blockquote></div>"
            )
        };
        let twice = gmail("a@b.example kirjutas:", &format!("asked<p>more</p>{}", gmail("c@b.example:", "first")));
        for (body, margins) in [
            (format!("<p>Jah{}", gmail("Anna kirjutas (1. jaan):", "asked<p>more")), " QQQ"),
            (format!("<p>Jah{twice}"), " QQQQQ"),
            (format!("{twice}<p>Jah"), "QQQQQ "),
            ("<p>Yes<blockquote type=cite>asked</blockquote><p>No".to_owned(), " Q "),
            ("<p>Yes<blockquote type=cite>a</blockquote><p>No<blockquote type=CITE>b</blockquote>".to_owned(), " Q Q"),
            ("<p>Jah<div class=moz-cite-prefix>Anna kirjutas:</div><blockquote type=cite>asked".to_owned(), " QQ"),
            ("<p>Yes<div class=yahoo_quoted><div>Anna:</div><div>asked</div></div>".to_owned(), " QQ"),
            ("<p>Yes<div class=protonmail_quote>Anna:<br><blockquote type=cite>asked".to_owned(), " QQ"),
            ("<p>Jah<div id=divRplyFwdMsg>Saatja: Anna<br>Teema: x</div><p>asked".to_owned(), " QQQ"),
            // Anybody may write in an element that is none of theirs.
            ("<p>Yes<blockquote>a verse<br>or two</blockquote>".to_owned(), "   "),
            ("<p>Yes<div class=quote>asked</div>".to_owned(), "  "),
            // Without words of its own it is the message.
            (gmail("Anna kirjutas:", "asked<p>more"), "Q  "),
            (twice.clone(), "Q  QQ"),
            ("<blockquote type=cite>asked<br>more</blockquote>".to_owned(), "  "),
            ("<blockquote type=cite><blockquote type=cite>asked</blockquote></blockquote>".to_owned(), " "),
            ("<blockquote type=cite>&gt; asked<br>&gt; more</blockquote>".to_owned(), "  "),
            ("<div id=divRplyFwdMsg>Saatja: Anna<br>Teema: x</div><p>asked".to_owned(), "   "),
            ("<div class=gmail_quote>---------- Forwarded message ---------<br>From: Ann<br>asked".to_owned(), "   "),
            ("<blockquote type=cite>asked<br>--<br>Ann</blockquote>".to_owned(), " SS"),
        ] {
            assert_eq!(html_marked(&body), margins, "{body}");
        }
    }

    #[test]
    fn the_subject_is_never_an_aside() {
        let mut asides = Vec::new();
        mark("> quoted subject", "> quoted subject".len(), &[], &mut asides);
        assert_eq!(asides, []);
    }

    #[test]
    fn a_text_of_introductions_is_marked_in_linear_time() {
        for line in [
            "On 1:2 x wrote:\n",
            "From: a\n",
            "--\n",
            ">\n",
            "unsubscribe\n",
            "This e-mail is confidential\n",
            "-----BEGIN PGP SIGNATURE-----\n",
            "____\n",
        ] {
            let text = line.repeat((4 << 20) / line.len());
            let mut asides = Vec::new();
            // Quadratic work would be 10^11 steps and more.
            mark(&text, 0, &[], &mut asides);
            assert!(asides.len() <= text.len());
        }
        // One line without end, with the word in it again and again.
        let text = "unsubscribe ".repeat(1 << 18);
        mark(&text, 0, &[], &mut Vec::new());
    }

    proptest! {
        #[test]
        fn asides_are_whole_lines_in_order(lines in prop::collection::vec(prop_oneof![
            prop::sample::select(vec!["> a", "--", "____", "On 1 Jan at 10:00 A wrote:", "From: a", "Sent: b", "To: c", "unsubscribe",
                "-----Original Message-----", "", "text", "日本語：", "Sent from my x", "-----BEGIN PGP SIGNATURE-----",
                "-----END PGP SIGNATURE-----"]).prop_map(String::from),
            "[^\n]{0,12}",
        ], 0..40)) {
            let text = lines.join("\n");
            let mut asides = Vec::new();
            mark(&text, 0, &[], &mut asides);
            let mut end = 0;
            for aside in &asides {
                let range = aside.span.range();
                prop_assert!(range.start >= end && range.end > range.start);
                prop_assert!(range.start == 0 || text.as_bytes()[range.start - 1] == b'\n');
                prop_assert!(range.end == text.len() || text.as_bytes()[range.end] == b'\n');
                end = range.end;
            }
        }
    }
}

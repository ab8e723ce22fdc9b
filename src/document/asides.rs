//! The parts of a mail's text that are not its sender's own new words: quoted lines, signatures, list footers,
//! notices of confidentiality.
//!
//! Two replies share what they quote, two mails of one list its footer, two of one person the signature; none of it
//! makes them copies. The rules look at whole lines of the visible text, where white space is collapsed already (the
//! signature's `-- ` is `--`), and at what the markup of mail programs says of them. They are those that readers of mail
//! know from sight; a rule that would take the only text of a mail away (a header block with nothing above it is a
//! forwarded mail) is not applied, except to the bare footer of a list, which is no text. So a quotation is an aside only
//! beside words of the sender's own: where there are none, it is the message, and what is an aside is told inside of it.
//!
//! # Invariants
//! - Asides are whole lines below the subject, in order, apart from each other. (`asides_are_whole_lines_in_order`)
//! - Time is linear in the text. (`a_text_of_introductions_is_marked_in_linear_time`)

mod disclaimer;
mod footer;
mod introduction;
mod markup;
mod phrases;
mod quotation;
mod signature;

use super::{Element, Span};
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
/// Characters of a line that may be an introduction or a notice; a paragraph is neither.
const NOTICE_BYTES_MAX: usize = 300;
/// So often the `>` of a mail that only quotes are taken off: who forwards what was forwarded has two or three of them.
const UNQUOTED_MAX: usize = 4;

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
        let mut lines = Self { text, outline, list, n_unquoted: 0 };
        lines.note_markup();
        lines
    }

    fn at(&self, index: usize) -> &'t str {
        let line = self.text[self.list[index].span.range()].trim_ascii();
        // Quotations of the markup stand around those of the text.
        (usize::from(self.list[index].n_quotes)..self.n_unquoted).fold(line, |line, _| quotation::unquoted(line))
    }

    /// Whether a line has words and is not marked.
    fn is_own(&self, index: usize) -> bool {
        let line = self.at(index);
        self.list[index].sort.is_none() && !is_rule(line) && line.contains(char::is_alphanumeric)
    }

    fn mark(&mut self) {
        self.mark_quotes();
        self.mark_signatures();
        self.mark_footer();
        self.mark_disclaimer();
    }

    fn set(&mut self, range: std::ops::Range<usize>, sort: AsideSort) {
        for line in &mut self.list[range] {
            line.sort = Some(sort);
        }
    }

    /// The first line from which a footer may begin.
    fn tail(&self) -> usize {
        self.list.len().saturating_sub(FOOTER_LINES_MAX)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::document::{Document, html, mime};
    use proptest::prelude::*;
    use std::time::Duration;

    /// The lines below the subject, each with `Q`, `S`, `F` or a space in the margin.
    pub(super) fn marked(body: &str) -> String {
        let text = format!("The subject\n{body}");
        let mut asides = Vec::new();
        mark(&text, "The subject".len(), &[], &mut asides);
        margins(&text, &asides).split_off(1)
    }

    pub(super) fn margins(text: &str, asides: &[Aside]) -> String {
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
            ("Tak\nWiadomość napisana przez Anna w dniu 01.01.2024, o godz. 10:00:\n> raz", " QQ"),
            ("Tak\nDnia 1 stycznia 2024 10:00 wiadomość napisana przez Anna:\nraz", " QQ"),
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
            ("Text\n------------ Sponsor ------------>\nbuy at www.shop.example\n====\nleave", " FFFF"),
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

    /// The same of an HTML mail.
    pub(super) fn html_marked(source: &str) -> String {
        let mail = Some(mime::MailFacts::default());
        let mut document = Document { text: "The subject".to_owned(), mail, ..Document::default() };
        html::read(source, &Settings::default().limits, 1, &mut html::Scratch::default(), &mut document);
        let mut asides = Vec::new();
        mark(&document.text, "The subject".len(), &document.outline, &mut asides);
        margins(&document.text, &asides).split_off(1)
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
            is_linear(&text);
        }
        // One line without end, with the word in it again and again.
        is_linear(&"unsubscribe ".repeat(1 << 18));
    }

    /// Quadratic work would be 10^11 steps and more.
    fn is_linear(text: &str) {
        let begun = cpu_time::ThreadTime::now();
        mark(text, 0, &[], &mut Vec::new());
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}: {:?}", &text[..12.min(text.len())], begun.elapsed());
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

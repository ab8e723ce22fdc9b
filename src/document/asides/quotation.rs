//! What a mail quotes: the lines behind `>`, in the elements that mail programs quote in, and below an introduction.
//!
//! # Invariants
//! - What a mail without words of its own quotes or forwards is no aside; the footers and signatures in it and below it are.
//!   (`what_a_mail_only_quotes_is_its_message`)
//! - The line of an answer stays one, whatever it ends in, above what introduces itself. (`a_line_above_a_quotation_may_be_the_answer`)

use super::introduction::{Ending, Introduction, before_colon, names_author};
use super::phrases::DEVICES;
use super::{AsideSort, Line, Lines, NOTICE_BYTES_MAX, begins_with, is_rule};
use crate::document::html::Tag;

impl Lines<'_> {
    /// Whether something is quoted, and nothing but rules and signs stands beside the asides.
    pub(super) fn only_quote(&self) -> bool {
        !(0..self.list.len()).any(|index| self.is_own(index)) && (0..self.list.len()).any(|index| self.is_quoted(index))
    }

    /// Takes the quoted lines for the mail. What introduces them stays an aside, as do signatures and footers below them.
    pub(super) fn unquote(&mut self) {
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

    pub(super) fn mark_quotes(&mut self) {
        // A quotation takes no words that are the only ones above it.
        let mut first_own: Option<usize> = None;
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
                if first_own.is_some() {
                    end = self.list.len();
                    self.set(index..end, AsideSort::Quoted);
                }
            } else if is_short && let Some(ending) = Ending::of(line) {
                let introduction = self.introduction(index, ending);
                let begin = introduction.map_or(index, |introduction| introduction.begin);
                if introduction.is_none() && self.introduces_itself(end) {
                    first_own.get_or_insert(index);
                } else if self.is_quoted(end) {
                    self.set(begin..end, AsideSort::Quoted);
                } else if first_own.is_some_and(|own| own < begin)
                    && let Some(Introduction { is_certain: true, .. }) = introduction
                {
                    end = self.quotation_end(index);
                    self.set(begin..end, AsideSort::Quoted);
                } else if ending == Ending::Address {
                    first_own.get_or_insert(index);
                }
            } else if is_short && self.is_in_quote(end) && self.introduces_markup(index) {
                self.set(index..end, AsideSort::Quoted);
            } else if !is_rule(line) && !DEVICES.iter().any(|device| begins_with(line, device)) {
                // Who forwards from a telephone has not written its advertisement.
                first_own.get_or_insert(index);
            }
            index = end;
        }
    }

    /// Whether this line introduces the quotation of the markup right below it: there it needs no form that we know.
    fn introduces_markup(&self, index: usize) -> bool {
        let (line, below) = (self.at(index), self.at(index + 1));
        if self.introduces_itself(index + 1) {
            return false;
        }
        // A colon alone may end an answer: between two quotations, or where one that ends in a colon follows in the quotation.
        let is_between = index > 0 && self.is_quoted(index - 1);
        let is_doubled = before_colon(below).is_some() && self.begins_with_text(index + 1);
        names_author(line) || before_colon(line).is_some() && !is_between && !is_doubled
    }

    /// Whether the quotation of the markup that begins in this line holds what introduces it, as Apple writes it; headers of what is
    /// forwarded have such a line above them.
    fn introduces_itself(&self, index: usize) -> bool {
        self.begins_with_text(index) && self.is_introduction(index) && !self.begins_original(index)
    }

    /// Whether the markup says that this line is quoted, and that the next one is in no quotation inside of that.
    fn begins_with_text(&self, index: usize) -> bool {
        let is_deeper = |below: &Line| below.n_quotes > self.list[index].n_quotes;
        let begins_quote = self.list.get(index + 1).is_some_and(is_deeper)
            || index + 1 < self.list.len() && is_quoted_line(self.at(index + 1));
        self.is_in_quote(index) && !begins_quote
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
pub(super) fn unquoted(line: &str) -> &str {
    let n_mark = match line.as_bytes() {
        _ if !is_quoted_line(line) => 0,
        [b'>' | b'|', ..] => 1,
        _ => "Jo>".len(),
    };
    line[n_mark..].trim_ascii_start()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{html_marked, margins, marked};
    use super::*;
    use crate::document::asides::mark;
    use crate::document::{Element, Quote, Span};

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
            ("Sent from Mail for Windows\nFrom: Ann\nSent: today\nTo: Bob\nSubject: x\none", "S     "),
            ("Enviado do Email para Windows\nDe: Ana\nEnviado: hoje\nPara: Bob\nAssunto: x\num", "S     "),
            ("----- Forwarded Message -----\nYes\n-----Original Message-----\nFrom: Ann\none", "  QQQ"),
        ] {
            assert_eq!(marked(body), margins, "{body}");
        }
        let deep = "> > > > > > one\n".repeat(3);
        assert_eq!(marked(deep.trim_end()), "QQQ", "nobody forwards as often as that");
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

    #[test]
    fn a_line_above_a_quotation_may_be_the_answer() {
        let apple =
            "<blockquote type=cite><div>On 1 Jan 2024, at 10:00, Ann wrote:</div><div>asked</div><div>more</div>";
        let forwarded =
            "<blockquote type=cite><div>De: Ana</div><div>Data: hoje</div><div>Para: Bob</div><div>um</div>";
        let bare = "<blockquote type=cite>asked<br>more</blockquote>";
        for (body, margins) in [
            (format!("<p>My answers inline:{apple}"), " QQQ"),
            (format!("<p>Please send it to bob@b.example{apple}"), " QQQ"),
            (format!("<p>Please send it by 10:30 to Bob &lt;bob@b.example&gt;:{apple}"), " QQQ"),
            (format!("<p>As Ann said:{apple}"), " QQQ"),
            ("<p>My answers inline:<blockquote type=cite>Anna kirjutas:<br>asked</blockquote>".to_owned(), " QQ"),
            (format!("<p>Please send it to bob@b.example{bare}"), " QQ"),
            (format!("<p>Please send it to bob@b.example by 10:30{bare}"), " QQ"),
            (format!("<p>Yes{bare}<p>The second point:{bare}"), " QQ QQ"),
            // It introduces what is forwarded, and is the message.
            (format!("<p>Edastatud kiri:{forwarded}"), "Q    "),
            (format!("<p>Início da mensagem encaminhada:{forwarded}"), "Q    "),
            // It introduces what begins with a quotation.
            (
                "<p>Yes<p>2010/1/1 Ann &lt;a@b.example&gt;<blockquote type=cite>also sprach Bob &lt;c@b.example&gt;:<br>&gt; one<br>two"
                    .to_owned(),
                " QQQQ",
            ),
            (
                format!(
                    "<p>Jah<p>Anna kirjutas 1. jaan 2024:<blockquote type=cite>On 1 Jan 2023 Bob wrote:{bare}answered"
                ),
                " QQQQQ",
            ),
            (
                format!("<p>Jah<p>Anna kirjutas:<blockquote type=cite>Bob kirjutas:{bare}answered</blockquote>"),
                " QQQQQ",
            ),
            (
                "<p>Jah<p>Anna kirjutas 1. jaan 2024:<blockquote type=cite>Dear Bob:<br>asked</blockquote>".to_owned(),
                " QQQ",
            ),
        ] {
            assert_eq!(html_marked(&body), margins, "{body}");
        }
    }
}

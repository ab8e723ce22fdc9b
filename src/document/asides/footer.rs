//! What a list, a provider or a company puts below every mail: the short end of it.
//!
//! # Invariants
//! - A footer is short, for itself or beside what stands above it, in plain text and in HTML. (`a_footer_is_the_short_end_of_a_mail`)
//! - A notice of confidentiality is one wherever it ends what was written. (`a_disclaimer_is_a_footer`)

use super::phrases::{LEAVE_WORDS, LIST_WORDS};
use super::{AsideSort, FOOTER_LINES_MAX, Line, Lines, NOTICE_BYTES_MAX, disclaimer, is_rule};

/// How many bytes a footer may have whatever stands above it: 95 of 100 tails below a rule or a notice have no more (3,687 of
/// SpamAssassin, CSDMC2010 and phishing_pot), and among the longer ones are mails that draw a line below their title.
const BYTES_MIN: usize = 600;
/// And where at least as much stands above it: so many lines, as wide as plain mails have them. A line of an HTML mail is a
/// paragraph.
const BYTES_MAX: usize = FOOTER_LINES_MAX * 80;

impl Lines<'_> {
    /// The tail below the first rule in the last lines, or from the first notice on how to leave the list, that is short.
    pub(super) fn mark_footer(&mut self) {
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
    pub(super) fn mark_disclaimer(&mut self) {
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
}

/// Whether a mail of `n_all` bytes may end in a footer of `n_bytes`: it is the short end of it.
fn is_footer_length(n_bytes: usize, n_all: usize) -> bool {
    n_bytes <= BYTES_MIN || n_bytes <= BYTES_MAX && n_bytes <= n_all / 2
}

#[cfg(test)]
mod tests {
    use super::super::tests::{html_marked, marked};

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
            let html = body.split('\n').map(|line| format!("<p>{}</p>", line.replace('>', "&gt;"))).collect::<String>();
            assert_eq!(html_marked(&html), margins, "{html}");
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
}

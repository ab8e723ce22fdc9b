//! What a list, a provider or a company puts below every mail: the short end of it.
//!
//! # Invariants
//! - A footer is short, for itself or beside what stands above it, in plain text and in HTML. (`a_footer_is_the_short_end_of_a_mail`)
//! - What is longer than all above it is a footer only by what it says: a title with a line below it is none of a message.
//!   (`who_draws_a_line_below_a_title_has_written_what_follows`)
//! - A notice of confidentiality is one wherever it ends what was written. (`a_disclaimer_is_a_footer`)

use super::phrases::{LEAVE_WORDS, LIST_WORDS};
use super::{AsideSort, FOOTER_LINES_MAX, Line, Lines, NOTICE_BYTES_MAX, disclaimer, is_rule};

/// How many bytes a footer may have whatever stands above it: 95 of 100 tails below a rule or a notice have no more (3,687 of
/// SpamAssassin, CSDMC2010 and phishing_pot), and among the longer ones are mails that draw a line below their title.
const BYTES_MIN: usize = 600;
/// What a footer that is longer than what stands above it has beside the lines that lead elsewhere: advertisements of providers have two
/// or three lines of it.
const PLAIN_BYTES_MAX: usize = 250;
/// What leads elsewhere.
const ADDRESSES: [&str; 3] = ["http://", "https://", "www."];
/// And where at least as much stands above it: so many lines, as wide as plain mails have them. A line of an HTML mail is a
/// paragraph.
const BYTES_MAX: usize = FOOTER_LINES_MAX * 80;

impl Lines<'_> {
    /// The tail below the first rule in the last lines, or from the first notice on how to leave the list, that is short, and says what
    /// footers say, or stands below a signature, or is less than what stands above it.
    pub(super) fn mark_footer(&mut self) {
        let tail = self.tail();
        let is_notice = self.leave_notices(tail);
        let is_begin =
            |&index: &usize| self.list[index].sort.is_none() && (is_notice[index - tail] || is_rule(self.at(index)));
        let is_text = |line: &&Line| matches!(line.sort, None | Some(AsideSort::Quoted));
        let n_bytes = self.list.iter().filter(is_text).map(|line| line.span.len()).sum();
        let is_footer = |&begin: &usize| {
            let n_free = self.free_bytes(begin);
            is_footer_length(n_free, n_bytes)
                && (n_free <= n_bytes / 2 && self.has_own_above(begin)
                    || self.has_signed_above(begin)
                    || self.says_footer(begin, &is_notice))
        };
        let mut begins = (tail..self.list.len()).filter(is_begin);
        let Some(begin) = begins.next() else { return };
        // Where nothing stands above, only the words of a list program make it the footer of an empty mail;
        // otherwise somebody drew a line and wrote below it.
        if begin == 0 && !LIST_WORDS.iter().any(|word| self.text[self.list[0].span.start as usize..].contains(word)) {
            return;
        }
        // Who draws a line below a title has written what follows; the footer may still come.
        let begin = [begin].into_iter().chain(begins).find(is_footer);
        if let Some(begin) = begin {
            for line in self.list[begin..].iter_mut().filter(|line| line.sort.is_none()) {
                line.sort = Some(AsideSort::Footer);
            }
        }
    }

    /// Whether something that is not quoted stands above a line.
    fn has_own_above(&self, begin: usize) -> bool {
        (0..begin).any(|index| self.is_own(index))
    }

    /// Whether a signature stands above a line: nobody writes on below it.
    fn has_signed_above(&self, begin: usize) -> bool {
        self.list[..begin].iter().any(|line| line.sort == Some(AsideSort::Signature))
    }

    /// Whether the lines from `begin` on lead elsewhere, or say whose list this is and how to leave it, with little beside.
    fn says_footer(&self, begin: usize, is_notice: &[bool; FOOTER_LINES_MAX]) -> bool {
        let tail = self.tail();
        let leads = |index: usize| {
            let line = self.at(index);
            is_notice[index - tail] || LIST_WORDS.iter().chain(&ADDRESSES).any(|word| line.contains(word))
        };
        let (leading, plain): (Vec<usize>, Vec<usize>) =
            (begin..self.list.len()).filter(|&index| self.is_own(index)).partition(|&index| leads(index));
        let n_plain: usize = plain.into_iter().map(|index| self.list[index].span.len()).sum();
        !leading.is_empty() && n_plain <= PLAIN_BYTES_MAX
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
            (format!("Sale\n____\nGet your own at http://provider.example/\n{}", &short[..200]), " FFF"),
            (format!("Sale\n____\n{short} at http://provider.example/"), " FF"),
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
    fn who_draws_a_line_below_a_title_has_written_what_follows() {
        let [short, long] = [80, 300].map(|n_bytes| "word ".repeat(n_bytes / 5));
        for (body, margins) in [
            (format!("Sale\n____\n{long}"), "   "),
            (format!("Sale\n____\n{short}"), "   "),
            (format!("Sale\n____\n{long}\nsee http://shop.example/"), "    "),
            (format!("Sale\n____\n{long}\n____\nseams mailing list"), "   FF"),
            (format!("View in browser | Unsubscribe\n{long}"), "  "),
            (format!("> {long}{long}\n____\n{short}"), "Q  "),
            // The quotation is all that there is.
            (format!("> {long}{long}\n____\nseams mailing list"), " FF"),
            (format!("> {long}{long}\nYes\n____\n{short}"), "Q FF"),
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
}

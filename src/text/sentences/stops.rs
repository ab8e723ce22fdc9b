//! The signs that may end a sentence, found by a table of bytes.
//!
//! Most bytes are looked at once, in a table of 256: it names the ASCII stops and the bytes that begin the others.

/// What may end a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The end of a line.
    Line,
    /// `.`
    Dot,
    /// `?` `!`
    Mark,
    /// `…`
    Ellipsis,
    /// `．`, which also stands in full-width numbers.
    FullDot,
    /// Stops that need no space after them: 。！？」 and those of other scripts.
    Full,
}

/// Which bytes are a stop or begin one.
static MAY_STOP: [bool; 256] = {
    let mut table = [false; 256];
    let starts = b"\n.?!\xD6\xD8\xDB\xE0\xE1\xE2\xE3\xEF";
    let mut index = 0;
    while index < starts.len() {
        table[starts[index] as usize] = true;
        index += 1;
    }
    table
};

/// The first stop from `at` on, with its place and length.
pub(super) fn next(bytes: &[u8], mut at: usize) -> Option<(usize, Stop, usize)> {
    loop {
        at += bytes[at..].iter().position(|byte| MAY_STOP[*byte as usize])?;
        // All of Kana but its punctuation, one character after the other.
        while let [0xE3, 0x81..=0x83, _, ..] = bytes[at..] {
            at += 3;
        }
        if let Some((stop, len)) = stop(&bytes[at..]) {
            return Some((at, stop, len));
        }
        at = bytes.len().min(at + 1);
    }
}

/// The stop that `bytes` begin with, and its length.
#[inline]
fn stop(bytes: &[u8]) -> Option<(Stop, usize)> {
    match *bytes {
        [b'\n', ..] => Some((Stop::Line, 1)),
        [b'.', ..] => Some((Stop::Dot, 1)),
        [b'?' | b'!', ..] => Some((Stop::Mark, 1)),
        // … 。 」
        [0xE2, 0x80, 0xA6, ..] => Some((Stop::Ellipsis, 3)),
        [0xE3, 0x80, 0x82 | 0x8D, ..] => Some((Stop::Full, 3)),
        // ！ ？ ｡ ｣ and ．
        [0xEF, 0xBC, 0x81 | 0x9F, ..] | [0xEF, 0xBD, 0xA1 | 0xA3, ..] => Some((Stop::Full, 3)),
        [0xEF, 0xBC, 0x8E, ..] => Some((Stop::FullDot, 3)),
        // ‼ ⁇ ⁈ ⁉
        [0xE2, 0x80, 0xBC, ..] | [0xE2, 0x81, 0x87..=0x89, ..] => Some((Stop::Full, 3)),
        // Armenian ։, Arabic ؟ and ۔, Devanagari । ॥, Myanmar ၊ is none but ။ is, Ethiopic ።, Khmer ។
        [0xD6, 0x89, ..] | [0xD8, 0x9F, ..] | [0xDB, 0x94, ..] => Some((Stop::Full, 2)),
        [0xE0, 0xA5, 0xA4 | 0xA5, ..] | [0xE1, 0x81, 0x8B, ..] => Some((Stop::Full, 3)),
        [0xE1, 0x8D, 0xA2, ..] | [0xE1, 0x9F, 0x94, ..] => Some((Stop::Full, 3)),
        _ => None,
    }
}

/// A run of stops and of the closing signs after them.
pub(super) struct Run {
    /// Its end.
    pub(super) end: usize,
    /// The stops in it.
    pub(super) n_stops: usize,
    /// Whether a closing quote or bracket is in it.
    pub(super) is_closed: bool,
    /// Whether it ends in an exclamation mark or a closing bracket: where Kang's repair applies.
    pub(super) is_repaired: bool,
}

/// The run that begins with the stop at `at`.
pub(super) fn run(text: &str, at: usize) -> Run {
    let mut run = Run { end: at, n_stops: 0, is_closed: false, is_repaired: false };
    for c in text[at..].chars() {
        let is_closer = is_closer(c);
        if !is_closer && !is_more(c) {
            break;
        }
        run.end += c.len_utf8();
        run.n_stops += usize::from(!is_closer);
        run.is_closed |= is_closer;
        run.is_repaired = matches!(c, '!' | '！' | '‼') || is_closer;
    }
    run
}

/// Whether `c` is white space inside a line.
pub(super) fn is_space(c: char) -> bool {
    c != '\n' && c.is_whitespace()
}

fn is_more(c: char) -> bool {
    c != '\n' && stop(c.encode_utf8(&mut [0; 4]).as_bytes()).is_some()
}

fn is_closer(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '"'
            | '\''
            | '”'
            | '’'
            | '»'
            | '›'
            | '」'
            | '』'
            | '）'
            | '］'
            | '】'
            | '〉'
            | '》'
            | '〕'
            | '｣'
            | '｝'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_every_stop() {
        let mut known = String::new();
        for c in (0..=0x10FFFF).filter_map(char::from_u32) {
            let text = format!("a{c}b");
            let found = next(text.as_bytes(), 0);
            assert_eq!(found.is_some(), c == '\n' || is_more(c), "{c:?}");
            if let Some((at, _, len)) = found {
                assert_eq!((at, len), (1, c.len_utf8()));
                known.push(c);
            }
        }
        assert_eq!(known, "\n!.?։؟۔।॥။።។…‼⁇⁈⁉。」！．？｡｣");
    }
}

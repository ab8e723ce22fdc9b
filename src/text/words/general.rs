//! The general way: UAX#29 segments taken apart into units, one character after the other.
//!
//! Slow and plain. The scanner hands over whatever it does not know, and the tests hold it against this for
//! whole texts.

use super::hash::WordKey;
use super::normal;
use unicode_segmentation::UnicodeSegmentation;

/// What a normalised form amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Its hash.
    pub hash: u64,
    /// Its length in characters (a Hangul syllable is two).
    pub width: u32,
    /// The digits in it.
    pub n_digits: u32,
}

/// The form of one unit.
pub fn form(piece: &str, key: WordKey) -> Form {
    let mut hasher = key.hasher();
    let (mut width, mut n_digits) = (0, 0);
    normal::each_char(piece, |c| {
        hasher.push_char(c);
        width += normal::width(c);
        n_digits += u32::from(c.is_numeric());
    });
    Form { hash: hasher.finish(), width, n_digits }
}

/// The end of the UAX#29 segment that `text` begins with.
pub fn segment_end(text: &str) -> usize {
    text.split_word_bounds().next().map_or(0, str::len)
}

/// Calls `with(start, end, is_character)` for the units of one UAX#29 segment, in order, until it says stop; says whether
/// it did not.
///
/// A unit begins at a base and ends after its last base or mark, so that underscores and invisible characters at its
/// ends are left out; every character of a script without spaces begins a unit of its own.
pub fn units_of(segment: &str, mut with: impl FnMut(usize, usize, bool) -> bool) -> bool {
    let mut open: Option<(usize, usize, bool)> = None;
    for (at, c) in segment.char_indices() {
        let end = at + c.len_utf8();
        let is_character = normal::is_character(c);
        if is_character || normal::is_base(c) {
            match &mut open {
                Some((_, open_end, false)) if !is_character => *open_end = end,
                _ => {
                    if let Some((start, end, was_character)) = open.replace((at, end, is_character))
                        && !with(start, end, was_character)
                    {
                        return false;
                    }
                }
            }
        } else if normal::is_mark(c) {
            if let Some((_, open_end, _)) = &mut open {
                *open_end = end;
            }
        } else if let Some((start, end, true)) = open
            && !normal::is_ignorable(c)
        {
            // A joiner keeps words together, never characters.
            open = None;
            if !with(start, end, true) {
                return false;
            }
        }
    }
    open.is_none_or(|(start, end, is_character)| with(start, end, is_character))
}

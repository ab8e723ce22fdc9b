//! The scanner.

use super::general;
use super::units::Units;

/// Adds the units of `text[from..to]`, read as if it stood alone, and says whether there is room for more.
pub(super) fn scan(text: &str, from: usize, to: usize, units: &mut Units) -> bool {
    let mut at = from;
    while at < to {
        let Some(end) = segment(text, at, to, units) else { return false };
        at = end;
    }
    true
}

/// Adds the units of the UAX#29 segment at `at` in the general way; its end, or `None` where there is no more room.
fn segment(text: &str, at: usize, to: usize, units: &mut Units) -> Option<usize> {
    let end = at + general::segment_end(&text[at..to]);
    let key = units.key();
    let goes_on = general::units_of(&text[at..end], |start, end, is_character| {
        let (start, end) = (at + start, at + end);
        let form = general::form(&text[start..end], key);
        if is_character { units.character(start, end, form.hash) } else { units.word(start, end, form) }
    });
    goes_on.then_some(end)
}

//! The normalised form of a unit: NFKC, case folded, NFKC again, so that `Ｗord`, `𝐰𝐨𝐫𝐝` and `WORD` are one word.
//!
//! On top of it: what nobody sees (zero-width characters, soft hyphens, variation selectors) is left out, a
//! typographic apostrophe is an apostrophe, and only the first 30 marks of a run count (the bound of the
//! Stream-Safe Text Format), so that a run of marks as long as the text can be put in order in linear time. A few
//! characters that NFKC takes apart into two of a script without spaces stay as they are: one unit is one character.
//!
//! # Invariants
//! - Normalising twice changes nothing. (`a_normalised_form_is_its_own`)
//! - A unit of one character has a form with one character. (`a_character_stays_one_character`)

use caseless::Caseless;
use std::sync::LazyLock;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Marks of one run that count.
const MARKS_MAX: usize = 30;

/// Whether `c` is a ligature or digraph that NFKC would take apart: Thai and Lao *am*, Lao *ho no* and *ho mo*, Kana
/// ligatures.
fn is_kept(c: char) -> bool {
    matches!(c,
        '\u{E33}' | '\u{EB3}' | '\u{EDC}'..='\u{EDD}' | '\u{309F}' | '\u{30FF}' | '\u{1B123}'..='\u{1B12F}')
}

/// The character with by far the longest form, 18 characters out of three bytes, and that form. It is written down, so that
/// a flood of it takes no longer than one of other characters; it begins and ends with letters that combine with
/// nothing, so that what stands around it can be normalised by itself. (`the_longest_form_is_that_of_nfkc`)
const LONGEST: char = '\u{FDFA}';
const LONGEST_FORM: &str =
    "\u{635}\u{644}\u{649} \u{627}\u{644}\u{644}\u{647} \u{639}\u{644}\u{64A}\u{647} \u{648}\u{633}\u{644}\u{645}";

/// Calls `with` for every character of the normalised form of `piece`.
pub fn each_char(piece: &str, mut with: impl FnMut(char)) {
    let mut parts = piece.split(LONGEST);
    each_char_between(parts.next().unwrap_or_default(), &mut with);
    for part in parts {
        LONGEST_FORM.chars().for_each(&mut with);
        each_char_between(part, &mut with);
    }
}

fn each_char_between(piece: &str, with: impl FnMut(char)) {
    let simple = SimpleForms::get();
    if piece.chars().all(|c| simple.of(c).is_some()) {
        return piece.chars().filter_map(|c| simple.of(c)).for_each(with);
    }
    each_char_in_full(piece, with);
}

/// By the tables of Unicode, whatever stands in `piece`.
fn each_char_in_full(piece: &str, mut with: impl FnMut(char)) {
    let mut n_marks = 0;
    let seen = piece.chars().filter(|c| !is_ignorable(*c)).filter(move |c| {
        n_marks = if canonical_combining_class(*c) == 0 { 0 } else { n_marks + 1 };
        n_marks <= MARKS_MAX
    });
    if piece.starts_with(is_kept) {
        return seen.for_each(with);
    }
    let apostrophe = |c| if c == '\u{2019}' { '\'' } else { c };
    seen.map(apostrophe).nfkc().default_case_fold().nfkc().for_each(&mut with);
}

/// The forms of characters that are one character whatever stands beside them: they are starters, combine with nothing before
/// them, and fold to others of that kind. Most words that are not ASCII consist of these. (`simple_forms_are_the_full_ones`)
struct SimpleForms {
    /// 0 for those whose form is not simple.
    low: [u16; Self::N_LOW],
}

impl SimpleForms {
    /// Latin, Greek, Cyrillic, Armenian, Hebrew.
    const N_LOW: usize = 0x600;

    fn get() -> &'static Self {
        static FORMS: LazyLock<SimpleForms> = LazyLock::new(|| {
            let simple = |code: u32| {
                let c = char::from_u32(code)?;
                let mut folded = std::iter::once(c).default_case_fold();
                let (form, None) = (folded.next()?, folded.next()) else { return None };
                let stays = |c: char| {
                    canonical_combining_class(c) == 0 && is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes
                };
                (stays(c) && stays(form) && !is_ignorable(c)).then_some(form as u16)
            };
            SimpleForms { low: std::array::from_fn(|code| simple(code as u32).unwrap_or(0)) }
        });
        &FORMS
    }

    #[inline]
    fn of(&self, c: char) -> Option<char> {
        match c {
            // Han characters stay as they are.
            '\u{4E00}'..='\u{9FFF}' => Some(c),
            '\u{2019}' => Some('\''),
            _ => self.low.get(c as usize).filter(|form| **form != 0).and_then(|form| char::from_u32((*form).into())),
        }
    }
}

/// Whether `c` can begin a unit: a letter, a digit, a character of a script without spaces.
pub fn is_base(c: char) -> bool {
    (c.is_alphanumeric() || is_character(c)) && !is_mark(c) && !is_ignorable(c)
}

/// Whether `c` belongs to the base before it.
pub fn is_mark(c: char) -> bool {
    // The half-width voicing marks are letters by category, and combine after NFKC.
    is_combining_mark(c) || matches!(c, '\u{FF9E}' | '\u{FF9F}')
}

/// Whether `c` shows nothing (`Default_Ignorable_Code_Point`).
pub fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Whether `c` is a character of a script without spaces, a unit by itself: Han, Hiragana, Katakana, Thai, Lao,
/// Khmer, Myanmar; not their marks, and not their digits, which form numbers as everywhere.
pub fn is_character(c: char) -> bool {
    if c < '\u{E01}' {
        return false;
    }
    let unspaced = matches!(c,
        '\u{E01}'..='\u{E4E}' | '\u{E81}'..='\u{ECF}' | '\u{EDC}'..='\u{EDF}' // Thai, Lao
        | '\u{1000}'..='\u{103F}' | '\u{104C}'..='\u{108F}' | '\u{109A}'..='\u{109F}' // Myanmar
        | '\u{A9E0}'..='\u{A9EF}' | '\u{A9FA}'..='\u{A9FE}' | '\u{AA60}'..='\u{AA7F}'
        | '\u{1780}'..='\u{17D3}' | '\u{17D7}' | '\u{17DC}' // Khmer
        | '\u{2E80}'..='\u{2FD5}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}'
        | '\u{3038}'..='\u{303B}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{16FE3}' | '\u{20000}'..='\u{323AF}' // Han
        | '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}'
        | '\u{31F0}'..='\u{31FF}' | '\u{FF66}'..='\u{FF9D}' | '\u{1AFF0}'..='\u{1AFFF}' | '\u{1B000}'..='\u{1B16F}' // Kana
    );
    unspaced && !is_mark(c) && !is_ignorable(c)
}

/// Whether `c` may become one with what stands before it: the second half of a Hangul syllable, say.
pub fn joins(c: char) -> bool {
    is_nfkc_quick(std::iter::once(c)) != IsNormalized::Yes
}

/// How many characters `c` counts when the length of a word decides.
pub fn width(c: char) -> u32 {
    if matches!(c, '\u{AC00}'..='\u{D7A3}') { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(piece: &str) -> String {
        let mut form = String::new();
        each_char(piece, |c| form.push(c));
        form
    }

    #[test]
    fn a_normalised_form_is_its_own() {
        for c in (0..0x40000).chain(0xE0000..0xE1000).filter_map(char::from_u32) {
            let once = form(&c.to_string());
            assert_eq!(form(&once), once, "{c:?} {:x}", c as u32);
        }
    }

    #[test]
    fn simple_forms_are_the_full_ones() {
        let full = |piece: &str| {
            let mut form = String::new();
            each_char_in_full(piece, |c| form.push(c));
            form
        };
        // A mark, a letter that composes, half of a Hangul syllable, a Greek letter whose form depends on its place in other folds.
        let beside = ["", "a", "\u{301}", "\u{AC}", "\u{1161}", "\u{3C3}", "\u{4E00}"];
        let mut n_simple = 0;
        for c in (0..0xA000).filter_map(char::from_u32) {
            n_simple += usize::from(SimpleForms::get().of(c).is_some());
            for (before, after) in beside.iter().flat_map(|before| beside.map(|after| (before, after))) {
                let piece = format!("{before}{c}{after}");
                assert_eq!(form(&piece), full(&piece), "{piece:?}");
            }
        }
        assert!(n_simple > 0x5200 + 1000, "{n_simple}");
    }

    fn nfkc_characters(c: char) -> usize {
        std::iter::once(c).nfkc().filter(|c| is_character(*c)).count()
    }

    #[test]
    fn a_character_stays_one_character() {
        for c in (0..0x40000).filter_map(char::from_u32).filter(|c| is_character(*c)) {
            let form = form(&c.to_string());
            assert!(is_kept(c) || nfkc_characters(c) == 1, "{c:?}");
            assert_eq!(form.chars().filter(|c| is_character(*c)).count(), 1, "{c:?} {form:?}");
            assert!(form.starts_with(is_character), "{c:?} {form:?}");
        }
    }

    #[test]
    fn many_spellings_have_one_form() {
        let table: &[(&str, &[&str])] = &[
            ("word", &["WORD", "Ｗｏｒｄ", "𝐰𝐨𝐫𝐝", "𝓦𝓸𝓻𝓭", "wo\u{AD}rd", "wo\u{200D}rd", "ⓦⓞⓡⓓ"]),
            ("don't", &["don’t", "DON'T", "ｄｏｎ＇ｔ"]),
            ("strasse", &["Straße", "STRASSE", "STRAẞE"]),
            ("müller", &["Mu\u{308}ller", "MÜLLER"]),
            ("ガ", &["ｶﾞ", "カ\u{3099}"]),
            ("σοφοσ", &["ΣΟΦΟΣ", "σοφος"]),
            ("office", &["oﬃce"]),
            ("한국", &["한국"]),
            ("i\u{307}stanbul", &["İstanbul"]),
        ];
        for (expected, spellings) in table {
            for spelling in *spellings {
                assert_eq!(form(spelling), *expected, "{spelling}");
            }
        }
    }

    #[test]
    fn the_longest_form_is_that_of_nfkc() {
        for piece in
            ["\u{FDFA}", "a\u{FDFA}\u{301}b", "\u{FDFA}\u{654}\u{FDFA}\u{653}", "\u{64A}\u{654}\u{FDFA}\u{650}"]
        {
            let plain: String = piece.chars().nfkc().default_case_fold().nfkc().collect();
            assert_eq!(form(piece), plain, "{piece:?}");
        }
    }

    #[test]
    fn only_the_first_marks_of_a_run_count() {
        let zalgo = |n: usize| form(&format!("a{}b", "\u{316}".repeat(n)));
        assert_eq!(zalgo(30), zalgo(1_000));
        assert_ne!(zalgo(29), zalgo(30));
    }
}

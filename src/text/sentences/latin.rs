//! Whether a full stop ends a sentence of Latin text, or an abbreviation, an initial, a number.
//!
//! A few rules and short lists go a long way: copies of a text are cut alike whatever the rules are, and a sentence
//! is compared as a whole. What must not happen is that `Mr.` or `U.S.` makes two features of every sentence.

/// Letters looked back at; no abbreviation is longer.
const TOKEN_BYTES_MAX: usize = 24;

/// Whether `sentence`, followed by a full stop and white space, ends before `ahead`.
pub(super) fn ends(sentence: &str, ahead: &str) -> bool {
    let next = first(ahead);
    if next.is_lowercase() {
        return false;
    }
    let token = token(sentence);
    let mut lower = [0; TOKEN_BYTES_MAX];
    let lower = &mut lower[..token.len()];
    lower.copy_from_slice(token);
    lower.make_ascii_lowercase();
    match &*lower {
        [] => true,
        [letter] if letter.is_ascii_alphabetic() => begins_sentence(ahead),
        // The number of a list item, of a day, of a figure.
        digits if digits.iter().all(u8::is_ascii_digit) => !next.is_ascii_digit() && sentence.len() > digits.len(),
        // U.S. e.g. z.B. a.m.
        dotted if dotted.contains(&b'.') && dotted.split(|b| *b == b'.').all(|part| part.len() <= 2) => {
            begins_sentence(ahead)
        }
        b"mr" | b"mrs" | b"ms" | b"dr" | b"prof" | b"st" | b"gen" | b"rep" | b"sen" | b"gov" | b"capt" | b"lt"
        | b"col" | b"sgt" | b"rev" | b"hon" | b"mt" | b"ft" | b"vs" | b"cf" | b"hr" | b"fr" | b"mme" | b"mlle"
        | b"dipl" | b"ing" | b"bzw" | b"ca" | b"sra" | b"srta" | b"approx" | b"messrs" | b"pres" | b"supt" => false,
        b"inc" | b"ltd" | b"co" | b"corp" | b"jr" | b"sr" | b"etc" | b"al" | b"bros" | b"dept" | b"univ" | b"est"
        | b"ave" | b"blvd" | b"rd" | b"str" | b"usw" | b"ed" | b"eds" | b"assn" | b"ph" | b"jan" | b"feb" | b"aug"
        | b"sept" | b"oct" | b"nov" | b"dec" => !next.is_ascii_digit() && begins_sentence(ahead),
        b"no" | b"nos" | b"nr" | b"fig" | b"figs" | b"pp" | b"vol" | b"art" | b"sec" | b"ch" | b"eq" | b"tel"
        | b"ext" | b"abb" | b"bd" | b"vgl" | b"mar" | b"apr" | b"jun" | b"jul" | b"sep" => !next.is_ascii_digit(),
        _ => true,
    }
}

/// The first letter, digit or other sign of `ahead` after opening quotes and brackets.
pub(super) fn first(ahead: &str) -> char {
    ahead.chars().take(4).find(|c| !is_opener(*c)).unwrap_or(' ')
}

/// What stands before the stop, back to the last space.
fn token(sentence: &str) -> &[u8] {
    let bytes = &sentence.as_bytes()[sentence.len().saturating_sub(TOKEN_BYTES_MAX)..];
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'.' || !b.is_ascii();
    &bytes[bytes.iter().rposition(|b| !is_part(b)).map_or(0, |border| border + 1)..]
}

/// Whether the next word is one that begins sentences and hardly ever follows an abbreviation inside one.
fn begins_sentence(ahead: &str) -> bool {
    let ahead = ahead.trim_start_matches(is_opener).as_bytes();
    let word = &ahead[..ahead.iter().take(8).position(|b| !b.is_ascii_alphabetic()).unwrap_or(0)];
    matches!(
        word,
        b"The"
            | b"A"
            | b"An"
            | b"He"
            | b"She"
            | b"It"
            | b"We"
            | b"They"
            | b"You"
            | b"This"
            | b"That"
            | b"These"
            | b"Those"
            | b"There"
            | b"But"
            | b"And"
            | b"In"
            | b"On"
            | b"At"
            | b"If"
            | b"When"
            | b"What"
            | b"Who"
            | b"How"
            | b"Why"
            | b"As"
            | b"For"
            | b"His"
            | b"Her"
            | b"My"
            | b"Our"
            | b"Their"
            | b"After"
            | b"Der"
            | b"Die"
            | b"Das"
            | b"Es"
            | b"Er"
            | b"Sie"
            | b"Wir"
            | b"Ich"
            | b"Le"
            | b"La"
            | b"Les"
            | b"Il"
            | b"Elle"
            | b"El"
            | b"Los"
            | b"However"
    )
}

fn is_opener(c: char) -> bool {
    matches!(c, '"' | '\'' | '(' | '[' | '{' | '“' | '‘' | '„' | '«' | '‹')
}

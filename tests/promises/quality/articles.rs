//! Made articles: as many as anybody wants, no two alike, the same on every run.

use seamripper::signature::keyed::mix;

/// A made word: two or three syllables, four letters at least.
pub(crate) fn word(number: u64) -> String {
    const STARTS: [&str; 16] =
        ["ba", "co", "di", "fe", "gru", "ha", "jo", "ki", "lu", "me", "na", "po", "ri", "stu", "ta", "ve"];
    const ENDS: [&str; 12] = ["lan", "mer", "dock", "sing", "ton", "ver", "wick", "ra", "less", "ment", "ny", "sher"];
    let start = STARTS[(number % 16) as usize];
    let middle = STARTS[(number / 16 % 16) as usize];
    let end = ENDS[(number / 256 % 12) as usize];
    format!("{start}{middle}{end}")
}

/// Sentence number `index` of article `article`: ten to seventeen words.
pub(crate) fn sentence(article: u64, index: u64) -> String {
    let seed = mix(mix(0x5eed, article), index);
    let n_words = 10 + seed % 8;
    let words: Vec<String> = (0..n_words).map(|place| word(mix(seed, place))).collect();
    let text = words.join(" ");
    let (first, rest) = text.split_at(1);
    format!("{}{rest}.", first.to_uppercase())
}

/// Sentences `range` of an article.
pub(crate) fn sentences(article: u64, range: std::ops::Range<u64>) -> Vec<String> {
    range.map(|index| sentence(article, index)).collect()
}

/// Paragraphs as a page.
pub(crate) fn page(title: &str, paragraphs: &[String]) -> String {
    let paragraphs: String = paragraphs.iter().map(|paragraph| format!("<p>{paragraph}</p>\n")).collect();
    format!("<html><head><title>{title}</title></head><body><div>\n{paragraphs}</div></body></html>")
}

#[test]
fn articles_have_nothing_in_common() {
    use std::collections::HashSet;
    let mut grams: HashSet<Vec<String>> = HashSet::new();
    let mut n_grams = 0;
    for article in 0..200 {
        let text = sentences(article, 0..20).join(" ");
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        assert!(words.len() > 200);
        n_grams += words.windows(5).count();
        grams.extend(words.windows(5).map(<[String]>::to_vec));
    }
    assert_eq!(grams.len(), n_grams);
}

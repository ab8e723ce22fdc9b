//! Words: the same word has the same hash however it is written, in every script; what is personal has none of its own.

use seamripper::text::words::{self, Rules, Traits, Words};

const KEY: u64 = 7;

fn cut(text: &str) -> Words {
    let mut words = Words::default();
    words::cut(text, &Rules { digits_masked_min: 5, ..Rules::plain(KEY) }, &mut words);
    words
}

/// The units of `text` as they stand there, masked ones in brackets.
fn units(text: &str) -> Vec<String> {
    let words = cut(text);
    let unit = |index: usize| {
        let spelled = &text[words.spans[index].range()];
        if words.traits[index].has(Traits::MASKED) { format!("[{spelled}]") } else { spelled.to_owned() }
    };
    (0..words.len()).map(unit).collect()
}

fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    words::spelled_terms(text, |term| terms.push(term.to_owned()));
    terms
}

#[test]
fn every_script_has_its_units() {
    let table: &[(&str, &str)] = &[
        (
            "Don't stop: the U.S. e.g. costs 3.14, so-called snake_case.",
            "Don't stop the U.S e.g costs 3.14 so called snake_case",
        ),
        ("Die Straße läuft über Köln", "Die Straße läuft über Köln"),
        ("L’été, c’est l'hiver", "L’été c’est l'hiver"),
        ("İstanbul'da ılık", "İstanbul'da ılık"),
        ("Съешь ещё этих", "Съешь ещё этих"),
        ("اهلا وسهلا بالعالم", "اهلا وسهلا بالعالم"),
        ("שלום צה\"ל עולם", "שלום צה\"ל עולם"),
        ("नमस्ते दुनिया", "नमस्ते दुनिया"),
        ("한국어 단어입니다.", "한국어 단어입니다"),
        ("日本語のテスト。", "日 本 語 の テ ス ト"),
        ("我爱你，中国！", "我 爱 你 中 国"),
        ("ｶﾞｷﾞ Rustで", "ｶﾞ ｷﾞ Rust で"),
        ("ภาษาไทย", "ภ า ษ า ไ ท ย"),
        ("ที่นี่", "ที่ นี่"),
        ("ພາສາ", "ພ າ ສ າ"),
        ("မြန်မာ", "မြ န် မာ"),
        ("ភាសា", "ភា សា"),
        ("ok 👍🏽 👩‍👩‍👧 🇩🇪 done", "ok done"),
        ("_so_ __init__ -- ...", "so init"),
    ];
    for (text, expected) in table {
        assert_eq!(units(text).join(" "), *expected, "{text}");
    }
}

#[test]
fn one_word_has_one_hash_however_it_is_written() {
    for spellings in [
        &["word", "WORD", "Ｗｏｒｄ", "𝐰𝐨𝐫𝐝", "𝕎𝕠𝕣𝕕", "wo\u{AD}rd"][..],
        &["strasse", "Straße", "STRASSE"],
        &["don't", "don’t"],
        &["müller", "Mu\u{308}ller", "MÜLLER"],
        &["ガ", "ｶﾞ", "カ\u{3099}"],
        &["ёлка", "ЁЛКА", "е\u{308}лка"],
        &["σοφος", "ΣΟΦΟΣ"],
        &["office", "oﬃce"],
        &["한국", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}"],
    ] {
        let hashes: Vec<Vec<u64>> = spellings.iter().map(|spelling| cut(spelling).hashes).collect();
        assert!(hashes.iter().all(|hash| hash.len() == 1 && *hash == hashes[0]), "{spellings:?}: {hashes:?}");
        assert_eq!(hashes[0][0], words::term_hash(spellings[0], KEY));
    }
    // Marks make another word.
    assert_ne!(cut("schon").hashes, cut("schön").hashes);
}

#[test]
fn terms_are_long_plain_words_and_pairs_of_characters() {
    assert_eq!(terms("The quick R2D2 mp3s foo4 x1y2z don't"), ["quick", "mp3s", "foo4", "don't"]);
    assert_eq!(terms("東京都、ｶﾞｽ日 本"), ["東京", "京都", "ガス", "ス日", "日本"]);
    assert_eq!(terms("한국 밥 단어"), ["한국", "단어"]);
    assert_eq!(terms("ที่นี่"), ["ที่นี่"]);
    assert_eq!(terms("mail me@example.org at www.example.org"), ["mail"]);
}

#[test]
fn spelled_terms_hash_as_terms() {
    let text = "Straße 東京ﾀﾜｰ Ｆｕｌｌｗｉｄｔｈ ᾳᾳᾳᾳ กำนัน ヿト Ⅷ½ don’t 한국어 naïve e.g.x.y 👍 日々";
    let words = cut(text);
    let mut hashed = Vec::new();
    words::terms(&words, Traits::ANY, |term| hashed.push(term));
    let spelled: Vec<u64> = terms(text).iter().map(|term| words::term_hash(term, KEY)).collect();
    assert_eq!(hashed, spelled, "{:?}", terms(text));
    let forms: Vec<u64> = terms(text).iter().map(|term| words::form_hash(term, words::WordKey::new(KEY))).collect();
    assert_eq!(forms, spelled);
    assert!(hashed.len() >= 12, "{:?}", terms(text));
}

#[test]
fn personal_tokens_count_as_one_word_each() {
    assert_eq!(
        units(
            "Dear jane.doe@mail.example.org, order 12345-678 at https://shop.example/x?id=7. Tel 555-123-4567, 1999!"
        ),
        [
            "Dear",
            "[jane.doe@mail.example.org]",
            "order",
            "[12345-678]",
            "at",
            "[https://shop.example/x?id=7]",
            "Tel",
            "[555-123-4567]",
            "1999"
        ]
    );
    assert_eq!(
        units("mailto:a@b.example 10,000.00 10-11 A1B2C3D4E5"),
        ["mailto", "[a@b.example]", "[10,000.00]", "10", "11", "[A1B2C3D4E5]"]
    );
    let hash = |text: &str| cut(text).hashes;
    assert_eq!(hash("a@b.example"), hash("someone.else@c.example"));
    assert_eq!(hash("12345"), hash("987-654-321"));
    assert_ne!(hash("12345"), hash("a@b.example"));
}

/// A different result is a different scheme.
#[test]
fn golden_words() {
    let golden = [
        ("a", 0xA324_A5E3_4225_DA38),
        ("Word", 0x72C2_BB88_6806_22FB),
        ("Internationalisation", 0xB666_2D1E_8A59_B2D4),
        ("東", 0xA392_AC97_9155_D83B),
    ];
    for (word, expected) in golden {
        assert_eq!(cut(word).hashes, [expected], "{word}");
    }
}

#[test]
fn a_word_of_a_million_letters_is_one_word() {
    let long = "a".repeat(1_000_000);
    assert_eq!(cut(&long).len(), 1);
    assert_ne!(cut(&long).hashes, cut(&long[1..]).hashes);
    let accented = "é".repeat(1_000_000);
    assert_eq!(cut(&accented).hashes, cut(&"e\u{301}".repeat(1_000_000)).hashes);
}

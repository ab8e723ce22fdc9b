//! Which charset the bytes are in, and their text: BOM, content type, `<meta>`, XML declaration, valid UTF-8, then
//! detection.
//!
//! The order and the readings are those of the HTML standard, so that we see what a reader sees, with one exception: a
//! declaration that the bytes refute is passed over. Of 4,955 parts of real mails that are not ASCII, 7 declare UTF-8
//! and hold not one valid sequence, 49 declare US-ASCII, and 16 declare another charset and are valid UTF-8: as
//! declared, none of these can be read, and their words would match no copy of them.
//!
//! # Invariants
//! - Any bytes with any content type give a text, without a panic. (`any_bytes_have_a_text`)
//! - Valid UTF-8 that is declared as such, or not at all, is borrowed. (`valid_utf8_is_borrowed`)
//! - A byte order mark wins, and is no part of the text. (`a_bom_wins`)

mod detect;
mod prescan;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use serde::Serialize;
use std::borrow::Cow;

/// What told the charset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A byte order mark.
    Bom,
    /// The carrier's content type.
    ContentType,
    /// A `<meta>` in the first bytes.
    Meta,
    /// An XML declaration.
    Xml,
    /// Nothing credible declared one, and the bytes are valid UTF-8.
    #[default]
    Valid,
    /// Nothing credible declared one, and it was guessed from the bytes.
    Detected,
}

/// Bytes as text.
#[derive(Debug)]
pub struct Decoded<'a> {
    /// The text; borrowed when the bytes are already UTF-8.
    pub text: Cow<'a, str>,
    /// The charset's name.
    pub charset: &'static str,
    /// What told it.
    pub origin: Origin,
    /// Whether there were bytes that are not valid in it.
    pub errors: bool,
}

/// How far the HTML standard has a browser look for a `<meta>` before it starts.
const PRESCAN_BYTES: usize = 1024;

/// How far we look when all else fails. A browser that meets a `<meta>` later than that starts again with its charset.
const LATE_PRESCAN_BYTES: usize = 16 * 1024;

/// The text of an HTML (or plain text) body.
pub fn decode<'a>(body: &'a [u8], content_type: Option<&str>) -> Decoded<'a> {
    if let Some((encoding, len)) = Encoding::for_bom(body) {
        return decoded(encoding, &body[len..], Origin::Bom);
    }
    let content_type = content_type.unwrap_or_default();
    let is_plain =
        content_type.trim_start().get(..10).is_some_and(|essence| essence.eq_ignore_ascii_case("text/plain"));
    let head = &body[..body.len().min(PRESCAN_BYTES)];
    prescan::charset_label(content_type.as_bytes())
        .and_then(|label| declared(label, body, Origin::ContentType))
        .or_else(|| declared_in(if is_plain { &[] } else { head }, body))
        .or_else(|| utf8_or_utf16(body))
        .or_else(|| declared_in(if is_plain { &[] } else { &body[..body.len().min(LATE_PRESCAN_BYTES)] }, body))
        .unwrap_or_else(|| decoded(detect::charset(body), body, Origin::Detected))
}

/// The text by what `head` declares.
fn declared_in<'a>(head: &[u8], body: &'a [u8]) -> Option<Decoded<'a>> {
    if let Some(encoding) = prescan::xml_utf16(head) {
        return Some(decoded(encoding, body, Origin::Xml));
    }
    let by_meta = prescan::meta(head).and_then(|encoding| credible(encoding, body, Origin::Meta));
    by_meta.or_else(|| prescan::xml(head).and_then(|encoding| credible(encoding, body, Origin::Xml)))
}

/// The text by a label, unless it is unknown or refuted.
fn declared<'a>(label: &[u8], body: &'a [u8], origin: Origin) -> Option<Decoded<'a>> {
    let label = label.trim_ascii();
    let is_ascii = [&b"us-ascii"[..], b"ascii", b"ansi_x3.4-1968"].iter().any(|name| label.eq_ignore_ascii_case(name));
    if is_ascii && !body.is_ascii() {
        return None;
    }
    // The standard maps charsets that are dangerous in a browser to one replacement character; we would rather guess.
    credible(Encoding::for_label_no_replacement(label)?, body, origin)
}

/// The text in the declared charset, unless the bytes refute it.
fn credible<'a>(encoding: &'static Encoding, body: &'a [u8], origin: Origin) -> Option<Decoded<'a>> {
    if encoding == UTF_8 {
        let decoded = decoded(encoding, body, origin);
        // A broken character here and there is replaced, as in a browser.
        return (!decoded.errors || detect::Utf8Evidence::of(body).outweighs(1)).then_some(decoded);
    }
    let refuted = if encoding == UTF_16LE || encoding == UTF_16BE {
        // Even Chinese text has spaces and line ends.
        memchr::memchr(0, &body[..body.len().min(PRESCAN_BYTES)]).is_none()
    } else {
        // A text in a single-byte charset has a valid sequence by chance, once, and hardly ever no invalid one beside.
        encoding.is_single_byte() && std::str::from_utf8(body).is_ok_and(|text| detect::has_beyond_ascii(text, 2))
    };
    (!refuted).then(|| decoded(encoding, body, origin))
}

/// The text in an encoding of Unicode, if the bytes can hardly be anything else.
fn utf8_or_utf16(body: &[u8]) -> Option<Decoded<'_>> {
    if let Some(encoding) = detect::utf16(body) {
        return Some(decoded(encoding, body, Origin::Detected));
    }
    match std::str::from_utf8(body) {
        Ok(text) if !detect::may_be_iso_2022_jp(body) => {
            Some(Decoded { text: Cow::Borrowed(text), charset: UTF_8.name(), origin: Origin::Valid, errors: false })
        }
        Ok(_) => None,
        // Cut off or damaged, but too much of it is valid to be chance.
        Err(_) => detect::Utf8Evidence::of(body).outweighs(4).then(|| decoded(UTF_8, body, Origin::Detected)),
    }
}

fn decoded<'a>(encoding: &'static Encoding, bytes: &'a [u8], origin: Origin) -> Decoded<'a> {
    let (text, errors) = encoding.decode_without_bom_handling(bytes);
    Decoded { text, charset: encoding.name(), origin, errors }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_JP, EUC_KR, GBK, ISO_2022_JP, KOI8_R, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
    use proptest::prelude::*;

    const JAPANESE: &str = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所で\
        ニャーニャー泣いていた事だけは記憶している。吾輩はここで始めて人間というものを見た。";
    const RUSSIAN: &str = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему. \
        Всё смешалось в доме Облонских.";
    const FRENCH: &str = "Longtemps, je me suis couché de bonne heure. À peine ma bougie éteinte, mes yeux se fermaient si \
        vite que je n'avais pas le temps de me dire : « Je m'endors. »";
    const CHINESE: &str = "子曰：学而时习之，不亦说乎？有朋自远方来，不亦乐乎？人不知而不愠，不亦君子乎？";
    const KOREAN: &str =
        "나랏말이 중국과 달라 한자와는 서로 통하지 아니하므로 어리석은 백성이 말하고자 하는 바가 있어도";

    /// Charset, origin, errors.
    fn told(body: &[u8], content_type: Option<&str>) -> (&'static str, Origin, bool) {
        let Decoded { charset, origin, errors, .. } = decode(body, content_type);
        (charset, origin, errors)
    }

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn a_bom_wins() {
        let html = "<meta charset=shift_jis>é";
        for (bom, bytes, charset) in [
            (&b"\xEF\xBB\xBF"[..], html.as_bytes().to_vec(), "UTF-8"),
            (b"\xFF\xFE", utf16(html, u16::to_le_bytes), "UTF-16LE"),
            (b"\xFE\xFF", utf16(html, u16::to_be_bytes), "UTF-16BE"),
        ] {
            let body = [bom, &bytes].concat();
            let decoded = decode(&body, Some("text/html; charset=euc-jp"));
            assert_eq!((&*decoded.text, decoded.charset, decoded.origin), (html, charset, Origin::Bom));
        }
    }

    #[test]
    fn declarations_are_taken_in_order() {
        use Origin::*;
        for (content_type, head, charset, origin) in [
            (Some("text/html; charset=Shift_JIS"), "<meta charset=euc-jp>", "Shift_JIS", ContentType),
            (Some("text/html;CHARSET = 'sjis' "), "<meta charset=euc-jp>", "Shift_JIS", ContentType),
            (Some("text/html; charset=\"euc-jp\"s"), "", "EUC-JP", ContentType),
            (Some("text/html; charset=unheard-of"), "<meta charset=euc-jp>", "EUC-JP", Meta),
            (Some("text/html"), "<meta charset=euc-jp>", "EUC-JP", Meta),
            (Some("text/plain"), "<meta charset=koi8-r>", "windows-1252", Detected),
            (None, "<?xml version='1.0' encoding='koi8-r'?><meta charset=euc-jp>", "EUC-JP", Meta),
            (None, "<?xml version='1.0' encoding = \"koi8-r\" ?>", "KOI8-R", Xml),
            (None, " <?xml version='1.0' encoding='koi8-r'?>", "windows-1252", Detected),
            (None, "<!-- a comment that is long enough -->", "windows-1252", Detected),
        ] {
            let body = [head.as_bytes(), b" caf\xE9 "].concat();
            let told = told(&body, content_type);
            assert_eq!((told.0, told.1), (charset, origin), "{content_type:?} {head:?}");
        }
    }

    #[test]
    fn a_late_meta_counts_when_all_else_fails() {
        let body = |filler: usize| [&vec![b' '; filler][..], b"<meta charset=koi8-r>\xC1"].concat();
        assert_eq!(told(&body(2000), None), ("KOI8-R", Origin::Meta, false));
        assert_ne!(told(&body(LATE_PRESCAN_BYTES), None).0, "KOI8-R");
    }

    #[test]
    fn valid_utf8_is_borrowed() {
        for (body, content_type, origin) in [
            ("", None, Origin::Valid),
            ("plain", None, Origin::Valid),
            (JAPANESE, None, Origin::Valid),
            (JAPANESE, Some("text/html; charset=utf8"), Origin::ContentType),
            ("<meta charset=utf-8>é", None, Origin::Meta),
        ] {
            let decoded = decode(body.as_bytes(), content_type);
            assert!(matches!(decoded.text, Cow::Borrowed(text) if text == body), "{body:?}");
            assert_eq!((decoded.charset, decoded.origin, decoded.errors), ("UTF-8", origin, false));
        }
    }

    #[test]
    fn a_refuted_declaration_is_passed_over() {
        use Origin::*;
        let typed = |charset: &str| format!("text/html; charset={charset}");
        let (cyrillic, _, _) = KOI8_R.encode(RUSSIAN);
        for (charset, body, expected) in [
            // Damage in UTF-8 is only damage.
            ("utf-8", &b"caf\xC3\xA9 \xFF"[..], ("UTF-8", ContentType, true)),
            ("utf-8", b"cut caf\xC3\xA9 \xC3", ("UTF-8", ContentType, true)),
            // Not one character of UTF-8.
            ("utf-8", b"caf\xE9 d\xE9j\xE0", ("windows-1252", Detected, false)),
            ("utf-8", &cyrillic, ("KOI8-U", Detected, false)),
            // Not ASCII.
            ("us-ascii", &cyrillic, ("KOI8-U", Detected, false)),
            ("us-ascii", b"plain", ("windows-1252", ContentType, false)),
            // A single-byte charset that happens to be valid UTF-8 twice.
            ("iso-8859-1", "café déjà".as_bytes(), ("UTF-8", Valid, false)),
            ("iso-8859-1", "café".as_bytes(), ("windows-1252", ContentType, false)),
            ("iso-8859-1", b"caf\xE9 d\xC3\xA9j\xC3\xA0", ("windows-1252", ContentType, false)),
            // UTF-16 without a single zero.
            ("utf-16", b"<p>plain</p>", ("UTF-8", Valid, false)),
            // What a browser refuses to read.
            ("iso-2022-kr", b"plain", ("UTF-8", Valid, false)),
        ] {
            assert_eq!(told(body, Some(&typed(charset))), expected, "{charset}: {body:?}");
        }
    }

    #[test]
    fn undeclared_text_is_detected() {
        for (text, encoding) in [
            (JAPANESE, SHIFT_JIS),
            (JAPANESE, EUC_JP),
            (JAPANESE, ISO_2022_JP),
            (RUSSIAN, KOI8_R),
            (RUSSIAN, WINDOWS_1251),
            (FRENCH, WINDOWS_1252),
            (CHINESE, GBK),
            (KOREAN, EUC_KR),
        ] {
            // A page: long stretches of ASCII around short text, and an end inside a character.
            let page =
                format!("{}<p>{text}</p>{}<p>{text}</p>", "<a href=\"x.html\">".repeat(300), "<br>".repeat(2000));
            let (body, _, unmappable) = encoding.encode(&page);
            assert!(!unmappable, "{}", encoding.name());
            let decoded = decode(&body, None);
            assert_eq!((&*decoded.text, decoded.origin), (page.as_str(), Origin::Detected), "{}", encoding.name());
        }
        for (bytes, charset) in
            [(utf16(FRENCH, u16::to_le_bytes), "UTF-16LE"), (utf16(FRENCH, u16::to_be_bytes), "UTF-16BE")]
        {
            let decoded = decode(&bytes, None);
            assert_eq!((&*decoded.text, decoded.charset), (FRENCH, charset));
        }
    }

    #[test]
    fn damaged_utf8_is_not_guessed_away() {
        let mut body = RUSSIAN.as_bytes().to_vec();
        body.truncate(body.len() - 2);
        body.insert(20, 0xFF);
        assert_eq!(told(&body, None), ("UTF-8", Origin::Detected, true));
    }

    #[test]
    fn an_escape_alone_is_no_japanese() {
        assert_eq!(told(b"\x1b[31mred\x1b[0m costs 5\x1b$", None), ("UTF-8", Origin::Valid, false));
        assert_eq!(told(b"\x1b$B\n<p>not Japanese at all\x1b$B\x1b", None).0, "UTF-8");
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_text(
            pieces in prop::collection::vec(
                prop_oneof![
                    prop::collection::vec(any::<u8>(), 0..60),
                    Just(b"<meta charset=".to_vec()),
                    Just(b"<meta http-equiv=content-type content='text/html; charset=".to_vec()),
                    Just(b"<?xml encoding=\"".to_vec()),
                    Just(b"\x1b$B".to_vec()),
                    "(utf-8|shift_jis|utf-16|koi8-r|gb18030|x-user-defined|replacement)".prop_map(String::into_bytes),
                    "[<>!=/\"' -]{0,8}".prop_map(String::into_bytes),
                    "[a-zéя中]{0,40}".prop_map(String::into_bytes),
                ],
                0..12,
            ),
            content_type in prop::option::of("(text/html|text/plain)?; ?(charset)?=?[\"']?(utf-8|euc-kr|utf-16|us-ascii|.{0,5})"),
        ) {
            let body = pieces.concat();
            let decoded = decode(&body, content_type.as_deref());
            // Every byte is at most one replacement character.
            prop_assert!(decoded.text.len() <= body.len() * 3);
            prop_assert!(Encoding::for_label(decoded.charset.as_bytes()).is_some());
        }

        #[test]
        fn declared_text_comes_back(text in "[ -~А-я]{0,200}") {
            for charset in ["koi8-r", "windows-1251", "iso-8859-5", "utf-8"] {
                let encoding = Encoding::for_label(charset.as_bytes()).unwrap();
                let (body, _, unmappable) = encoding.encode(&text);
                prop_assert!(!unmappable);
                let decoded = decode(&body, Some(&format!("text/html; charset={charset}")));
                prop_assert_eq!(&*decoded.text, text.as_str(), "{}", charset);
            }
        }
    }
}

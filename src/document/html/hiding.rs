//! What a `style` attribute says about being seen.
//!
//! Only what stands in the tag is looked at: no stylesheet is read and no script runs. `font-size: 0` is told apart,
//! since on a container it is a layout trick (it closes the gaps between inline blocks) and hides nothing.
//!
//! # Invariants
//! - Later declarations win over earlier ones; case, white space and `!important` do not matter.
//!   (`declarations_that_hide`)
//! - Character references, comments and escapes hide nothing from it. (`declarations_that_hide`)

use super::{entities, swar};

/// What a `style` attribute says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sight {
    /// `display: none`, `visibility: hidden`, `opacity: 0`, `max-height: 0`, or no width or height and no overflow.
    pub(super) hides: bool,
    /// Whether there is a `font-size`, and whether that is nothing.
    pub(super) no_size: Option<bool>,
}

/// Reads the value of a `style` attribute.
pub(super) fn sight(style: &str) -> Sight {
    if memchr::memchr3(b'&', b'\\', b'*', style.as_bytes()).is_some() {
        return declared(&plain(style));
    }
    declared(style)
}

/// The same without character references, comments and escapes, which browsers see through.
fn plain(style: &str) -> String {
    let mut decoded = String::with_capacity(style.len());
    entities::push_value(style, &mut decoded);
    let (mut plain, mut rest) = (String::with_capacity(decoded.len()), decoded.as_str());
    while let Some(at) = rest.find(['/', '\\']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map_or("", |end| &comment[end + 2..]);
        } else if let Some(escape) = rest.strip_prefix('\\') {
            // Up to six hexadecimal digits and one white space, or the next character as it is.
            let n_digits = escape.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
            let code = u32::from_str_radix(&escape[..n_digits], 16).ok();
            plain.extend(code.and_then(char::from_u32));
            rest = &escape[n_digits..];
            if n_digits > 0 {
                rest = rest.strip_prefix([' ', '\t', '\n']).unwrap_or(rest);
            }
        } else {
            plain.push('/');
            rest = &rest[1..];
        }
    }
    plain + rest
}

fn declared(style: &str) -> Sight {
    let (mut display, mut visibility, mut opacity, mut max_height) = (false, false, false, false);
    let (mut width, mut height, mut overflow, mut no_size) = (false, false, false, None);
    let mut rest = style;
    while !rest.is_empty() {
        let len = swar::find(b';', rest.as_bytes(), 0).unwrap_or(rest.len());
        let declaration = rest[..len].trim_ascii_start();
        rest = rest.get(len + 1..).unwrap_or("");
        // The first letters of the names below; most declarations end here.
        let first = declaration.as_bytes().first().map(|byte| byte | 0x20);
        if !matches!(first, Some(b'd' | b'v' | b'o' | b'm' | b'w' | b'h' | b'f')) {
            continue;
        }
        let Some(colon) = swar::find(b':', declaration.as_bytes(), 0) else { continue };
        let (name, value) = (declaration[..colon].trim_ascii_end(), declaration[colon + 1..].trim_ascii());
        if !matches!(name.len(), 5..=10) {
            continue;
        }
        let word = &value[..value.find(['!', ' ']).unwrap_or(value.len())];
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        let says = |other: &str| word.eq_ignore_ascii_case(other);
        match name.len() {
            7 if is("display") => display = says("none"),
            7 if is("opacity") => opacity = is_zero(word),
            10 if is("visibility") => visibility = says("hidden") || says("collapse"),
            10 if is("max-height") => max_height = is_zero(word),
            5 if is("width") => width = is_zero(word),
            6 if is("height") => height = is_zero(word),
            8 if is("overflow") => overflow = says("hidden") || says("clip"),
            9 if is("font-size") => no_size = Some(is_zero(word)),
            _ => {}
        }
    }
    let no_room = (width || height) && overflow;
    Sight { hides: display || visibility || opacity || max_height || no_room, no_size }
}

/// Whether a length or number is zero, in whatever unit.
fn is_zero(value: &str) -> bool {
    let number = value.trim_start_matches(['+', '-']);
    let unit = number.trim_start_matches(['0', '.']);
    number[..number.len() - unit.len()].contains('0')
        && unit.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_that_hide() {
        for (style, hides) in [
            ("display:none", true),
            ("color:red; DISPLAY : None !important", true),
            ("display:none;display:block", false),
            ("display:inline-block", false),
            ("visibility:hidden", true),
            ("opacity:0", true),
            ("opacity: 0.00;", true),
            ("opacity:0.5", false),
            ("max-height:0px", true),
            ("max-height:0;max-height:10em", false),
            ("height:0;width:1px", false),
            ("height:0;overflow:hidden", true),
            ("overflow:hidden;width:0pt", true),
            ("overflow:hidden;width:100%", false),
            ("font-family:&quot;A&quot;;display:none", true),
            ("display&#58;none", true),
            ("display:/**/none", true),
            ("/*;*/display:none", true),
            ("d\\69splay:none", true),
            ("\\64 isplay:n\\one", true),
            ("/*display:none", false),
            ("display:none/*", true),
            ("a:b/c;display:none\\", true),
            ("font-size:0", false),
            ("background:url(x);", false),
            ("display", false),
            ("", false),
        ] {
            assert_eq!(sight(style).hides, hides, "{style}");
        }
    }

    #[test]
    fn sizes_of_letters() {
        for (style, no_size) in [
            ("font-size:0", Some(true)),
            ("font-size: 0px !important", Some(true)),
            ("font-size:01px", Some(false)),
            ("font-size:0.1em", Some(false)),
            ("font-size:1em", Some(false)),
            ("font:x", None),
        ] {
            assert_eq!(sight(style).no_size, no_size, "{style}");
        }
    }
}

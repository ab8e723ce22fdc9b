//! The html5lib tokenizer tests, against the bare tokenizer.
//!
//! What deviates on purpose:
//! - Parse errors and the parts of a doctype are not told; that there is a doctype is.
//! - Tokens are slices of the source, so line ends and NULs are put right here, as the caller of a tokenizer that
//!   keeps them has to.
//! - Half characters (lone surrogates) cannot stand in a `str`.
//! - A script ends at `</script`, whatever tag came before; the tests can ask for another.

use crate::data;
use seamripper::document::html::Tag;
use seamripper::document::html::entities::{push_text, push_value};
use seamripper::document::html::tokens::{Mode, Token, Tokens};
use serde_json::{Value, json};
use std::path::Path;

#[test]
fn the_tokenizer_passes_the_html5lib_tests() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/html/html5lib-tokenizer.json.zst");
    let files: Value = serde_json::from_slice(&data::unpacked(&file)).unwrap();
    let (mut n_run, mut n_skipped, mut failures) = (0, 0, Vec::new());
    for (name, tests) in files.as_object().unwrap() {
        for test in tests.as_array().unwrap() {
            let states = test.get("initialStates").cloned().unwrap_or_else(|| json!(["Data state"]));
            for state in states.as_array().unwrap() {
                match outcome(test, state.as_str().unwrap()) {
                    None => n_skipped += 1,
                    Some((expected, found)) => {
                        n_run += 1;
                        if expected != found {
                            failures.push(format!("{name}, {state}: {}\n  {expected}\n  {found}", test["input"]));
                        }
                    }
                }
            }
        }
    }
    println!("html5lib tokenizer tests: {n_run} run, {n_skipped} cannot be put, {} failed", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(n_run > 6_900 && n_skipped < 40, "{n_run} run, {n_skipped} skipped");
}

/// What a test expects and what was found, or `None` where the test cannot be put to this tokenizer.
fn outcome(test: &Value, state: &str) -> Option<(Value, Value)> {
    let escaped = test.get("doubleEscaped").is_some_and(|value| value == true);
    let input = unescaped(test["input"].as_str().unwrap(), escaped)?;
    let last_tag = test.get("lastStartTag").and_then(Value::as_str);
    // No end tag has the name of this one in the tests.
    let tag = match last_tag {
        Some("xmp") => Tag::Xmp,
        Some("textarea") => Tag::Textarea,
        _ => Tag::Bgsound,
    };
    let script_ends_elsewhere = last_tag != Some("script") && input.to_ascii_lowercase().contains("</");
    let (mode, input) = match state {
        "Data state" => (Mode::Data, input),
        "PLAINTEXT state" => (Mode::Plaintext, input),
        "RCDATA state" => (Mode::Rcdata(tag), input),
        "RAWTEXT state" => (Mode::Rawtext(tag), input),
        "Script data state" if script_ends_elsewhere => return None,
        "Script data state" => (Mode::Script, input),
        "CDATA section state" => (Mode::Data, format!("<![CDATA[{input}")),
        _ => panic!("unknown {state}"),
    };
    let expected =
        test["output"].as_array().unwrap().iter().map(|token| reduced(token, escaped)).collect::<Option<_>>()?;
    let cdata = state == "CDATA section state";
    Some((joined(expected), joined(tokens(&input.replace("\r\n", "\n").replace('\r', "\n"), mode, cdata))))
}

/// A token of the test without what is not told.
fn reduced(token: &Value, escaped: bool) -> Option<Value> {
    let text = |value: &Value| unescaped(value.as_str().unwrap(), escaped);
    Some(match token[0].as_str().unwrap() {
        "DOCTYPE" => json!(["DOCTYPE"]),
        "StartTag" => {
            let attributes = token[2].as_object().unwrap().iter();
            let attributes: Option<serde_json::Map<_, _>> =
                attributes.map(|(name, value)| Some((unescaped(name, escaped)?, text(value)?.into()))).collect();
            json!(["StartTag", text(&token[1])?, attributes?, token.get(3).is_some_and(|value| value == true)])
        }
        kind => json!([kind, text(&token[1])?]),
    })
}

/// The text of a test; `None` for half characters.
fn unescaped(text: &str, escaped: bool) -> Option<String> {
    if !escaped {
        return Some(text.to_owned());
    }
    let mut units = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\u") {
        units.extend(rest[..at].encode_utf16());
        units.push(u16::from_str_radix(&rest[at + 2..at + 6], 16).unwrap());
        rest = &rest[at + 6..];
    }
    units.extend(rest.encode_utf16());
    String::from_utf16(&units).ok()
}

fn tokens(input: &str, mode: Mode, cdata: bool) -> Vec<Value> {
    let mut tokens = Tokens::new(input);
    tokens.set_mode(mode);
    tokens.set_cdata(cdata);
    let mut found = Vec::new();
    let mut mode = mode;
    let visible = |text: &str| text.replace('\0', "\u{FFFD}");
    while let Some(token) = tokens.next() {
        match token {
            Token::Text(text) => {
                let mut decoded = String::new();
                push_text(text, &mut decoded);
                found.push(json!(["Character", if mode == Mode::Data { decoded } else { visible(&decoded) }]));
            }
            Token::Raw(text) if cdata => found.push(json!(["Character", text])),
            Token::Raw(text) => found.push(json!(["Character", visible(text)])),
            Token::Start(tag) => {
                let mut attributes = serde_json::Map::new();
                for attribute in tokens.attributes() {
                    let mut value = String::new();
                    push_value(tokens.value(attribute), &mut value);
                    let name = visible(&tokens.attribute_name(attribute).to_ascii_lowercase());
                    attributes.entry(name).or_insert(visible(&value).into());
                }
                let name = visible(&tokens.tag_name(&tag).to_ascii_lowercase());
                found.push(json!(["StartTag", name, attributes, tag.self_closing]));
                // The tests set the state themselves.
                tokens.set_mode(Mode::Data);
            }
            Token::End(tag) => {
                mode = Mode::Data;
                found.push(json!(["EndTag", visible(&tokens.tag_name(&tag).to_ascii_lowercase())]));
            }
            Token::Comment(text) => found.push(json!(["Comment", visible(text)])),
            Token::Doctype(_) => found.push(json!(["DOCTYPE"])),
        }
    }
    found
}

/// Neighbouring texts as one.
fn joined(tokens: Vec<Value>) -> Value {
    let mut joined: Vec<Value> = Vec::new();
    for token in tokens {
        match joined.last_mut() {
            Some(last) if last[0] == "Character" && token[0] == "Character" => {
                last[1] = format!("{}{}", last[1].as_str().unwrap(), token[1].as_str().unwrap()).into();
            }
            _ if token[0] == "Character" && token[1] == "" => {}
            _ => joined.push(token),
        }
    }
    joined.into()
}

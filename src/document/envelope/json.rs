//! The fields of an envelope out of its JSON, by sonic-rs.
//!
//! Unknown values are walked by [`Passed`] and not by serde's `IgnoredAny`: sonic-rs skips those recursively without
//! a bound, so that a megabyte of `[` would end the process (`depth_is_bounded`).

use crate::document::Rejection;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Further recipients are not kept: their names would not be masked anyway.
const RCPT_MAX: usize = 1000;

/// Which fields an envelope has.
#[derive(Clone, Copy)]
pub(super) struct Fields<const N: usize> {
    pub(super) strings: [&'static str; N],
    /// Then there are `rcpt` and `auth` too.
    pub(super) is_mail: bool,
}

/// The fields of a mail's envelope that are no strings.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) rcpt: Option<Vec<String>>,
    pub(super) auth: Option<Auth>,
}

/// What the receiving server found out about the sender: the domain for which each check passed.
#[derive(Default)]
pub(super) struct Auth {
    dmarc: Option<String>,
    dkim: Option<String>,
    spf: Option<String>,
}

impl Auth {
    /// DMARC speaks of the From address itself, DKIM of whoever signed, SPF of the envelope sender.
    pub(super) fn domain(self) -> Option<String> {
        self.dmarc.or(self.dkim).or(self.spf)
    }
}

pub(super) type Strings<'j, const N: usize> = ([Option<Cow<'j, str>>; N], Lists);

/// The fields of the JSON object `json`.
pub(super) fn opened<const N: usize>(json: &[u8], fields: Fields<N>) -> Result<Strings<'_, N>, Rejection> {
    // The parser trusts its text to be UTF-8.
    let json = std::str::from_utf8(json)
        .map_err(|error| Rejection::Envelope(format!("not valid UTF-8 at byte {}", error.valid_up_to())))?;
    let mut problem = None;
    let mut deserializer = sonic_rs::Deserializer::from_str(json);
    let opened = Envelope { fields, problem: &mut problem }.deserialize(&mut deserializer);
    let opened = opened.and_then(|opened| deserializer.end().map(|()| opened));
    opened.map_err(|error| {
        Rejection::Envelope(
            problem.unwrap_or_else(|| format!("not valid JSON at line {}, column {}", error.line(), error.column())),
        )
    })
}

/// Reads an envelope. Its own complaints go into `problem`: the parser would wrap them in a piece of the input.
struct Envelope<'p, const N: usize> {
    fields: Fields<N>,
    problem: &'p mut Option<String>,
}

impl<const N: usize> Envelope<'_, N> {
    fn refuse<E: Error>(&mut self, problem: String) -> E {
        *self.problem = Some(problem);
        E::custom("refused")
    }
}

impl<'j, const N: usize> DeserializeSeed<'j> for Envelope<'_, N> {
    type Value = Strings<'j, N>;

    fn deserialize<D: Deserializer<'j>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'j, const N: usize> Visitor<'j> for Envelope<'_, N> {
    type Value = Strings<'j, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'j>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut strings = [const { None }; N];
        let mut lists = Lists::default();
        let mut seen = [false; N];
        let (mut seen_rcpt, mut seen_auth) = (false, false);
        while let Some(Found::Text(name)) = map.next_key_seed(Any)? {
            let known = self.fields.strings.iter().position(|known| *known == name);
            let seen = match known {
                Some(index) => &mut seen[index],
                None if self.fields.is_mail && name == "rcpt" => &mut seen_rcpt,
                None if self.fields.is_mail && name == "auth" => &mut seen_auth,
                None => {
                    map.next_value_seed(Passed)?;
                    continue;
                }
            };
            if std::mem::replace(seen, true) {
                return Err(self.refuse(format!("`{name}` is there twice")));
            }
            let outcome = match known {
                Some(index) => map.next_value_seed(Any)?.text().map(|text| strings[index] = text),
                None if name == "rcpt" => map.next_value_seed(TextList)?.map(|rcpt| lists.rcpt = rcpt),
                None => map.next_value_seed(AuthObject)?.map(|auth| lists.auth = auth),
            };
            if let Err(problem) = outcome {
                return Err(self.refuse(format!("`{name}` {problem}")));
            }
        }
        Ok((strings, lists))
    }

    fn visit_seq<A: SeqAccess<'j>>(mut self, _: A) -> Result<Self::Value, A::Error> {
        Err(self.refuse("must be a JSON object, found a list".into()))
    }

    fn visit_str<E: Error>(mut self, _: &str) -> Result<Self::Value, E> {
        Err(self.refuse("must be a JSON object, found a string".into()))
    }

    fn visit_bool<E: Error>(mut self, _: bool) -> Result<Self::Value, E> {
        Err(self.refuse("must be a JSON object, found true or false".into()))
    }

    fn visit_u64<E: Error>(mut self, _: u64) -> Result<Self::Value, E> {
        Err(self.refuse("must be a JSON object, found a number".into()))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        self.visit_u64(0)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        self.visit_u64(0)
    }

    fn visit_unit<E: Error>(mut self) -> Result<Self::Value, E> {
        Err(self.refuse("must be a JSON object, found null".into()))
    }
}

/// Any JSON value, of which only strings are kept.
enum Found<'j> {
    Null,
    Text(Cow<'j, str>),
    Other(&'static str),
}

impl<'j> Found<'j> {
    /// The string, or what is wrong.
    fn text(self) -> Result<Option<Cow<'j, str>>, String> {
        match self {
            Found::Null => Ok(None),
            Found::Text(text) => Ok(Some(text)),
            Found::Other(found) => Err(format!("must be a string, found {found}")),
        }
    }
}

struct Any;

impl<'j> DeserializeSeed<'j> for Any {
    type Value = Found<'j>;

    fn deserialize<D: Deserializer<'j>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'j> Visitor<'j> for Any {
    type Value = Found<'j>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'j str) -> Result<Self::Value, E> {
        Ok(Found::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Found::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Found::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Found::Other("true or false"))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Found::Other("a number"))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Found::Other("a number"))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Found::Other("a number"))
    }

    fn visit_seq<A: SeqAccess<'j>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Passed.visit_seq(seq).map(|()| Found::Other("a list"))
    }

    fn visit_map<A: MapAccess<'j>>(self, map: A) -> Result<Self::Value, A::Error> {
        Passed.visit_map(map).map(|()| Found::Other("an object"))
    }
}

/// A value that nobody asked for. The parser bounds how deep this recurses.
struct Passed;

impl<'j> DeserializeSeed<'j> for Passed {
    type Value = ();

    fn deserialize<D: Deserializer<'j>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'j> Visitor<'j> for Passed {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'j>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Passed)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key_seed(Passed)?.is_some() {
            map.next_value_seed(Passed)?;
        }
        Ok(())
    }
}

/// A list of strings, or what is wrong with it.
struct TextList;

/// `auth`: an object of checks, each with `result` and `domain`.
struct AuthObject;

/// One check's domain if it passed; DKIM may have several signatures, of which the first that passed counts.
struct AuthCheck {
    is_in_list: bool,
}

/// The methods of a [`Visitor`] for every form but the wanted one: they say what was found.
macro_rules! other_forms {
    ($wanted:literal) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str($wanted)
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(Ok(None))
        }

        fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
            Ok(Err(concat!("must be ", $wanted, ", found a string").into()))
        }

        fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Err(concat!("must be ", $wanted, ", found true or false").into()))
        }

        fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Err(concat!("must be ", $wanted, ", found a number").into()))
        }

        fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
            self.visit_u64(0)
        }

        fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
            self.visit_u64(0)
        }
    };
}

macro_rules! any_form {
    ($seed:ty, $value:ty) => {
        impl<'j> DeserializeSeed<'j> for $seed {
            type Value = Result<Option<$value>, String>;

            fn deserialize<D: Deserializer<'j>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
                deserializer.deserialize_any(self)
            }
        }
    };
}

any_form!(TextList, Vec<String>);
any_form!(AuthObject, Auth);
any_form!(AuthCheck, String);

impl<'j> Visitor<'j> for TextList {
    type Value = Result<Option<Vec<String>>, String>;

    other_forms!("a list of strings");

    fn visit_seq<A: SeqAccess<'j>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        let mut problem = None;
        while let Some(found) = seq.next_element_seed(Any)? {
            match found {
                Found::Text(text) if list.len() < RCPT_MAX => list.push(text.into_owned()),
                Found::Text(_) => {}
                Found::Null => problem = Some("must be a list of strings, found null in it".to_owned()),
                Found::Other(found) => problem = Some(format!("must be a list of strings, found {found} in it")),
            }
        }
        Ok(problem.map_or(Ok(Some(list)), Err))
    }

    fn visit_map<A: MapAccess<'j>>(self, map: A) -> Result<Self::Value, A::Error> {
        Passed.visit_map(map).map(|()| Err("must be a list of strings, found an object".into()))
    }
}

impl<'j> Visitor<'j> for AuthObject {
    type Value = Result<Option<Auth>, String>;

    other_forms!("an object");

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut auth = Auth::default();
        let mut problem = None;
        while let Some(Found::Text(name)) = map.next_key_seed(Any)? {
            let check = match &*name {
                "dmarc" => &mut auth.dmarc,
                "dkim" => &mut auth.dkim,
                "spf" => &mut auth.spf,
                _ => {
                    map.next_value_seed(Passed)?;
                    continue;
                }
            };
            match map.next_value_seed(AuthCheck { is_in_list: false })? {
                Ok(domain) => *check = domain,
                Err(found) => problem = Some(format!("`{name}` {found}")),
            }
        }
        Ok(problem.map_or(Ok(Some(auth)), Err))
    }

    fn visit_seq<A: SeqAccess<'j>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Passed.visit_seq(seq).map(|()| Err("must be an object, found a list".into()))
    }
}

impl<'j> Visitor<'j> for AuthCheck {
    type Value = Result<Option<String>, String>;

    other_forms!("an object");

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut result, mut domain, mut problem) = (None, None, None);
        while let Some(Found::Text(name)) = map.next_key_seed(Any)? {
            let field = match &*name {
                "result" => &mut result,
                "domain" => &mut domain,
                _ => {
                    map.next_value_seed(Passed)?;
                    continue;
                }
            };
            match map.next_value_seed(Any)?.text() {
                Ok(text) => *field = text,
                Err(found) => problem = Some(format!("`{name}` {found}")),
            }
        }
        let passed = result.is_some_and(|result| result.eq_ignore_ascii_case("pass"));
        let domain = domain.filter(|domain| passed && !domain.is_empty()).map(|domain| domain.to_ascii_lowercase());
        Ok(problem.map_or(Ok(domain), Err))
    }

    fn visit_seq<A: SeqAccess<'j>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        if self.is_in_list {
            return Passed.visit_seq(seq).map(|()| Err("must be an object, found a list in a list".into()));
        }
        let mut first = Ok(None);
        while let Some(check) = seq.next_element_seed(AuthCheck { is_in_list: true })? {
            if matches!(first, Ok(None)) {
                first = check;
            }
        }
        Ok(first)
    }
}

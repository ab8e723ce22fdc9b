//! What stands behind the `?`: every name is known, every value is of its kind, or it is said what is wrong.

use super::problem::Problem;
use crate::document::Kind;
use crate::pipeline::wanted::{Sort, Wanted};
use axum::http::StatusCode;
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::time::Duration;
use utoipa::openapi::schema::{Array, ArrayBuilder, Object, ObjectBuilder, Type};

/// The names by which verdicts are chosen.
pub(super) const WANTED: &str = "class, kind, domain, group, cluster, label, q";

/// The same, as `/openapi.json` has them.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "it is [`Query::wanted`] that reads them; the test of the contract compares the two")]
pub(super) struct Choice {
    #[param(style = Form, explode = false, schema_with = classes)]
    class: Option<String>,
    #[param(schema_with = kinds)]
    kind: Option<String>,
    /// Of this registered domain.
    domain: Option<String>,
    /// Copies of the document of this id, and itself.
    group: Option<String>,
    /// In this style cluster.
    cluster: Option<String>,
    /// With this label.
    label: Option<String>,
    /// With this in the id, the URL or the domain, whatever the case of ASCII letters.
    q: Option<String>,
}

const KINDS: [(&str, Kind); 2] = [("page", Kind::Page), ("email", Kind::Email)];

/// One of these words, as `/openapi.json` has it. A shape that a function makes is described by that function too.
pub(super) fn words<T>(words: &[(&str, T)], description: &str) -> Object {
    let words = words.iter().map(|(word, _)| *word);
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).description(Some(description)).build()
}

fn kinds() -> Object {
    words(&KINDS, "Pages, or mails.")
}

fn classes() -> Array {
    let class = words(&Sort::ALL.map(|sort| (sort.name(), ())), "A class, or what is none.");
    ArrayBuilder::new().items(class).min_items(Some(1)).description(Some("Of one of these classes.")).build()
}

/// The pairs of a query that were not asked for yet.
pub(super) struct Query<'a> {
    pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Query<'a> {
    pub(super) fn read(query: Option<&'a str>) -> Self {
        Self { pairs: url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()).collect() }
    }

    /// The value of this name; the last, if there are several.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        self.all(name).pop()
    }

    /// A number in these bounds.
    pub(super) fn number(&mut self, name: &str, bounds: RangeInclusive<u64>) -> Result<Option<u64>, Problem> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        let is = || wrong(name, format_args!("is a number from {} to {}", bounds.start(), bounds.end()));
        number.map(Some).ok_or_else(is)
    }

    /// A number of seconds.
    pub(super) fn seconds(&mut self, name: &str) -> Result<Option<Duration>, Problem> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        seconds.map(Some).ok_or_else(|| wrong(name, "is a number of seconds"))
    }

    /// One of these words, by what it stands for.
    pub(super) fn word<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.map(Some).ok_or_else(|| one_of(name, words.iter().map(|(word, _)| *word)))
    }

    /// Which verdicts are wanted.
    pub(super) fn wanted(&mut self) -> Result<Wanted, Problem> {
        let mut sorts = Vec::new();
        for word in self.all("class").iter().flat_map(|list| list.split(',')) {
            let sort = Sort::named(word).ok_or_else(|| one_of("class", Sort::ALL.map(Sort::name)))?;
            sorts.push(sort);
        }
        Ok(Wanted {
            sorts,
            kind: self.word("kind", &KINDS)?,
            domain: self.text("domain"),
            group: self.text("group"),
            cluster: self.text("cluster"),
            label: self.text("label"),
            text: self.text("q"),
        })
    }

    /// Refuses what is left: `known` are the names that there are.
    pub(super) fn end(self, known: &str) -> Result<(), Problem> {
        match self.pairs.first() {
            None => Ok(()),
            Some((name, _)) => Err(wrong(name, format_args!("is not known here: there are {known}"))),
        }
    }

    pub(super) fn all(&mut self, name: &str) -> Vec<String> {
        let (found, left) = std::mem::take(&mut self.pairs).into_iter().partition(|(other, _)| other == name);
        self.pairs = left;
        let found: Vec<(Cow<'_, str>, Cow<'_, str>)> = found;
        found.into_iter().map(|(_, value)| value.into_owned()).collect()
    }
}

/// What is wrong with a value.
pub(super) fn wrong(name: &str, what: impl std::fmt::Display) -> Problem {
    let shown: String = name.chars().take(64).collect();
    Problem::new(StatusCode::BAD_REQUEST, "query", format!("`{}` {what}", shown.escape_debug()))
}

fn one_of<'a>(name: &str, words: impl IntoIterator<Item = &'a str>) -> Problem {
    wrong(name, format_args!("is one of {}", words.into_iter().collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read_and_mistakes_are_named() {
        let mut query = Query::read(Some("class=quilt,mirror&kind=page&class=rejected&q=a%20b+c&limit=3&wait=1.5&q="));
        let wanted = query.wanted().unwrap();
        assert_eq!(wanted.sorts, [Sort::Quilt, Sort::Mirror, Sort::Rejected]);
        assert_eq!((wanted.kind, wanted.text.as_deref(), wanted.domain), (Some(Kind::Page), Some(""), None));
        assert_eq!(query.number("limit", 1..=9).unwrap(), Some(3));
        assert_eq!(query.seconds("wait").unwrap(), Some(Duration::from_millis(1500)));
        query.end("").unwrap();
        type Reads = fn(&mut Query<'_>) -> Result<(), Problem>;
        let limit: Reads = |query| query.number("limit", 1..=9).map(drop);
        let wait: Reads = |query| query.seconds("wait").map(drop);
        let chosen: Reads = |query| query.wanted().map(drop);
        for (wrong, read) in [
            ("limit=0", limit),
            ("limit=10", limit),
            ("limit=-1", limit),
            ("limit=", limit),
            ("wait=-1", wait),
            ("wait=nan", wait),
            ("wait=1e400", wait),
            ("class=quilts", chosen),
            ("class=", chosen),
            ("class=quilt,", chosen),
            ("kind=pages", chosen),
        ] {
            assert_eq!(read(&mut Query::read(Some(wrong))).unwrap_err().status(), StatusCode::BAD_REQUEST, "{wrong}");
        }
        let unknown = Query::read(Some("frm=end")).end("from").unwrap_err();
        assert!(unknown.json()["detail"].as_str().unwrap().contains("`frm` is not known here: there are from"));
    }
}

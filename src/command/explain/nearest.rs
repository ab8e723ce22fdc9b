//! The ids that are spelled most like one that was not found: for whoever has mistyped it.

use crate::spelling::distance;

/// Ids that are suggested.
const SUGGESTED_MAX: usize = 3;
/// Characters of an id that are compared.
const COMPARED_MAX: usize = 256;

/// The ids that are nearest to one.
pub(super) struct Nearest {
    wanted: Vec<char>,
    /// With their distances, ascending.
    found: Vec<(usize, String)>,
}

impl Nearest {
    pub(super) fn to(wanted: &str) -> Self {
        Self { wanted: wanted.chars().take(COMPARED_MAX).collect(), found: Vec::new() }
    }

    /// Takes `id` into account.
    pub(super) fn add(&mut self, id: &str) {
        let other: Vec<char> = id.chars().take(COMPARED_MAX).collect();
        // More than half of it wrong is no typing error.
        let farthest = match self.found.get(SUGGESTED_MAX - 1) {
            Some((distance, _)) => *distance,
            None => self.wanted.len().max(other.len()) / 2 + 1,
        };
        if self.wanted.len().abs_diff(other.len()) >= farthest || self.found.iter().any(|(_, known)| known == id) {
            return;
        }
        let distance = distance(&self.wanted, &other);
        if distance < farthest {
            let at = self.found.partition_point(|(known, _)| *known <= distance);
            self.found.insert(at, (distance, id.to_owned()));
            self.found.truncate(SUGGESTED_MAX);
        }
    }

    /// The nearest first.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.found.iter().map(|(_, id)| id.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_what_is_far_is_left_out() {
        let mut nearest = Nearest::to("https://a.example/page-1.html");
        for id in ["mails.mbox#1", "https://a.example/page-12.html", "https://a.example/page-1.htm", "x"] {
            nearest.add(id);
            nearest.add(id);
        }
        nearest.add("https://a.example/page-1000.html");
        nearest.add("https://b.example/page-2.html");
        let ids: Vec<&str> = nearest.ids().collect();
        let expected =
            ["https://a.example/page-12.html", "https://a.example/page-1.htm", "https://b.example/page-2.html"];
        assert_eq!(ids, expected);
    }
}

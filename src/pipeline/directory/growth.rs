//! How a cluster has grown: its sizes as they were told, the oldest first.
//!
//! # Invariants
//! - There are so many points and no more; the first and the last are among them. (`the_first_and_the_last_stay`)
//! - Sizes never go back. (`what_was_told_before_goes_before`)

use serde::{Serialize, Serializer};

/// Points of one cluster.
pub const POINTS_MAX: usize = 64;

/// How a cluster has grown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Growth(Vec<Point>);

/// How large it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// When, in milliseconds since 1970.
    #[serde(rename = "time", serialize_with = "written")]
    pub time_ms: i64,
    /// Members.
    pub size: u32,
    /// Their registered domains.
    pub domains: u32,
}

fn written<S: Serializer>(time_ms: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&jiff::Timestamp::from_millisecond(*time_ms).unwrap_or_default())
}

impl Growth {
    /// The points, the oldest first.
    pub fn points(&self) -> &[Point] {
        &self.0
    }

    /// What was told next. Where the cluster has not grown it is nothing new.
    pub fn add(&mut self, point: Point) {
        let last = self.0.last();
        if last.is_some_and(|last| point.size < last.size || (point.size, point.domains) == (last.size, last.domains)) {
            return;
        }
        let time_ms = last.map_or(point.time_ms, |last| last.time_ms.max(point.time_ms));
        self.0.push(Point { time_ms, ..point });
        if self.0.len() > POINTS_MAX {
            self.thin();
        }
    }

    /// What was told before, as far as it says more.
    pub fn add_before(&mut self, older: Self) {
        let newer = std::mem::replace(self, older);
        if let Some(first) = newer.0.first() {
            self.0.retain(|point| point.size < first.size);
        }
        newer.0.into_iter().for_each(|point| self.add(point));
    }

    /// Leaves every second one, and the last.
    fn thin(&mut self) {
        let (mut number, last) = (0, self.0.len() - 1);
        self.0.retain(|_| {
            number += 1;
            (number - 1) % 2 == 0 || number - 1 == last
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(n: u32) -> Point {
        Point { time_ms: 1000 * i64::from(n), size: n, domains: n / 2 }
    }

    fn growth(numbers: impl Iterator<Item = u32>) -> Growth {
        let mut growth = Growth::default();
        numbers.for_each(|n| growth.add(point(n)));
        growth
    }

    #[test]
    fn the_first_and_the_last_stay() {
        let mut grown = Growth::default();
        for n in 1..5000 {
            grown.add(point(n));
            let points = grown.points();
            assert!(points.len() <= POINTS_MAX && (points[0], points[points.len() - 1]) == (point(1), point(n)));
            assert!(n < 64 || points.len() > POINTS_MAX / 2);
            assert!(points.is_sorted_by_key(|point| (point.time_ms, point.size)), "{points:?}");
        }
    }

    #[test]
    fn what_was_told_before_goes_before() {
        let mut grown = growth(5..8);
        // Of these the last were heard when they were told.
        grown.add_before(growth(1..7));
        assert_eq!(grown, growth(1..8));
        let mut none = Growth::default();
        none.add_before(growth(1..3));
        assert_eq!(none, growth(1..3));
        grown.add(point(3));
        grown.add(Point { time_ms: 90_000, ..point(7) });
        assert_eq!(grown, growth(1..8), "it has not grown");
        // A clock that goes back makes no line that does.
        grown.add(Point { time_ms: 0, ..point(9) });
        assert_eq!(grown.points().last(), Some(&Point { time_ms: 7000, ..point(9) }));
        let json = serde_json::to_value(point(1)).unwrap();
        assert_eq!(json, serde_json::json!({"time": "1970-01-01T00:00:01Z", "size": 1, "domains": 0}));
    }
}

//! Which bands, probes and lexicon copies keep to the errors that one can live with.
//!
//! Three formulas, each written once. A banding of a minhash makes a pair of resemblance s a candidate with
//! probability 1-(1-s^rows)^bands. Looking up p of m style bins misses a pair that agrees in t of them with
//! probability C(m-p, t)/C(m, t) (Urvoy 2006, for k = 1; their expanded product lacks a factor). Of K lexicon copies
//! that each drop a share p of the words, one survives n changed words with probability 1-(1-p^n)^K (Kolcz 2004).
//!
//! More bands are *looser*: they find more. More rows per band are stricter. The names say which is which.
//!
//! # Invariants
//! - What is chosen keeps to every demand, and no other banding that does lets fewer pairs through.
//!   (`the_chosen_banding_is_the_best_of_all`)
//! - The published figures come out. (`known_bandings_have_their_curve`, `published_misses_of_style_probes`,
//!   `kolcz_table_of_stability`)
//! - A demand that nothing can meet is answered with the best there is. (`impossible_demands_say_what_can_be_had`)

use serde::Serialize;

/// A minhash cut into bands, each of which is one key: a pair is a candidate when all rows of one band agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Banding {
    /// Keys per document. More find more.
    pub bands: u32,
    /// Slots in each key. More find less.
    pub rows_per_band: u32,
}

impl Banding {
    /// The probability that a pair of the given resemblance becomes a candidate.
    pub fn hit(self, resemblance: f64) -> f64 {
        -self.log_miss(resemblance).exp_m1()
    }

    /// The probability that it does not.
    pub fn miss(self, resemblance: f64) -> f64 {
        self.log_miss(resemblance).exp()
    }

    fn log_miss(self, resemblance: f64) -> f64 {
        f64::from(self.bands) * (-resemblance.powf(f64::from(self.rows_per_band))).ln_1p()
    }

    /// The customary estimate of where the curve is steepest: (1/bands)^(1/rows).
    pub fn midpoint(self) -> f64 {
        f64::from(self.bands).recip().powf(f64::from(self.rows_per_band).recip())
    }

    /// Slots that it uses.
    pub fn n_slots(self) -> u32 {
        self.bands * self.rows_per_band
    }

    /// The mean probability of a hit over all resemblances below the given one: what candidates cost.
    pub fn mean_hit_below(self, resemblance: f64) -> f64 {
        const STEPS: u32 = 256;
        let at = |step: u32| self.hit(resemblance * f64::from(step) / f64::from(STEPS));
        let inner: f64 = (1..STEPS).map(|step| at(step) * if step % 2 == 1 { 4.0 } else { 2.0 }).sum();
        (at(0) + inner + at(STEPS)) / (3.0 * f64::from(STEPS))
    }
}

/// What is asked of a banding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BandingDemand {
    /// Slots of the minhash.
    pub slots: u32,
    /// Pairs from here on should be found.
    pub resemblance: f64,
    /// ... all but this share of those at `resemblance`.
    pub miss_max: f64,
    /// Pairs as unlike as this should not become candidates.
    pub unlike: f64,
    /// ... all but this share of them, if that is asked for.
    pub false_hit_max: Option<f64>,
}

/// What keeps to a demand.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solved<T> {
    /// The best.
    pub chosen: T,
    /// Others that keep to it too, the better ones first.
    pub alternatives: Vec<T>,
}

/// Nothing keeps to a demand.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Impossible<T> {
    /// What can't be had, and what can.
    pub message: String,
    /// The nearest to it.
    pub best: T,
}

impl BandingDemand {
    /// The most selective banding that misses no more than allowed; for each other number of rows its smallest one.
    pub fn solve(&self) -> Result<Solved<Banding>, Impossible<Banding>> {
        let Self { slots, resemblance, miss_max, unlike, false_hit_max } = *self;
        // With fewer bands the same rows let fewer pairs through, so one banding for each number of rows is enough.
        let mut bandings: Vec<_> = (1..=slots).filter_map(|rows| self.fewest_bands(rows)).collect();
        bandings.sort_by(|a, b| a.mean_hit_below(resemblance).total_cmp(&b.mean_hit_below(resemblance)));
        let Some(&most_selective) = bandings.first() else {
            let best = Banding { bands: slots, rows_per_band: 1 };
            return Err(Impossible {
                message: format!(
                    "{slots} slots cannot miss as little as {miss_max} of the pairs at {resemblance}: \
                     the least is {:.2e}, with {slots} bands of 1 row",
                    best.miss(resemblance)
                ),
                best,
            });
        };
        let Some(false_hit_max) = false_hit_max else {
            return Ok(Solved { chosen: most_selective, alternatives: bandings.split_off(1) });
        };
        let mut kept: Vec<_> =
            bandings.iter().copied().filter(|banding| banding.hit(unlike) <= false_hit_max).collect();
        if !kept.is_empty() {
            return Ok(Solved { alternatives: kept.split_off(1), chosen: kept[0] });
        }
        let fewest_hits = bandings.into_iter().min_by(|a, b| a.hit(unlike).total_cmp(&b.hit(unlike)));
        let best = fewest_hits.expect("there is at least one: the first was taken above");
        let other = self.least_miss_within(false_hit_max);
        Err(Impossible {
            message: format!(
                "{slots} slots cannot miss at most {miss_max} of the pairs at {resemblance} and let through at most \
                 {false_hit_max} of those at {unlike}: with such misses {best} let through {:.2e} at best{}",
                best.hit(unlike),
                other.map_or_else(String::new, |other| format!(
                    ", with such false hits {other} miss {:.2e} at best",
                    other.miss(resemblance)
                )),
            ),
            best,
        })
    }

    fn fewest_bands(&self, rows_per_band: u32) -> Option<Banding> {
        let banding = |bands| Banding { bands, rows_per_band };
        let misses_less = |bands| banding(bands).miss(self.resemblance) <= self.miss_max;
        let bands_max = self.slots / rows_per_band;
        // The miss falls with every band: the first that is small enough lies where the predicate turns.
        let (mut low, mut high) = (1, bands_max);
        if bands_max == 0 || !misses_less(bands_max) {
            return None;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if misses_less(middle) { high = middle } else { low = middle + 1 }
        }
        Some(banding(low))
    }

    /// The banding with the least misses that lets no more through than allowed.
    fn least_miss_within(&self, false_hit_max: f64) -> Option<Banding> {
        let bandings = (1..=self.slots).filter_map(|rows_per_band| {
            let fits = |bands: &u32| Banding { bands: *bands, rows_per_band }.hit(self.unlike) <= false_hit_max;
            let bands = (1..=self.slots / rows_per_band).take_while(fits).last()?;
            Some(Banding { bands, rows_per_band })
        });
        bandings.min_by(|a, b| a.miss(self.resemblance).total_cmp(&b.miss(self.resemblance)))
    }
}

impl std::fmt::Display for Banding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = |n: u32| if n == 1 { "" } else { "s" };
        let Self { bands, rows_per_band } = *self;
        write!(f, "{bands} band{} of {rows_per_band} row{}", plural(bands), plural(rows_per_band))
    }
}

/// Style bins looked up one by one: a pair is a candidate when one of them agrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Probing {
    /// Bins of the fingerprint (m).
    pub bins: u32,
    /// Bins that are looked up (p).
    pub probes: u32,
    /// Bins that must agree for two pages to be of one style (t).
    pub matching_bins_min: u32,
}

impl Probing {
    /// The probability that no probe meets one of `matching` agreeing bins: C(m-p, t)/C(m, t).
    pub fn miss(self, matching: u32) -> f64 {
        let Self { bins, probes, .. } = self;
        if matching + probes > bins {
            return 0.0;
        }
        // C(m-p, t)/C(m, t) with its factorials cancelled.
        (0..probes).map(|i| f64::from(bins - matching - i) / f64::from(bins - i)).product()
    }

    /// The fewest probes that miss at most `miss_max` of the pairs that agree in just enough bins. There always are:
    /// with all bins looked up nothing is missed.
    pub fn fewest(bins: u32, matching_bins_min: u32, miss_max: f64) -> Self {
        assert!((1..=bins).contains(&matching_bins_min), "{matching_bins_min} of {bins} bins");
        (1..=bins)
            .map(|probes| Self { bins, probes, matching_bins_min })
            .find(|probing| probing.miss(matching_bins_min) <= miss_max)
            .expect("more probes than bins that differ meet one that agrees")
    }
}

/// Randomised copies of a lexicon.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Copies {
    /// How many (K).
    pub copies: u32,
    /// The share of words that each drops (p).
    pub drop_share: f64,
}

impl Copies {
    /// The probability that one of them gives equal signatures to documents that differ in `n_words` lexicon words.
    pub fn keep(self, n_words: u32) -> f64 {
        let survives = self.drop_share.powf(f64::from(n_words));
        -(f64::from(self.copies) * (-survives).ln_1p()).exp_m1()
    }
}

/// What is asked of lexicon copies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CopiesDemand {
    /// Documents that differ in so many lexicon words should match ...
    pub changed_words: u32,
    /// ... with at least this probability.
    pub keep_min: f64,
    /// Documents that differ in so many lexicon words are others ...
    pub unlike_words: u32,
    /// ... and should match with at most this probability.
    pub false_match_max: f64,
    /// More coordinates than this are not to be stored.
    pub copies_max: u32,
}

impl CopiesDemand {
    /// The fewest copies that keep to it, each dropping no more than it must.
    ///
    /// More copies that each drop less tell better; but each is a coordinate to store and to look up.
    pub fn solve(&self) -> Result<Solved<Copies>, Impossible<Copies>> {
        let all = (1..=self.copies_max).filter_map(|copies| self.least_drop(copies));
        let mut kept: Vec<_> =
            all.clone().filter(|copies| copies.keep(self.unlike_words) <= self.false_match_max).collect();
        if !kept.is_empty() {
            return Ok(Solved { alternatives: kept.split_off(1), chosen: kept[0] });
        }
        let Self { changed_words, keep_min, unlike_words, false_match_max, copies_max } = *self;
        let best = all
            .min_by(|a, b| a.keep(unlike_words).total_cmp(&b.keep(unlike_words)))
            .unwrap_or(Copies { copies: copies_max, drop_share: DROP_SHARE_MAX });
        Err(Impossible {
            message: format!(
                "{copies_max} lexicon copies cannot keep {keep_min} of the pairs with {changed_words} changed words and \
                 match at most {false_match_max} of those with {unlike_words}: at best {} copies that drop {:.4} keep \
                 {:.4} and match {:.2e}",
                best.copies,
                best.drop_share,
                best.keep(changed_words),
                best.keep(unlike_words)
            ),
            best,
        })
    }

    /// The smallest share, to four places, that keeps enough with so many copies.
    fn least_drop(&self, copies: u32) -> Option<Copies> {
        let survives = -((-self.keep_min).ln_1p() / f64::from(copies)).exp_m1();
        let share = survives.powf(f64::from(self.changed_words).recip());
        let mut found = Copies { copies, drop_share: (share * 1e4).ceil() / 1e4 };
        if found.keep(self.changed_words) < self.keep_min {
            found.drop_share += 1e-4;
        }
        (found.drop_share <= DROP_SHARE_MAX).then_some(found)
    }
}

/// Copies that drop more hold too little to mean anything.
const DROP_SHARE_MAX: f64 = 0.95;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bandings that other systems use: midpoint, and P(hit) at 0.5, 0.6, 0.7, 0.8, 0.9.
    #[test]
    fn known_bandings_have_their_curve() {
        for (bands, rows_per_band, midpoint, hits) in [
            (14, 8, 0.72, [0.05, 0.21, 0.56, 0.92, 1.0]),
            (20, 13, 0.79, [0.00, 0.03, 0.18, 0.68, 1.0]),
            (26, 11, 0.74, [0.01, 0.09, 0.41, 0.90, 1.0]),
            (20, 5, 0.55, [0.47, 0.80, 0.97, 1.0, 1.0]),
            (42, 3, 0.29, [1.0, 1.0, 1.0, 1.0, 1.0]),
        ] {
            let banding = Banding { bands, rows_per_band };
            assert!((banding.midpoint() - midpoint).abs() <= 0.005, "{banding}: {}", banding.midpoint());
            for (resemblance, hit) in [0.5, 0.6, 0.7, 0.8, 0.9].into_iter().zip(hits) {
                let found = banding.hit(resemblance);
                assert!((found - hit).abs() <= 0.005_001, "{banding} at {resemblance}: {found}, not {hit}");
            }
        }
    }

    #[test]
    fn published_misses_of_style_probes() {
        for (probes, matching, miss) in [(20, 35, 0.0009), (16, 32, 0.0071), (8, 64, 0.0031)] {
            let probing = Probing { bins: 128, probes, matching_bins_min: matching };
            assert!((probing.miss(matching) - miss).abs() < 0.000_05, "{probing:?}: {}", probing.miss(matching));
        }
        assert_eq!(Probing::fewest(128, 35, 0.001).probes, 20, "the published setting");
        assert_eq!(Probing::fewest(128, 35, 0.0).probes, 94, "one more than the bins that differ");
    }

    #[test]
    fn kolcz_table_of_stability() {
        for (copies, keeps) in [
            (1, [0.330, 0.109, 0.036]),
            (5, [0.865, 0.438, 0.167]),
            (10, [0.982, 0.684, 0.306]),
            (20, [1.000, 0.900, 0.519]),
        ] {
            for (n_words, keep) in (1..).zip(keeps) {
                let found = Copies { copies, drop_share: 0.33 }.keep(n_words);
                assert!((found - keep).abs() <= 0.0006, "K={copies}, n={n_words}: {found}, not {keep}");
            }
        }
    }

    const DEMAND: BandingDemand =
        BandingDemand { slots: 128, resemblance: 0.8, miss_max: 0.001, unlike: 0.4, false_hit_max: None };

    #[test]
    fn the_usual_demand_gives_18_bands_of_5_rows() {
        let solved = DEMAND.solve().unwrap();
        assert_eq!(solved.chosen, Banding { bands: 18, rows_per_band: 5 });
        assert!(solved.alternatives.contains(&Banding { bands: 14, rows_per_band: 4 }), "{:?}", solved.alternatives);
    }

    #[test]
    fn impossible_demands_say_what_can_be_had() {
        let demand = BandingDemand { false_hit_max: Some(0.01), ..DEMAND };
        let impossible = demand.solve().unwrap_err();
        assert!(impossible.best.miss(0.8) <= 0.001 && impossible.best.hit(0.4) > 0.01);
        assert!(impossible.to_string().contains("with such false hits"), "{impossible}");
        let hopeless = BandingDemand { slots: 2, resemblance: 0.1, ..DEMAND }.solve().unwrap_err();
        assert_eq!(hopeless.best, Banding { bands: 2, rows_per_band: 1 });
        assert!(hopeless.to_string().contains("8.10e-1"), "{hopeless}");
    }

    #[test]
    fn copies_are_as_few_as_the_demand_allows() {
        let demand =
            CopiesDemand { changed_words: 1, keep_min: 0.98, unlike_words: 10, false_match_max: 0.001, copies_max: 64 };
        let chosen = demand.solve().unwrap().chosen;
        assert_eq!(chosen.copies, 8);
        let impossible = CopiesDemand { copies_max: 7, ..demand }.solve().unwrap_err();
        assert_eq!(impossible.best.copies, 7);
        assert!(CopiesDemand { keep_min: 0.999_999, copies_max: 1, ..demand }.solve().is_err());
    }

    proptest! {
        #[test]
        fn the_chosen_banding_is_the_best_of_all(
            slots in 1..40_u32, resemblance in 0.2..1.0_f64, miss_exponent in 0.5..6.0_f64, strict: bool
        ) {
            let demand = BandingDemand {
                slots, resemblance, miss_max: 10_f64.powf(-miss_exponent), unlike: resemblance / 2.0,
                false_hit_max: strict.then_some(0.2),
            };
            let keeps = |banding: &Banding| banding.miss(resemblance) <= demand.miss_max
                && demand.false_hit_max.is_none_or(|max| banding.hit(demand.unlike) <= max);
            let best = (1..=slots)
                .flat_map(|rows_per_band| (1..=slots / rows_per_band).map(move |bands| Banding { bands, rows_per_band }))
                .filter(keeps)
                .min_by(|a, b| a.mean_hit_below(resemblance).total_cmp(&b.mean_hit_below(resemblance)));
            match demand.solve() {
                Ok(solved) => {
                    prop_assert_eq!(Some(solved.chosen), best);
                    prop_assert!(solved.alternatives.iter().all(keeps));
                }
                Err(impossible) => {
                    prop_assert_eq!(best, None, "{}", impossible);
                    prop_assert!(impossible.best.n_slots() <= slots);
                }
            }
        }

        #[test]
        fn chosen_copies_keep_to_the_demand(changed_words in 1..4_u32, keep_min in 0.01..0.999_f64, more in 3..30_u32) {
            let demand = CopiesDemand {
                changed_words, keep_min, unlike_words: changed_words + more, false_match_max: 0.01, copies_max: 64,
            };
            if let Ok(solved) = demand.solve() {
                for copies in std::iter::once(solved.chosen).chain(solved.alternatives) {
                    prop_assert!(copies.keep(changed_words) >= keep_min);
                    prop_assert!(copies.keep(demand.unlike_words) <= 0.01);
                    prop_assert!((0.0..1.0).contains(&copies.drop_share));
                }
            }
        }

        #[test]
        fn style_misses_equal_the_binomials(matching in 1..=64_u32, probes in 1..=64_u32) {
            let choose = |n: u32, k: u32| (0..k).fold(0.0, |sum, i| sum + (f64::from(n - i) / f64::from(i + 1)).ln());
            let probing = Probing { bins: 128, probes, matching_bins_min: matching };
            let direct = (choose(128 - probes, matching) - choose(128, matching)).exp();
            prop_assert!((probing.miss(matching) - direct).abs() < 1e-9, "{} against {direct}", probing.miss(matching));
        }
    }
}

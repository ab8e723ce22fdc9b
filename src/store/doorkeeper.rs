//! Who has been here before? A Bloom filter whose answer lies in one cache line.
//!
//! A hash chooses a line and one bit in each of its eight words (a *split block*, Putze, Sanders and Singler 2007): a question
//! is one line, which can be asked for ahead. A filter whose probes lie all over its memory waits for eight: asked about every
//! long sentence, the `bloomfilter` crate had 5 of the 16 us in which a mail was weighed (a profile of `cargo bench --bench scan`).
//!
//! # Invariants
//! - What was let in is known. (`who_was_let_in_is_known`)
//! - At its planned size it takes at most one new hash in 400 for a known one, and less than twice as many as that crate in nine
//!   tenths of the memory. (`errors_are_those_of_the_library`)

use super::lines::{LINE_BYTES, Line, Lines};
use super::watch::Table;

/// Bits for each hash that a filter is planned for.
const BITS_PER_KEY: usize = 14;
/// Bytes for each hash that a filter is planned for.
pub(super) const BYTES_PER_KEY: f64 = BITS_PER_KEY as f64 / 8.0;

/// Draws the bits: an odd number, from the digits of the golden ratio.
const DRAW: u64 = 0x9E37_79B9_7F4A_7C15;

/// A set of hashes that can be added to and asked, and is now and then wrong about who is in it.
#[derive(Clone)]
pub(super) struct Doorkeeper {
    lines: Lines,
}

impl Doorkeeper {
    /// `n` of them side by side, which `n_planned` hashes go into each.
    pub(super) fn several(n_planned: usize, n: usize) -> Vec<Self> {
        let n_bytes = (n_planned * BITS_PER_KEY).div_ceil(8 * LINE_BYTES) * LINE_BYTES;
        Lines::several(n_bytes, n).into_iter().map(|lines| Self { lines }).collect()
    }

    /// Whether the hash was let in, or looks like one that was.
    #[inline]
    pub(super) fn knows(&self, hash: u64) -> bool {
        let bits = bits(hash);
        self.lines.line(self.lines.of_key(hash)).iter().zip(bits).all(|(word, bit)| word & bit != 0)
    }

    /// Lets the hash in; whether it was known before.
    #[inline]
    pub(super) fn let_in(&mut self, hash: u64) -> bool {
        let number = self.lines.of_key(hash);
        let mut knew = true;
        for (word, bit) in self.lines.line_mut(number).iter_mut().zip(bits(hash)) {
            knew &= *word & bit != 0;
            *word |= bit;
        }
        knew
    }

    /// Asks for the line of the hash.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        self.lines.prefetch(hash);
    }

    pub(super) fn clear(&mut self) {
        (0..self.lines.len()).for_each(|number| *self.lines.line_mut(number) = Line::default());
    }

    /// All that it knows.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        (0..self.lines.len()).map(|number| self.lines.line(number))
    }

    /// How many lines that is.
    pub(super) fn n_lines(&self) -> usize {
        self.lines.len()
    }

    /// Takes over a line of another's.
    pub(super) fn remember(&mut self, number: usize, line: Line) {
        *self.lines.line_mut(number) = line;
    }

    /// What moves to huge pages.
    pub(super) fn table(&mut self) -> &mut dyn Table {
        self.lines.table()
    }
}

/// One bit for each word: six bits of a product each, the lowest left out. The line is chosen by the upper bits of the hash; a product with
/// its lower half knows nothing of them.
#[inline]
fn bits(hash: u64) -> Line {
    let drawn = (hash & 0xFFFF_FFFF).wrapping_mul(DRAW);
    std::array::from_fn(|word| 1 << (drawn >> (16 + 6 * word) & 63))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::keyed::mix;
    use bloomfilter::Bloom;

    const N: usize = 50_000;

    fn hash(number: usize, family: u64) -> u64 {
        mix(mix(number as u64, family), family)
    }

    #[test]
    fn who_was_let_in_is_known() {
        for n_planned in [0, 1, 40, 1000] {
            let mut doorkeeper = Doorkeeper::several(n_planned, 1).swap_remove(0);
            assert!(!doorkeeper.knows(hash(1, 1)));
            for number in 0..2 * n_planned + 1 {
                doorkeeper.let_in(hash(number, 1));
                assert!((0..=number).all(|number| doorkeeper.knows(hash(number, 1))));
            }
            assert!(doorkeeper.let_in(hash(0, 1)), "it was known");
            doorkeeper.clear();
            assert!(!doorkeeper.knows(hash(0, 1)) && !doorkeeper.let_in(hash(0, 1)));
        }
    }

    #[test]
    fn errors_are_those_of_the_library() {
        let mut own = Doorkeeper::several(N, 1).swap_remove(0);
        let mut library = Bloom::<u64>::new_with_seed(N * BITS_PER_KEY * 9 / 10 / 8, N, &[7; 32]).unwrap();
        let mut n_wrong = [0, 0];
        for number in 0..N {
            n_wrong[0] += usize::from(own.let_in(hash(number, 2)));
            n_wrong[1] += usize::from(library.check_and_set(&hash(number, 2)));
        }
        let n_known = |knows: &dyn Fn(u64) -> bool| (0..4 * N).filter(|number| knows(hash(*number, 3))).count();
        let (own, library) = (n_known(&|hash| own.knows(hash)), n_known(&|hash| library.check(&hash)));
        println!("new ones known: {own} and {library} of {}, while it filled: {n_wrong:?} of {N}", 4 * N);
        assert!(own < 4 * N / 400, "{own} of {} new ones are known", 4 * N);
        assert!(own < 2 * library, "{own}, the library {library}");
    }
}

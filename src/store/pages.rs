//! Tables move to huge pages, one after each batch, once the store is worth it.
//!
//! A document touches some two hundred places all over the tables. A scan of a few documents needs little of them; with huge pages
//! all of `store.memory` would be resident after a few dozen. But small pages have to be got one by one, most of them twice (first
//! read, then written), and each costs more than signing a word: beyond some hundred documents that is more than all huge
//! ones cost. Then tables are moved, while there is still little to move.

use super::watch::Table;

/// One document for so many bytes of the store makes it worth it.
const BYTES_EACH: usize = 8 << 20;

/// How far the tables have moved.
#[derive(Default)]
pub(super) struct Pages {
    n_moved: usize,
    are_over: bool,
}

impl Pages {
    /// Whether a store of `n_documents` in `n_bytes` is worth it.
    pub(super) fn are_due(n_documents: usize, n_bytes: usize) -> bool {
        n_documents >= n_bytes.div_ceil(BYTES_EACH)
    }

    /// Moves a table.
    pub(super) fn step<'a>(&mut self, mut tables: impl Iterator<Item = &'a mut dyn Table>) {
        match tables.nth(self.n_moved) {
            Some(table) => table.move_to_huge_pages(),
            None => self.are_over = true,
        }
        self.n_moved += 1;
    }

    /// Whether there is nothing more to move.
    pub(super) fn are_over(&self) -> bool {
        self.are_over
    }
}

#[cfg(test)]
mod tests {
    use super::super::region::Region;
    use super::*;

    #[test]
    fn all_tables_have_moved_in_the_end() {
        let mut tables = [Region::new(10), Region::new(200_000), Region::new(500), Region::new(100_000)];
        for (number, table) in tables.iter_mut().enumerate() {
            table.line_mut(9)[1] = number as u64 + 1;
        }
        let before = tables.clone();
        let mut pages = Pages::default();
        let mut n_steps = 0;
        while !pages.are_over() {
            pages.step(tables.iter_mut().map(|table| table as &mut dyn Table));
            n_steps += 1;
            assert!(n_steps <= 5);
        }
        assert!(tables == before);
        assert!(Pages::are_due(1, 1) && Pages::are_due(2, 9 << 20) && !Pages::are_due(1, 9 << 20));
    }
}

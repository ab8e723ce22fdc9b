//! Tables move to huge pages, a little after each batch, once the store is worth it.
//!
//! A scan of a few hundred documents touches few pages of its tables; with huge ones all of `store.memory` would be resident after a
//! few dozen. From a small share of the store on nearly every page is touched anyway: then tables are moved, in steps that the stream
//! does not notice. (`cargo bench --bench snapshot`)

use super::watch::Table;

/// From this share of the documents that the store has room for on: one in so many.
const SHARE: usize = 64;

/// How far the tables have moved.
#[derive(Default)]
pub(super) struct Pages {
    /// The table and the place in it where to go on; `None` before the first.
    next: Option<(usize, usize)>,
    is_over: bool,
}

impl Pages {
    /// Whether a store of `n_documents`, with room for `n_max`, is worth it.
    pub(super) fn are_due(n_documents: usize, n_max: usize) -> bool {
        n_documents >= n_max.div_ceil(SHARE)
    }

    /// Moves a little of the tables.
    pub(super) fn step<'a>(&mut self, mut tables: impl Iterator<Item = &'a mut dyn Table>) {
        if self.is_over {
            return;
        }
        let Some((number, start)) = self.next else {
            tables.for_each(|table| table.prefer_huge_pages());
            self.next = Some((0, 0));
            return;
        };
        let mut next = tables.nth(number).map(|table| (number, table.moved_to_huge_pages(start)));
        // Small tables have nothing to move.
        while let Some((number, None)) = next {
            next = tables.next().map(|table| (number + 1, table.moved_to_huge_pages(0)));
        }
        match next {
            Some((number, Some(start))) => self.next = Some((number, start)),
            _ => self.is_over = true,
        }
    }

    /// Whether there is nothing more to move.
    pub(super) fn are_over(&self) -> bool {
        self.is_over
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
            assert!(n_steps < 100);
        }
        assert!(tables == before);
        assert!(Pages::are_due(1, 1) && Pages::are_due(2, 65) && !Pages::are_due(1, 65));
    }
}

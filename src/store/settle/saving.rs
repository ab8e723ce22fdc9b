//! What settle remembers, written down and read back.

use super::super::Damaged;
use super::super::index::Index;
use super::super::watch::Table;
use super::{Clock, Settler};

impl Settler {
    fn indexes_mut(&mut self) -> [&mut Index; 5] {
        [&mut self.digests, &mut self.imatch, &mut self.minhash, &mut self.frames, &mut self.styles]
    }

    /// The parts of a saved store that are small: `with` is given their names and bytes.
    pub(in crate::store) fn save(&self, mut with: impl FnMut(&'static str, Vec<u8>)) -> Result<(), postcard::Error> {
        let indexes = [&self.digests, &self.imatch, &self.minhash, &self.frames, &self.styles];
        with("settle", postcard::to_stdvec(&(self.clock, indexes.map(Index::n_pushed_out)))?);
        with("prototypes", self.prototypes.save()?);
        with("clusters", self.clusters.save()?);
        Ok(())
    }

    /// The tables, in an order that stays.
    pub(in crate::store) fn tables(&mut self) -> impl Iterator<Item = &mut dyn Table> {
        let Self { prototypes, clusters, digests, imatch, minhash, frames, styles, seen, .. } = self;
        let indexes = [digests, imatch, minhash, frames, styles].map(Index::table);
        prototypes.tables().into_iter().chain(clusters.tables()).chain(indexes).chain([seen.table()])
    }

    /// Reads the part `name`, if it is one of these.
    pub(in crate::store) fn load(&mut self, name: &str, bytes: &[u8]) -> Option<Result<(), Damaged>> {
        Some(match name {
            "settle" => match postcard::from_bytes::<(Clock, [u64; 5])>(bytes) {
                Ok((clock, n_pushed_out)) => {
                    self.clock = clock;
                    self.indexes_mut().into_iter().zip(n_pushed_out).for_each(|(index, n)| index.set_pushed_out(n));
                    Ok(())
                }
                Err(_) => Err(Damaged::of("the clock cannot be read")),
            },
            "prototypes" => self.prototypes.load(bytes).map(|cells| self.cell_ends = Some(cells)),
            "clusters" => self.clusters.load(bytes),
            _ => return None,
        })
    }

    /// Looks whether the tables that were read agree with the rest.
    pub(in crate::store) fn resume(&mut self) -> Result<(), Damaged> {
        let cells = self.cell_ends.take().ok_or(Damaged::of("there are no prototypes"))?;
        self.prototypes.resume(cells)?;
        self.clusters.resume()
    }

    /// Goes on with all of `from`, whose tables have the sizes of ours; the settings stay ours.
    pub(in crate::store) fn carry(&mut self, from: Self) {
        self.prototypes.carry(from.prototypes);
        self.clusters.carry(from.clusters);
        (self.digests, self.imatch, self.minhash) = (from.digests, from.imatch, from.minhash);
        (self.frames, self.styles, self.seen, self.clock) = (from.frames, from.styles, from.seen, from.clock);
    }

    /// The names of all parts.
    pub(in crate::store) const PARTS: [&'static str; 3] = ["settle", "prototypes", "clusters"];
}

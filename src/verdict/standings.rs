//! What judge remembers of every head: whether it is a quilt, whose words it holds, and what was said of it.
//!
//! It has its own cells, filled and freed in the order in which documents are judged, so that settle may run ahead. When
//! they run out the oldest standings give way; such a document keeps its verdict and is not revised any more.
//!
//! # Invariants
//! - A record waits in the queue once. (`a_record_waits_once`)
//! - What many have in common leaves room for what one has. (`what_many_have_leaves_room`)
//! - What gives way is counted, and so is what the queue turned away. (`what_gives_way_is_counted`)

use super::cover::Bits;
use super::said::Said;
use crate::signature::prefetch::prefetch;
use crate::store::{CellEnds, Cells, Damaged, Handle, Plan, Ref, Rows, Table};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Links that are remembered of a document.
pub(super) const LINKS_MAX: usize = 64;
/// Bytes that they take at most, with their number.
const LINKS_BYTES_MAX: usize = 5 * (LINKS_MAX + 1);

/// What judge remembers of a head.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Standing {
    /// What it links to, hashed; of many links a sample. It comes first, since it is asked for alone
    /// ([`Standings::links_to`]).
    pub(super) links: Vec<u32>,
    /// Who has words of it, or whose words it has: the sources that a decision can name.
    pub(super) sources: Vec<KnownSource>,
    /// Those that were named last, ascending.
    pub(super) named: Vec<Ref>,
    /// What else was said of it, packed: only who says it again wants it, and most readers add a source and leave it as it is.
    #[serde(skip)]
    pub(super) said: Vec<u8>,
}

impl Standing {
    /// What else was said of it.
    pub(super) fn said(&self) -> Option<Said> {
        Said::unpacked(&self.said)
    }

    /// What was said behind the rest.
    fn write(&self, out: &mut Vec<u8>) {
        *out = postcard::to_extend(self, std::mem::take(out)).expect("it has no map, and memory does not fail");
        out.extend_from_slice(&self.said);
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (standing, said) = postcard::take_from_bytes::<Self>(bytes).ok()?;
        Some(Self { said: said.into(), ..standing })
    }
}

/// A source of a document, as bits of that document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KnownSource {
    pub(super) of: Ref,
    pub(super) linked: bool,
    pub(super) extent: Extent,
    pub(super) bits: Bits,
}

/// Sources with the same words that are remembered before all others are: one of them is named, and it may die, or be a quilt itself.
const ALIKE_MAX: usize = 4;

/// Keeps `n_max` of `sources`, in the order in which they stand, but those that are `closed` (which may be no source as they are) only
/// where the others leave room, and of the others those whose words several before them have all: a notice that fifty pages carry
/// would leave no place for what else is there.
pub(super) fn remember(sources: &mut Vec<KnownSource>, n_max: usize, closed: impl Fn(Ref) -> bool) {
    let is_crowded = sources.len() > n_max;
    let (mut kept, mut repeated, mut shut) = (Vec::with_capacity(sources.len()), Vec::new(), Vec::new());
    for source in sources.drain(..) {
        let has_all = |other: &&KnownSource| source.bits.count_without(&other.bits) == 0;
        if closed(source.of) {
            shut.push(source);
        } else if is_crowded && kept.iter().filter(has_all).nth(ALIKE_MAX - 1).is_some() {
            repeated.push(source);
        } else {
            kept.push(source);
        }
    }
    kept.extend(repeated.into_iter().chain(shut));
    kept.truncate(n_max);
    *sources = kept;
}

/// How much of a source stands in the document that it is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Extent {
    /// Less than most of it.
    Some,
    /// Most of it, and it came before the document.
    MostBefore,
    /// Most of it, and it came after.
    MostAfter,
}

impl Extent {
    /// Of a source with `n_grams`, `n_shared` of which stand in the document: three fifths are most, as of an excerpt.
    pub(super) fn of(n_shared: usize, n_grams: usize, is_after: bool) -> Self {
        match n_grams > 0 && 5 * n_shared >= 3 * n_grams {
            true if is_after => Self::MostAfter,
            true => Self::MostBefore,
            false => Self::Some,
        }
    }
}

/// What the words of a document are, by the last decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fabric {
    /// Whether it is a quilt.
    pub(super) is_quilt: bool,
    /// Whether so much of it stands in others that it would be one with enough sources.
    pub(super) is_patchwork: bool,
}

/// The fixed part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Row {
    generation: u16,
    fabric: Fabric,
    is_queued: bool,
    /// How often another decision has made something else of it.
    n_turns: u16,
    revision: u32,
    handle: Option<Handle>,
    born: u64,
}

// A row, and at most two entries in the order with room to grow: what the plan has for a head beside its cells.
const _: () = assert!(size_of::<Row>() + 4 * size_of::<(u64, Ref)>() <= Plan::STANDING_ROW_BYTES);

/// What was turned away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnedAway {
    /// Standings that gave way: their documents are not revised any more.
    pub n_standings: u64,
    /// Records that found the queue full, or were revised too often.
    pub n_queued: u64,
}

/// What judge remembers of every head.
pub(super) struct Standings {
    rows: Rows<Row>,
    cells: Cells,
    /// Of cells that are being read.
    cell_ends: Option<CellEnds>,
    /// Rows with cells by age; an entry whose row has moved on is skipped.
    order: VecDeque<(u64, Ref)>,
    queue: VecDeque<Ref>,
    queue_max: usize,
    per_record_max: u32,
    turned_away: TurnedAway,
    /// Where a standing is written before it is kept.
    scratch: Vec<u8>,
}

impl Standings {
    pub(super) fn new(n_cells: usize, queue_max: usize, per_record_max: u32) -> Self {
        Self {
            rows: Rows::default(),
            cells: Cells::new(n_cells.max(1)),
            cell_ends: None,
            order: VecDeque::new(),
            queue: VecDeque::new(),
            queue_max,
            per_record_max,
            turned_away: TurnedAway::default(),
            scratch: Vec::new(),
        }
    }

    /// A new head takes its place.
    pub(super) fn begin(&mut self, of: Ref, position: u64, standing: &Standing, fabric: Fabric) {
        let slot = of.slot as usize;
        self.rows.grow(slot + 1);
        self.free(of.slot);
        self.rows[slot] = Row { generation: of.generation, fabric, born: position, ..Row::default() };
        self.put(of, standing);
    }

    /// Whether `of` is judged a quilt.
    pub(super) fn is_quilt(&self, of: Ref) -> bool {
        self.fabric(of).is_quilt
    }

    /// What the words of `of` are.
    pub(super) fn fabric(&self, of: Ref) -> Fabric {
        self.row(of).map(|row| row.fabric).unwrap_or_default()
    }

    /// Makes something of `of`; whether that is news to others. Two that turn each other to and fro are news so often and no more.
    pub(super) fn turn(&mut self, of: Ref, fabric: Fabric) -> bool {
        let per_record_max = self.per_record_max;
        let Some(row) = self.row_mut(of).filter(|row| row.fabric != fabric) else { return false };
        row.fabric = fabric;
        row.n_turns = row.n_turns.saturating_add(1);
        u32::from(row.n_turns) <= per_record_max && row.n_turns < u16::MAX
    }

    /// The number of the next event of `of`.
    pub(super) fn next_revision(&mut self, of: Ref) -> u32 {
        self.row_mut(of).map_or(0, |row| {
            row.revision += 1;
            row.revision
        })
    }

    /// The number of the last event of `of`.
    pub(super) fn revision(&self, of: Ref) -> u32 {
        self.row(of).map_or(0, |row| row.revision)
    }

    pub(super) fn get(&self, of: Ref) -> Option<Standing> {
        let mut bytes = Vec::new();
        self.cells.read(self.row(of)?.handle?, &mut bytes);
        Standing::read(&bytes)
    }

    /// Whether `of` is remembered to link to `link`.
    pub(super) fn links_to(&self, of: Ref, link: u32) -> bool {
        let mut bytes = Vec::new();
        let Some(handle) = self.row(of).and_then(|row| row.handle) else { return false };
        self.cells.read_part(handle, 0, LINKS_BYTES_MAX, &mut bytes);
        postcard::take_from_bytes::<Vec<u32>>(&bytes).is_ok_and(|(links, _)| links.contains(&link))
    }

    /// Replaces what is remembered of `of`, if anything still is.
    pub(super) fn update(&mut self, of: Ref, standing: &Standing) {
        if self.row(of).is_some_and(|row| row.handle.is_some()) {
            self.free(of.slot);
            self.put(of, standing);
        }
    }

    /// Asks for what is remembered of those who have died.
    pub(super) fn prefetch(&self, dead: impl Iterator<Item = Ref> + Clone) {
        dead.clone().filter_map(|of| self.rows.get(of.slot as usize)).for_each(prefetch);
        dead.filter_map(|of| self.row(of)?.handle).for_each(|handle| self.cells.prefetch(handle));
    }

    /// `of` has died: what is remembered of it goes.
    pub(super) fn end(&mut self, of: Ref) {
        if self.row(of).is_some() {
            self.free(of.slot);
            self.rows[of.slot as usize].generation = 0;
        }
    }

    /// `of` is to be looked at again.
    pub(super) fn enqueue(&mut self, of: Ref) {
        let (is_full, per_record_max) = (self.queue.len() >= self.queue_max, self.per_record_max);
        let Some(row) = self.row_mut(of).filter(|row| !row.is_queued && row.handle.is_some()) else { return };
        if is_full || row.revision >= per_record_max {
            self.turned_away.n_queued += 1;
        } else {
            row.is_queued = true;
            self.queue.push_back(of);
        }
    }

    /// The next to be looked at again. One that has died in the meantime is passed over.
    pub(super) fn dequeue(&mut self) -> Option<Ref> {
        while let Some(of) = self.queue.pop_front() {
            if let Some(row) = self.row_mut(of) {
                row.is_queued = false;
                return Some(of);
            }
        }
        None
    }

    pub(super) fn n_queued(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn turned_away(&self) -> TurnedAway {
        self.turned_away
    }

    fn row(&self, of: Ref) -> Option<&Row> {
        self.rows.get(of.slot as usize).filter(|row| row.generation == of.generation)
    }

    fn row_mut(&mut self, of: Ref) -> Option<&mut Row> {
        self.row(of)?;
        Some(&mut self.rows[of.slot as usize])
    }

    fn put(&mut self, of: Ref, standing: &Standing) {
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        standing.write(&mut bytes);
        self.keep(of, &bytes);
        self.scratch = bytes;
    }

    fn keep(&mut self, of: Ref, bytes: &[u8]) {
        let n_cells = Cells::cells_for(bytes.len());
        if n_cells > self.cells.n_cells() / 4 {
            self.turned_away.n_standings += 1;
            return;
        }
        while self.cells.n_free() < n_cells {
            let Some((born, oldest)) = self.order.pop_front() else { return };
            if oldest == of {
                // Its own turn: it has grown, and is older than all that could give way.
                self.turned_away.n_standings += 1;
                return;
            }
            if self.row(oldest).is_some_and(|row| row.born == born && row.handle.is_some()) {
                self.turned_away.n_standings += 1;
                self.free(oldest.slot);
            }
        }
        let handle = self.cells.write(bytes);
        let row = &mut self.rows[of.slot as usize];
        row.handle = Some(handle);
        let born = row.born;
        // A row that was put before is in the order already.
        if self.order.back().is_none_or(|(last, _)| *last < born) {
            self.order.push_back((born, of));
        }
        if self.order.len() > 2 * self.rows.len() + 64 {
            let rows = &self.rows;
            self.order.retain(|(born, of)| {
                let row = &rows[of.slot as usize];
                row.generation == of.generation && row.born == *born && row.handle.is_some()
            });
        }
    }

    fn free(&mut self, slot: u32) {
        if self.rows.get(slot as usize).is_some_and(|row| row.handle.is_some())
            && let Some(handle) = self.rows[slot as usize].handle.take()
        {
            self.cells.free(handle);
        }
    }

    /// What is small, as bytes: all but [`Standings::tables`].
    pub(super) fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        let n_rows = self.rows.len() as u32;
        postcard::to_stdvec(&(n_rows, &self.order, &self.queue, &self.turned_away, self.cells.ends()))
    }

    /// What is large.
    pub(super) fn tables(&mut self) -> [&mut dyn Table; 2] {
        [&mut self.rows, self.cells.table()]
    }

    /// Reads what [`Standings::save`] has written, of a store of at most `n_rows_max` documents; the tables are read next.
    pub(super) fn load(&mut self, bytes: &[u8], n_rows_max: usize) -> Result<(), Damaged> {
        type Saved = (u32, VecDeque<(u64, Ref)>, VecDeque<Ref>, TurnedAway, CellEnds);
        let (n_rows, order, queue, turned_away, cells): Saved =
            postcard::from_bytes(bytes).map_err(|_| Damaged::of("the standings cannot be read"))?;
        let is_sound = n_rows as usize <= n_rows_max
            && queue.len() <= self.queue_max
            && order.iter().map(|(_, of)| of).chain(&queue).all(|of| of.slot < n_rows);
        if !is_sound {
            return Err(Damaged::of("the standings contradict themselves"));
        }
        self.rows.expect(n_rows as usize);
        (self.order, self.queue, self.turned_away, self.cell_ends) = (order, queue, turned_away, Some(cells));
        Ok(())
    }

    /// Looks whether the tables that were read agree with the rest.
    pub(super) fn resume(&mut self) -> Result<(), Damaged> {
        if let Some(cells) = self.cell_ends.take() {
            self.cells.resume(cells)?;
        }
        let mut handles = self.rows.iter().filter_map(|row| row.handle);
        if self.rows.are_complete() && handles.all(|handle| self.cells.holds(handle)) {
            Ok(())
        } else {
            Err(Damaged::of("the standings contradict themselves"))
        }
    }

    /// Goes on with all of `from`, which has as many cells; the settings stay ours.
    pub(super) fn carry(&mut self, from: Self) {
        *self = Self { queue_max: self.queue_max, per_record_max: self.per_record_max, ..from };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::snapshot::tests::copied;

    fn refer(slot: u32) -> Ref {
        Ref { slot, generation: 1 }
    }

    #[test]
    fn a_record_waits_once() {
        let mut standings = Standings::new(100, 2, 16);
        for slot in 0..4 {
            standings.begin(refer(slot), u64::from(slot), &Standing::default(), Fabric::default());
        }
        for slot in [0, 0, 1, 1, 2] {
            standings.enqueue(refer(slot));
        }
        assert_eq!((standings.n_queued(), standings.turned_away().n_queued), (2, 1));
        standings.end(refer(0));
        assert_eq!((standings.dequeue(), standings.dequeue()), (Some(refer(1)), None));
        standings.enqueue(refer(1));
        assert_eq!(standings.n_queued(), 1);
    }

    #[test]
    fn what_many_have_leaves_room() {
        let source = |slot: u32, bits: std::ops::Range<usize>| {
            let mut all = Bits::new();
            bits.for_each(|bit| all.set(bit));
            KnownSource { of: refer(slot), linked: false, extent: Extent::Some, bits: all }
        };
        let remembered = |n_max: usize| -> Vec<u32> {
            let mut sources: Vec<KnownSource> = (0..6).map(|slot| source(slot, 0..20)).collect();
            sources.extend([source(6, 5..15), source(7, 18..28), source(8, 40..46)]);
            remember(&mut sources, n_max, |of| of.slot == 1);
            sources.iter().map(|source| source.of.slot).collect()
        };
        assert_eq!(remembered(9), [0, 2, 3, 4, 5, 6, 7, 8, 1]);
        assert_eq!(remembered(8), [0, 2, 3, 4, 7, 8, 5, 6]);
        assert_eq!(remembered(6), [0, 2, 3, 4, 7, 8]);
    }

    #[test]
    fn what_gives_way_is_counted() {
        let mut standings = Standings::new(40, 2, 16);
        for slot in 0..100 {
            let fabric = Fabric { is_quilt: slot == 0, is_patchwork: slot == 0 };
            standings.begin(refer(slot), u64::from(slot), &Standing::default(), fabric);
        }
        let n_kept = (0..100).filter(|&slot| standings.get(refer(slot)).is_some()).count() as u64;
        assert_eq!(standings.turned_away().n_standings, 100 - n_kept);
        assert!(n_kept >= 10 && standings.get(refer(99)).is_some(), "{n_kept}");
        assert!(standings.is_quilt(refer(0)), "the verdict stays in force");
    }

    #[test]
    fn saved_and_loaded_it_is_the_same() {
        let mut standings = Standings::new(60, 5, 16);
        for slot in 0..30 {
            standings.begin(
                refer(slot),
                u64::from(slot),
                &Standing { links: vec![slot; 9], ..Standing::default() },
                Fabric { is_quilt: slot % 3 == 0, is_patchwork: slot % 2 == 0 },
            );
            standings.enqueue(refer(slot));
        }
        let mut again = Standings::new(60, 5, 16);
        again.load(&standings.save().unwrap(), 30).unwrap();
        for (from, to) in standings.tables().into_iter().zip(again.tables()) {
            copied(from, to).unwrap();
        }
        again.resume().unwrap();
        assert_eq!(again.save().unwrap(), standings.save().unwrap());
        assert_eq!(again.get(refer(29)), standings.get(refer(29)));
        assert!(*again.rows == *standings.rows && again.cells == standings.cells);
        assert!(Standings::new(60, 5, 16).load(&standings.save().unwrap(), 29).is_err(), "there is no room for them");
    }
}

//! How `store.memory` is divided among the tables.
//!
//! Every table gets what an average page needs of it, times the number of pages that then fit. A stream of short mails fills
//! the slots first and a stream of long pages the cells; either way the oldest group gives way. The beginnings of texts decide nothing, and
//! come beside the figure: whatever is kept of them, the figure is divided alike.
//!
//! # Invariants
//! - All tables that decide are together no more than the figure. (`a_plan_keeps_to_its_figure`)

use super::excerpts::ExcerptRule;
use super::memory::Memory;
use super::prototypes::{OWNER_BYTES, SLOT_BYTES};
use super::reference::SLOTS_MAX;
use super::{clusters, seen};
use crate::config::Settings;
use serde::Serialize;

/// Bytes of an entry of an index, of a posting with its part of the line.
const ENTRY: f64 = 8.0;
const POSTING: f64 = 12.8;
/// Lines are filled to this share on average: what overflows a line pushes out its oldest.
const FILL: f64 = 0.6;
/// Cells that the names and the proof of any one document fit into twice.
const CELLS_MIN: usize = 256;
/// Bytes of a place in the queue of revisions, with room to grow.
const QUEUED_BYTES: usize = 24;

/// What an average document needs: measured on 18,599 documentation pages, 1,954 web pages and 10,199 mails.
mod average {
    /// Bytes of proof, names and places.
    pub(super) const CELLS: f64 = 1100.0;
    /// Keys in settle.
    pub(super) const DIGESTS: f64 = 2.0;
    pub(super) const IMATCH: f64 = 8.0;
    pub(super) const BANDS: f64 = 20.0;
    pub(super) const FRAME_BANDS: f64 = 32.0;
    pub(super) const STYLE_PAIRS: f64 = 28.0;
    /// Keys in weigh.
    pub(super) const GRAMS: f64 = 70.0;
    pub(super) const SENTENCES: f64 = 14.0;
    /// Style leaders for each prototype: most pages join a cluster.
    pub(super) const LEADERS: f64 = 0.5;
    /// Documents for each prototype: copies have an id too.
    pub(super) const SEEN: f64 = 2.0;
    /// New words.
    pub(super) const WORDS: f64 = 10.0;
    /// Bytes of what judge remembers.
    pub(super) const STANDING: f64 = 352.0;
}

/// Bytes of each table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The figure.
    pub memory: usize,
    /// Places in the queue of revisions.
    pub n_revisions: usize,
    /// Stored documents, at most.
    pub n_prototypes: usize,
    /// Style leaders, at most.
    pub n_leaders: usize,
    /// Cells for what varies in length.
    pub n_cells: usize,
    /// The fixed parts of stored documents, with their owners.
    pub prototypes: usize,
    /// Style leaders and clusters.
    pub leaders: usize,
    /// Names, proofs, places.
    pub cells: usize,
    /// Exact digests.
    pub digests: usize,
    /// I-Match coordinates.
    pub imatch: usize,
    /// Bands of minhash.
    pub minhash: usize,
    /// Bands of page frames.
    pub frames: usize,
    /// Bins of styles.
    pub styles: usize,
    /// Ids.
    pub seen: usize,
    /// Postings of grams.
    pub grams: usize,
    /// Postings of sentences.
    pub sentences: usize,
    /// Counters of sentences.
    pub sentence_counts: usize,
    /// Counts of words.
    pub words: usize,
    /// What judge remembers for revisions, and its queue.
    pub standings: usize,
    /// Beginnings of texts, beside the figure.
    pub excerpts: usize,
    #[serde(skip)]
    pub(super) excerpt_rule: ExcerptRule,
}

impl Plan {
    /// The plan of these settings.
    pub fn of(settings: &Settings) -> Self {
        Self::divided(settings.store.memory, settings.revisions.queue_max).keeping(ExcerptRule::of(settings))
    }

    /// The plan for so much memory and a queue of `n_revisions`, with nothing kept of texts.
    pub fn divided(memory: usize, n_revisions: usize) -> Self {
        use average as a;
        let index = |keys: f64| keys * ENTRY / FILL;
        let postings = |keys: f64| keys * POSTING / FILL;
        // The order of the table is that of the struct.
        let per_document = [
            (SLOT_BYTES + OWNER_BYTES) as f64,
            a::LEADERS * clusters::LEADER_BYTES as f64,
            a::CELLS,
            index(a::DIGESTS),
            index(a::IMATCH),
            index(a::BANDS),
            index(a::FRAME_BANDS * a::LEADERS),
            index(a::STYLE_PAIRS * a::LEADERS),
            a::SEEN * seen::ENTRY_BYTES as f64,
            postings(a::GRAMS),
            postings(a::SENTENCES),
            a::SENTENCES * 3.0,
            a::WORDS * 32.0,
            a::STANDING,
        ];
        let queue = n_revisions * QUEUED_BYTES;
        let n = (memory.saturating_sub(queue)) as f64 / per_document.iter().sum::<f64>();
        let n = n.min(SLOTS_MAX as f64);
        let bytes = per_document.map(|per| (per * n) as usize);
        let [
            prototypes,
            leaders,
            cells,
            digests,
            imatch,
            minhash,
            frames,
            styles,
            seen,
            grams,
            sentences,
            counts,
            words,
            standings,
        ] = bytes;
        Self {
            memory,
            n_revisions,
            n_prototypes: (n as usize).max(1),
            n_leaders: ((n * a::LEADERS) as usize).max(1),
            n_cells: (cells / super::cells::CELL_BYTES).max(CELLS_MIN),
            prototypes,
            leaders,
            cells,
            digests,
            imatch,
            minhash,
            frames,
            styles,
            seen,
            grams,
            sentences,
            sentence_counts: counts,
            words,
            standings: standings + queue,
            excerpts: 0,
            excerpt_rule: ExcerptRule::NONE,
        }
    }

    fn keeping(self, excerpt_rule: ExcerptRule) -> Self {
        Self { excerpts: self.n_prototypes * excerpt_rule.row_bytes(), excerpt_rule, ..self }
    }

    /// Whether the tables that decide have the same sizes.
    pub(super) fn divides_like(&self, other: &Self) -> bool {
        Self { excerpts: other.excerpts, excerpt_rule: other.excerpt_rule, ..*self } == *other
    }

    /// A plan by which `n_documents` of `n_cells` cells are all kept; what only suggests is not needed then.
    pub(super) fn of_all(n_documents: usize, n_cells: usize) -> Self {
        let least = Self::divided(Self::MEMORY_MIN, 0);
        // One more than can come: nothing is ever full.
        Self { n_prototypes: n_documents + 1, n_leaders: n_documents + 1, n_cells: n_cells + 1, ..least }
    }

    /// The tables of the figure by name.
    pub fn tables(&self) -> [(&'static str, usize); 14] {
        [
            ("prototypes", self.prototypes),
            ("style leaders and clusters", self.leaders),
            ("names, proofs, places", self.cells),
            ("exact digests", self.digests),
            ("I-Match coordinates", self.imatch),
            ("minhash bands", self.minhash),
            ("frame bands", self.frames),
            ("style bins", self.styles),
            ("ids seen", self.seen),
            ("gram postings", self.grams),
            ("sentence postings", self.sentences),
            ("sentence counters", self.sentence_counts),
            ("word counts", self.words),
            ("standings and revisions", self.standings),
        ]
    }

    /// The table beside the figure.
    pub fn beside(&self) -> (&'static str, usize) {
        ("excerpts", self.excerpts)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.tables().into_iter().chain([self.beside()])
    }

    /// The first table that the system has no address space for just now, with its bytes.
    pub fn refused(&self) -> Option<(&'static str, usize)> {
        let n_bytes = Memory::refused(self.all().map(|(_, n_bytes)| n_bytes))?;
        self.all().find(|(_, other)| *other == n_bytes)
    }

    /// Bytes of all tables.
    pub fn total(&self) -> usize {
        self.memory + self.excerpts
    }

    /// Grams whose places are kept: half of the cells hold them all, however far they are apart.
    pub fn n_places(&self) -> usize {
        (self.n_cells * super::cells::CELL_BYTES / 2 / super::card::STEP_BYTES_MAX).min(super::settle::GRAMS_MAX)
    }

    /// Cells for what judge remembers.
    pub fn n_cells_standing(&self) -> usize {
        let rows = self.n_prototypes * Self::STANDING_ROW_BYTES + self.n_revisions * QUEUED_BYTES;
        self.standings.saturating_sub(rows) / super::cells::CELL_BYTES
    }

    /// Bytes that judge has for a head beside cells.
    pub const STANDING_ROW_BYTES: usize = 96;
    /// Less memory than this beside the queue holds no store worth the name.
    pub const MEMORY_MIN: usize = 1 << 20;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_keeps_to_its_figure() {
        for memory in [Plan::MEMORY_MIN, 100 << 20, 1 << 30, 64 << 30] {
            let mut settings = Settings::default();
            (settings.store.memory, settings.revisions.queue_max) = (memory, 1000);
            let plan = Plan::of(&settings);
            let total: usize = plan.tables().iter().map(|(_, bytes)| bytes).sum();
            assert!(
                total <= memory && (total as f64 > 0.99 * memory as f64 || plan.n_prototypes == SLOTS_MAX),
                "{plan:?}"
            );
            assert_eq!((plan.excerpts, plan.total()), (256 * plan.n_prototypes, memory + plan.excerpts));
            settings.texts.excerpt_bytes = 0;
            assert!(Plan::of(&settings).divides_like(&plan) && Plan::of(&settings).excerpts == 0);
        }
    }
}

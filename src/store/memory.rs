//! Memory of a table: whole cache lines straight from the system, zero at first and resident only where touched.
//!
//! Tables are read all over, a line here and a line there: with pages of 4 KiB most look-ups miss the processor's list of pages
//! too. So large tables are moved to huge pages as soon as much is to be expected ([`super::pages`]). Tables that are parts of one, each
//! too small for a huge page, lie side by side in one mapping: with that weighing took a fifth less in a store of 1 GiB.
//!
//! # Invariants
//! - All lines are zero at first, and one is changed alone, also across a move. (`lines_are_zero_until_written`)
//! - Tables of one mapping have no line in common, moved or not. (`neighbours_do_not_touch`)
//! - What has moved is in memory once, wherever its neighbours are. (`who_moves_leaves_nothing_behind`)
//! - Lines and bytes are two views of the same memory. (`lines_and_bytes_are_the_same`)

#![allow(unsafe_code, reason = "memory comes from the system by its own call, and is seen as words or as bytes")]

use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

#[cfg(target_endian = "big")]
compile_error!("tables are saved as they lie in memory, least byte first");

/// Words in a line.
pub(super) const WORDS: usize = 8;
/// Bytes in a line.
pub(super) const LINE_BYTES: usize = 8 * WORDS;

/// A line.
pub(super) type Line = [u64; WORDS];

/// Bytes of a huge page.
const HUGE_BYTES: usize = 2 << 20;
/// Smaller mappings have too little for huge pages.
const HUGE_FROM_BYTES: usize = 2 * HUGE_BYTES;
/// Tables of one mapping begin with a page, however large those of the system are.
const APART_BYTES: usize = 64 << 10;

/// Lines of zeros that are the caller's own.
pub(super) struct Memory {
    start: NonNull<Line>,
    n_lines: usize,
    mapping: Arc<Mapping>,
}

// SAFETY: the lines belong to this value alone, and are reached through it as any owned slice is.
unsafe impl Send for Memory {}
// SAFETY: as above; a shared reference only reads.
unsafe impl Sync for Memory {}

/// Memory from the system, given back with the last table in it.
struct Mapping {
    start: NonNull<u8>,
    n_bytes: usize,
    /// Where its tables move to; `None` where there is no room.
    moved: OnceLock<Option<Arc<Mapping>>>,
}

// SAFETY: it is two numbers and a place to move to; its bytes are reached through the tables in it alone.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Where the system has the address space.
    fn asked_for(n_bytes: usize) -> Option<Arc<Self>> {
        // Only what is as long as some huge pages begins, by the system's choice, where one can.
        let n_bytes = if n_bytes < HUGE_FROM_BYTES { n_bytes } else { n_bytes.checked_next_multiple_of(HUGE_BYTES)? };
        let start = system::zeroed(n_bytes)?;
        Some(Arc::new(Self { start, n_bytes, moved: OnceLock::new() }))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was given for this length, and no table is left that could reach it.
        unsafe { system::given_back(self.start, self.n_bytes) }
    }
}

impl Memory {
    /// So many lines, at least one. Panics when the system has no address space for them.
    pub(super) fn new(n_lines: usize) -> Self {
        Self::several(n_lines, 1).swap_remove(0)
    }

    /// `n` times so many lines, side by side.
    pub(super) fn several(n_lines: usize, n: usize) -> Vec<Self> {
        Self::asked_for(n_lines, n).unwrap_or_else(|| panic!("no address space for {n} tables of {n_lines} lines"))
    }

    /// The same, where the system has the address space.
    fn asked_for(n_lines: usize, n: usize) -> Option<Vec<Self>> {
        let n_lines = n_lines.max(1);
        let n_bytes = n_lines.checked_mul(LINE_BYTES)?;
        let n_apart = if n > 1 { n_bytes.checked_next_multiple_of(APART_BYTES)? } else { n_bytes };
        let mapping = Mapping::asked_for(n_apart.checked_mul(n)?)?;
        let part = |number: usize| {
            // SAFETY: the mapping has `n` parts of so many bytes.
            let start = unsafe { mapping.start.add(number * n_apart) };
            Self { start: start.cast(), n_lines, mapping: mapping.clone() }
        };
        Some((0..n).map(part).collect())
    }

    /// Of tables of so many bytes each the first that the system has no address space for, beside those before it.
    pub(super) fn refused(tables: impl IntoIterator<Item = usize>) -> Option<usize> {
        let mut held = Vec::new();
        for n_bytes in tables {
            match Self::asked_for(n_bytes.div_ceil(LINE_BYTES), 1) {
                Some(memory) => held.extend(memory),
                None => return Some(n_bytes),
            }
        }
        None
    }

    /// All lines.
    #[inline]
    pub(super) fn lines(&self) -> &[Line] {
        // SAFETY: `start` has `n_lines` lines of our own, aligned to a page; any bits are words.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.n_lines) }
    }

    /// All lines, to be changed.
    #[inline]
    pub(super) fn lines_mut(&mut self) -> &mut [Line] {
        // SAFETY: as in `lines`, and `self` is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.n_lines) }
    }

    /// All bytes.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: as in `lines`; bytes need no alignment.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.n_lines * LINE_BYTES) }
    }

    /// All bytes, to be changed.
    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `self` is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.n_lines * LINE_BYTES) }
    }

    /// Asks for huge pages for whatever is touched first from now on, where the system has them.
    pub(super) fn prefer_huge_pages(&self) {
        if self.mapping.n_bytes >= HUGE_FROM_BYTES {
            system::prefer_huge_pages(self.mapping.start, self.mapping.n_bytes);
        }
    }

    /// Moves to memory that has huge pages, where the system has them: what is there is copied, and the rest comes huge when it
    /// is touched. To have the system exchange the pages in their place (`MADV_COLLAPSE`) took nine times as long.
    pub(super) fn move_to_huge_pages(&mut self) {
        if self.mapping.n_bytes < HUGE_FROM_BYTES {
            return;
        }
        // Where both do not fit beside each other, small pages work as well.
        let mapping = self.mapping.moved.get_or_init(|| Mapping::asked_for(self.mapping.n_bytes)).clone();
        let Some(mapping) = mapping else { return };
        let n_before = self.start.as_ptr().addr() - self.mapping.start.as_ptr().addr();
        // SAFETY: both mappings have the same length, and a table the same place in both.
        let start = unsafe { mapping.start.add(n_before) };
        let mut moved = Self { start: start.cast(), n_lines: self.n_lines, mapping };
        moved.prefer_huge_pages();
        for range in system::touched(self.start.cast(), self.n_lines * LINE_BYTES) {
            let from = &self.bytes()[range.clone()];
            // Reading touches as well: only what was written is worth a page.
            if from.iter().any(|byte| *byte != 0) {
                moved.bytes_mut()[range].copy_from_slice(from);
            }
        }
        // The mapping goes when its last table has moved, which may be a hundred batches later.
        // SAFETY: these lines are ours alone, `self` is borrowed alone, and they are not looked at again.
        unsafe { system::emptied(self.start.cast(), self.n_lines * LINE_BYTES) };
        *self = moved;
    }
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io::{self, Read, Seek, SeekFrom};
    use std::ops::Range;
    use std::ptr::{NonNull, null_mut};

    pub(super) fn zeroed(n_bytes: usize) -> Option<NonNull<u8>> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at no given address touches nothing that exists.
        let start = unsafe { libc::mmap(null_mut(), n_bytes, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
    }

    pub(super) fn prefer_huge_pages(start: NonNull<u8>, n_bytes: usize) {
        // A refusal leaves small pages, which work as well.
        #[cfg(target_os = "linux")]
        // SAFETY: the range is a whole mapping of our own, and advice changes no contents.
        unsafe {
            libc::madvise(start.as_ptr().cast(), n_bytes, libc::MADV_HUGEPAGE);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (start, n_bytes);
    }

    /// The ranges of a mapping that somebody has read or written, whether they are in memory or swapped out.
    pub(super) fn touched(start: NonNull<u8>, n_bytes: usize) -> Vec<Range<usize>> {
        // SAFETY: it is asked for a number.
        let page_bytes = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        let pages =
            (0..n_bytes.div_ceil(page_bytes)).map(|page| page * page_bytes..n_bytes.min((page + 1) * page_bytes));
        match page_map(start.as_ptr().addr() / page_bytes, n_bytes.div_ceil(page_bytes)) {
            Ok(entries) => {
                pages.zip(entries).filter(|(_, entry)| *entry >> SWAPPED != 0).map(|(range, _)| range).collect()
            }
            // Nobody says which: any may be.
            Err(_) => pages.collect(),
        }
    }

    /// In an entry of the page map: the page is swapped out, and above that, it is in memory.
    const SWAPPED: u32 = 62;

    /// What the system says of our pages from `first` on. (`mincore` does not tell what is swapped out from what was never there.)
    fn page_map(first: usize, n: usize) -> io::Result<Vec<u64>> {
        let mut file = File::open("/proc/self/pagemap")?;
        file.seek(SeekFrom::Start(8 * first as u64))?;
        let mut bytes = vec![0; 8 * n];
        file.read_exact(&mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|entry| u64::from_ne_bytes(*entry)).collect())
    }

    /// Gives back the pages of a part of a mapping, which keeps its addresses.
    ///
    /// # Safety
    /// Nobody looks at the range, nor at the rest of its last page.
    pub(super) unsafe fn emptied(start: NonNull<u8>, n_bytes: usize) {
        // Where the system declines, they stay until the mapping goes.
        // SAFETY: the caller's word.
        unsafe { libc::madvise(start.as_ptr().cast(), n_bytes, libc::MADV_DONTNEED) };
    }

    /// # Safety
    /// The range came from [`zeroed`], and is not used again.
    pub(super) unsafe fn given_back(start: NonNull<u8>, n_bytes: usize) {
        // SAFETY: the caller's word. It fails for no range that was mapped.
        unsafe { libc::munmap(start.as_ptr().cast(), n_bytes) };
    }
}

#[cfg(not(unix))]
mod system {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ops::Range;
    use std::ptr::NonNull;

    fn layout(n_bytes: usize) -> Option<Layout> {
        Layout::from_size_align(n_bytes, super::LINE_BYTES).ok()
    }

    pub(super) fn zeroed(n_bytes: usize) -> Option<NonNull<u8>> {
        // SAFETY: a table has at least one line.
        NonNull::new(unsafe { alloc_zeroed(layout(n_bytes)?) })
    }

    pub(super) fn prefer_huge_pages(_: NonNull<u8>, _: usize) {}

    pub(super) fn touched(_: NonNull<u8>, n_bytes: usize) -> Vec<Range<usize>> {
        vec![0..n_bytes]
    }

    /// # Safety
    /// None is needed: nothing is given back before the whole is.
    pub(super) unsafe fn emptied(_: NonNull<u8>, _: usize) {}

    /// # Safety
    /// The range came from [`zeroed`], and is not used again.
    pub(super) unsafe fn given_back(start: NonNull<u8>, n_bytes: usize) {
        if let Some(layout) = layout(n_bytes) {
            // SAFETY: the caller's word.
            unsafe { dealloc(start.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_zero_until_written() {
        let mut memory = Memory::new(100_000);
        assert!(memory.lines().iter().all(|line| *line == [0; WORDS]));
        memory.lines_mut()[70_000][3] = 9;
        // Put out of memory, where there is somewhere to put it: what is not resident may be there all the same.
        #[cfg(target_os = "linux")]
        // SAFETY: the range is a whole mapping of our own; it is as it was when it is looked at again.
        unsafe {
            libc::madvise(memory.start.as_ptr().cast(), 100_000 * LINE_BYTES, libc::MADV_PAGEOUT);
        }
        memory.move_to_huge_pages();
        let written: Vec<usize> = (0..100_000).filter(|&number| memory.lines()[number] != [0; WORDS]).collect();
        assert_eq!((written, memory.lines()[70_000]), (vec![70_000], [0, 0, 0, 9, 0, 0, 0, 0]));
    }

    #[test]
    fn neighbours_do_not_touch() {
        let mut all = Memory::several(20_001, 7);
        let fill = |all: &mut [Memory], value: u64| {
            all.iter_mut().zip(value..).for_each(|(memory, value)| memory.lines_mut().fill([value; WORDS]));
        };
        let are = |all: &[Memory], value: u64| {
            all.iter().zip(value..).all(|(memory, value)| memory.lines().iter().all(|line| *line == [value; WORDS]))
        };
        fill(&mut all, 1);
        assert!(are(&all, 1) && all.iter().all(|memory| memory.lines().len() == 20_001));
        all[3].move_to_huge_pages();
        assert!(are(&all, 1));
        fill(&mut all, 10);
        assert!(are(&all, 10));
        all.iter_mut().for_each(Memory::move_to_huge_pages);
        drop(all.remove(0));
        assert!(are(&all, 11));
        // Each has its own pages, and all are in the one mapping that is left.
        all.iter_mut().for_each(Memory::move_to_huge_pages);
        assert!(are(&all, 11));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_moves_leaves_nothing_behind() {
        let mut all = Memory::several(20_001, 4);
        all.iter_mut().for_each(|memory| memory.lines_mut().fill([1; WORDS]));
        let places: Vec<_> = all.iter().map(|memory| memory.start.cast()).collect();
        let left = |number: usize| system::touched(places[number], 20_001 * LINE_BYTES).len();
        let n_pages = left(1);
        assert!(n_pages > 0);
        all[1].move_to_huge_pages();
        assert_eq!((left(0), left(1), left(2)), (n_pages, 0, n_pages));
        assert!(all.iter().all(|memory| memory.lines().iter().all(|line| *line == [1; WORDS])));
    }

    #[test]
    fn lines_and_bytes_are_the_same() {
        let mut memory = Memory::new(2);
        memory.lines_mut()[1][0] = 0x0102;
        assert_eq!((memory.bytes().len(), &memory.bytes()[63..67]), (128, &[0, 2, 1, 0][..]));
        memory.bytes_mut()[127] = 0x80;
        assert_eq!(memory.lines()[1][7], 1 << 63);
        assert_eq!(Memory::new(0).lines(), [[0; WORDS]]);
    }
}

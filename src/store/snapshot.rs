//! The container of a saved store: who made it under which settings, then blocks, written from front to back.
//!
//! Layout, numbers least byte first: magic, format (u32), bytes of the head (u32), a checksum over these; the head ([`Head`] and
//! what its writer adds), a checksum over it; blocks. A block is its kind, how it is packed (a byte each), the number of its
//! table (u16), bytes (u32), a checksum, and the bytes. First come the parts, the small and whole ones, by name; then blocks of the
//! tables, in any order; the last block holds the number of all others, and nothing follows it. The checksum of a block (XXH3-64)
//! is seeded with its number, so that one that is missing, moved or doubled is noticed. It finds damage, not forgery.
//!
//! # Invariants
//! - What was put in comes out. (`blocks_come_back`)
//! - A changed byte, a missing end or an extra byte is refused. (`damage_is_refused`)
//! - Damage does not choose how much memory is taken. (`a_block_never_outgrows_its_bound`)
//! - The bytes of this format stay as they are, and those of the formats before it are refused by name. (`golden_bytes`)

use super::bytes::Damaged;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Number of the layout; another layout raises it.
pub const FORMAT: u32 = 10;
/// The first bytes of a saved store.
pub const MAGIC: [u8; 8] = *b"SEAMRIP\n";
/// No block is longer.
const BLOCK_BYTES_MAX: usize = 1 << 20;
/// Parts are cut into blocks of so many bytes.
const PART_BYTES: usize = 256 << 10;

/// Under what the saved store was made: it can be used under the same only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Number of the scheme of the signatures.
    pub scheme: u32,
    /// Names the secret of the signatures without telling it.
    pub key_id: u64,
    /// Digest of the settings that decide verdicts and sizes.
    pub settings: u64,
}

/// What its writer adds to the head, by name.
pub type Extras = Vec<(String, Vec<u8>)>;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Block {
    /// The number of blocks before it.
    End,
    /// A piece of a part: the length of its name, the name, 1 if it is the last piece, bytes.
    Part,
    /// What follows in a table.
    Run,
    /// What of a table was changed before its turn, as it was.
    Early,
}

impl Block {
    fn of(kind: u8) -> Option<Self> {
        [Self::End, Self::Part, Self::Run, Self::Early].into_iter().find(|block| *block as u8 == kind)
    }
}

/// Not packed, the only way there is: most of a store are hashes, and packing takes longer than writing.
const RAW: u8 = 0;

/// Why a saved store is refused.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// It begins with other bytes than a saved store.
    #[error("not a saved store")]
    NotAStore,
    /// Written by another version.
    #[error(
        "saved store has format {found}, this version reads format {FORMAT}: use the version that wrote it, or begin a \
         new store from the documents"
    )]
    AnotherFormat {
        /// The format it has.
        found: u32,
    },
    /// It cannot be read at all.
    #[error("saved store cannot be read")]
    Read(#[source] io::Error),
    /// It ends too early.
    #[error("saved store is cut off after {found} bytes")]
    CutOff {
        /// Bytes it has.
        found: u64,
    },
    /// Something follows its end.
    #[error("saved store has bytes after its end")]
    LeftOver,
    /// The head is damaged.
    #[error("head of the saved store fails its checksum")]
    HeadChecksum,
    /// The head is whole, but makes no sense.
    #[error("head of the saved store is unreadable")]
    Head(#[source] postcard::Error),
    /// A block is damaged.
    #[error("block {number} of the saved store fails its checksum")]
    Checksum {
        /// Its number.
        number: u64,
    },
    /// A block has a kind, a length or a packing that no block has.
    #[error("block {number} of the saved store is unreadable: {reason}")]
    Block {
        /// Its number.
        number: u64,
        /// What is wrong.
        reason: &'static str,
    },
    /// A part is not there.
    #[error("saved store has no part `{name}`")]
    Missing {
        /// Its name.
        name: String,
    },
    /// A block is whole, but what it says can't be.
    #[error(transparent)]
    Damaged(#[from] Damaged),
}

/// Where a saved store is written to: blocks from any thread, one after the other.
pub struct Log {
    inner: Mutex<Inner>,
    n_bytes: AtomicU64,
    n_early_bytes: AtomicU64,
}

struct Inner {
    sink: Box<dyn Write + Send>,
    n_blocks: u64,
    /// After an error nothing more is written.
    error: Option<io::Error>,
}

impl Log {
    /// Writes the head.
    pub fn begin(head: Head, extras: &Extras, mut sink: Box<dyn Write + Send>) -> io::Result<Arc<Self>> {
        let head = postcard::to_stdvec(&(head, extras)).expect("plain data in memory can be written");
        let n_head = u32::try_from(head.len()).map_err(|_| io::Error::other("the head is longer than 4 GiB"))?;
        let mut bytes = [&MAGIC[..], &FORMAT.to_le_bytes(), &n_head.to_le_bytes()].concat();
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        let checksum = xxh3_64(&head);
        bytes.extend(head);
        bytes.extend(checksum.to_le_bytes());
        sink.write_all(&bytes)?;
        Ok(Arc::new(Self {
            inner: Mutex::new(Inner { sink, n_blocks: 0, error: None }),
            n_bytes: AtomicU64::new(bytes.len() as u64),
            n_early_bytes: AtomicU64::new(0),
        }))
    }

    /// Writes a part. Panics when its name is longer than 255 bytes.
    pub fn part(&self, name: &str, bytes: &[u8]) {
        let n_name = u8::try_from(name.len()).expect("the names of parts are short");
        let mut pieces = bytes.chunks(PART_BYTES);
        let mut piece = pieces.next().unwrap_or_default();
        loop {
            let next = pieces.next();
            let is_last = u8::from(next.is_none());
            self.block(Block::Part, 0, &[&[n_name][..], name.as_bytes(), &[is_last], piece].concat());
            let Some(next) = next else { return };
            piece = next;
        }
    }

    /// Writes a block. An error is kept, and told at the end.
    pub(crate) fn block(&self, block: Block, table: u16, bytes: &[u8]) {
        assert!(bytes.len() <= BLOCK_BYTES_MAX, "a block of {} bytes", bytes.len());
        let mut head = [0; 8];
        (head[0], head[1]) = (block as u8, RAW);
        head[2..4].copy_from_slice(&table.to_le_bytes());
        head[4..].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let checksum = checksum(inner.n_blocks, &head, bytes);
        inner.n_blocks += 1;
        if inner.error.is_none() {
            let sink = &mut inner.sink;
            let written = sink.write_all(&head).and_then(|()| sink.write_all(&checksum.to_le_bytes()));
            inner.error = written.and_then(|()| inner.sink.write_all(bytes)).err();
        }
        self.n_bytes.fetch_add(16 + bytes.len() as u64, Ordering::Relaxed);
    }

    /// Bytes written so far.
    pub fn n_bytes(&self) -> u64 {
        self.n_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of what was changed before its turn.
    pub fn n_early_bytes(&self) -> u64 {
        self.n_early_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn count_early(&self, n_bytes: usize) {
        self.n_early_bytes.fetch_add(n_bytes as u64, Ordering::Relaxed);
    }

    /// The first error of the sink, if there was one.
    pub fn problem(&self) -> io::Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(error) = inner.error.take() else { return Ok(()) };
        // Whoever asks again is told again.
        inner.error = Some(io::Error::from(error.kind()));
        Err(error)
    }

    /// Writes the end, after all blocks.
    pub fn end(&self) -> io::Result<()> {
        let n_blocks = self.inner.lock().unwrap_or_else(PoisonError::into_inner).n_blocks;
        self.block(Block::End, 0, &n_blocks.to_le_bytes());
        self.problem()?;
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).sink.flush()
    }
}

fn checksum(number: u64, head: &[u8; 8], bytes: &[u8]) -> u64 {
    let mut hasher = Xxh3::with_seed(number);
    hasher.update(head);
    hasher.update(bytes);
    hasher.digest()
}

/// A saved store that is being read.
pub struct Opened<'a> {
    from: &'a mut dyn Read,
    head: Head,
    extras: Extras,
    n_read: u64,
    n_blocks: u64,
}

impl<'a> Opened<'a> {
    /// Reads the head.
    pub fn open(from: &'a mut dyn Read) -> Result<Self, SnapshotError> {
        let none = Head { scheme: 0, key_id: 0, settings: 0 };
        let mut opened = Self { from, head: none, extras: Vec::new(), n_read: 0, n_blocks: 0 };
        let mut begin = Vec::new();
        opened.read(MAGIC.len(), &mut begin)?;
        if begin != MAGIC {
            let is_begun = !begin.is_empty() && MAGIC.starts_with(&begin);
            return Err(if is_begun { opened.cut_off() } else { SnapshotError::NotAStore });
        }
        let (format, n_head) = (opened.number()?, opened.number()?);
        if format != FORMAT {
            return Err(SnapshotError::AnotherFormat { found: format });
        }
        let fixed = [&MAGIC[..], &format.to_le_bytes(), &n_head.to_le_bytes()].concat();
        if opened.checksum()? != xxh3_64(&fixed) {
            return Err(SnapshotError::HeadChecksum);
        }
        let mut head = Vec::new();
        opened.whole(n_head as usize, &mut head)?;
        if opened.checksum()? != xxh3_64(&head) {
            return Err(SnapshotError::HeadChecksum);
        }
        (opened.head, opened.extras) = postcard::from_bytes(&head).map_err(SnapshotError::Head)?;
        Ok(opened)
    }

    /// Under what it was made.
    pub fn head(&self) -> Head {
        self.head
    }

    /// What its writer added.
    pub fn into_extras(self) -> Extras {
        self.extras
    }

    /// The next block, whole and right: its kind and table; `bytes` are what it holds. `None` after the last.
    pub fn block(&mut self, bytes: &mut Vec<u8>) -> Result<Option<(Block, u16)>, SnapshotError> {
        let number = self.n_blocks;
        let unreadable = |reason: &'static str| SnapshotError::Block { number, reason };
        self.whole(8, bytes)?;
        let head: [u8; 8] = bytes[..].try_into().expect("eight bytes were read");
        let [kind, packing, table_low, table_high, ..] = head;
        let n_bytes = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        if n_bytes > BLOCK_BYTES_MAX {
            return Err(unreadable("it is longer than any block"));
        }
        let stated = self.checksum()?;
        self.whole(n_bytes, bytes)?;
        if checksum(number, &head, bytes) != stated {
            return Err(SnapshotError::Checksum { number });
        }
        self.n_blocks += 1;
        if packing != RAW {
            return Err(unreadable("its packing is unknown"));
        }
        match Block::of(kind) {
            None => Err(unreadable("its kind is unknown")),
            Some(Block::End) if bytes[..] != number.to_le_bytes() => Err(unreadable("blocks are missing before it")),
            Some(Block::End) => {
                let mut after = Vec::new();
                self.read(1, &mut after)?;
                if after.is_empty() { Ok(None) } else { Err(SnapshotError::LeftOver) }
            }
            Some(block) => Ok(Some((block, u16::from_le_bytes([table_low, table_high])))),
        }
    }

    fn cut_off(&self) -> SnapshotError {
        SnapshotError::CutOff { found: self.n_read }
    }

    /// The next `n` bytes, or as many as there are.
    fn read(&mut self, n: usize, into: &mut Vec<u8>) -> Result<(), SnapshotError> {
        into.clear();
        let read = Read::take(&mut self.from, n as u64).read_to_end(into).map_err(SnapshotError::Read)?;
        self.n_read += read as u64;
        Ok(())
    }

    fn whole(&mut self, n: usize, into: &mut Vec<u8>) -> Result<(), SnapshotError> {
        self.read(n, into)?;
        if into.len() == n { Ok(()) } else { Err(self.cut_off()) }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let mut bytes = Vec::with_capacity(N);
        self.whole(N, &mut bytes)?;
        Ok(bytes.try_into().expect("as many were read"))
    }

    fn number(&mut self) -> Result<u32, SnapshotError> {
        self.array().map(u32::from_le_bytes)
    }

    fn checksum(&mut self) -> Result<u64, SnapshotError> {
        self.array().map(u64::from_le_bytes)
    }
}

/// The name in a block of a part, whether it is the last of it, and its bytes.
pub fn piece(bytes: &[u8]) -> Option<(&str, bool, &[u8])> {
    let (&n_name, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(n_name))?;
    let (&is_last, rest) = rest.split_first()?;
    Some((std::str::from_utf8(name).ok()?, is_last == 1, rest))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::watch::Table;
    use super::*;
    use proptest::prelude::*;

    const HEAD: Head = Head { scheme: 3, key_id: 0x1234, settings: u64::MAX };

    /// A sink whose bytes can be looked at.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A snapshot of one table.
    pub(crate) struct Written {
        log: Arc<Log>,
        sink: Shared,
    }

    impl Written {
        pub(crate) fn begin(table: &mut dyn Table) -> Self {
            let sink = Shared::default();
            let log = Log::begin(HEAD, &Vec::new(), Box::new(sink.clone())).unwrap();
            table.watch(&log, 7);
            Self { log, sink }
        }

        pub(crate) fn log(&self) -> &Log {
            &self.log
        }

        /// Writes what is left. Returns the blocks.
        pub(crate) fn end(self, table: &mut dyn Table) -> Vec<(Block, Vec<u8>)> {
            while table.write().is_some() {}
            self.log.end().unwrap();
            let bytes = self.sink.0.lock().unwrap();
            let mut from = &bytes[..];
            let mut opened = Opened::open(&mut from).unwrap();
            let (mut blocks, mut bytes) = (Vec::new(), Vec::new());
            while let Some((block, table)) = opened.block(&mut bytes).unwrap() {
                assert_eq!(table, 7);
                blocks.push((block, bytes.clone()));
            }
            blocks
        }
    }

    /// The blocks of a table.
    pub(crate) fn written(table: &mut dyn Table) -> Vec<(Block, Vec<u8>)> {
        Written::begin(table).end(table)
    }

    /// What `from` holds, read into `to`.
    pub(crate) fn copied(from: &mut dyn Table, to: &mut dyn Table) -> Result<(), Damaged> {
        written(from).iter().try_for_each(|(block, bytes)| to.load(*block, bytes))
    }

    type Blocks = Vec<(Block, u16, Vec<u8>)>;

    fn small() -> (Extras, Blocks) {
        let extras = vec![("run".to_owned(), b"facts".to_vec())];
        let noise: Vec<u8> = (0..3000_u32).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
        (extras, vec![(Block::Run, 3, vec![7; 3000]), (Block::Early, 9, noise), (Block::Run, 3, Vec::new())])
    }

    fn bytes_of(extras: &Extras, blocks: &Blocks) -> Vec<u8> {
        let sink = Shared::default();
        let log = Log::begin(HEAD, extras, Box::new(sink.clone())).unwrap();
        log.part("clock", b"now");
        blocks.iter().for_each(|(block, table, bytes)| log.block(*block, *table, bytes));
        log.end().unwrap();
        assert_eq!(log.n_bytes(), sink.0.lock().unwrap().len() as u64);
        sink.0.lock().unwrap().clone()
    }

    fn read(mut bytes: &[u8]) -> Result<(Head, Extras, Blocks), SnapshotError> {
        let mut opened = Opened::open(&mut bytes)?;
        let (head, mut blocks, mut bytes) = (opened.head(), Vec::new(), Vec::new());
        while let Some((block, table)) = opened.block(&mut bytes)? {
            blocks.push((block, table, bytes.clone()));
        }
        Ok((head, opened.into_extras(), blocks))
    }

    fn refusal(bytes: &[u8]) -> String {
        read(bytes).unwrap_err().to_string()
    }

    #[test]
    fn blocks_come_back() {
        let (extras, blocks) = small();
        let (head, found, read) = read(&bytes_of(&extras, &blocks)).unwrap();
        assert_eq!((head, found, &read[1..]), (HEAD, extras, &blocks[..]));
        assert_eq!(piece(&read[0].2), Some(("clock", true, &b"now"[..])));
    }

    #[test]
    fn long_parts_come_in_pieces() {
        let sink = Shared::default();
        let log = Log::begin(HEAD, &Vec::new(), Box::new(sink.clone())).unwrap();
        let long: Vec<u8> = (0..PART_BYTES * 2 + 5).map(|i| (i % 251) as u8).collect();
        for (name, bytes) in [("long", &long[..]), ("empty", &[]), ("even", &long[..PART_BYTES])] {
            log.part(name, bytes);
        }
        log.end().unwrap();
        let (_, _, blocks) = read(&sink.0.lock().unwrap()).unwrap();
        let pieces: Vec<_> = blocks.iter().map(|(_, _, bytes)| piece(bytes).unwrap()).collect();
        let lasts: Vec<_> = pieces.iter().map(|(name, is_last, _)| (*name, *is_last)).collect();
        assert_eq!(lasts, [("long", false), ("long", false), ("long", true), ("empty", true), ("even", true)]);
        assert!(pieces[..3].iter().flat_map(|(_, _, bytes)| *bytes).eq(&long));
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        let (extras, blocks) = small();
        let bytes = bytes_of(&extras, &blocks);
        let n = bytes.len();
        assert_eq!(refusal(b""), "not a saved store");
        assert_eq!(refusal(b"{\"id\": 1}"), "not a saved store");
        assert_eq!(refusal(&bytes[..5]), "saved store is cut off after 5 bytes");
        assert_eq!(refusal(&bytes[..n - 1]), format!("saved store is cut off after {} bytes", n - 1));
        assert_eq!(refusal(&[&bytes[..], &[0, 0]].concat()), "saved store has bytes after its end");
        let changed = |at: usize| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            refusal(&bytes)
        };
        assert!(changed(8).starts_with("saved store has format 11, this version reads format 10: use the version"));
        assert_eq!(changed(12), "head of the saved store fails its checksum");
        assert_eq!(changed(26), "head of the saved store fails its checksum");
        assert_eq!(changed(n - 1), "block 4 of the saved store fails its checksum");
        let without = bytes_of(&extras, &blocks[..2].to_vec());
        let end = &bytes[n - 24..];
        assert_eq!(
            refusal(&[&without[..without.len() - 24], end].concat()),
            "block 3 of the saved store fails its checksum",
            "a block is missing"
        );
    }

    /// Lengths that are stated wrongly, under right checksums.
    #[test]
    fn a_block_never_outgrows_its_bound() {
        let begun = bytes_of(&Vec::new(), &Vec::new());
        let begun = &begun[..begun.len() - 24];
        let block = |kind: u8, packing: u8, n_stated: u32, bytes: &[u8]| {
            let mut head = [kind, packing, 0, 0, 0, 0, 0, 0];
            head[4..].copy_from_slice(&n_stated.to_le_bytes());
            refusal(&[begun, &head, &checksum(1, &head, bytes).to_le_bytes(), bytes].concat())
        };
        let problem = |reason: &str| format!("block 1 of the saved store is unreadable: {reason}");
        assert_eq!(block(2, RAW, u32::MAX, b"few"), problem("it is longer than any block"));
        assert_eq!(block(2, 1, 3, b"few"), problem("its packing is unknown"));
        assert_eq!(block(4, RAW, 3, b"few"), problem("its kind is unknown"));
        assert_eq!(block(0, RAW, 8, &[2, 0, 0, 0, 0, 0, 0, 0]), problem("blocks are missing before it"));
        assert!(block(1, RAW, 1 << 20, b"few").starts_with("saved store is cut off"));
    }

    #[test]
    fn an_error_of_the_sink_is_told_at_the_end() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(bytes.len()).ok_or(io::Error::from(io::ErrorKind::StorageFull))?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let log = Log::begin(HEAD, &Vec::new(), Box::new(Full(100))).unwrap();
        log.problem().unwrap();
        (0..9).for_each(|_| log.block(Block::Run, 0, b"some bytes"));
        assert_eq!(log.problem().unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(log.end().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    fn unhex(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    /// Snapshots as they were first written.
    #[test]
    fn golden_bytes() {
        let one = "5345414d5249500a010000001c00000003b424ffffffffffffffffff01010161010aa8ac8094b58cada1be01\
                   ad2f0f81ad9bf5af28b52ffd200109000062";
        assert!(refusal(&unhex(one)).starts_with("saved store has format 1, this version reads format 10"));
        let two = "5345414d5249500a020000001200000006e9d7e1cb6e40d303b424ffffffffffffffffff0101016101621c19ad\
                   bbf8e794ac010000000a0000007b9bb7bd07c94ac505636c6f636b016e6f770200020105000000263a18702ddf\
                   fe6a6c696e65730000000008000000c78867a9c91a22c30200000000000000";
        assert!(refusal(&unhex(two)).starts_with("saved store has format 2, this version reads format 10"));
        let three = "5345414d5249500a0300000012000000e15a48da0c72438a03b424ffffffffffffffffff0101016101621c19ad\
                     bbf8e794ac010000000a0000007b9bb7bd07c94ac505636c6f636b016e6f770200020105000000263a18702ddf\
                     fe6a6c696e65730000000008000000c78867a9c91a22c30200000000000000";
        assert!(refusal(&unhex(three)).starts_with("saved store has format 3, this version reads format 10"));
        let four = "5345414d5249500a040000001200000009087524a29537ba03b424ffffffffffffffffff0101016101621c19ad\
                    bbf8e794ac010000000a0000007b9bb7bd07c94ac505636c6f636b016e6f770200020105000000263a18702ddf\
                    fe6a6c696e65730000000008000000c78867a9c91a22c30200000000000000";
        assert!(refusal(&unhex(four)).starts_with("saved store has format 4, this version reads format 10"));
        // What is kept of domains has changed, then what is kept of verdicts and of what is said twice, then the bits
        // of sentences, then what is kept of ids, then what is kept of verdicts again; the container has not.
        let five = "5345414d5249500a050000001200000066489a03e496a34d03b424ffffffffffffffffff0101016101621c19ad\
                    bbf8e794ac010000000a0000007b9bb7bd07c94ac505636c6f636b016e6f770200020105000000263a18702ddf\
                    fe6a6c696e65730000000008000000c78867a9c91a22c30200000000000000";
        assert!(refusal(&unhex(five)).starts_with("saved store has format 5, this version reads format 10"));
        let six = "5345414d5249500a0600000012000000541bf2d3d715dec103b424ffffffffffffffffff0101016101621c19ad\
                   bbf8e794ac010000000a0000007b9bb7bd07c94ac505636c6f636b016e6f770200020105000000263a18702ddf\
                   fe6a6c696e65730000000008000000c78867a9c91a22c30200000000000000";
        assert!(refusal(&unhex(six)).starts_with("saved store has format 6, this version reads format 10"));
        let seven = "5345414d5249500a07000000120000005c8eca3a7728c24303b424ffffffffffffffffff0101016101621c19ad\
                     bbf8e794ac010000000a0000007b9bb7bd07c94ac505636c6f636b016e6f770200020105000000263a18702ddf\
                     fe6a6c696e65730000000008000000c78867a9c91a22c30200000000000000";
        assert!(refusal(&unhex(seven)).starts_with("saved store has format 7, this version reads format 10"));
        let eight = "5345414d5249500a08000000120000005e627ff92cf2559603b424ffffffffffffffffff0101016101621c19ad\
                     bbf8e794ac010000000a0000007b9bb7bd07c94ac505636c6f636b016e6f770200020105000000263a18702ddf\
                     fe6a6c696e65730000000008000000c78867a9c91a22c30200000000000000";
        assert!(refusal(&unhex(eight)).starts_with("saved store has format 8, this version reads format 10"));
        let nine = "5345414d5249500a09000000120000007e0513991dde05e103b424ffffffffffffffffff0101016101621c19ad\
                    bbf8e794ac010000000a0000007b9bb7bd07c94ac505636c6f636b016e6f770200020105000000263a18702ddf\
                    fe6a6c696e65730000000008000000c78867a9c91a22c30200000000000000";
        assert!(refusal(&unhex(nine)).starts_with("saved store has format 9, this version reads format 10"));
        let ten = "5345414d5249500a0a00000012000000741b8f02c12ca75c03b424ffffffffffffffffff0101016101621c19ad\
                   bbf8e794ac010000000a0000007b9bb7bd07c94ac505636c6f636b016e6f770200020105000000263a18702ddf\
                   fe6a6c696e65730000000008000000c78867a9c91a22c30200000000000000";
        let (extras, blocks) = (vec![("a".to_owned(), b"b".to_vec())], vec![(Block::Run, 258, b"lines".to_vec())]);
        let written: String = bytes_of(&extras, &blocks).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(written, ten, "another layout raises FORMAT");
        let (head, found, read) = read(&unhex(ten)).expect("another layout raises FORMAT");
        assert_eq!((head, found, &read[1..]), (HEAD, extras, &blocks[..]));
    }

    proptest! {
        #[test]
        fn damage_is_refused(at in 0_usize..10_000, change in 1_u8.., cut in 0_usize..10_000, more in 1_usize..9) {
            let (extras, blocks) = small();
            let bytes = bytes_of(&extras, &blocks);
            let (at, cut) = (at % bytes.len(), cut % bytes.len());
            let mut changed = bytes.clone();
            changed[at] ^= change;
            prop_assert!(read(&changed).is_err(), "byte {} changed by {}", at, change);
            prop_assert!(read(&bytes[..cut]).is_err(), "cut after {}", cut);
            prop_assert!(read(&[&bytes[..], &vec![0; more]].concat()).is_err());
        }
    }
}

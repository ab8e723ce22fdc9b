//! Archives by `tar`: members by their names, as the files of a folder.
//!
//! Reads ustar, with the long names of GNU and pax. Links, devices and sparse files are passed over.

use super::tape::Tape;
use super::{Cause, Session, walk};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

const BLOCK: usize = 512;
/// What a long name or a pax header may have.
const EXTRA_MAX: u64 = 64 * 1024;

/// Whether a block is the head of a member: its checksum is right.
pub(super) fn is_header(block: &[u8]) -> bool {
    block.len() >= BLOCK && {
        let sum: u64 = block[..BLOCK].iter().map(|byte| u64::from(*byte)).sum();
        let field: u64 = block[148..156].iter().map(|byte| u64::from(*byte)).sum();
        // The checksum itself counts as eight spaces. A block of zeros has none.
        number(&block[148..156]) == Some(sum - field + 8 * 32)
    }
}

/// An octal number, or (GNU) one in base 256.
fn number(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 != 0 {
        let start = field.len().saturating_sub(8);
        let high_is_zero = field[0] == 0x80 && field[1..start.max(1)].iter().all(|byte| *byte == 0);
        return high_is_zero.then(|| field[start.max(1)..].iter().fold(0, |n, byte| n << 8 | u64::from(*byte)));
    }
    let digits = field.trim_ascii_start();
    let digits = &digits[..digits.iter().position(|byte| matches!(byte, 0 | b' ')).unwrap_or(digits.len())];
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

/// A field that ends at its first NUL.
fn text(field: &[u8]) -> &[u8] {
    &field[..memchr::memchr(0, field).unwrap_or(field.len())]
}

/// What earlier members say of the next.
#[derive(Default)]
struct Extra {
    name: Option<Vec<u8>>,
    size: Option<u64>,
}

/// Hands over the documents in the members of `tape`.
pub(super) fn read(tape: &mut Tape<'_>, file: &str, session: &mut Session<'_>) -> ControlFlow<()> {
    let mut extra = Extra::default();
    let mut in_damage = false;
    let mut n_members = 0u64;
    loop {
        tape.begin_record();
        let mut head = [0; BLOCK];
        match tape.peek(BLOCK).map(|block| (block.len(), block)) {
            Ok((BLOCK, block)) => head.copy_from_slice(block),
            Ok((0, _)) => return ControlFlow::Continue(()),
            Ok((_, block)) if block.iter().all(|byte| *byte == 0) => return ControlFlow::Continue(()),
            Ok(_) => return session.trouble(file, io::Error::from(io::ErrorKind::UnexpectedEof)),
            Err(error) => return session.trouble(file, error),
        }
        if let Err(error) = tape.skip(BLOCK as u64) {
            return session.trouble(file, error);
        }
        if !is_header(&head) {
            let is_end = head.iter().all(|byte| *byte == 0);
            if !is_end && !in_damage {
                in_damage = true;
                let message = format!("damaged after member {n_members}: looking for the next one");
                session.trouble(file, Cause::Damaged(message))?;
            }
            continue;
        }
        in_damage = false;
        n_members += 1;
        let Some(size) = extra.size.take().or_else(|| number(&head[124..136])) else {
            in_damage = true;
            session.trouble(file, Cause::Damaged(format!("member {n_members} has no size")))?;
            continue;
        };
        let padded = size.next_multiple_of(BLOCK as u64).max(size);
        let end = tape.position().saturating_add(padded);
        let mut outcome = Ok(());
        match head[156] {
            b'0' | 0 | b'7' => {
                let name = extra.name.take().unwrap_or_else(|| name(&head));
                let name = String::from_utf8_lossy(&name).into_owned();
                if !name.ends_with('/') {
                    walk::read_member(tape, size, Path::new(&name), file, session)?;
                }
            }
            b'L' => outcome = extra_bytes(tape, size).map(|bytes| extra.name = Some(text(&bytes).to_vec())),
            b'x' => outcome = extra_bytes(tape, size).map(|bytes| read_pax(&bytes, &mut extra)),
            // Global headers and long link names say nothing of a name; the rest is no file.
            b'g' | b'K' => {}
            _ => extra = Extra::default(),
        }
        let left = end.saturating_sub(tape.position());
        match outcome.and_then(|()| tape.skip(left)) {
            Ok(n) if n + (padded - size) >= left => {}
            Ok(_) => return session.trouble(file, io::Error::from(io::ErrorKind::UnexpectedEof)),
            Err(error) => return session.trouble(file, error),
        }
    }
}

fn name(head: &[u8; BLOCK]) -> Vec<u8> {
    let name = text(&head[..100]);
    let prefix = text(&head[345..500]);
    let is_posix = &head[257..263] == b"ustar\0";
    if is_posix && !prefix.is_empty() { [prefix, b"/", name].concat() } else { name.to_vec() }
}

fn extra_bytes(tape: &mut Tape<'_>, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    tape.take(size.min(EXTRA_MAX)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Records of the form `25 path=some/file.html\n`, each with its own length in front.
fn read_pax(mut bytes: &[u8], extra: &mut Extra) {
    while let Some(space) = memchr::memchr(b' ', bytes) {
        let len = std::str::from_utf8(&bytes[..space]).ok().and_then(|digits| digits.parse::<usize>().ok());
        let Some(record) = len.and_then(|len| bytes.get(space + 1..len)) else { return };
        bytes = &bytes[space + 1 + record.len()..];
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        if let Some(path) = record.strip_prefix(b"path=") {
            extra.name = Some(path.to_vec());
        } else if let Some(size) = record.strip_prefix(b"size=") {
            extra.size = std::str::from_utf8(size).ok().and_then(|digits| digits.parse().ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_octal_or_binary() {
        assert_eq!(number(b"00000000017\0"), Some(15));
        assert_eq!(number(b"     17 \0\0\0\0"), Some(15));
        assert_eq!(number(b"\x80\0\0\0\0\0\0\x02\0\0\0\0"), Some(1 << 33));
        assert_eq!(number(b"\xff\0\0\0\0\0\0\x02\0\0\0\0"), None);
        assert_eq!(number(b"99999999999\0"), None);
    }

    #[test]
    fn pax_records_give_name_and_size() {
        let mut extra = Extra::default();
        read_pax(b"19 path=a/b c.html\n11 size=99\n7 x=yz\n99 cut", &mut extra);
        assert_eq!(extra.name.as_deref(), Some(&b"a/b c.html"[..]));
        assert_eq!(extra.size, Some(99));
    }
}

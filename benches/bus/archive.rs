//! Raw documents as members of archives, as `scan` reads them.

use seamripper::document::Record;
use std::io::{self, Write};

const BLOCK: usize = 512;

/// A mail as a member of a tar archive.
pub(crate) fn tar(into: &mut impl Write, number: usize, record: &Record) -> io::Result<()> {
    let mut head = [0; BLOCK];
    let mut field = |at: usize, text: &str| head[at..at + text.len()].copy_from_slice(text.as_bytes());
    field(0, &format!("{number:08}.eml"));
    field(100, "0000644\0");
    field(124, &format!("{:011o}\0", record.body.len()));
    // While it is computed, the checksum counts as spaces.
    field(148, "        ");
    field(156, "0");
    field(257, "ustar\x0000");
    let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
    head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    into.write_all(&head)?;
    into.write_all(&record.body)?;
    into.write_all(&[0; BLOCK][..record.body.len().next_multiple_of(BLOCK) - record.body.len()])
}

/// A page as a response of a web archive, under a URL that no other has.
pub(crate) fn warc(into: &mut impl Write, number: usize, record: &Record) -> io::Result<()> {
    const HTTP: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let url = record.carrier.url.as_deref().unwrap_or("http://nowhere.example/");
    let n_bytes = HTTP.len() + record.body.len();
    write!(
        into,
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}?{number}\r\nContent-Type: application/http; \
         msgtype=response\r\nContent-Length: {n_bytes}\r\n\r\n{HTTP}"
    )?;
    into.write_all(&record.body)?;
    into.write_all(b"\r\n\r\n")
}

//! What a file holds, by its name, or by its first bytes.
//!
//! # Invariants
//! - A name that is known decides. (`names_decide`)
//! - Otherwise the first bytes do, and bytes that are no text are no document. (`first_bytes_decide_without_a_name`)

use super::mbox;
use std::path::Path;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// One HTML page.
    Html,
    /// One plain text.
    Text,
    /// One raw mail.
    Mail,
    /// Raw mails, each after a `From ` line.
    Mbox,
    /// One JSON envelope per line (`schemas/page.json`, `schemas/email.json`).
    Jsonl,
    /// A web archive.
    Warc,
    /// A tar archive of such files.
    Tar,
}

/// The bytes that [`Form::sniffed`] wants to see.
pub(super) const SNIFFED_BYTES: usize = 4096;

/// Headers of which a file that begins with two is taken for a mail.
const MAIL_HEADERS: [&str; 12] = [
    "received",
    "return-path",
    "delivered-to",
    "from",
    "to",
    "subject",
    "date",
    "message-id",
    "mime-version",
    "content-type",
    "reply-to",
    "x-mailer",
];

impl Form {
    /// What the name says, `.gz` and `.zst` left out; for the nameless files of a Maildir, what their folder says.
    pub(super) fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        Some(match extension {
            "html" | "htm" | "xhtml" => Self::Html,
            "txt" => Self::Text,
            "eml" => Self::Mail,
            "mbox" => Self::Mbox,
            "jsonl" | "ndjson" => Self::Jsonl,
            "warc" => Self::Warc,
            "tar" | "tgz" | "tzst" => Self::Tar,
            _ => {
                let folder = path.parent().and_then(Path::file_name)?;
                return (folder == "cur" || folder == "new").then_some(Self::Mail);
            }
        })
    }

    /// What the first bytes (unpacked) say. `None`: no text at all.
    pub(super) fn sniffed(head: &[u8]) -> Option<Self> {
        if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
            return Some(Self::Html); // UTF-16: its text looks the same to the HTML reader, should it be plain
        }
        if super::tar::is_header(head) {
            return Some(Self::Tar);
        }
        if head.contains(&0) {
            return None;
        }
        if head.starts_with(b"WARC/") {
            return Some(Self::Warc);
        }
        if mbox::is_separator(head.split(|byte| *byte == b'\n').next().unwrap_or_default()) {
            return Some(Self::Mbox);
        }
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        match head.trim_ascii_start().first() {
            Some(b'{') => Some(Self::Jsonl),
            Some(b'<') => Some(Self::Html),
            _ if has_mail_headers(head) => Some(Self::Mail),
            _ if head.starts_with(b"%PDF-") => None,
            _ => Some(Self::Text),
        }
    }
}

/// Whether files of this name hold text, but no document: they come with saved pages.
pub(super) fn is_companion(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| ["css", "js", "mjs", "map", "svg"].iter().any(|known| extension == *known))
}

/// Whether the lines up to the first empty one are header lines, two well-known ones among them.
fn has_mail_headers(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).peekable();
    let mut n_known = 0;
    while let Some(line) = lines.next() {
        if line.is_empty() || lines.peek().is_none() {
            break; // the body begins, or the line may have been cut off
        }
        if line[0] == b' ' || line[0] == b'\t' {
            continue;
        }
        let Some(colon) = memchr::memchr(b':', line) else { return false };
        let name = line[..colon].trim_ascii_end();
        if !name.iter().all(|byte| byte.is_ascii_graphic()) {
            return false;
        }
        n_known += usize::from(MAIL_HEADERS.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes())));
    }
    n_known >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_decide() {
        for (name, form) in [
            ("a.html", Some(Form::Html)),
            ("A.HTM.GZ", Some(Form::Html)),
            ("a.b.xhtml.zst", Some(Form::Html)),
            ("a.txt", Some(Form::Text)),
            ("a.eml", Some(Form::Mail)),
            ("x/cur/1234.M5P6.host:2,S", Some(Form::Mail)),
            ("x/new/1234", Some(Form::Mail)),
            ("site/new/page.html", Some(Form::Html)),
            ("inbox.mbox.gz", Some(Form::Mbox)),
            ("a.jsonl", Some(Form::Jsonl)),
            ("a.ndjson.zst", Some(Form::Jsonl)),
            ("CC-MAIN.warc.gz", Some(Form::Warc)),
            ("a.tar.gz", Some(Form::Tar)),
            ("a.tgz", Some(Form::Tar)),
            ("html", None),
            ("a.gz", None),
            ("a.php", None),
        ] {
            assert_eq!(Form::of_name(Path::new(name)), form, "{name}");
        }
    }

    #[test]
    fn first_bytes_decide_without_a_name() {
        for (head, form) in [
            (&b"WARC/1.0\r\nWARC-Type: warcinfo"[..], Some(Form::Warc)),
            (b"From a@b.example Sat Jan  3 01:05:34 1996\nFrom: a@b.example", Some(Form::Mbox)),
            (b"From here on it is text.\n\nYes.", Some(Form::Text)),
            (b"\xef\xbb\xbf {\"id\": 1}", Some(Form::Jsonl)),
            (b"\n\n<!doctype html>", Some(Form::Html)),
            (b"Received: from x\r\n\tby y\r\nSubject: z\r\n\r\nHello", Some(Form::Mail)),
            (b"Subject: z\nFrom: y\n", Some(Form::Mail)),
            (b"Title: a story\nDate: today\n\nOnce", Some(Form::Text)),
            (b"Note: this is text\nand goes on\n", Some(Form::Text)),
            (b"", Some(Form::Text)),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", None),
            (b"%PDF-1.7\n", None),
        ] {
            assert_eq!(Form::sniffed(head), form, "{}", String::from_utf8_lossy(head));
        }
    }
}

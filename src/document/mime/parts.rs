//! The parts of a mail: one pass over its lines, whatever the nesting, and a flat list that is the tree.
//!
//! mail-parser reads the same structure, and is what this is compared with. It is not used here because a part that
//! names a boundary which never comes makes it search to the end of the mail, for each such part again (430 KB:
//! 1.3 s, 10 MB: minutes), and because it looks at every byte of every attachment.
//!
//! # Invariants
//! - Every byte is looked at once for boundaries, whatever the parts claim. (`hostile_structures_are_walked_in_linear_time`)
//! - On sound mails the parts and their bytes are those of mail-parser. (`parts_are_those_of_mail_parser`)
//! - At most `limits.parts_max` parts and `limits.nesting_max` levels are read. (`parts_beyond_the_limits_are_not_read`)

use super::fields::{self, Described, Fields};
use super::transfer::Encoding;
use crate::config::Limits;
use memchr::{memchr, memmem};
use xxhash_rust::xxh3::xxh3_64;

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Holds other parts, of which one is to be shown.
    Alternative,
    /// Holds other parts, all of which are shown in turn: every other multipart.
    Multipart,
    /// Holds one other mail.
    Message,
    /// Text to be read as HTML.
    Html,
    /// Text.
    Plain,
    /// Not read.
    Attachment,
}

/// One part.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    pub(super) sort: Sort,
    /// The index after the last part inside this one: the list in document order with these is the tree.
    pub(super) end: usize,
    pub(super) content: Described<'a>,
    pub(super) encoding: Encoding,
    /// The bytes of a leaf, as transported.
    pub(super) body: &'a [u8],
    /// The subject of the mail that this part begins, if it is one inside a [`Sort::Message`].
    pub(super) subject: Option<&'a [u8]>,
}

/// All parts, and whether there were more than the limits allow.
#[derive(Debug, Default)]
pub(super) struct Parts<'a> {
    pub(super) list: Vec<Part<'a>>,
    pub(super) truncated: bool,
}

/// The parts of the mail whose header block `fields` ends at `body`.
pub(super) fn walk<'a>(source: &'a [u8], fields: Fields<'a>, body: usize, limits: &Limits) -> Parts<'a> {
    let mut walk = Walk { source, at: body, open: Vec::new(), keys: Vec::new(), parts: Parts::default() };
    walk.run(fields, limits);
    walk.parts
}

struct Walk<'a> {
    source: &'a [u8],
    at: usize,
    /// The containers around the current place, outermost first: indices into the parts.
    open: Vec<usize>,
    /// The hash of each one's boundary, so that a line is compared with all of them at once; 0 for a message.
    keys: Vec<u64>,
    parts: Parts<'a>,
}

/// A boundary line: which open container's it is, and where the line begins and the next one does.
struct Delimiter {
    level: usize,
    closing: bool,
    line: usize,
    next: usize,
}

impl<'a> Walk<'a> {
    fn run(&mut self, mut fields: Fields<'a>, limits: &Limits) {
        loop {
            if self.parts.list.len() >= limits.parts_max {
                self.parts.truncated = true;
                break;
            }
            let index = self.push(fields);
            let part = &mut self.parts.list[index];
            let is_container = matches!(part.sort, Sort::Alternative | Sort::Multipart | Sort::Message);
            if is_container && self.open.len() >= limits.nesting_max {
                part.sort = Sort::Attachment;
                self.parts.truncated = true;
            } else if part.sort == Sort::Message {
                self.open.push(index);
                self.keys.push(0);
                fields = self.header_block();
                continue;
            } else if is_container {
                let boundary = part.content.boundary.as_deref().expect("without a boundary it is no container");
                self.keys.push(key(boundary));
                self.open.push(index);
            }
            let start = self.at;
            let mut found = self.delimiter();
            // A multipart without a single boundary line is damaged, and its text is what there is to read.
            if is_container
                && self.open.last() == Some(&index)
                && found.as_ref().is_none_or(|found| found.level + 1 < self.open.len())
            {
                self.open.pop();
                self.keys.pop();
                self.parts.list[index].sort = Sort::Plain;
            }
            let part = &mut self.parts.list[index];
            if !matches!(part.sort, Sort::Alternative | Sort::Multipart) {
                part.body = match &found {
                    Some(found) => before_line(self.source, start, found.line),
                    None => &self.source[start..],
                };
            }
            // What follows a closing boundary line belongs to nobody, up to the next line of an outer one.
            loop {
                let Some(Delimiter { level, closing, next, .. }) = found else {
                    self.close(0);
                    return;
                };
                self.at = next;
                if !closing {
                    self.close(level + 1);
                    break;
                }
                self.close(level);
                found = self.delimiter();
            }
            fields = self.header_block();
        }
        self.close(0);
    }

    /// Adds the part with these fields. The default is plain text, and a mail inside a digest.
    fn push(&mut self, fields: Fields<'a>) -> usize {
        let parent = self.open.last().map(|&index| &self.parts.list[index]);
        let in_digest = parent.is_some_and(|parent| parent.content.media.eq_ignore_ascii_case(b"multipart/digest"));
        let in_message = parent.is_some_and(|parent| parent.sort == Sort::Message);
        let content = match fields.content_type {
            Some(value) => Described::by(value),
            None if in_digest => Described { media: b"message/rfc822", ..Described::default() },
            None => Described::default(),
        };
        let encoding = Encoding::by(fields.transfer_encoding);
        let attached =
            fields.disposition.is_some_and(|value| Described::by(value).media.eq_ignore_ascii_case(b"attachment"));
        let sort = sort(&content, encoding, attached && parent.is_some());
        let index = self.parts.list.len();
        self.parts.list.push(Part {
            sort,
            end: index + 1,
            content,
            encoding,
            body: b"",
            subject: if in_message { fields.subject } else { None },
        });
        index
    }

    /// Reads the header block here, which may be cut short by a boundary line.
    fn header_block(&mut self) -> Fields<'a> {
        let (fields, body) = fields::scan(self.source, self.at, |line| self.matching(line).is_some());
        self.at = body;
        fields
    }

    /// Closes the containers from `level` on.
    fn close(&mut self, level: usize) {
        let end = self.parts.list.len();
        for index in self.open.drain(level..) {
            self.parts.list[index].end = end;
        }
        self.keys.truncate(level);
    }

    /// The next boundary line from here on, of any open container.
    fn delimiter(&self) -> Option<Delimiter> {
        if self.keys.iter().all(|&key| key == 0) {
            return None;
        }
        let source = self.source;
        let mut line = self.at;
        if !source[line..].starts_with(b"--") {
            line += memmem::find(&source[line..], b"\n--")? + 1;
        }
        loop {
            let next = memchr(b'\n', &source[line..]).map_or(source.len(), |n| line + n + 1);
            if let Some((level, closing)) = self.matching(&source[line..next]) {
                return Some(Delimiter { level, closing, line, next });
            }
            // The line's own end may begin the next match.
            line = next - 1 + memmem::find(&source[next - 1..], b"\n--")? + 1;
        }
    }

    /// Which open container's boundary `line` (it begins with `--`) is, and whether it closes it.
    fn matching(&self, line: &[u8]) -> Option<(usize, bool)> {
        let name = line[2..].trim_ascii_end();
        // Longer than any boundary that a sender makes up (RFC 2046: 70), and then not worth hashing.
        const NAME_LEN_MAX: usize = 1024;
        if name.len() > NAME_LEN_MAX {
            return None;
        }
        let level = |name: &[u8]| {
            let key = key(name);
            let of = |level: &usize| self.parts.list[self.open[*level]].content.boundary.as_deref() == Some(name);
            self.keys.iter().rposition(|&other| other == key).filter(of)
        };
        if let Some(level) = level(name) {
            return Some((level, false));
        }
        level(name.strip_suffix(b"--")?).map(|level| (level, true))
    }
}

/// Never 0, which stands for no boundary.
fn key(boundary: &[u8]) -> u64 {
    xxh3_64(boundary) | 1
}

/// The bytes from `start` to the line that begins at `line`, without the line end, which belongs to the boundary.
fn before_line(source: &[u8], start: usize, line: usize) -> &[u8] {
    let body = &source[start..line.max(start)];
    let body = body.strip_suffix(b"\n").unwrap_or(body);
    body.strip_suffix(b"\r").unwrap_or(body)
}

fn sort(content: &Described<'_>, encoding: Encoding, attached: bool) -> Sort {
    let media = content.media;
    let slash = memchr(b'/', media);
    let (kind, subtype) = media.split_at(slash.unwrap_or(media.len()));
    let subtype = subtype.get(1..).unwrap_or_default();
    let is = |name: &str| subtype.eq_ignore_ascii_case(name.as_bytes());
    if kind.eq_ignore_ascii_case(b"multipart") {
        return match &content.boundary {
            Some(boundary) if !boundary.is_empty() => {
                if is("alternative") {
                    Sort::Alternative
                } else {
                    Sort::Multipart
                }
            }
            _ => Sort::Plain,
        };
    }
    if attached || encoding == Encoding::Uuencode {
        return Sort::Attachment;
    }
    if kind.eq_ignore_ascii_case(b"message") {
        // In any encoding but the plain one a forwarded mail is against the standard, and very rare.
        let readable = (is("rfc822") || is("global") || is("news")) && encoding == Encoding::Identity;
        return if readable { Sort::Message } else { Sort::Attachment };
    }
    if kind.eq_ignore_ascii_case(b"text") {
        let not_shown =
            ["calendar", "vcard", "x-vcard", "directory", "x-amp-html", "css", "rtf", "javascript", "rfc822-headers"];
        return if ["html", "xhtml", "enriched", "richtext"].iter().any(|name| is(name)) {
            Sort::Html
        } else if not_shown.iter().any(|name| is(name)) {
            Sort::Attachment
        } else {
            Sort::Plain
        };
    }
    if kind.eq_ignore_ascii_case(b"application") && is("xhtml+xml") {
        return Sort::Html;
    }
    // A content type that is none (empty, or without a slash) is taken for the default, plain text (RFC 2045).
    if slash.is_none() { Sort::Plain } else { Sort::Attachment }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use proptest::prelude::*;

    fn limits() -> Limits {
        Settings::default().limits
    }

    fn walked<'a>(source: &'a str, limits: &Limits) -> Parts<'a> {
        let (fields, body) = fields::scan(source.as_bytes(), 0, |_| false);
        walk(source.as_bytes(), fields, body, limits)
    }

    /// `alternative(plain"…" html"…")`
    fn drawn(parts: &[Part<'_>]) -> String {
        let mut out = String::new();
        let mut at = 0;
        while at < parts.len() {
            let part = &parts[at];
            let name = format!("{:?}", part.sort).to_lowercase();
            let body = String::from_utf8_lossy(part.body);
            out += &match part.sort {
                Sort::Alternative | Sort::Multipart | Sort::Message => {
                    format!("{name}({})", drawn_range(&parts[at + 1..part.end], at + 1))
                }
                _ => format!("{name}{body:?}"),
            };
            at = part.end;
            if at < parts.len() {
                out.push(' ');
            }
        }
        out
    }

    fn drawn_range(parts: &[Part<'_>], first: usize) -> String {
        let moved: Vec<Part<'_>> = parts.iter().map(|part| Part { end: part.end - first, ..part.clone() }).collect();
        drawn(&moved)
    }

    #[test]
    fn structures_are_walked_as_written() {
        for (source, expected) in [
            ("Subject: s\n\nbody\n", r#"plain"body\n""#),
            (
                "Content-Type: multipart/alternative; boundary=b\r\n\r\npreamble\r\n--b\r\n\r\none\r\n--b \r\n\
                 Content-Type: text/html\r\n\r\ntwo\r\n--b--\r\nepilogue",
                r#"alternative(plain"one" html"two")"#,
            ),
            (
                "Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: multipart/related; boundary=i\n\n--i\n\n\
                 a\n--i--\n\n--o\nContent-Type: image/png\n\nb\n--o--\n",
                r#"multipart(multipart(plain"a") attachment"b")"#,
            ),
            (
                "Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: multipart/mixed; boundary=i\n\n--i\n\na\n\
                 --o\n\nthe inner one was never closed\n",
                r#"multipart(multipart(plain"a") plain"the inner one was never closed\n")"#,
            ),
            (
                "Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: message/rfc822\n\nSubject: in\n\nfar\n--o--",
                r#"multipart(message(plain"far"))"#,
            ),
            (
                "Content-Type: multipart/digest; boundary=o\n\n--o\n\nSubject: one\n\n1\n--o\n\nSubject: two\n\n2\n--o--",
                r#"multipart(message(plain"1") message(plain"2"))"#,
            ),
            ("Content-Type: multipart/mixed; boundary=gone\n\ntext all the same", r#"plain"text all the same""#),
            ("Content-Type: multipart/mixed\n\n--x\n\nno boundary named", r#"plain"--x\n\nno boundary named""#),
            (
                "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n--b\n\ntwo\n--bb\n--b--",
                r#"multipart(html"" plain"two\n--bb")"#,
            ),
            (
                "Content-Type: multipart/mixed; boundary=\"a:b\"\n\n--a:b\nX: y\n--a:b\n\ntwo\n--a:b--",
                r#"multipart(plain"" plain"two")"#,
            ),
            (
                "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Disposition: attachment; filename=x\n\none\n--b\n\
                 Content-Type: text/calendar\n\ntwo\n--b--\n",
                r#"multipart(attachment"one" attachment"two")"#,
            ),
            ("Content-Type: text\nContent-Disposition: attachment\n\nthe only part", r#"plain"the only part""#),
            ("Content-Type: multipart/mixed; boundary=b\n\n--b", r#"multipart(plain"")"#),
            ("Content-Type: multipart/mixed; boundary=b\n\n--b--", r#"multipart()"#),
        ] {
            assert_eq!(drawn(&walked(source, &limits()).list), expected, "{source}");
        }
    }

    #[test]
    fn parts_beyond_the_limits_are_not_read() {
        let mut few = limits();
        (few.parts_max, few.nesting_max) = (3, 2);
        let flat = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n1\n--b\n\n2\n--b\n\n3\n--b--\n";
        let parts = walked(flat, &few);
        assert!(parts.truncated);
        assert_eq!(drawn(&parts.list), r#"multipart(plain"1" plain"2")"#);
        let deep = "Content-Type: message/rfc822\n\n".repeat(3) + "\n\nx";
        let parts = walked(&deep, &few);
        assert!(parts.truncated);
        assert_eq!(drawn(&parts.list), r#"message(message(attachment"\n\nx"))"#);
        assert!(!walked(flat, &limits()).truncated);
    }

    /// Mails of 10 MB made to be slow: quadratic work on any of them would not end within the hour.
    #[test]
    fn hostile_structures_are_walked_in_linear_time() {
        let mut generous = limits();
        (generous.parts_max, generous.nesting_max) = (usize::MAX, usize::MAX);
        let size = 10 << 20;
        let repeated = |lead: &str, piece: &dyn Fn(usize) -> String| {
            let mut source = String::from(lead);
            let mut n = 0;
            while source.len() < size {
                source += &piece(n);
                n += 1;
            }
            source
        };
        let outer = "Content-Type: multipart/mixed; boundary=b\n\n";
        for (source, limits) in [
            // Boundaries that never come.
            (repeated(outer, &|n| format!("--b\nContent-Type: multipart/mixed; boundary=z{n}\n\nx\n")), &generous),
            (repeated(outer, &|_| "--b\n".into()), &generous),
            (repeated(outer, &|_| "--\n".into()), &generous),
            (repeated(outer, &|_| "--b--\n".into()), &generous),
            (repeated("", &|_| "Content-Type: message/rfc822\n\n".into()), &generous),
            (repeated("", &|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n")), &limits()),
            (
                // As deep as allowed, then lines that have to be compared with every boundary.
                (0..256)
                    .map(|n| format!("Content-Type: multipart/mixed; boundary={n:02x}\n\n--{n:02x}\n"))
                    .collect::<String>()
                    + &"--zz\n".repeat(size / 5),
                &limits(),
            ),
        ] {
            let begun = std::time::Instant::now();
            let parts = walked(&source, limits);
            assert!(!parts.list.is_empty());
            let seconds = begun.elapsed().as_secs_f64();
            assert!(seconds < 60.0, "{seconds} s for {:?}", &source[..100]);
        }
    }

    /// Sound mails, nested, whose boundaries are all there.
    fn sound() -> impl Strategy<Value = String> {
        let leaf = (
            prop::sample::select(vec!["text/plain", "text/html", "image/png"]),
            "[a-z -]{0,20}(\n[a-z>. -]{0,20}){0,3}",
        )
            .prop_map(|(media, body)| format!("Content-Type: {media}\n\n{body}"));
        let tree = leaf.prop_recursive(4, 24, 4, |inner| {
            (
                "[a-z]{6}",
                prop::sample::select(vec!["mixed", "alternative", "related"]),
                prop::collection::vec(inner, 1..4),
            )
                .prop_map(|(boundary, kind, children)| {
                    let mut out = format!("Content-Type: multipart/{kind}; boundary=\"=_{boundary}\"\n\n");
                    for child in children {
                        out += &format!("--=_{boundary}\n{child}\n");
                    }
                    out + &format!("--=_{boundary}--\n")
                })
        });
        tree.prop_map(|tree| format!("Subject: s\n{tree}"))
    }

    proptest! {
        /// mail-parser reads the same leaves in the same order.
        #[test]
        fn parts_are_those_of_mail_parser(source in sound(), crlf in any::<bool>()) {
            let source = if crlf { source.replace('\n', "\r\n") } else { source };
            let parts = walked(&source, &limits());
            let ours: Vec<&[u8]> = parts.list.iter()
                .filter(|part| !matches!(part.sort, Sort::Alternative | Sort::Multipart))
                .map(|part| part.body)
                .collect();
            let theirs = mail_parser::MessageParser::default().parse(&source).unwrap();
            let theirs: Vec<&[u8]> = theirs.parts.iter()
                .filter(|part| !matches!(part.body, mail_parser::PartType::Multipart(_)))
                .map(|part| part.contents())
                .collect();
            prop_assert_eq!(ours, theirs);
        }

        /// Any order of the lines that structures are made of is a tree.
        #[test]
        fn any_lines_make_a_tree(lines in prop::collection::vec(prop::sample::select(vec![
            "Content-Type: multipart/mixed; boundary=a", "Content-Type: multipart/alternative; boundary=b",
            "Content-Type: message/rfc822", "--a", "--b", "--a--", "--b--", "", "text", "--", " folded", "-",
        ]), 0..40)) {
            let source = lines.join("\n");
            let parts = walked(&source, &limits()).list;
            for (at, part) in parts.iter().enumerate() {
                prop_assert!(part.end > at && part.end <= parts.len());
                let inside = &parts[at + 1..part.end];
                prop_assert!(inside.iter().all(|child| child.end <= part.end));
            }
            drawn(&parts);
        }
    }
}

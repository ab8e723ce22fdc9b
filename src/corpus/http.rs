//! The page inside an HTTP response, as an archive keeps it: head, transfer encoding and content encoding taken off.

use super::Cause;
use super::form::Form;
use super::packing::Packing;
use crate::config::Limits;
use crate::document::Rejection;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::{self, Read};

/// RFC 9659: senders use no larger window, 8 MiB.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// Headers of one response; real ones have under 60.
const HEADERS_MAX: usize = 256;

/// A page out of a response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) content_type: Option<String>,
    pub(super) body: Vec<u8>,
}

/// Why there is none.
#[derive(Debug)]
pub(super) enum NoPage {
    /// The status is not 200.
    Status,
    /// The content is neither HTML nor plain text.
    Type,
    /// It should be one, and cannot be read.
    Trouble(Cause),
}

impl<C: Into<Cause>> From<C> for NoPage {
    fn from(cause: C) -> Self {
        Self::Trouble(cause.into())
    }
}

/// Whether documents of a content type are read.
pub(super) fn is_read(content_type: &str) -> bool {
    let name = content_type.split(';').next().unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml", "text/plain"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Gives the status line of another version of HTTP the form of the one that is parsed: what was received by HTTP/2 has no such line, and
/// crawlers make one up (`HTTP/2 200`).
fn as_of_http_1(response: &mut Vec<u8>) {
    let Some(version) = response.strip_prefix(b"HTTP/") else { return };
    let n = version.iter().take(4).take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let (number, rest) = version.split_at(n);
    if number != b"1.1" && number.first().is_some_and(u8::is_ascii_digit) && rest.first() == Some(&b' ') {
        response.splice(b"HTTP/".len()..b"HTTP/".len() + n, *b"1.1");
    }
}

/// The page in a whole response.
pub(super) fn page(mut response: Vec<u8>, limits: &Limits) -> Result<Page, NoPage> {
    as_of_http_1(&mut response);
    let head = Head::read(&response)?;
    if head.status != 200 {
        return Err(NoPage::Status);
    }
    if head.content_type.as_deref().is_some_and(|name| !is_read(name)) {
        return Err(NoPage::Type);
    }
    response.drain(..head.len);
    let mut body = response;
    // Some crawlers take the encodings off and leave the headers: then the body does not look encoded, and is not.
    if head.chunked {
        dechunk(&mut body);
    }
    for encoding in head.encodings.rsplit(',').map(str::trim) {
        body = match encoding.to_ascii_lowercase().as_str() {
            "" | "identity" => body,
            "gzip" | "x-gzip" if body.starts_with(&[0x1f, 0x8b]) => unpacked(MultiGzDecoder::new(&body[..]), limits)?,
            "gzip" | "x-gzip" => body,
            "deflate" => inflated(body, limits)?,
            "zstd" if body.starts_with(Packing::Zstd.magic()) => {
                let mut decoder = zstd::Decoder::with_buffer(&body[..]).map_err(Cause::from)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(Cause::from)?;
                unpacked(decoder, limits)?
            }
            "zstd" => body,
            other => return Err(Cause::Unsupported(format!("content encoding `{other}` is not supported")).into()),
        };
    }
    if head.content_type.is_none() && Form::sniffed(&body[..body.len().min(512)]) != Some(Form::Html) {
        return Err(NoPage::Type);
    }
    Ok(Page { content_type: head.content_type, body })
}

struct Head {
    status: u16,
    content_type: Option<String>,
    encodings: String,
    chunked: bool,
    len: usize,
}

impl Head {
    fn read(response: &[u8]) -> Result<Self, Cause> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Response::new(&mut headers);
        let len = match httparse::ParserConfig::default()
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_multiple_spaces_in_response_status_delimiters(true)
            .ignore_invalid_headers_in_responses(true)
            .parse_response(&mut parsed, response)
        {
            Ok(httparse::Status::Complete(len)) => len,
            Ok(httparse::Status::Partial) => return Err(Cause::Damaged("the HTTP head is cut off".into())),
            Err(error) => return Err(Cause::Damaged(format!("the HTTP head is damaged: {error}"))),
        };
        let mut head = Self {
            status: parsed.code.unwrap_or(0),
            content_type: None,
            encodings: String::new(),
            chunked: false,
            len,
        };
        for header in parsed.headers {
            let value = String::from_utf8_lossy(header.value);
            if header.name.eq_ignore_ascii_case("content-type") {
                // An empty one says as much as none.
                let said = Some(value.into_owned()).filter(|name| !name.trim().is_empty());
                head.content_type = head.content_type.take().or(said);
            } else if header.name.eq_ignore_ascii_case("content-encoding") {
                head.encodings = value.into_owned();
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                head.chunked |= value.to_ascii_lowercase().contains("chunked");
            }
        }
        Ok(head)
    }
}

/// Joins the chunks in place. Leaves a body alone that does not begin with a chunk; keeps what is there of a cut one.
fn dechunk(body: &mut Vec<u8>) {
    let (mut from, mut to) = (0, 0);
    while let Some((size, start)) = chunk(&body[from..]) {
        let start = from + start;
        let end = start.saturating_add(size).min(body.len());
        body.copy_within(start..end, to);
        to += end - start;
        from = end;
        if size == 0 {
            break;
        }
        from += body[from..].iter().take(2).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    }
    if from > 0 {
        body.truncate(to);
    }
}

/// The size of the chunk that begins here, and where its data starts.
fn chunk(bytes: &[u8]) -> Option<(usize, usize)> {
    // Sixteen digits and a short extension; more is no chunk.
    let line_end = memchr::memchr(b'\n', &bytes[..bytes.len().min(256)])?;
    let line = bytes[..line_end].split(|byte| *byte == b';').next()?.trim_ascii();
    let size = usize::from_str_radix(std::str::from_utf8(line).ok()?, 16).ok()?;
    Some((size, line_end + 1))
}

/// By the standard there is a zlib head; some servers send bare DEFLATE.
fn inflated(body: Vec<u8>, limits: &Limits) -> Result<Vec<u8>, Cause> {
    match unpacked(ZlibDecoder::new(&body[..]), limits) {
        Err(Cause::Damaged(_)) => match unpacked(DeflateDecoder::new(&body[..]), limits) {
            // Neither: the crawler has taken the encoding off.
            Err(Cause::Damaged(_)) => Ok(body),
            other => other,
        },
        other => other,
    }
}

/// Everything that `decoder` gives; of a body that is cut off, what is there.
fn unpacked(decoder: impl Read, limits: &Limits) -> Result<Vec<u8>, Cause> {
    let limit = limits.unpacked_bytes_max;
    let mut body = Vec::new();
    match decoder.take(limit as u64 + 1).read_to_end(&mut body) {
        Ok(_) if body.len() > limit => Err(Rejection::UnpacksTooLarge { limit }.into()),
        Ok(_) => Ok(body),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && !body.is_empty() => Ok(body),
        Err(error) => Err(Cause::Damaged(format!("content encoding: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};

    const HTML: &[u8] = b"<p>A page that is long enough to be packed, and packed, and packed.</p>";

    fn response(headers: &str, body: &[u8]) -> Result<Page, NoPage> {
        let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\n");
        page([head.as_bytes(), body].concat(), &crate::config::Settings::default().limits)
    }

    fn all(mut encoder: impl Read) -> Vec<u8> {
        let mut bytes = Vec::new();
        encoder.read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn encodings_are_taken_off() {
        let gzip = all(GzEncoder::new(HTML, Compression::default()));
        let zlib = all(ZlibEncoder::new(HTML, Compression::default()));
        let bare = all(DeflateEncoder::new(HTML, Compression::default()));
        let zstd = zstd::encode_all(HTML, 3).unwrap();
        let chunked = [
            format!("{:x}; x=y\r\n", 10).as_bytes(),
            &gzip[..10],
            b"\r\n",
            format!("{:X}\r\n", gzip.len() - 10).as_bytes(),
            &gzip[10..],
            b"\r\n0\r\n\r\n",
        ]
        .concat();
        let html = "Content-Type: text/html; charset=utf-8\r\n";
        for (headers, body) in [
            ("", HTML),
            ("Content-Encoding: gzip\r\n", &gzip),
            ("content-encoding: GZIP\r\n", HTML),
            ("Content-Encoding: deflate\r\n", &zlib),
            ("Content-Encoding: deflate\r\n", &bare),
            ("Content-Encoding: deflate\r\n", HTML),
            ("Content-Encoding: zstd\r\n", &zstd),
            ("Content-Encoding: Zstd\r\n", HTML),
            ("Content-Encoding: gzip, identity\r\nTransfer-Encoding: chunked\r\n", &chunked),
            ("Transfer-Encoding: chunked\r\n", HTML),
        ] {
            let page = response(&format!("{html}{headers}"), body).unwrap();
            assert_eq!(String::from_utf8_lossy(&page.body), String::from_utf8_lossy(HTML), "{headers}");
            assert_eq!(page.content_type.as_deref(), Some("text/html; charset=utf-8"));
        }
    }

    #[test]
    fn other_responses_are_told_apart() {
        assert!(matches!(response("Content-Type: image/png\r\n", b"x"), Err(NoPage::Type)));
        assert!(matches!(response("", b"{}"), Err(NoPage::Type)));
        assert!(response("", b" <html>").is_ok());
        assert!(matches!(response("Content-Type: \r\n", b"{}"), Err(NoPage::Type)));
        assert_eq!(response("Content-Type: \r\n", b" <html>").unwrap().content_type, None);
        assert!(matches!(response("Content-Encoding: br\r\n", HTML), Err(NoPage::Trouble(Cause::Unsupported(_)))));
        let limits = crate::config::Settings::default().limits;
        assert!(matches!(page(b"HTTP/1.1 404 Not Found\r\n\r\n".to_vec(), &limits), Err(NoPage::Status)));
        assert!(matches!(page(b"HTTP/1.1 200 OK\r\nConte".to_vec(), &limits), Err(NoPage::Trouble(Cause::Damaged(_)))));
        assert!(matches!(page(b"garbage".to_vec(), &limits), Err(NoPage::Trouble(_))));
    }

    #[test]
    fn status_lines_of_every_version_are_read() {
        let limits = crate::config::Settings::default().limits;
        let status = |line: &str| page(format!("{line}\r\nContent-Type: text/html\r\n\r\n<p>").into(), &limits);
        for version in ["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/2.0", "HTTP/3"] {
            for end in [" 200", " 200 ", " 200 OK"] {
                let page = status(&format!("{version}{end}")).unwrap();
                assert_eq!(page.body, b"<p>", "{version}{end}");
            }
            assert!(matches!(status(&format!("{version} 301")), Err(NoPage::Status)));
        }
        for damaged in ["HTTP/ 200", "HTTP/x 200", "HTTP/2", "HTTP/12345 200", "HTTP/2 x"] {
            assert!(matches!(status(damaged), Err(NoPage::Trouble(Cause::Damaged(_)))), "{damaged}");
        }
    }

    #[test]
    fn a_bomb_in_a_response_is_rejected() {
        let limits = crate::config::Limits { unpacked_bytes_max: 100_000, ..crate::config::Settings::default().limits };
        let zeros = || io::repeat(b'a').take(1_000_000);
        let gzip = all(GzEncoder::new(zeros(), Compression::default()));
        for (name, bomb) in [("gzip", gzip), ("zstd", zstd::encode_all(zeros(), 3).unwrap())] {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {name}\r\n\r\n");
            let outcome = page([head.as_bytes(), &bomb].concat(), &limits);
            assert!(
                matches!(outcome, Err(NoPage::Trouble(Cause::Rejected(Rejection::UnpacksTooLarge { limit: 100_000 })))),
                "{name}"
            );
        }
    }

    #[test]
    fn a_cut_chunk_keeps_what_is_there() {
        for (chunked, plain) in [
            (&b"5\r\nhello\r\n6\r\n wor"[..], &b"hello wor"[..]),
            (b"5\nhello\n0\n\n", b"hello"),
            (b"ffffffffffffffff\r\nabc", b"abc"),
            (b"<p>", b"<p>"),
            (b"", b""),
        ] {
            let mut body = chunked.to_vec();
            dechunk(&mut body);
            assert_eq!(body, plain);
        }
    }
}

//! The one way from a [`Record`] to a [`Document`].

use super::{Carrier, Document, Format, Kind, Record, Rejection, charset, envelope, html, identity, mime};
use crate::config::Limits;
use crate::signature::keyed::Keys;

/// Reads records into documents; keeps its buffers, so that a thread makes one and uses it for ever.
pub struct Reader {
    limits: Limits,
    keys: Keys,
    document: Document,
    html: html::Scratch,
}

impl Reader {
    /// A reader with the given limits and keys.
    pub fn new(limits: Limits, keys: Keys) -> Self {
        Self { limits, keys, document: Document::default(), html: html::Scratch::default() }
    }

    /// One that leaves out what no verdict is made of: the noise of whole pages.
    #[must_use]
    pub fn for_verdicts(mut self) -> Self {
        self.html.without_noise = true;
        self
    }

    /// The document in `record`, until the next one is read.
    pub fn read(&mut self, record: &Record) -> Result<&Document, Rejection> {
        self.document.clear();
        let (body, carrier) = (&record.body, &record.carrier);
        match record.format {
            Format::Page => self.read_page(body, carrier)?,
            Format::Mail => self.read_mail(body, carrier)?,
            Format::PageEnvelope => {
                self.within_limit(body)?;
                let opened = envelope::open_page(body, carrier, &self.limits)?;
                self.read_page(&opened.body, &opened.carrier)?;
            }
            Format::MailEnvelope => {
                self.within_limit(body)?;
                let opened = envelope::open_mail(body, carrier, &self.limits)?;
                self.read_mail(&opened.body, &opened.carrier)?;
            }
        }
        Ok(&self.document)
    }

    /// An envelope's base64 makes a body larger by a third, so that it gets twice the room; what is inside is
    /// measured again when it is taken out.
    fn within_limit(&self, envelope: &[u8]) -> Result<(), Rejection> {
        let limit = 2 * self.limits.body_bytes_max;
        if envelope.len() > limit { Err(Rejection::TooLarge { len: envelope.len(), limit }) } else { Ok(()) }
    }

    fn begin(&mut self, kind: Kind, body: &[u8], carrier: &Carrier) -> Result<(), Rejection> {
        let limit = self.limits.body_bytes_max;
        if body.len() > limit {
            return Err(Rejection::TooLarge { len: body.len(), limit });
        }
        let document = &mut self.document;
        document.kind = kind;
        document.reading.n_bytes = body.len();
        document.identity = identity::of(kind, carrier, body, self.keys.id);
        Ok(())
    }

    fn read_page(&mut self, body: &[u8], carrier: &Carrier) -> Result<(), Rejection> {
        let media = Media::of(carrier.content_type.as_deref())?;
        self.begin(Kind::Page, body, carrier)?;
        let Self { limits, keys, document, html } = self;
        let decoded = charset::decode(body, carrier.content_type.as_deref());
        document.reading.charset = decoded.charset;
        document.reading.charset_from = decoded.origin;
        document.reading.charset_errors = decoded.errors;
        match media {
            Media::Html => html::read(&decoded.text, limits, keys.frame, html, document),
            Media::Plain => html::read_plain(&decoded.text, limits, document),
        }
        document.identity.canonical = document.links.canonical_url(document.identity.url.as_deref());
        Ok(())
    }

    fn read_mail(&mut self, body: &[u8], carrier: &Carrier) -> Result<(), Rejection> {
        self.begin(Kind::Email, body, carrier)?;
        let Self { limits, keys, document, html } = self;
        mime::read(body, carrier, limits, keys.frame, html, document)
    }
}

/// What a page's body is, by its content type.
enum Media {
    Html,
    Plain,
}

impl Media {
    /// No content type means HTML: a browser would look, and so does the tolerant reader.
    fn of(content_type: Option<&str>) -> Result<Self, Rejection> {
        let Some(content_type) = content_type else { return Ok(Self::Html) };
        let media = content_type.split(';').next().unwrap_or_default().trim();
        if media.eq_ignore_ascii_case("text/plain") {
            return Ok(Self::Plain);
        }
        let not_text = ["image/", "audio/", "video/", "font/"];
        let binary = ["application/pdf", "application/zip", "application/octet-stream", "application/gzip"];
        let starts = |prefix: &&str| media.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
        if not_text.iter().chain(&binary).any(starts) {
            return Err(Rejection::ContentType(media.chars().take(80).collect()));
        }
        Ok(Self::Html)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    fn reader() -> Reader {
        Reader::new(Settings::default().limits, Keys::derive("test"))
    }

    fn page(html: &str) -> Record {
        Record { body: html.as_bytes().to_vec(), ..Record::default() }
    }

    #[test]
    fn a_used_reader_reads_as_a_new_one() {
        let rich = page(
            "<title>T</title><link rel=canonical href=/c><base href=http://b.example/><p hidden>x</p><p>One <a href=y>two</a>",
        );
        let mail = Record {
            format: Format::Mail,
            body: b"From: a@b.example\r\nSubject: s\r\n\r\n> quoted\r\nbody\r\n".to_vec(),
            ..Record::default()
        };
        let plain = page("<p>Three four");
        let mut used = reader();
        for record in [&rich, &mail, &plain, &rich, &plain, &mail] {
            let fresh = reader().read(record).unwrap().clone();
            assert_eq!(used.read(record).unwrap(), &fresh);
        }
    }

    #[test]
    fn an_image_is_rejected_by_its_content_type() {
        let mut record = page("GIF89a");
        record.carrier.content_type = Some("Image/GIF".into());
        assert_eq!(reader().read(&record).unwrap_err().reason(), "content_type");
    }

    #[test]
    fn a_body_over_the_limit_is_rejected_with_both_sizes() {
        let mut limits = Settings::default().limits;
        limits.body_bytes_max = 10;
        let mut reader = Reader::new(limits, Keys::derive("test"));
        for html in ["<p>eleven bytes", "<p>more than twice as many, which only an envelope may have"] {
            let error = reader.read(&page(html)).unwrap_err().to_string();
            assert_eq!(error, format!("body has {} bytes, limit is 10 (limits.body_bytes_max)", html.len()));
        }
    }
}

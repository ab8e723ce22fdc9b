//! What a mail server says of one mail, as it comes: envelope, header fields, body.

use super::authentication::{self, Authentication};
use super::command::Strings;
use super::forged::Forged;
use super::raw::{Held, Raw, Room};
use super::unchecked::Unchecked;
use crate::config::MilterSettings;
use std::net::IpAddr;

/// Recipients that are told: their names are masked in the text, and a list of many is nobody's salutation.
const RECIPIENTS_MAX: usize = 50;
/// Longer addresses and names are none (RFC 5321 allows 256).
const NAME_BYTES_MAX: usize = 512;

/// One mail, so far.
#[derive(Debug, Default)]
pub(super) struct Mail {
    /// Whether there is one.
    pub(super) has_begun: bool,
    sender: Option<String>,
    recipients: Vec<String>,
    queue_id: Option<String>,
    /// Who has logged in to send it.
    login: Option<String>,
    authentication: Authentication,
    pub(super) forged: Forged,
    raw: Raw,
}

/// A mail, and what is known of it.
pub(super) struct Question {
    /// Unique, and begins with the mail server's own name for it.
    pub(super) id: String,
    pub(super) client: Option<IpAddr>,
    pub(super) sender: Option<String>,
    pub(super) recipients: Vec<String>,
    pub(super) authenticated_domain: Option<String>,
    pub(super) mail: Held,
}

impl Mail {
    pub(super) fn set_sender(&mut self, sender: &[u8]) {
        self.has_begun = true;
        self.sender = address(sender);
        self.recipients.clear();
    }

    pub(super) fn add_recipient(&mut self, recipient: &[u8]) {
        if self.recipients.len() < RECIPIENTS_MAX {
            self.recipients.extend(address(recipient));
        }
    }

    /// Takes what is of use to us from names and values in turn.
    pub(super) fn note(&mut self, mut macros: Strings<'_>) {
        while let (Some(name), Some(value)) = (macros.next(), macros.next()) {
            let value = || text(value).filter(|value| !value.is_empty());
            match name {
                b"i" | b"{i}" => self.queue_id = value(),
                b"{auth_authen}" => self.login = value(),
                _ => {}
            }
        }
    }

    /// Takes in a header field; `value` has its leading space.
    pub(super) fn add_header(&mut self, name: &[u8], value: &[u8], room: &Room, settings: &MilterSettings) {
        if self.forged.is(name) {
            return;
        }
        self.authentication.read(name, value, (&settings.authserv_id, settings.authserv_headers));
        self.raw.add(room, &[name, b":"]);
        // Folded lines come with bare line feeds.
        for (number, line) in value.split(|byte| *byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            self.raw.add(room, &[if number > 0 { b"\r\n".as_slice() } else { b"" }, line]);
        }
        self.raw.add(room, &[b"\r\n"]);
    }

    pub(super) fn end_headers(&mut self, room: &Room) {
        self.raw.add(room, &[b"\r\n"]);
    }

    pub(super) fn add_body(&mut self, piece: &[u8], room: &Room) {
        self.raw.add(room, &[piece]);
    }

    /// Whether the rest of its body is of no use.
    pub(super) fn is_given_up(&self) -> bool {
        self.raw.is_given_up()
    }

    /// What is to be asked of it, and which fields are to be deleted.
    pub(super) fn finished(self, client: Option<IpAddr>) -> (Result<Question, Unchecked>, Forged) {
        let Self { sender, recipients, queue_id, login, authentication, forged, raw, .. } = self;
        let question = raw.whole().map(|mail| {
            let login = login.filter(|login| login.contains('@')).and_then(|login| authentication::domain(&login));
            let authenticated_domain = login.or_else(|| authentication.domain().map(str::to_owned));
            Question { id: id(queue_id.as_deref()), client, sender, recipients, authenticated_domain, mail }
        });
        (question, forged)
    }
}

/// A queue's names come again after a while, so chance follows.
fn id(queue_id: Option<&str>) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let named = queue_id.filter(|id| id.len() <= 64 && id.bytes().all(is_plain)).unwrap_or("mail");
    // Without chance, the time: no two mails of one name come within a nanosecond.
    let chance = getrandom::u64().unwrap_or_else(|_| jiff::Timestamp::now().as_nanosecond() as u64);
    format!("{named}-{chance:016x}")
}

/// An address without its brackets.
fn address(bytes: &[u8]) -> Option<String> {
    let text = text(bytes)?;
    Some(text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(&text).to_owned())
}

/// Text that can go into a header of a request.
fn text(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    (text.len() <= NAME_BYTES_MAX && !text.contains(char::is_control)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::command::Command;
    use super::*;
    use crate::config::Settings;

    fn note(mail: &mut Mail, macros: &[u8]) {
        let Ok(Command::Macros(macros)) = Command::read(b'D', macros) else { panic!() };
        mail.note(macros);
    }

    #[test]
    fn a_mail_is_put_together_as_it_was() {
        let settings = Settings::default().milter;
        let room = Room::new(1 << 20, 1 << 20);
        let mut mail = Mail::default();
        note(&mut mail, b"M{auth_authen}\0eve@login.example\0");
        mail.set_sender(b"<eve@a.example>");
        mail.add_recipient(b"<bob@b.example>");
        mail.add_recipient(b"<\r\nx>");
        note(&mut mail, b"Ri\x004bXyz\0");
        mail.add_header(b"Subject", b" two\n\tlines\r\n three", &room, &settings);
        mail.add_header(b"X-SEAMRIPPER-Class", b" original", &room, &settings);
        mail.add_header(b"Tight", b"x", &room, &settings);
        mail.end_headers(&room);
        mail.add_body(b"Hello\r\n", &room);
        mail.add_body(b"World\r\n", &room);
        let (question, forged) = mail.finished(None);
        let question = question.unwrap();
        assert_eq!(
            question.mail.bytes.escape_ascii().to_string(),
            b"Subject: two\r\n\tlines\r\n three\r\nTight:x\r\n\r\nHello\r\nWorld\r\n".escape_ascii().to_string()
        );
        assert_eq!(
            (question.sender.as_deref(), &*question.recipients),
            (Some("eve@a.example"), &["bob@b.example".into()][..])
        );
        assert_eq!((question.authenticated_domain.as_deref(), forged.count()), (Some("login.example"), 1));
        assert!(question.id.starts_with("4bXyz-") && question.id.len() == 22, "{}", question.id);
    }

    #[test]
    fn ids_are_plain_and_differ() {
        for wrong in [None, Some("a b"), Some("x\r\ny"), Some("\u{e4}")] {
            assert!(id(wrong).starts_with("mail-"), "{wrong:?}");
        }
        assert_ne!(id(Some("A1")), id(Some("A1")));
    }

    #[test]
    fn what_is_too_much_is_left_out() {
        let mut mail = Mail::default();
        mail.set_sender(&[b'y'; 9999]);
        mail.add_recipient(&[b'x'; 9999]);
        (0..1000).for_each(|n| mail.add_recipient(format!("<r{n}@b.example>").as_bytes()));
        let (question, _) = mail.finished(None);
        let question = question.unwrap();
        assert_eq!((question.recipients.len(), question.sender), (RECIPIENTS_MAX, None));
    }
}

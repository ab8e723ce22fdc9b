//! What is said to a mail server, one packet each.
//!
//! # Invariants
//! - Whatever text goes into a packet, it stays one string of it: no zero, no line break. (`text_stays_in_its_place`)

/// Packets to be sent, in order.
#[derive(Debug, Default)]
pub(super) struct Replies(Vec<u8>);

impl Replies {
    /// As they go over the wire.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Which version we speak, what we may do, and what can be left out.
    pub(super) fn negotiated(&mut self, version: u32, actions: u32, steps: u32) {
        let words = [version, actions, steps].map(u32::to_be_bytes);
        self.packet(b'O', &[words.as_flattened()]);
    }

    /// Go on.
    pub(super) fn go_on(&mut self) {
        self.packet(b'c', &[]);
    }

    /// Go on, and leave out the rest of the body.
    pub(super) fn skip(&mut self) {
        self.packet(b's', &[]);
    }

    /// Takes away the header field of this name with this number, counted from 1.
    pub(super) fn delete_header(&mut self, number: u32, name: &[u8]) {
        self.packet(b'm', &[&number.to_be_bytes(), &line(name), b"\0\0"]);
    }

    /// Puts a header field below the first one, which is the mail server's own.
    pub(super) fn insert_header(&mut self, name: &str, value: &[u8]) {
        self.packet(b'i', &[&1u32.to_be_bytes(), name.as_bytes(), b"\0", &line(value), b"\0"]);
    }

    /// Hold it back.
    pub(super) fn quarantine(&mut self, reason: &str) {
        self.packet(b'q', &[&line(reason.as_bytes()), b"\0"]);
    }

    /// Tell the sender that it is not taken: a code, an extended code and a text.
    pub(super) fn refuse(&mut self, answer: &str) {
        // Sendmail reads it as a format.
        self.packet(b'y', &[&line(answer.replace('%', "%%").as_bytes()), b"\0"]);
    }

    fn packet(&mut self, letter: u8, parts: &[&[u8]]) {
        let n_bytes = 1 + parts.iter().map(|part| part.len()).sum::<usize>();
        let n_bytes = u32::try_from(n_bytes).expect("what is said is short: names come out of a packet");
        self.0.extend_from_slice(&n_bytes.to_be_bytes());
        self.0.push(letter);
        parts.iter().for_each(|part| self.0.extend_from_slice(part));
    }
}

/// One line of text, whatever was in it.
fn line(text: &[u8]) -> Vec<u8> {
    text.iter().map(|byte| if matches!(byte, 0 | b'\r' | b'\n') { b'?' } else { *byte }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_in_its_place() {
        let mut replies = Replies::default();
        replies.insert_header("X-A", b" b\r\nX-Forged: c\0d");
        replies.delete_header(3, b"x-a\n");
        replies.quarantine("a\0b");
        replies.refuse("550 5.7.1 100%\r\n250 ok");
        let expected = b"\0\0\0\x1bi\0\0\0\x01X-A\0 b??X-Forged: c?d\0\
            \0\0\0\x0bm\0\0\0\x03x-a?\0\0\
            \0\0\0\x05qa?b\0\
            \0\0\0\x19y550 5.7.1 100%%??250 ok\0";
        assert_eq!(replies.bytes().escape_ascii().to_string(), expected.escape_ascii().to_string());
    }

    #[test]
    fn numbers_are_big_endian() {
        let mut replies = Replies::default();
        replies.negotiated(6, 0x31, 0x10_0202);
        replies.go_on();
        assert_eq!(replies.bytes(), b"\0\0\0\x0dO\0\0\0\x06\0\0\0\x31\0\x10\x02\x02\0\0\0\x01c");
    }
}

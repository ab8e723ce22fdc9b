//! What a mail server says, one packet each.
//!
//! # Invariants
//! - Any bytes are a command or garbled, and never more than that. (`any_bytes_are_a_command_or_garbled`)

use std::net::IpAddr;

/// What a mail server says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command<'p> {
    /// It begins: which version it speaks, what it lets us do, and what it can leave out.
    Negotiate { version: u32, actions: u32, steps: u32 },
    /// What it knows, for the command that follows: names and values in turn.
    Macros(Strings<'p>),
    /// Who delivers.
    Connect(Option<IpAddr>),
    /// The envelope's sender.
    Sender(&'p [u8]),
    /// A recipient.
    Recipient(&'p [u8]),
    /// A header field.
    Header { name: &'p [u8], value: &'p [u8] },
    /// There are no more header fields.
    EndOfHeaders,
    /// A piece of the body.
    Body(&'p [u8]),
    /// The mail is complete. There may be a last piece of the body.
    End(&'p [u8]),
    /// This mail is not to be.
    Abort,
    /// The connection ends.
    Quit,
    /// The connection goes on with another client.
    QuitAndKeep,
    /// Something to be answered, and nothing that we need.
    Other,
}

/// A packet that no mail server sends.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a packet `{}` that makes no sense", .0.escape_ascii())]
pub(super) struct Garbled(u8);

impl<'p> Command<'p> {
    /// What a packet says.
    pub(super) fn read(letter: u8, rest: &'p [u8]) -> Result<Self, Garbled> {
        let mut strings = Strings(rest);
        let mut string = || strings.next().ok_or(Garbled(letter));
        Ok(match letter {
            b'O' => {
                let mut words = rest.chunks_exact(4).map(|word| word.try_into().map_or(0, u32::from_be_bytes));
                let mut word = || words.next().ok_or(Garbled(letter));
                Self::Negotiate { version: word()?, actions: word()?, steps: word()? }
            }
            // The letter of the command that they are for comes first.
            b'D' => Self::Macros(Strings(rest.get(1..).ok_or(Garbled(letter))?)),
            b'C' => Self::Connect(client(rest)?),
            b'M' => Self::Sender(string()?),
            b'R' => Self::Recipient(string()?),
            b'L' => Self::Header { name: string()?, value: string()? },
            b'N' => Self::EndOfHeaders,
            b'B' => Self::Body(rest),
            b'E' => Self::End(rest),
            b'A' => Self::Abort,
            b'Q' => Self::Quit,
            b'K' => Self::QuitAndKeep,
            b'H' | b'T' | b'U' => Self::Other,
            letter => return Err(Garbled(letter)),
        })
    }
}

/// A name, the family, a port and an address. Some have none: mails from the command line, say.
fn client(rest: &[u8]) -> Result<Option<IpAddr>, Garbled> {
    let garbled = || Garbled(b'C');
    let mut strings = Strings(rest);
    strings.next().ok_or_else(garbled)?;
    let (family, rest) = strings.0.split_first().ok_or_else(garbled)?;
    if !matches!(family, b'4' | b'6') {
        return Ok(None);
    }
    let address = Strings(rest.get(2..).ok_or_else(garbled)?).next().ok_or_else(garbled)?;
    Ok(self::address(address))
}

/// An IP address as mail servers write it.
pub(super) fn address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?;
    let bare = text.trim_matches(['[', ']']);
    bare.get(..5)
        .filter(|prefix| prefix.eq_ignore_ascii_case("ipv6:"))
        .map_or(bare, |prefix| &bare[prefix.len()..])
        .parse()
        .ok()
}

/// Strings that each end with a zero.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Strings<'p>(&'p [u8]);

impl<'p> Iterator for Strings<'p> {
    type Item = &'p [u8];

    fn next(&mut self) -> Option<&'p [u8]> {
        let end = memchr::memchr(0, self.0)?;
        let (string, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        Some(string)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commands_are_read_as_mail_servers_write_them() {
        let read = |letter, rest| Command::read(letter, rest).unwrap();
        assert_eq!(
            read(b'O', b"\0\0\0\x06\0\0\x01\xff\0\x1f\xff\xff"),
            Command::Negotiate { version: 6, actions: 0x1ff, steps: 0x1f_ffff }
        );
        assert_eq!(read(b'M', b"<a@b.example>\0SIZE=5\0"), Command::Sender(b"<a@b.example>"));
        assert_eq!(read(b'L', b"Subject\0 Hi\0"), Command::Header { name: b"Subject", value: b" Hi" });
        let Command::Macros(macros) = read(b'D', b"Ri\x004bX\0{rcpt_addr}\0x\0") else { panic!() };
        assert_eq!(macros.collect::<Vec<_>>(), [b"i".as_slice(), b"4bX", b"{rcpt_addr}", b"x"]);
        for (rest, ip) in [
            (b"h.example\x004\0\x19192.0.2.1\0".as_slice(), Some("192.0.2.1")),
            (b"h\x006\0\x19IPv6:2001:db8::1\0", Some("2001:db8::1")),
            (b"h\x006\0\x192001:db8::1\0", Some("2001:db8::1")),
            (b"localhost\0U", None),
            (b"localhost\0L\0\0/run/x\0", None),
            (b"h\x004\0\x19here\0", None),
        ] {
            assert_eq!(read(b'C', rest), Command::Connect(ip.map(|ip| ip.parse().unwrap())), "{rest:?}");
        }
        for (letter, rest) in
            [(b'O', b"\0\0\0".as_slice()), (b'D', b""), (b'C', b"h\0"), (b'M', b"<a@b>"), (b'L', b"x\0y"), (b'z', b"")]
        {
            assert_eq!(Command::read(letter, rest), Err(Garbled(letter)));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_command_or_garbled(letter: u8, rest: Vec<u8>) {
            if let Ok(Command::Macros(macros)) = Command::read(letter, &rest) {
                prop_assert!(macros.count() <= rest.len());
            }
        }
    }
}

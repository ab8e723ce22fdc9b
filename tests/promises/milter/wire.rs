//! A mail server's side of the milter protocol, as these tests speak it.

use super::PATIENCE;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// What a mail server of our days offers: all that may be done, all that can be left out.
pub(crate) const ACTIONS: u32 = 0x1ff;
pub(crate) const STEPS: u32 = 0x1f_ffff;

/// A connection to a milter.
pub(crate) struct Client<S = TcpStream> {
    pub(crate) stream: S,
    /// Whether values have their leading space.
    is_spaced: bool,
}

/// What was said of a mail.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Name and number.
    pub(crate) deleted: Vec<(String, u32)>,
    /// Name and value, as they stand in the mail, from above.
    pub(crate) inserted: Vec<(String, String)>,
    pub(crate) quarantined: Option<String>,
    /// What the sender is told; `None` where the mail goes on.
    pub(crate) refused: Option<String>,
}

impl Said {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut found = self.inserted.iter().filter(|(inserted, _)| inserted == name);
        let value = found.next().map(|(_, value)| &**value);
        assert!(found.next().is_none(), "{name} is there twice: {self:?}");
        value
    }

    /// It goes on without a verdict, for this reason.
    pub(crate) fn unchecked(&self, reason: &str) {
        assert_eq!(self.field("X-Seamripper-Status"), Some("unchecked"), "{self:?}");
        assert_eq!(self.field("X-Seamripper-Reason"), Some(reason), "{self:?}");
        assert_eq!((&self.refused, &self.quarantined, self.inserted.len()), (&None, &None, 2), "{self:?}");
    }
}

/// A mail, as a mail server tells of it.
#[derive(Clone)]
pub(crate) struct Letter {
    pub(crate) client: &'static str,
    pub(crate) login: Option<&'static str>,
    pub(crate) sender: &'static str,
    pub(crate) recipients: Vec<&'static str>,
    pub(crate) queue_id: &'static str,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Letter {
    pub(crate) fn new(body: &str) -> Self {
        let headers = [("From", "Ann <ann@a.example>"), ("To", "bob@b.example"), ("Subject", "seams")];
        Self {
            client: "192.0.2.7",
            login: None,
            sender: "ann@a.example",
            recipients: vec!["bob@b.example"],
            queue_id: "4bXq1Zz",
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            body: body.as_bytes().to_vec(),
        }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(0, (name.into(), value.into()));
        self
    }
}

impl Client<TcpStream> {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self::over(stream)
    }

    /// A connection that is agreed upon.
    pub(crate) fn agreed(address: SocketAddr) -> Self {
        let mut client = Self::connect(address);
        client.negotiate(6, ACTIONS, STEPS);
        client
    }
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn over(stream: S) -> Self {
        Self { stream, is_spaced: false }
    }

    pub(crate) fn packet(&mut self, letter: u8, rest: &[u8]) {
        let mut packet = u32::try_from(1 + rest.len()).unwrap().to_be_bytes().to_vec();
        packet.push(letter);
        packet.extend_from_slice(rest);
        self.stream.write_all(&packet).unwrap();
    }

    pub(crate) fn answer(&mut self) -> (u8, Vec<u8>) {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).unwrap();
        let mut packet = vec![0; u32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut packet).unwrap();
        (packet.remove(0), packet)
    }

    /// Whether the other side has closed it.
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        !matches!(self.stream.read(&mut byte), Ok(1))
    }

    /// Offers this; what was agreed upon.
    pub(crate) fn negotiate(&mut self, version: u32, actions: u32, steps: u32) -> (u32, u32, u32) {
        let words = [version, actions, steps].map(u32::to_be_bytes);
        self.packet(b'O', words.as_flattened());
        let (letter, rest) = self.answer();
        assert_eq!((letter, rest.len()), (b'O', 12));
        let word = |n: usize| u32::from_be_bytes(rest[4 * n..4 * n + 4].try_into().unwrap());
        self.is_spaced = word(2) & 0x10_0000 != 0;
        (word(0), word(1), word(2))
    }

    /// Says something that must be answered by "go on".
    pub(crate) fn say(&mut self, letter: u8, rest: &[u8]) {
        self.packet(letter, rest);
        let answer = self.answer();
        assert_eq!(answer, (b'c', vec![]), "to {}", char::from(letter));
    }

    /// Everything before the body.
    pub(crate) fn begin(&mut self, letter: &Letter) {
        self.packet(b'D', b"Cj\0mx.example.test\0");
        self.say(b'C', &[b"client.example\x004\x30\x39", letter.client.as_bytes(), b"\0"].concat());
        if let Some(login) = letter.login {
            self.packet(b'D', format!("M{{auth_type}}\0PLAIN\0{{auth_authen}}\0{login}\0").as_bytes());
        }
        self.say(b'M', format!("<{}>\0SIZE=100\0", letter.sender).as_bytes());
        for recipient in &letter.recipients {
            self.packet(b'D', format!("Ri\0{}\0", letter.queue_id).as_bytes());
            self.say(b'R', format!("<{recipient}>\0").as_bytes());
        }
        let space = if self.is_spaced { " " } else { "" };
        for (name, value) in &letter.headers {
            self.say(b'L', format!("{name}\0{space}{value}\0").as_bytes());
        }
        self.say(b'N', b"");
    }

    /// A whole mail, and what is said of it.
    pub(crate) fn send(&mut self, letter: &Letter) -> Said {
        self.begin(letter);
        for piece in letter.body.chunks(65_535) {
            self.packet(b'B', piece);
            match self.answer() {
                (b'c', _) => {}
                (b's', _) => break,
                other => panic!("{other:?} to a piece of a body"),
            }
        }
        self.end(letter)
    }

    /// What is said at the end of a mail.
    pub(crate) fn end(&mut self, letter: &Letter) -> Said {
        self.packet(b'D', format!("Ei\0{}\0", letter.queue_id).as_bytes());
        self.packet(b'E', b"");
        let mut said = Said::default();
        loop {
            let (letter, rest) = self.answer();
            let number = || u32::from_be_bytes(rest[..4].try_into().unwrap());
            let strings = |from: usize| -> Vec<String> {
                let text = String::from_utf8(rest[from..].to_vec()).unwrap();
                text.strip_suffix('\0').unwrap().split('\0').map(str::to_owned).collect()
            };
            match letter {
                b'c' => return said,
                b'y' => {
                    said.refused = Some(strings(0).remove(0));
                    return said;
                }
                b'q' => said.quarantined = Some(strings(0).remove(0)),
                b'm' => match &*strings(4) {
                    [name, value] if value.is_empty() => said.deleted.push((name.clone(), number())),
                    other => panic!("a field is changed: {other:?}"),
                },
                b'i' => match (&*strings(4), number()) {
                    ([name, value], 1) => {
                        let value = if self.is_spaced { value.strip_prefix(' ').unwrap() } else { value };
                        said.inserted.insert(0, (name.clone(), value.to_owned()));
                    }
                    other => panic!("{other:?}"),
                },
                other => panic!("{} at the end", char::from(other)),
            }
        }
    }
}

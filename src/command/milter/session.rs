//! One connection of a mail server: what it says of its mails, and what is answered.
//!
//! # Invariants
//! - Every mail that is complete is answered so that it goes on, unless a label asks for something else. Whatever fails on our
//!   side, it goes on. (`tests/promises/milter`) One alone is refused unasked: with more forged fields than can be deleted
//!   ([`super::forged`]) it could neither go on nor be cleaned.
//! - A mail that has begun is finished before we stop. (`what_has_begun_is_finished_when_asked_to_stop`)

use super::command::{Command, Garbled};
use super::forged::{Forged, PREFIX};
use super::mail::Mail;
use super::packet::{NoPacket, Packets};
use super::raw::Room;
use super::reply::Replies;
use super::server::{Answer, Server};
use super::stamp;
use super::tally::Tally;
use super::unchecked::Unchecked;
use crate::config::{Action, MilterSettings};
use crate::http::asked;
use crate::metrics::MILTER_SECONDS;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tracing::warn;

/// The version of the protocol that we speak, and the oldest that has all we need.
const VERSION: u32 = 6;
const VERSION_MIN: u32 = 2;
/// What we ask to be allowed: to add header fields, to change them, to hold a mail back.
const ADD_HEADERS: u32 = 0x01;
const CHANGE_HEADERS: u32 = 0x10;
const QUARANTINE: u32 = 0x20;
/// What need not be sent: greetings, unknown commands, the beginning of the data.
const NO_HELO: u32 = 0x02;
const NO_UNKNOWN: u32 = 0x100;
const NO_DATA: u32 = 0x200;
/// The rest of a body can be left out.
const SKIP: u32 = 0x400;
/// Values of header fields come, and go, with their leading space.
const LEADING_SPACE: u32 = 0x10_0000;

/// What all connections share.
pub(super) struct Shared {
    pub(super) settings: MilterSettings,
    pub(super) server: Server,
    pub(super) room: Room,
    pub(super) tally: Tally,
    /// Whether it was said that a mail server does not let us do what is needed.
    pub(super) has_warned: AtomicBool,
}

/// Why a connection ended before its time.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error(transparent)]
    Packet(#[from] NoPacket),
    #[error(transparent)]
    Garbled(#[from] Garbled),
    #[error("{0}")]
    Protocol(&'static str),
}

impl Broken {
    /// Under which name it is counted. A mail server that goes away has done nothing wrong.
    pub(super) fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Packet(NoPacket::Ended | NoPacket::Broken(_)) => None,
            Self::Packet(NoPacket::Silent) => Some("silent"),
            Self::Packet(NoPacket::Slow) => Some("slow"),
            Self::Packet(NoPacket::Size(_)) => Some("size"),
            Self::Garbled(_) | Self::Protocol(_) => Some("garbled"),
        }
    }
}

/// One connection.
pub(super) struct Session<S> {
    packets: Packets<S>,
    shared: Arc<Shared>,
    /// What we may do and what is left out, once that is agreed upon.
    agreed: Option<(u32, u32)>,
    client: Option<IpAddr>,
    mail: Mail,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Session<S> {
    pub(super) fn new(stream: S, shared: Arc<Shared>) -> Self {
        let patience = Duration::from_millis(shared.settings.read_timeout_ms);
        Self { packets: Packets::new(stream, patience), shared, agreed: None, client: None, mail: Mail::default() }
    }

    /// Serves until the other side has enough, or we are asked to stop and no mail is under way.
    pub(super) async fn run(mut self, mut stopping: watch::Receiver<bool>) -> Result<(), Broken> {
        let MilterSettings { read_timeout_ms, idle_timeout_ms, .. } = self.shared.settings;
        loop {
            let patience = if self.agreed.is_some() { idle_timeout_ms } else { read_timeout_ms };
            tokio::select! {
                biased;
                () = asked(&mut stopping), if !self.mail.has_begun => return Ok(()),
                begun = self.packets.begun(Duration::from_millis(patience)) => begun?,
            }
            let (letter, rest) = self.packets.next().await?;
            let command = Command::read(letter, rest)?;
            let Shared { settings, room, .. } = &*self.shared;
            let mut replies = Replies::default();
            let Some((actions, steps)) = self.agreed else {
                let Command::Negotiate { version, actions, steps } = command else {
                    return Err(Broken::Protocol("the beginning is missing"));
                };
                self.agreed = Some(agreed(&mut replies, version, actions, steps)?);
                self.packets.send(replies.bytes()).await?;
                continue;
            };
            match command {
                Command::Negotiate { .. } => return Err(Broken::Protocol("a second beginning")),
                // These three are not answered.
                Command::Macros(macros) => self.mail.note(macros),
                Command::Abort => self.mail = Mail::default(),
                Command::QuitAndKeep => (self.mail, self.client) = (Mail::default(), None),
                Command::Quit => return Ok(()),
                Command::Connect(client) => {
                    self.client = client;
                    replies.go_on();
                }
                Command::Sender(sender) => {
                    self.mail.set_sender(sender);
                    replies.go_on();
                }
                Command::Recipient(recipient) => {
                    self.mail.add_recipient(recipient);
                    replies.go_on();
                }
                Command::Header { name, value } => {
                    self.mail.has_begun = true;
                    let spaced = [b" ", value].concat();
                    let value = if steps & LEADING_SPACE != 0 { value } else { &spaced };
                    self.mail.add_header(name, value, room, settings);
                    replies.go_on();
                }
                Command::EndOfHeaders => {
                    self.mail.end_headers(room);
                    replies.go_on();
                }
                Command::Body(piece) => {
                    self.mail.add_body(piece, room);
                    if self.mail.is_given_up() && steps & SKIP != 0 { replies.skip() } else { replies.go_on() }
                }
                Command::End(piece) => {
                    self.mail.add_body(piece, room);
                    self.judge(&mut replies, actions, steps).await;
                }
                Command::Other => replies.go_on(),
            }
            if !replies.bytes().is_empty() {
                self.packets.send(replies.bytes()).await?;
            }
        }
    }

    /// Asks about the mail, and says what is to be done with it.
    async fn judge(&mut self, replies: &mut Replies, actions: u32, steps: u32) {
        let Shared { settings, server, tally, .. } = &*self.shared;
        let (question, forged) = std::mem::take(&mut self.mail).finished(self.client);
        let begun = Instant::now();
        let outcome = match question {
            Ok(question) => server.answer(question).await,
            Err(why) => Err(why),
        };
        metrics::histogram!(MILTER_SECONDS).record(begun.elapsed());
        tally.mail(outcome.as_ref().err().copied());
        tally.forged(forged.count() as u64);
        if forged.are_too_many() && actions & CHANGE_HEADERS != 0 {
            tally.action(Action::Reject);
            return replies.refuse("550 5.7.1 too many header fields in the name of this server's filter");
        }
        let asked = outcome.as_ref().ok().and_then(|answer| stamp::action(answer, &settings.actions));
        if let Some((Action::Reject, label)) = asked {
            tally.action(Action::Reject);
            return replies.refuse(&format!("550 5.7.1 this is a message that is labelled {}", stamp::plain(label)));
        }
        self.stamp(replies, &outcome, &forged, (actions, steps));
        if let Some((Action::Quarantine, label)) = asked {
            if actions & QUARANTINE != 0 {
                tally.action(Action::Quarantine);
                replies.quarantine(&format!("seamripper: labelled {}", stamp::plain(label)));
            } else {
                self.warn("the mail server does not let us quarantine mails, they only get their header fields");
            }
        }
        replies.go_on();
    }

    /// Takes away what was forged, and puts in what is true.
    fn stamp(
        &self,
        replies: &mut Replies,
        outcome: &Result<Answer, Unchecked>,
        forged: &Forged,
        (actions, steps): (u32, u32),
    ) {
        if actions & CHANGE_HEADERS != 0 {
            forged.fields().for_each(|(name, number)| replies.delete_header(number, name));
        }
        if actions & ADD_HEADERS != 0 {
            let space = if steps & LEADING_SPACE != 0 { " " } else { "" };
            // Each goes above those before it.
            for (name, value) in stamp::fields(outcome).into_iter().rev() {
                replies.insert_header(&format!("{PREFIX}{name}"), format!("{space}{value}").as_bytes());
            }
        }
        if actions & (ADD_HEADERS | CHANGE_HEADERS) != ADD_HEADERS | CHANGE_HEADERS {
            self.warn("the mail server does not let us add and delete header fields");
        }
    }

    /// Says once what is wrong with the mail server.
    fn warn(&self, what: &str) {
        if !self.shared.has_warned.swap(true, Ordering::Relaxed) {
            warn!("{what}");
        }
    }
}

/// Agrees with a mail server that offers this. Returns what we may do and what is left out.
fn agreed(replies: &mut Replies, version: u32, actions: u32, steps: u32) -> Result<(u32, u32), Broken> {
    if version < VERSION_MIN {
        return Err(Broken::Protocol("an old version of the protocol"));
    }
    let actions = actions & (ADD_HEADERS | CHANGE_HEADERS | QUARANTINE);
    let steps = steps & (NO_HELO | NO_UNKNOWN | NO_DATA | SKIP | LEADING_SPACE);
    replies.negotiated(version.min(VERSION), actions, steps);
    Ok((actions, steps))
}

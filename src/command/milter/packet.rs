//! Packets of the milter protocol: a length, a letter, and what belongs to it.
//!
//! # Invariants
//! - A packet holds only the memory of the bytes that came, whatever length it announced, and no more than [`BYTES_MAX`].
//! - One that does not go on is given up; between two packets there may be a long silence. (`a_packet_is_whole_or_given_up`)

use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::time::timeout;

/// The largest packet: a mail server sends bodies in pieces of 64 KiB, but a header field whole.
pub(super) const BYTES_MAX: u32 = 1 << 20;
/// What is kept of the memory of a large packet.
const KEPT_BYTES: usize = 70_000;

/// A connection, packet by packet.
pub(super) struct Packets<S> {
    stream: BufReader<S>,
    bytes: Vec<u8>,
    /// For the rest of a packet that has begun, and for one to be sent.
    patience: Duration,
}

/// Why there is no packet.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoPacket {
    /// The usual end, or one in the middle.
    #[error("the other side has closed it")]
    Ended,
    #[error("nothing came for too long")]
    Silent,
    #[error("it stopped in the middle of a packet, or does not read")]
    Slow,
    #[error("a packet of {0} bytes")]
    Size(u32),
    #[error(transparent)]
    Broken(#[from] io::Error),
}

impl<S: AsyncRead + AsyncWrite + Unpin> Packets<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self { stream: BufReader::new(stream), bytes: Vec::new(), patience }
    }

    /// Waits until a packet begins. This can be dropped at any time, and nothing is lost.
    pub(super) async fn begun(&mut self, patience: Duration) -> Result<(), NoPacket> {
        match timeout(patience, self.stream.fill_buf()).await {
            Err(_) => Err(NoPacket::Silent),
            Ok(Ok([])) => Err(NoPacket::Ended),
            Ok(outcome) => Ok(outcome.map(drop)?),
        }
    }

    /// The letter of a packet, and what belongs to it.
    pub(super) async fn next(&mut self) -> Result<(u8, &[u8]), NoPacket> {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        timeout(self.patience, self.read()).await.unwrap_or(Err(NoPacket::Slow))?;
        let (letter, rest) = self.bytes.split_first().ok_or(NoPacket::Size(0))?;
        Ok((*letter, rest))
    }

    async fn read(&mut self) -> Result<(), NoPacket> {
        let n_bytes = self.stream.read_u32().await.map_err(ended)?;
        if !(1..=BYTES_MAX).contains(&n_bytes) {
            return Err(NoPacket::Size(n_bytes));
        }
        let n_read = (&mut self.stream).take(n_bytes.into()).read_to_end(&mut self.bytes).await?;
        if n_read < n_bytes as usize { Err(NoPacket::Ended) } else { Ok(()) }
    }

    /// Sends packets, as [`super::reply`] writes them.
    pub(super) async fn send(&mut self, packets: &[u8]) -> Result<(), NoPacket> {
        let stream = self.stream.get_mut();
        let send = async {
            stream.write_all(packets).await?;
            stream.flush().await
        };
        Ok(timeout(self.patience, send).await.map_err(|_| NoPacket::Slow)??)
    }
}

fn ended(error: io::Error) -> NoPacket {
    if error.kind() == io::ErrorKind::UnexpectedEof { NoPacket::Ended } else { NoPacket::Broken(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::duplex;

    /// What comes of these bytes, after which the other side is silent.
    async fn packets(bytes: &[u8]) -> (Vec<(u8, Vec<u8>)>, NoPacket) {
        let (mut client, server) = duplex(1 << 22);
        let mut packets = Packets::new(server, Duration::from_millis(20));
        client.write_all(bytes).await.unwrap();
        let mut all = Vec::new();
        loop {
            if let Err(end) = packets.begun(Duration::from_millis(60)).await {
                return (all, end);
            }
            match packets.next().await {
                Ok((letter, rest)) => all.push((letter, rest.to_vec())),
                Err(end) => return (all, end),
            }
        }
    }

    #[tokio::test]
    async fn a_packet_is_whole_or_given_up() {
        let (all, end) = packets(b"\0\0\0\x03Mab\0\0\0\x01Q").await;
        assert_eq!(all, [(b'M', b"ab".to_vec()), (b'Q', Vec::new())]);
        assert!(matches!(end, NoPacket::Silent), "{end}");
        for (bytes, size) in [(b"GET / HTTP/1.1\r\n\r\n".as_slice(), 0x4745_5420), (b"\0\0\0\0x", 0)] {
            let (all, end) = packets(bytes).await;
            assert!(all.is_empty() && matches!(end, NoPacket::Size(found) if found == size), "{end}");
        }
        for half in [b"\0\0".as_slice(), b"\0\x0f\0\0Bxyz"] {
            assert!(matches!(packets(half).await, (_, NoPacket::Slow)));
        }
        let (client, server) = duplex(64);
        let mut packets = Packets::new(server, Duration::from_millis(20));
        assert!(matches!(packets.send(&[0; 65]).await, Err(NoPacket::Slow)), "nobody reads");
        drop(client);
        assert!(matches!(packets.begun(Duration::from_millis(60)).await, Err(NoPacket::Ended)));
    }
}

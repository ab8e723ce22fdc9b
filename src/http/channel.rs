//! An answer that a thread writes while it is being sent: a few pieces wait in between, and no more.

use axum::body::{Body, Bytes};
use hyper::body::Frame;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Pieces that wait to be sent. With [`PIECE_BYTES`] this is what a slow reader can make us hold.
const PIECES: usize = 2;
/// A piece is about as large at most.
pub(super) const PIECE_BYTES: usize = 128 << 10;

/// Where the pieces come from. An error ends the answer so that the reader sees that it is not whole.
pub(super) type Pieces = Sender<io::Result<Vec<u8>>>;

/// An answer, and where its pieces go.
pub(super) fn answer() -> (Pieces, Body) {
    let (sender, pieces) = channel(PIECES);
    (sender, Body::new(Written { pieces }))
}

struct Written {
    pieces: Receiver<io::Result<Vec<u8>>>,
}

impl hyper::body::Body for Written {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.pieces.poll_recv(cx).map(|piece| piece.map(|piece| piece.map(|bytes| Frame::data(bytes.into()))))
    }
}

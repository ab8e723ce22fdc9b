//! JSON envelopes: `schemas/page.json` and `schemas/email.json`.

use super::{Carrier, Rejection};
use crate::config::Limits;

/// An envelope taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// The body inside it.
    pub body: Vec<u8>,
    /// Its fields. `text` (plain text in place of `html`) sets the content type to `text/plain; charset=utf-8`,
    /// `html` sets its charset to UTF-8, since JSON text is.
    pub carrier: Carrier,
}

/// A page's envelope. `beside` is what came with it; the envelope's own fields win.
pub fn open_page(json: &[u8], beside: &Carrier, limits: &Limits) -> Result<Opened, Rejection> {
    let _ = (json, beside, limits);
    todo!()
}

/// A mail's envelope.
pub fn open_mail(json: &[u8], beside: &Carrier, limits: &Limits) -> Result<Opened, Rejection> {
    let _ = (json, beside, limits);
    todo!()
}

//! Personal tokens (addresses, URLs, long digit strings, the recipient's name) count as one word each, whatever
//! they say, so that a campaign that greets everybody by name stays one campaign.

/// What a masked token was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// An e-mail address.
    Address,
    /// A URL or host name.
    Url,
    /// A string of many digits.
    Number,
    /// A name of the recipient.
    Name,
}

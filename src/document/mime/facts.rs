//! What the headers of a mail say of its sender, its date and its recipients.

use super::fields::{self, Fields, Mailbox};
use crate::document::{Carrier, identity};
use serde::Serialize;

/// What the headers of a mail say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MailFacts {
    /// The From address.
    pub from: Option<String>,
    /// The registered domain of the From address.
    pub from_domain: Option<String>,
    /// The registered domain that the receiving server authenticated.
    pub authenticated_domain: Option<String>,
    /// Message-ID, without brackets. It belongs to the sender and identifies nothing.
    pub message_id: Option<String>,
    /// Date, RFC 3339.
    pub date: Option<String>,
    /// List-Id.
    pub list_id: Option<String>,
    /// The recipients' names and local parts, lower case; masked in the text.
    pub recipients: Vec<String>,
}

/// More names than this come from a list of recipients, not from a salutation.
const RECIPIENTS_MAX: usize = 64;
/// No honest value of one of these fields is longer; the rest is not looked at.
const VALUE_BYTES_MAX: usize = 16 * 1024;
/// Letters that a name has at least: shorter ones are too often words.
const LETTERS_MIN: usize = 3;

/// The facts in the headers of a mail and in what its carrier says.
pub(super) fn of(fields: &Fields<'_>, carrier: &Carrier) -> MailFacts {
    let from = fields.from.and_then(sender);
    let domain_of = |address: &str| {
        let (_, host) = address.rsplit_once('@')?;
        registered(host)
    };
    MailFacts {
        from_domain: from.as_deref().and_then(domain_of),
        from,
        authenticated_domain: carrier.authenticated_domain.as_deref().and_then(registered),
        message_id: fields.message_id.and_then(bracketed),
        date: fields.date.and_then(date),
        list_id: fields.list_id.and_then(bracketed),
        recipients: recipients(fields, carrier),
    }
}

fn registered(host: &str) -> Option<String> {
    let host = host.trim().trim_end_matches('.').to_ascii_lowercase();
    identity::registered_domain(&host).map(str::to_owned)
}

fn bounded(value: &[u8]) -> &[u8] {
    &value[..value.len().min(VALUE_BYTES_MAX)]
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// The first address of a From field.
fn sender(value: &[u8]) -> Option<String> {
    let mut address = None;
    fields::mailboxes(bounded(value), |mailbox| {
        address = (!mailbox.address.is_empty()).then(|| lossy(mailbox.address));
        address.is_none()
    });
    address
}

/// What stands in the (last) angle brackets, else the whole value.
fn bracketed(value: &[u8]) -> Option<String> {
    let value = bounded(value).trim_ascii();
    let inner = match (memchr::memrchr(b'<', value), memchr::memrchr(b'>', value)) {
        (Some(open), Some(close)) if open < close => &value[open + 1..close],
        _ => value,
    };
    let inner = lossy(inner);
    (!inner.is_empty()).then_some(inner)
}

fn date(value: &[u8]) -> Option<String> {
    // mail-parser forgives what mailers do to dates; it wants the line end.
    const DATE_BYTES_MAX: usize = 128;
    let value = value.trim_ascii();
    let mut line = lossy(&value[..value.len().min(DATE_BYTES_MAX)]);
    line.push('\n');
    let date = mail_parser::DateTime::parse_rfc822(&line)?;
    date.is_valid().then(|| date.to_rfc3339())
}

/// The names that a sender could address the recipients by.
fn recipients(fields: &Fields<'_>, carrier: &Carrier) -> Vec<String> {
    let mut names = Vec::new();
    for value in [fields.to, fields.cc].into_iter().flatten() {
        fields::mailboxes(bounded(value), |Mailbox { name, address }| {
            if is_list(address, fields.list_id) {
                return true;
            }
            add_local_part(&lossy(address), &mut names);
            // `"bob@b.example" <bob@b.example>` is the address again.
            if memchr::memchr(b'@', &name).is_none() {
                add_words(&fields::text(&name, None), &mut names);
            }
            names.len() < RECIPIENTS_MAX
        });
    }
    for address in &carrier.rcpt {
        add_local_part(address, &mut names);
    }
    names.truncate(RECIPIENTS_MAX);
    names
}

/// Whether the address is that of the list: `talk@list.example` in `Talk <talk.list.example>`. Its words are the
/// list's subject matter, and not a person.
fn is_list(address: &[u8], list_id: Option<&[u8]>) -> bool {
    let local = &address[..memchr::memchr(b'@', address).unwrap_or(address.len())];
    !local.is_empty() && list_id.is_some_and(|id| memchr::memmem::find(bounded(id), local).is_some())
}

/// The part before the `@`, whole and in its words: `jane.doe` is greeted as `Jane Doe` and as `jane.doe`.
fn add_local_part(address: &str, names: &mut Vec<String>) {
    if let Some((local, _)) = address.trim_matches(['<', '>', ' ']).rsplit_once('@') {
        let local = local.to_lowercase();
        add_words(&local, names);
        if local.len() >= LETTERS_MIN && !ROLES.contains(&local.as_str()) {
            add(local, names);
        }
    }
}

fn add_words(name: &str, names: &mut Vec<String>) {
    for word in name.split(|c: char| !c.is_alphabetic()) {
        if names.len() >= RECIPIENTS_MAX {
            return;
        }
        if word.chars().nth(LETTERS_MIN - 1).is_some() {
            let word = word.to_lowercase();
            if !ROLES.contains(&word.as_str()) {
                add(word, names);
            }
        }
    }
}

fn add(name: String, names: &mut Vec<String>) {
    if names.len() < RECIPIENTS_MAX && !names.contains(&name) {
        names.push(name);
    }
}

/// Local parts that are words of every mail, and nobody's name.
const ROLES: [&str; 20] = [
    "info",
    "sales",
    "support",
    "admin",
    "webmaster",
    "postmaster",
    "contact",
    "office",
    "mail",
    "list",
    "lists",
    "users",
    "user",
    "news",
    "help",
    "service",
    "team",
    "undisclosed",
    "recipients",
    "the",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(header: &str) -> MailFacts {
        let (fields, _) = fields::scan(header.as_bytes(), 0, |_| false);
        of(&fields, &Carrier::default())
    }

    #[test]
    fn recipients_are_the_words_and_local_parts_of_to_and_cc() {
        let header = "To: \"Doe, Jane\" <jane.doe@a.example>, bob99@b.example (Bob B. Barker)\r\n\
                      Cc: =?utf-8?q?J=C3=B6rg?= <j@c.example>, undisclosed-recipients:;\r\n\r\n";
        assert_eq!(facts(header).recipients, ["jane", "doe", "jane.doe", "bob", "bob99", "barker", "jörg"]);
    }

    #[test]
    fn roles_and_two_letter_names_are_not_masked() {
        assert_eq!(facts("To: Al <info@a.example>, sales@b.example\n\n").recipients, Vec::<String>::new());
    }

    #[test]
    fn the_carriers_recipients_count_too() {
        let carrier = Carrier { rcpt: vec!["<Kim@x.example>".into()], ..Carrier::default() };
        let (fields, _) = fields::scan(b"Subject: x\n\n", 0, |_| false);
        assert_eq!(of(&fields, &carrier).recipients, ["kim"]);
    }

    #[test]
    fn the_address_of_a_list_is_nobody() {
        let header =
            "List-Id: Talk <seam-talk.list.example>\nTo: Seam Talk <seam-talk@list.example>, eve@x.example\n\n";
        assert_eq!(facts(header).recipients, ["eve"]);
    }

    #[test]
    fn recipients_are_bounded() {
        let many: String = (0..10_000).map(|n| format!("name{n}@x.example, ")).collect();
        assert_eq!(facts(&format!("To: {many}\n\n")).recipients.len(), RECIPIENTS_MAX);
    }

    #[test]
    fn dates_are_rfc_3339_or_none() {
        assert_eq!(facts("Date: Mon, 2 Sep 2002 12:00:01 +0200\n\n").date.unwrap(), "2002-09-02T12:00:01+02:00");
        assert_eq!(facts("Date: yesterday\n\n").date, None);
        assert_eq!(facts("Date: Mon, 99 Sep 2002 12:00:01 +0200\n\n").date, None);
    }

    #[test]
    fn ids_lose_their_brackets() {
        let facts = facts("Message-ID: <a@b>\nList-Id: Friends of seams <seams.list.example>\n\n");
        assert_eq!(facts.message_id.unwrap(), "a@b");
        assert_eq!(facts.list_id.unwrap(), "seams.list.example");
    }

    #[test]
    fn the_sender_is_the_first_address() {
        for from in
            ["Ann <ann@a.example>", "\"x@y.example\" <ann@a.example>", "ann@a.example (Ann)", "<ann@a.example>, b@c"]
        {
            assert_eq!(facts(&format!("From: {from}\n\n")).from.as_deref(), Some("ann@a.example"), "{from}");
        }
    }
}

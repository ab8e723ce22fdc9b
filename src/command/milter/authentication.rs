//! For which domain the mail server has authenticated a mail, by its Authentication-Results (RFC 8601).
//!
//! Anybody can write such a field. Ours counts those that carry the id of the own server, from the top, as many as that server
//! adds: it puts them above everything that came with the mail.
//!
//! # Invariants
//! - Fields of other ids, below the server's own, or below a Received field say nothing. (`what_a_sender_writes_says_nothing`)
//! - DMARC comes before DKIM and DKIM before SPF, as in `schemas/email.json`. (`dmarc_comes_before_dkim_before_spf`)
//! - Any value is read in one pass. (`any_value_is_read`)

/// The longest value that is looked at.
const VALUE_BYTES_MAX: usize = 16 << 10;

/// What the fields of one mail have said so far.
#[derive(Debug, Default)]
pub(super) struct Authentication {
    n_own: usize,
    /// What follows is older than the mail's way through our server.
    is_over: bool,
    dmarc: Option<String>,
    dkim: Option<String>,
    spf: Option<String>,
}

impl Authentication {
    /// Takes in the next header field of a mail. `own` is the id that counts, and how many fields with it do.
    pub(super) fn read(&mut self, name: &[u8], value: &[u8], own: (&str, usize)) {
        let (id, n_max) = own;
        if self.is_over || id.is_empty() {
            return;
        }
        if name.eq_ignore_ascii_case(b"received") {
            self.is_over = true;
        }
        if !name.eq_ignore_ascii_case(b"authentication-results") {
            return;
        }
        let Some(value) = value.get(..VALUE_BYTES_MAX.min(value.len())) else { return };
        let statements = statements(value);
        let Some((said_by, results)) = statements.split_first() else { return };
        // A version may follow.
        if !said_by.first().is_some_and(|said_by| said_by.eq_ignore_ascii_case(id)) {
            return;
        }
        self.n_own += 1;
        self.is_over = self.n_own >= n_max;
        results.iter().for_each(|result| self.take(result));
    }

    /// The domain that was authenticated.
    pub(super) fn domain(&self) -> Option<&str> {
        self.dmarc.as_deref().or(self.dkim.as_deref()).or(self.spf.as_deref())
    }

    /// One result: `dkim=pass header.d=a.example`.
    fn take(&mut self, words: &[String]) {
        let Some((method, result)) = words.first().and_then(|word| word.split_once('=')) else { return };
        if !result.eq_ignore_ascii_case("pass") {
            return;
        }
        // A version may follow the method.
        let method = method.split('/').next().unwrap_or_default().to_ascii_lowercase();
        let property = |name: &str| {
            let found = words[1..].iter().filter_map(|word| word.split_once('='));
            found.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| domain(value)).next().flatten()
        };
        let (slot, said) = match &*method {
            "dmarc" => (&mut self.dmarc, property("header.from")),
            "dkim" => (&mut self.dkim, property("header.d").or_else(|| property("header.i"))),
            "spf" => (&mut self.spf, property("smtp.mailfrom")),
            _ => return,
        };
        if slot.is_none() {
            *slot = said;
        }
    }
}

/// The domain in `a.example`, `user@a.example` or `@a.example`.
pub(super) fn domain(value: &str) -> Option<String> {
    let domain = value.rsplit('@').next().unwrap_or_default().trim_matches(['<', '>', '.']).to_ascii_lowercase();
    let is_domain = domain.contains('.') && domain.len() <= 253;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    (is_domain && domain.bytes().all(is_name)).then_some(domain)
}

/// The statements of a value, which `;` separates, each in words: comments are left out, quotation marks undone, and an equals sign
/// has its words on both sides.
fn statements(value: &[u8]) -> Vec<Vec<String>> {
    let (mut statements, mut words, mut word) = (Vec::new(), Vec::new(), Vec::new());
    let (mut depth, mut is_quoted, mut is_pair) = (0usize, false, false);
    let end = |word: &mut Vec<u8>, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(String::from_utf8_lossy(&std::mem::take(word)).into_owned());
        }
    };
    let mut bytes = value.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if depth > 0 => drop(bytes.next()),
            b'\\' if is_quoted => word.extend(bytes.next()),
            b'(' if !is_quoted => depth += 1,
            b')' if depth > 0 && !is_quoted => depth -= 1,
            _ if depth > 0 => {}
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => word.push(byte),
            b';' => {
                end(&mut word, &mut words);
                statements.push(std::mem::take(&mut words));
            }
            b'=' => {
                if word.is_empty()
                    && let Some(before) = words.pop()
                {
                    word = before.into_bytes();
                }
                word.push(b'=');
                is_pair = true;
            }
            b' ' | b'\t' | b'\r' | b'\n' if is_pair => {}
            b' ' | b'\t' | b'\r' | b'\n' => end(&mut word, &mut words),
            byte => {
                is_pair = false;
                word.push(byte);
            }
        }
    }
    end(&mut word, &mut words);
    statements.push(words);
    statements
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OWN: (&str, usize) = ("mx.example", 2);

    fn authenticated(fields: &[(&str, &str)]) -> Option<String> {
        let mut authentication = Authentication::default();
        fields.iter().for_each(|(name, value)| authentication.read(name.as_bytes(), value.as_bytes(), OWN));
        authentication.domain().map(str::to_owned)
    }

    fn results(value: &str) -> Option<String> {
        authenticated(&[("authentication-RESULTS", value)])
    }

    #[test]
    fn dmarc_comes_before_dkim_before_spf() {
        let all = " mx.example;\n\tdkim=pass (2048-bit key) header.d=sign.example header.i=@sign.example;\n\
                   \tspf=pass smtp.mailfrom=user@bounce.example; dmarc=pass (p=reject; sp=none) header.from=from.example";
        assert_eq!(results(all).as_deref(), Some("from.example"));
        assert_eq!(results(&all.replace("dmarc=pass", "dmarc=fail")).as_deref(), Some("sign.example"));
        let spf = all.replace("dmarc=pass", "dmarc=none").replace("dkim=pass", "dkim=fail");
        assert_eq!(results(&spf).as_deref(), Some("bounce.example"));
        assert_eq!(results(&spf.replace("spf=pass", "spf=softfail")), None);
    }

    #[test]
    fn it_is_read_as_others_write_it() {
        for (value, domain) in [
            ("mx.example 1; spf=pass smtp.mailfrom=a.example", Some("a.example")),
            ("MX.example; DKIM/1 = Pass (good) header.d = \"A.example\"", Some("a.example")),
            ("mx.example; dkim=fail header.d=a.example; dkim=pass header.d=b.example", Some("b.example")),
            ("mx.example; dkim=pass header.i=@c.example", Some("c.example")),
            ("mx.example (by (nested; \\) spf=pass smtp.mailfrom=x.example) us); spf=none", None),
            ("mx.example; none", None),
            ("mx.example; spf=pass reason=\"a; dmarc=pass header.from=x.example\"", None),
            ("mx.example; spf=pass smtp.mailfrom=\"x y\"", None),
            ("mx.example; dkim=pass", None),
            ("", None),
            (";;;=;(((", None),
        ] {
            assert_eq!(results(value).as_deref(), domain, "{value}");
        }
    }

    #[test]
    fn what_a_sender_writes_says_nothing() {
        let (field, pass) = ("Authentication-Results", "mx.example; dmarc=pass header.from=bank.example");
        let none = "mx.example; dmarc=none";
        assert_eq!(authenticated(&[(field, pass)]).as_deref(), Some("bank.example"));
        assert_eq!(authenticated(&[(field, none), (field, none), (field, pass)]), None, "below the server's own two");
        assert_eq!(authenticated(&[("Received", "from x"), (field, pass)]), None);
        assert_eq!(results(&pass.replace("mx.example", "evil.mx.example")), None);
        assert_eq!(results(&pass.replace("mx.example", "mx.example.evil.example")), None);
        let mut untrusting = Authentication::default();
        untrusting.read(field.as_bytes(), pass.as_bytes(), ("", 1));
        assert_eq!(untrusting.domain(), None);
    }

    proptest! {
        #[test]
        fn any_value_is_read(value: Vec<u8>) {
            let mut authentication = Authentication::default();
            authentication.read(b"authentication-results", &value, OWN);
            statements(&value);
        }
    }
}

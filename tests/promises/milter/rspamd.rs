//! A real rspamd with our plugin gives every mail its symbols, and goes on without a server.

use super::fake::{Fake, Reaction, checked};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// An instance of its own, gone with the test.
struct Rspamd {
    folder: TempDir,
    /// The run that it asks.
    server: String,
}

impl Rspamd {
    fn up(fake: &Fake, lines: &[&str]) -> Self {
        // It drops its rights, and must get in all the same.
        let folder = tempfile::Builder::new().prefix("rspamd").permissions(PermissionsExt::from_mode(0o755)).tempdir();
        let rspamd = Self { folder: folder.unwrap(), server: fake.address.to_string() };
        std::fs::write(rspamd.folder.path().join("http-token"), "a-token-of-the-test\n").unwrap();
        let watched = std::process::id().to_string();
        // What a name server would say of the sender, so that rspamd's own checks pass.
        let records = [
            r#"name = "a.example"; type = txt; replies = ["v=spf1 ip4:192.0.2.0/24 -all"];"#,
            r#"name = "_dmarc.a.example"; type = txt; replies = ["v=DMARC1; p=reject"];"#,
        ];
        let mut arguments = vec!["up", "--watch", &watched];
        lines.iter().for_each(|line| arguments.extend(["--set", line]));
        records.iter().for_each(|record| arguments.extend(["--record", record]));
        rspamd.script(&arguments);
        rspamd
    }

    fn script(&self, arguments: &[&str]) -> String {
        let output = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/rspamd"))
            .args(arguments)
            .arg("--dir")
            .arg(self.folder.path().join("rspamd"))
            .env("SEAMRIPPER_HTTP__LISTEN", &self.server)
            .env("SEAMRIPPER_BUS__FOLDER", self.folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Our symbols for a mail, with scores and options, sorted.
    fn symbols(&self, mail: &str) -> Vec<String> {
        let path = self.folder.path().join("mail.eml");
        std::fs::write(&path, mail).unwrap();
        let said = self.script(&["check", path.to_str().unwrap()]);
        let mut symbols: Vec<String> =
            said.lines().filter_map(|line| line.strip_prefix("Symbol: SEAMRIPPER_")).map(str::to_owned).collect();
        symbols.sort();
        symbols
    }
}

impl Drop for Rspamd {
    fn drop(&mut self) {
        self.script(&["down"]);
    }
}

const MAIL: &str = "From: Ann <ann@a.example>\r\nTo: bob@example.test\r\nSubject: seams\r\nMessage-ID: <1@a.example>\r\n\
    Date: Tue, 17 Feb 2026 13:22:38 +0000\r\n\r\nHello there, this is a mail.\r\n";

#[test]
fn verdicts_are_symbols_and_a_server_that_fails_costs_no_mail() {
    let fake = Fake::start(|_| Reaction::Answer(200, checked("filter", &["spam", "unscored"])));
    let settings =
        ["labels { spam = 8.0; allow = -20.0; }", "scores { bulk = 2.0; }", "bulk_size_min = 17;", "pause = 0.0;"];
    let rspamd = Rspamd::up(&fake, &settings);
    let copy = [
        "BULK (2.00)[head-1, size=17, spread=5]",
        "LABEL_SPAM (8.00)[head-1]",
        "MIRROR (0.00)[head-1, size=17, spread=5]",
    ];
    assert_eq!(rspamd.symbols(MAIL), copy);
    let asked = &fake.asked()[0];
    assert!(asked.line.starts_with("POST /v1/check?kind=email&learn=true&timeout_ms="), "{}", asked.line);
    for (name, value) in [
        ("content-type", "message/rfc822"),
        ("authorization", "Bearer a-token-of-the-test"),
        ("client-ip", "192.0.2.7"),
        ("mail-from", "ann@a.example"),
        ("rcpt", "bob@example.test"),
        ("authenticated-domain", "a.example"),
    ] {
        assert_eq!(asked.header(name), Some(value), "{name}");
    }
    assert_eq!(String::from_utf8_lossy(&asked.body), MAIL);
    for (reaction, symbols) in [
        // Shown and not counted.
        (
            Reaction::Answer(200, checked("shadow", &["spam"])),
            &[
                "BULK (0.00)[head-1, size=17, spread=5]",
                "LABEL_SPAM (0.00)[head-1]",
                "MIRROR (0.00)[head-1, size=17, spread=5]",
            ][..],
        ),
        (
            Reaction::Answer(200, checked("filter", &["spam", "allow"])),
            &[
                "BULK (2.00)[head-1, size=17, spread=5]",
                "LABEL_ALLOW (-20.00)[head-1]",
                "MIRROR (0.00)[head-1, size=17, spread=5]",
            ],
        ),
        (
            Reaction::Answer(200, checked("filter", &[]).replace("head-1", "a\\r\\nX: b\\u202e")),
            &["BULK (2.00)[a??X:?b???, size=17, spread=5]", "MIRROR (0.00)[a??X:?b???, size=17, spread=5]"],
        ),
        (Reaction::Answer(202, "{}".into()), &["UNCHECKED (0.00)[late]"]),
        (Reaction::Answer(503, "{}".into()), &["UNCHECKED (0.00)[status?503]"]),
        (Reaction::Answer(200, "{}".into()), &["UNCHECKED (0.00)[garbled]"]),
        (Reaction::Answer(200, "not json".into()), &["UNCHECKED (0.00)[garbled]"]),
        (Reaction::Bytes(Vec::new()), &["UNCHECKED (0.00)[unreachable]"]),
        (Reaction::Silence, &["UNCHECKED (0.00)[unreachable]"]),
    ] {
        let shown = format!("{reaction:?}");
        fake.change(move |_| reaction.clone());
        assert_eq!(rspamd.symbols(MAIL), symbols, "{shown}");
    }
    fake.change(|_| Reaction::Answer(200, checked("filter", &["spam"])));
    assert_eq!(rspamd.symbols(MAIL), copy, "it is asked again");
}

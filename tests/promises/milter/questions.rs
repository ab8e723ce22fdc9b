//! What a run is asked, and what a mail gets of its answer.

use super::wire::{ACTIONS, STEPS};
use super::{Client, Fake, Letter, Milter, Reaction, checked, until};
use seamripper::config::Action;

fn filtering(labels: &'static [&'static str]) -> Fake {
    Fake::start(move |_| Reaction::Answer(200, checked("filter", labels)))
}

#[test]
fn the_server_is_told_what_the_mail_server_knows() {
    let fake = filtering(&[]);
    let milter = Milter::of(fake.address, |settings| settings.milter.authserv_id = "mx.example.test".into());
    let mut letter = Letter::new("Hello,\r\n.dots\r\nand more.\r\n")
        .with("Received", "from x by y")
        .with("Authentication-Results", "evil.example; dmarc=pass header.from=bank.example")
        .with("Authentication-Results", "mx.example.test; dkim=pass header.d=sign.example")
        .with("X-Folded", "one\n\ttwo");
    letter.recipients = vec!["bob@b.example", "eve@e.example"];
    milter.send(&letter);
    letter.login = Some("ann@login.example");
    letter.sender = "";
    milter.send(&letter);
    let asked = fake.asked();
    assert_eq!(asked.len(), 2);
    let (first, second) = (&asked[0], &asked[1]);
    let (path, query) = first.line.strip_prefix("POST ").unwrap().split_once('?').unwrap();
    assert_eq!(path, "/v1/check");
    assert!(query.starts_with("kind=email&learn=true&timeout_ms="), "{query}");
    for (name, value) in [
        ("content-type", "message/rfc822"),
        ("authorization", "Bearer a-token-of-the-test"),
        ("client-ip", "192.0.2.7"),
        ("mail-from", "ann@a.example"),
        ("authenticated-domain", "sign.example"),
    ] {
        assert_eq!(first.header(name), Some(value), "{name}");
    }
    let rcpt: Vec<&str> = first.headers.iter().filter(|(name, _)| name == "rcpt").map(|(_, value)| &**value).collect();
    assert_eq!(rcpt, ["bob@b.example", "eve@e.example"]);
    let (id, other) = (first.header("id").unwrap(), second.header("id").unwrap());
    assert!(id.starts_with("4bXq1Zz-") && other.starts_with("4bXq1Zz-") && id != other, "{id} {other}");
    assert!(first.header("received-at").unwrap().parse::<jiff::Timestamp>().is_ok());
    let body = String::from_utf8(first.body.clone()).unwrap();
    assert!(body.starts_with("X-Folded: one\r\n\ttwo\r\nAuthentication-Results: mx.example.test;"), "{body}");
    assert!(body.ends_with("\r\nSubject: seams\r\n\r\nHello,\r\n.dots\r\nand more.\r\n"), "{body}");
    assert_eq!(second.header("authenticated-domain"), Some("login.example"));
}

#[test]
fn a_mail_gets_its_verdict_and_loses_what_was_forged() {
    let fake = filtering(&["spam", "b,c"]);
    let milter = Milter::of(fake.address, |settings| settings.milter.learn = false);
    let letter = Letter::new("x")
        .with("X-Seamripper-Class", "original")
        .with("x-seamripper-CLASS", "original")
        .with("X-SEAMRIPPER-ANYTHING", "y")
        .with("X-Seamripper-Class ", "with a space");
    let expected = [
        ("Status", "checked"),
        ("Mode", "filter"),
        ("Id", "mail-1"),
        ("Class", "mirror"),
        ("Group", "head-1"),
        ("Size", "17"),
        ("Spread", "5"),
        ("Labels", "b%2Cc, spam"),
    ];
    let expected = expected.map(|(name, value)| (format!("X-Seamripper-{name}"), value.to_owned()));
    // Old mail servers send and take values without their space.
    for (version, steps) in [(6, STEPS), (6, 0), (2, 0x7f)] {
        let mut client = Client::connect(milter.address);
        let (spoken, actions, agreed) = client.negotiate(version, ACTIONS, steps);
        assert_eq!((spoken, actions, agreed & !steps), (version, 0x31, 0));
        let said = client.send(&letter);
        let class = "x-seamripper-class".to_owned();
        let deleted = [("x-seamripper-anything".into(), 1), (class.clone(), 3), (class.clone(), 2), (class, 1)];
        assert_eq!((&said.deleted[..], &said.inserted[..]), (&deleted[..], &expected[..]));
        assert_eq!((said.quarantined, said.refused), (None, None), "no action is configured");
    }
    let asked = fake.asked();
    assert!(asked.iter().all(|asked| asked.line.contains("learn=false")), "{asked:?}");
    let forged = asked.iter().any(|asked| String::from_utf8_lossy(&asked.body).to_lowercase().contains("x-seamripper"));
    assert!(!forged, "what was forged is no part of the mail");
}

#[test]
fn labels_are_acted_on_as_configured() {
    let fake = filtering(&[]);
    let milter = Milter::of(fake.address, |settings| {
        let actions = [("spam", Action::Reject), ("bulk", Action::Quarantine), ("ham", Action::Header)];
        settings.milter.actions = actions.map(|(label, action)| (label.to_owned(), action)).into();
    });
    let letter = Letter::new("x");
    let mut client = Client::agreed(milter.address);
    for (mode, labels, quarantined, refused) in [
        ("filter", &["spam"][..], None, Some("550 5.7.1 this is a message that is labelled spam")),
        ("filter", &["bulk"], Some("seamripper: labelled bulk"), None),
        ("filter", &["ham", "other"], None, None),
        ("filter", &["spam", "allow", "bulk"], None, None),
        ("shadow", &["spam", "bulk"], None, None),
        ("to be defined", &["spam"], None, None),
    ] {
        fake.change(move |_| Reaction::Answer(200, checked(mode, labels)));
        let said = client.send(&letter);
        assert_eq!((said.quarantined.as_deref(), said.refused.as_deref()), (quarantined, refused), "{mode} {labels:?}");
        if refused.is_none() {
            let mode = if mode == "filter" { "filter" } else { "shadow" };
            assert_eq!(said.field("X-Seamripper-Mode"), Some(mode));
            assert_eq!(said.field("X-Seamripper-Labels").map(|listed| listed.split(", ").count()), Some(labels.len()));
        }
    }
    drop(client);
    let counts = milter.counts();
    assert!(counts.contains("checked=6 unchecked=0") && counts.contains("quarantined=1 rejected=1"), "{counts}");
}

/// A mail server that does not offer it is not asked for it.
#[test]
fn what_a_mail_server_does_not_allow_is_left() {
    let fake = filtering(&["bulk"]);
    let milter = Milter::of(fake.address, |settings| {
        settings.milter.actions = [("bulk".to_owned(), Action::Quarantine)].into();
    });
    let letter = Letter::new("x").with("X-Seamripper-Class", "original");
    for (actions, n_inserted, n_deleted) in [(0x01, 8, 0), (0x11, 8, 1), (0x00, 0, 0)] {
        let mut client = Client::connect(milter.address);
        assert_eq!(client.negotiate(6, actions, STEPS).1, actions);
        let said = client.send(&letter);
        assert_eq!((said.inserted.len(), said.deleted.len(), said.quarantined), (n_inserted, n_deleted, None));
    }
    milter.process.says("does not let us");
}

#[test]
fn several_mails_over_one_connection_are_each_their_own() {
    let fake = filtering(&[]);
    let milter = Milter::of(fake.address, |_| ());
    let mut client = Client::agreed(milter.address);
    for number in 0..5 {
        let mut letter = Letter::new(&format!("mail {number}\r\n"));
        letter.recipients.truncate(number % 2);
        if number == 3 {
            // One that is not to be.
            client.begin(&letter.clone().with("X-Seamripper-Class", "x"));
            client.packet(b'A', b"");
        }
        assert_eq!(client.send(&letter).deleted, []);
        if number == 1 {
            // The mail server goes on with another client.
            client.packet(b'K', b"");
        }
    }
    client.packet(b'Q', b"");
    assert!(client.is_closed());
    let bodies: Vec<String> = fake.asked().iter().map(|asked| String::from_utf8_lossy(&asked.body).into()).collect();
    assert_eq!(bodies.len(), 5);
    for (number, body) in bodies.iter().enumerate() {
        assert!(
            body.ends_with(&format!("\r\n\r\nmail {number}\r\n")) && body.matches("Subject").count() == 1,
            "{body}"
        );
    }
}

#[test]
fn a_token_that_was_made_anew_is_read_again() {
    let fake = Fake::start(|asked| match asked.header("authorization") {
        Some("Bearer the-second-token") => Reaction::Answer(200, checked("filter", &[])),
        _ => Reaction::Answer(401, r#"{"reason": "token"}"#.into()),
    });
    let milter = Milter::of(fake.address, |_| ());
    milter.send(&Letter::new("x")).unchecked("refused");
    milter.process.says("milter.token_file");
    std::fs::write(milter.ground.settings.bus.folder.join("http-token"), "the-second-token\n").unwrap();
    assert_eq!(milter.send(&Letter::new("x")).field("X-Seamripper-Status"), Some("checked"));
    let log = milter.process.log();
    assert!(!log.contains("a-token-of-the-test") && !log.contains("the-second-token"), "{log}");
}

#[test]
fn what_is_counted_can_be_asked_for() {
    let fake = filtering(&[]);
    let milter = Milter::of(fake.address, |settings| {
        settings.milter.metrics_listen = Some("127.0.0.1:0".parse().unwrap());
        settings.milter.report_s = 1;
    });
    milter.send(&Letter::new("secret words").with("X-Seamripper-Class", "forged"));
    milter.process.says("checked=1 unchecked=0");
    let log = milter.process.log();
    let address = log.split("metrics listening address=").nth(1).unwrap().split_whitespace().next().unwrap();
    let get =
        |path: &str| ureq::get(format!("http://{address}{path}")).call().unwrap().body_mut().read_to_string().unwrap();
    until("the metrics tell of the mail", || {
        let text = get("/metrics");
        text.contains("seamripper_milter_mails_total{outcome=\"checked\"} 1")
            && text.contains("seamripper_milter_forged_fields_total 1")
            && text.contains("seamripper_milter_seconds_count 1")
    });
    assert_eq!(get("/healthz"), "ok\n");
    for word in ["secret", "ann@a.example", "bob@b.example", "seams", "forged\""] {
        assert!(!log.contains(word), "{word} is logged: {log}");
    }
}

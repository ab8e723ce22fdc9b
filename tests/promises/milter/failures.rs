//! A server that fails costs a mail its verdict and nothing else.

use super::{Client, Fake, Letter, Milter, Reaction, checked, until};
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// Every way to fail: the mail goes on within its time, forged fields go, and it is counted by its reason.
#[test]
fn whatever_the_server_does_the_mail_goes_on() {
    let good = || checked("filter", &[]);
    let long = "x".repeat(5 << 20);
    let reactions = [
        (Reaction::Silence, "timeout"),
        (Reaction::Answer(202, r#"{"learned": true, "position": null}"#.into()), "late"),
        (Reaction::Answer(503, r#"{"reason": "timeout"}"#.into()), "unavailable"),
        (Reaction::Answer(429, r#"{"reason": "rate"}"#.into()), "unavailable"),
        (Reaction::Answer(500, "oops".into()), "unavailable"),
        (Reaction::Answer(301, String::new()), "unavailable"),
        (Reaction::Answer(422, r#"{"reason": "headers\r\nfoo=bar"}"#.into()), "refused"),
        (Reaction::Answer(404, "not json".into()), "refused"),
        (Reaction::Answer(413, "{}".into()), "too_large"),
        (Reaction::Answer(200, "{}".into()), "garbled"),
        (Reaction::Answer(200, good().replace("\"judged\"", "\"guessed\"")), "garbled"),
        (Reaction::Answer(200, good()[..100].to_owned()), "garbled"),
        (Reaction::Answer(200, format!("{{\"x\": \"{long}\"}}")), "garbled"),
        (Reaction::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"verdict\"".to_vec()), "garbled"),
        (Reaction::Bytes(b"SSH-2.0-server\r\n".to_vec()), "unreachable"),
        (Reaction::Bytes(Vec::new()), "unreachable"),
    ];
    let n_reactions = reactions.len();
    let fake = Fake::start(|_| Reaction::Silence);
    let milter = Milter::of(fake.address, |settings| {
        settings.milter.timeout_ms = 1500;
        // Every mail asks.
        settings.milter.pause_ms = 0;
    });
    let letter = Letter::new("x").with("X-Seamripper-Class", "original");
    let mut client = Client::agreed(milter.address);
    for (reaction, reason) in reactions {
        fake.change(move |_| reaction.clone());
        let begun = Instant::now();
        let said = client.send(&letter);
        said.unchecked(reason);
        assert_eq!(said.deleted, [("x-seamripper-class".to_owned(), 1)]);
        // Under load a test is slow too: this only says that it does not wait for ever.
        assert!(begun.elapsed() < Duration::from_secs(20), "{reason} after {:?}", begun.elapsed());
    }
    fake.change(|_| Reaction::Answer(200, checked("filter", &[])));
    assert_eq!(client.send(&letter).field("X-Seamripper-Status"), Some("checked"));
    let counts = milter.counts();
    assert!(counts.contains(&format!("checked=1 unchecked={n_reactions}")), "{counts}");
    assert!(counts.contains("timeout:1") && counts.contains("garbled:5"), "{counts}");
}

#[test]
fn without_a_server_mails_go_on_and_with_one_again_they_are_checked() {
    // A port that nobody listens on.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let milter = Milter::of(address, |settings| settings.milter.pause_ms = 200);
    let mut client = Client::agreed(milter.address);
    let letter = Letter::new("x");
    for _ in 0..3 {
        client.send(&letter).unchecked("unreachable");
    }
    milter.process.says("the server fails, mails go on unchecked");
    let listener = TcpListener::bind(address).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                use std::io::{Read, Write};
                let mut head = [0; 65536];
                // The request is short: it comes at once, or in two pieces, of which the last ends the mail.
                let mut n = 0;
                while !head[..n].ends_with(b"\r\n\r\nx") {
                    n += stream.read(&mut head[n..]).unwrap();
                }
                let body = checked("filter", &[]);
                write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
                    .unwrap();
            });
        }
    });
    until("mails are checked again", || client.send(&letter).field("X-Seamripper-Status") == Some("checked"));
    milter.process.says("the server answers again");
}

/// A server that hangs delays a few mails, and not every one.
#[test]
fn a_server_that_hangs_is_left_alone() {
    let fake = Fake::start(|_| Reaction::Silence);
    let milter = Milter::of(fake.address, |settings| {
        settings.milter.timeout_ms = 300;
        settings.milter.pause_ms = 3_600_000;
    });
    let mut client = Client::agreed(milter.address);
    let letter = Letter::new("x").with("X-Seamripper-Class", "original");
    for _ in 0..3 {
        client.send(&letter).unchecked("timeout");
    }
    for _ in 0..50 {
        let said = client.send(&letter);
        said.unchecked("paused");
        assert_eq!(said.deleted.len(), 1);
    }
    assert_eq!(fake.asked().len(), 3, "nobody waited for it");
    let counts = milter.counts();
    assert!(counts.contains("why=\"paused:50,timeout:3\""), "{counts}");
}

#[test]
fn more_at_once_than_allowed_wait_or_go_on() {
    let fake = Fake::start(|_| Reaction::Silence);
    let milter = Milter::of(fake.address, |settings| {
        settings.milter.mails_max = 2;
        settings.milter.timeout_ms = 3000;
        settings.milter.pause_ms = 0;
    });
    let (letter, address) = (Letter::new("x"), milter.address);
    let send = || Client::agreed(address).send(&letter);
    let outcomes: Vec<String> = std::thread::scope(|scope| {
        let sending: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
        let said = sending.into_iter().map(|sending| sending.join().unwrap());
        said.map(|said| said.field("X-Seamripper-Reason").unwrap().to_owned()).collect()
    });
    let n = |reason: &str| outcomes.iter().filter(|found| *found == reason).count();
    assert!(n("busy") > 0 && n("timeout") > 0 && n("busy") + n("timeout") == 8, "{outcomes:?}");
    // With an answer, all have their turn.
    fake.change(|_| Reaction::Later(Duration::from_millis(20), 200, checked("filter", &[])));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(send().field("X-Seamripper-Status"), Some("checked")));
        }
    });
}

#[test]
fn what_is_too_large_goes_on_unchecked() {
    let fake = Fake::start(|_| Reaction::Answer(200, checked("filter", &[])));
    let milter = Milter::of(fake.address, |settings| {
        settings.milter.mail_bytes_max = 300_000;
        settings.milter.waiting_bytes_max = 500_000;
    });
    let sized = |n_bytes: usize| Letter::new(&"x".repeat(n_bytes)).with("X-Seamripper-Class", "original");
    let mut client = Client::agreed(milter.address);
    let said = client.send(&sized(2_000_000));
    said.unchecked("too_large");
    assert_eq!(said.deleted.len(), 1);
    assert_eq!(client.send(&sized(250_000)).field("X-Seamripper-Status"), Some("checked"), "the next one is small");
    // Three that are not complete yet take all the room there is.
    let mut waiting: Vec<Client> = (0..3).map(|_| Client::agreed(milter.address)).collect();
    let large = sized(200_000);
    let said: Vec<_> = waiting
        .iter_mut()
        .map(|client| {
            client.begin(&large);
            for piece in large.body.chunks(65_535) {
                client.packet(b'B', piece);
                client.answer();
            }
        })
        .collect();
    assert_eq!(said.len(), 3);
    let reasons: Vec<Option<String>> =
        waiting.iter_mut().map(|client| client.end(&large).field("X-Seamripper-Reason").map(str::to_owned)).collect();
    assert!(reasons.contains(&Some("memory".into())) && reasons.contains(&None), "{reasons:?}");
    assert_eq!(client.send(&large).field("X-Seamripper-Status"), Some("checked"), "there is room again");
}

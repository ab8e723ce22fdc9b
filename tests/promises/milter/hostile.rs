//! Whatever comes on the port, honest mail servers are served, in bounded memory.

use super::{Client, Fake, Letter, Milter, Reaction, checked, until};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn judged() -> Fake {
    Fake::start(|_| Reaction::Answer(200, checked("filter", &[])))
}

/// A mail is still served.
fn serves(milter: &Milter) {
    assert_eq!(
        milter.send(&Letter::new("x")).field("X-Seamripper-Status"),
        Some("checked"),
        "{}",
        milter.process.log()
    );
}

/// Bytes that look random, the same in every run.
fn noise(seed: u64, n: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..n).map(|_| next()).collect()
}

#[test]
fn garbage_closes_its_connection_and_no_other() {
    let fake = judged();
    let milter = Milter::of(fake.address, |_| ());
    let mut honest = Client::agreed(milter.address);
    honest.begin(&Letter::new("x"));
    let mut garbage: Vec<Vec<u8>> = [
        b"GET / HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
        b"EHLO x\r\nMAIL FROM:<a@b>\r\n".to_vec(),
        vec![0; 100],
        vec![0xff; 100],
        // A length that nobody would send, one letter, no beginning, a short one, an old version, two of them.
        b"\x7f\xff\xff\xffO".to_vec(),
        b"\0\0\0\x01Z".to_vec(),
        b"\0\0\0\x0bM<a@b.ex>\0\0".to_vec(),
        b"\0\0\0\x02O\0".to_vec(),
        b"\0\0\0\x0dO\0\0\0\x01\0\0\0\x01\0\0\0\0".to_vec(),
        b"\0\0\0\x0dO\0\0\0\x06\0\0\0\x01\0\0\0\0\0\0\0\x0dO\0\0\0\x06\0\0\0\x01\0\0\0\0".to_vec(),
    ]
    .into();
    garbage.extend((0..300).map(|seed| noise(seed, 300)));
    // Garbage behind a good beginning.
    let good = b"\0\0\0\x0dO\0\0\0\x06\0\0\x01\xff\0\x1f\xff\xff";
    for (seed, letter) in (0..100).zip(b"CMRLDBENTUHAKQXcz".iter().cycle()) {
        let rest = noise(seed, 40);
        garbage.push([good.as_slice(), b"\0\0\0\x29", &[*letter], &rest, b"\0\0\0\x01\xfe"].concat());
    }
    for bytes in &garbage {
        let mut stream = TcpStream::connect(milter.address).unwrap();
        stream.set_read_timeout(Some(super::PATIENCE)).unwrap();
        // It may be closed before all is sent; then there is nothing to be read either.
        let _closed = stream.write_all(bytes);
        let _said = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer);
        assert!(answer.len() < 4096, "{:?}", answer.escape_ascii().to_string());
    }
    assert_eq!(honest.end(&Letter::new("x")).field("X-Seamripper-Status"), Some("checked"));
    serves(&milter);
    let log = milter.process.log();
    assert!(!log.contains("panicked"), "{log}");
    let counts = milter.counts();
    assert!(!counts.contains("refused_connections=0"), "{counts}");
}

#[test]
fn half_open_and_slow_connections_are_given_up() {
    let fake = judged();
    let milter = Milter::of(fake.address, |settings| {
        settings.milter.read_timeout_ms = 500;
        settings.milter.idle_timeout_ms = 1500;
        settings.milter.connections_max = 40;
    });
    let mut silent: Vec<Client> = (0..10).map(|_| Client::connect(milter.address)).collect();
    let mut half: Vec<Client> = (0..10).map(|_| Client::agreed(milter.address)).collect();
    half.iter_mut().for_each(|client| client.stream.write_all(b"\0\0\xff\0Bhalf").unwrap());
    let mut idle: Vec<Client> = (0..10).map(|_| Client::agreed(milter.address)).collect();
    // A drop now and then does not make a packet of it.
    let mut dripping = Client::connect(milter.address);
    let drip = std::thread::spawn(move || {
        let begun = Instant::now();
        let written = |byte: &u8| {
            std::thread::sleep(Duration::from_millis(100));
            dripping.stream.write_all(&[*byte]).is_ok()
        };
        let is_taken = b"\0\0\0\x64M".iter().chain([b'x'; 95].iter()).all(written);
        (is_taken && !dripping.is_closed(), begun.elapsed())
    });
    serves(&milter);
    for client in silent.iter_mut().chain(&mut half).chain(&mut idle) {
        assert!(client.is_closed());
    }
    let (is_taken, took) = drip.join().unwrap();
    assert!(!is_taken, "a hundred drops were taken in {took:?}");
    serves(&milter);
    let counts = milter.counts();
    assert!(counts.contains("refused_connections=31"), "{counts}");
}

/// A client that sends and never reads does not hold us.
#[test]
fn who_does_not_read_is_given_up() {
    let fake = judged();
    let milter = Milter::of(fake.address, |settings| settings.milter.read_timeout_ms = 500);
    let mut client = Client::agreed(milter.address);
    // Answers of five bytes each: more than buffers hold, as fast as they are taken.
    let packets = b"\0\0\0\x01H".repeat(100_000);
    client.stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
    let begun = Instant::now();
    let mut is_taken = true;
    while is_taken && begun.elapsed() < super::PATIENCE {
        is_taken = client.stream.write_all(&packets).is_ok();
    }
    assert!(!is_taken, "everything is taken");
    serves(&milter);
}

#[test]
fn packets_have_their_bound_and_large_fields_pass() {
    let fake = judged();
    let milter = Milter::of(fake.address, |_| ());
    let mut client = Client::agreed(milter.address);
    let large = Letter::new("x").with("X-Large", &"y".repeat(900_000));
    assert_eq!(client.send(&large).field("X-Seamripper-Status"), Some("checked"));
    let mut client = Client::agreed(milter.address);
    client.begin(&Letter::new("x"));
    client.stream.write_all(b"\0\x10\0\x01B").unwrap();
    assert!(client.is_closed());
    serves(&milter);
    let counts = milter.counts();
    assert!(counts.contains("refused_connections=1"), "{counts}");
}

#[test]
fn two_hundred_connections_at_once_are_served() {
    let fake = judged();
    let milter = Milter::of(fake.address, |_| ());
    let letter = Letter::new(&"two hundred at once\r\n".repeat(500));
    let mut clients: Vec<Client> = (0..200).map(|_| Client::agreed(milter.address)).collect();
    clients.iter_mut().for_each(|client| client.begin(&letter));
    for client in &mut clients {
        client.packet(b'B', &letter.body);
        client.packet(b'E', b"");
    }
    for client in &mut clients {
        assert_eq!(client.answer().0, b'c', "the body");
        let mut letters = Vec::new();
        while letters.last() != Some(&b'c') {
            letters.push(client.answer().0);
        }
        assert_eq!(letters, b"iiiiiiic", "its fields");
    }
    assert_eq!(fake.asked().len(), 200);
    drop(clients);
    let counts = milter.counts();
    assert!(counts.contains("checked=200 unchecked=0") && counts.contains("connections=200"), "{counts}");
}

/// One too many is closed at once: a mail server that waits for us delays its mail.
#[test]
fn connections_have_their_bound() {
    let fake = judged();
    let milter = Milter::of(fake.address, |settings| settings.milter.connections_max = 5);
    let clients: Vec<Client> = (0..5).map(|_| Client::agreed(milter.address)).collect();
    for _ in 0..20 {
        assert!(Client::connect(milter.address).is_closed());
    }
    drop(clients);
    until("there is room again", || {
        let mut client = Client::connect(milter.address);
        // It may be closed before it has said anything.
        let has_offered = client.stream.write_all(b"\0\0\0\x0dO\0\0\0\x06\0\0\x01\xff\0\0\0\0").is_ok();
        let mut agreed = [0; 17];
        if !has_offered || client.stream.read_exact(&mut agreed).is_err() {
            return false;
        }
        client.send(&Letter::new("x")).field("X-Seamripper-Status") == Some("checked")
    });
    let counts = milter.counts();
    assert!(counts.contains("checked=1 unchecked=0"), "{counts}");
}

/// All are named, and a mail with more than can be deleted is not taken: letting them through would be lying to its reader.
#[test]
fn many_forged_fields_are_all_named_and_too_many_are_refused() {
    let fake = judged();
    let milter = Milter::of(fake.address, |_| ());
    let mut letter = Letter::new("x");
    for number in 0..500 {
        letter = letter.with("X-Seamripper-Class", "original").with(&format!("x-Seamripper-{}", number % 250), "y");
    }
    let said = milter.send(&letter);
    assert_eq!((said.deleted.len(), &said.refused), (1000, &None));
    let class = said.deleted.iter().filter(|(name, _)| name == "x-seamripper-class");
    assert!(class.map(|(_, number)| *number).eq((1..=500).rev()));
    let said = milter.send(&letter.with("x-seamripper-one-more", "y"));
    assert!(said.refused.as_deref().is_some_and(|text| text.starts_with("550 5.7.1 too many")), "{said:?}");
    assert!(milter.counts().contains("forged_fields=2001"));
}

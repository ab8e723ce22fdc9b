//! Nobody can take the HTTP side away from others: not by size, not by slowness, not by garbage.

use super::{envelope, received, served};
use std::io::Write;
use std::time::{Duration, Instant};

#[test]
fn a_body_that_is_too_large_is_refused() {
    let served = served(|settings| {
        settings.limits.body_bytes_max = 100_000;
        settings.limits.unpacked_bytes_max = 200_000;
        settings.bus.record_bytes_max = 150_000;
        settings.http.body_bytes_max = 200_000;
        settings.milter.mail_bytes_max = 100_000;
    });
    served.post("/v1/pages", "text/html", &[], &vec![b'x'; 100_001]).problem(413, "too_large");
    served.post("/v1/pages", "text/html", &[], &vec![b'x'; 200_001]).problem(413, "too_large");
    assert_eq!(served.post("/v1/pages", "text/html", &[("id", "x")], &vec![b'x'; 100_000]).status, 200);
    // One that does not say how large it will be is cut off where it is too large.
    let head = format!(
        "POST /v1/pages HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n",
        served.bearer()
    );
    let chunk = format!("{:x}\r\n{}\r\n", 50_000, "x".repeat(50_000));
    let said = served.raw(format!("{head}{}0\r\n\r\n", chunk.repeat(5)).as_bytes());
    assert!(said.starts_with("HTTP/1.1 413"), "{said}");
    // Nobody without the token is asked for a body at all.
    let said = served
        .raw(b"POST /v1/pages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99999999999\r\nconnection: close\r\n\r\n");
    assert!(said.starts_with("HTTP/1.1 401"), "{said}");
}

/// Silent connections, heads and bodies that come byte by byte: all are given up, and others are served meanwhile or soon.
#[test]
fn slow_and_silent_connections_are_given_up() {
    let served = served(|settings| {
        settings.http.connections_max = 8;
        settings.http.streams_max = 4;
        settings.http.timeout_ms = 1000;
    });
    let mut silent: Vec<_> = (0..3).map(|_| served.connected()).collect();
    let mut slow: Vec<_> = (0..3).map(|_| served.connected()).collect();
    let mut bodies: Vec<_> = (0..2).map(|_| served.connected()).collect();
    slow.iter_mut().for_each(|stream| stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: local").unwrap());
    let head = format!(
        "POST /v1/pages HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\ncontent-type: text/html\r\ncontent-length: 1000\r\n\r\nx",
        served.bearer()
    );
    bodies.iter_mut().for_each(|stream| stream.write_all(head.as_bytes()).unwrap());
    let begun = Instant::now();
    // All eight places are taken. A head and a body that drip on do not help them.
    let dripping = std::thread::spawn(move || {
        for _ in 0..15 {
            std::thread::sleep(Duration::from_millis(200));
            slow.iter_mut().chain(&mut bodies).for_each(|stream| drop(stream.write_all(b"x")));
        }
        (slow, bodies)
    });
    assert_eq!(served.get("/healthz").status, 200);
    let took = begun.elapsed();
    println!("served after {took:?} with all connections taken");
    assert!(took < Duration::from_secs(10), "{took:?}");
    for stream in &mut silent {
        assert_eq!(received(stream), "", "a connection without a request is closed without a word");
    }
    let (mut slow, mut bodies) = dripping.join().unwrap();
    for stream in &mut slow {
        let said = received(stream);
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
    }
    for stream in &mut bodies {
        let said = received(stream);
        assert!(said.starts_with("HTTP/1.1 408") && said.contains("http.timeout_ms"), "{said}");
    }
}

#[test]
fn bodies_that_wait_are_bounded_together() {
    let served = served(|settings| {
        settings.limits.body_bytes_max = 100_000;
        settings.limits.unpacked_bytes_max = 100_000;
        settings.bus.record_bytes_max = 100_000;
        settings.http.body_bytes_max = 400_000;
        settings.milter.mail_bytes_max = 100_000;
        settings.http.waiting_bytes_max = 400_000;
    });
    let mut first = served.connected();
    let head = format!(
        "POST /v1/pages HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\ncontent-type: application/x-ndjson\r\ncontent-length: 399900\r\n\r\n",
        served.bearer()
    );
    first.write_all(head.as_bytes()).unwrap();
    first.write_all(&vec![b'\n'; 399_000]).unwrap();
    // Until that has come; a request in between would take the last of the room from it.
    std::thread::sleep(Duration::from_secs(1));
    let turned_away = served.post("/v1/pages", "application/json", &[], envelope(1).as_bytes());
    turned_away.problem(503, "memory");
    assert!(turned_away.headers.contains_key("retry-after"));
    drop(first);
    served.counts("seamripper_feed_rejected_total{reason=\"memory\"} 1");
    let begun = Instant::now();
    while served.post("/v1/pages", "application/json", &[], envelope(2).as_bytes()).status != 200 {
        assert!(begun.elapsed() < super::PATIENCE, "the room is given back");
    }
}

#[test]
fn garbage_is_answered_or_dropped_and_does_no_harm() {
    let served = served(|settings| settings.http.timeout_ms = 2000);
    let long = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "x".repeat(200_000));
    let many = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "x: y\r\n".repeat(5000));
    let smuggled =
        "POST /v1/pages HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /v1/verdicts?from=%00%ff%fe HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        b"GET /../../etc/passwd HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        long.as_bytes(),
        many.as_bytes(),
        smuggled.as_bytes(),
    ] {
        let said = served.raw(garbage);
        let status = said.split(' ').nth(1).unwrap_or("");
        let shown = String::from_utf8_lossy(&garbage[..garbage.len().min(40)]).into_owned();
        assert!(said.is_empty() || status.starts_with('4'), "{shown:?} got {said}");
    }
    let mut chance = 88172645463325252_u64;
    for _ in 0..200 {
        let bytes: Vec<u8> = (0..64)
            .map(|_| {
                chance ^= chance << 13;
                chance ^= chance >> 7;
                chance ^= chance << 17;
                chance as u8
            })
            .collect();
        served.raw(&bytes);
    }
    assert_eq!(served.get("/healthz").status, 200);
    assert!(!served.process.log().contains("panicked"), "{}", served.process.log());
}

/// Whoever asks too often is told when to come again; whether we are there is told at any time.
#[test]
fn an_address_may_ask_so_often() {
    let served = served(|settings| {
        settings.http.rate_per_s = 1;
        settings.http.rate_burst = 20;
    });
    let statuses: Vec<u16> = (0..40).map(|_| served.get("/v1/clusters").status).collect();
    let n_served = statuses.iter().filter(|status| **status == 200).count();
    assert!((20..35).contains(&n_served), "{statuses:?}");
    assert!(statuses[..20].iter().all(|status| *status == 200), "a burst is served: {statuses:?}");
    let turned_away = served.get("/v1/clusters");
    turned_away.problem(429, "rate");
    let seconds: u64 = turned_away.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=2).contains(&seconds), "{seconds}");
    (0..50).for_each(|_| assert_eq!(served.get("/healthz").status, 200));
    // Guessing the token is asking too.
    served.get_with("/v1/snapshot", &[("authorization", "Bearer guess")]).problem(429, "rate");
    std::thread::sleep(Duration::from_secs(seconds));
    let begun = Instant::now();
    let metrics = loop {
        let answer = served.get("/metrics");
        if answer.status == 200 {
            break answer.body;
        }
        assert!(begun.elapsed() < super::PATIENCE);
        std::thread::sleep(Duration::from_millis(500));
    };
    let line = metrics.lines().find(|line| line.starts_with("seamripper_http_rate_limited_total ")).unwrap();
    assert!(line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap() >= 6.0, "{line}");
}

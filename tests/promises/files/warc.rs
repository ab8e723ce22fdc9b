//! Web archives: what they say of their pages, and what damage costs.

use super::*;

#[test]
fn a_warc_gives_its_pages_with_what_it_says_of_them() {
    let request = "WARC-Target-URI: http://a.example/\r\n";
    let dns = "WARC-Target-URI: dns:a.example\r\nContent-Type: text/dns\r\n";
    let resource =
        "WARC-Target-URI: <http://a.example/r>\r\nContent-Type: text/plain\r\nWARC-IP-Address: 192.0.2.7\r\n";
    let records = [
        record("warcinfo", "", "software: x\r\n"),
        record("request", request, "GET / HTTP/1.1\r\n\r\n"),
        response("http://a.example/", "200 OK", "Content-Type: text/html; charset=latin1\r\n", "<p>a"),
        response("http://a.example/missing", "404 Not Found", "Content-Type: text/html\r\n", "<p>no"),
        response("http://a.example/i.png", "200 OK", "Content-Type: image/png\r\n", "PNG"),
        record("response", dns, "a.example. 1 IN A 192.0.2.1"),
        record("resource", resource, "plain"),
        response("http://a.example/br", "200 OK", "Content-Type: text/html\r\nContent-Encoding: br\r\n", "xyz"),
        record("metadata", "", ""),
        record("conversion", "Content-Type: text/plain\r\n", "from a WET file"),
    ];
    let plain = records.concat();
    let by_member: Vec<u8> = records.iter().flat_map(|record| gzip(record.as_bytes())).collect();
    let by_frame: Vec<u8> = records.iter().flat_map(|record| zstd(record.as_bytes())).collect();
    for bytes in [plain.clone().into_bytes(), by_member, by_frame, gzip(plain.as_bytes()), zstd(plain.as_bytes())] {
        let found = Found::in_bytes("in.warc.gz", &bytes);
        assert_eq!(found.bodies(), ["<p>a", "plain", "from a WET file"]);
        assert_eq!(found.places(), ["in.warc.gz#3", "in.warc.gz#7", "in.warc.gz#10"]);
        assert_eq!(found.reports(), ["in.warc.gz#8: content encoding `br` is not supported"]);
        let tally = found.tally;
        assert_eq!((tally.n_other_records, tally.n_other_status, tally.n_other_types), (3, 1, 2));

        let carrier = &found.entries[0].record.carrier;
        assert_eq!(carrier.url.as_deref(), Some("http://a.example/"));
        assert_eq!((carrier.id.as_deref(), carrier.time.as_deref()), (None, Some("2026-01-02T03:04:05Z")));
        assert_eq!(carrier.content_type.as_deref(), Some("text/html; charset=latin1"));
        let carrier = &found.entries[1].record.carrier;
        assert_eq!(carrier.url.as_deref(), Some("http://a.example/r"));
        assert_eq!(carrier.ip, Some("192.0.2.7".parse().unwrap()));
        assert_eq!(found.entries[2].record.carrier.id.as_deref(), Some("in.warc.gz#10"));
    }
}

/// One byte is changed, at many places in turn: never is more lost than the record it is in.
#[test]
fn a_damaged_member_loses_one_record() {
    type Pack = fn(&str) -> Vec<u8>;
    let packs: [(&str, Pack); 2] =
        [("gzip", |record| gzip(record.as_bytes())), ("zstd", |record| zstd_checked(record))];
    for (name, pack) in packs {
        let members: Vec<Vec<u8>> = (0..9).map(|number| pack(&page(number))).collect();
        let start: usize = members[..4].iter().map(Vec::len).sum();
        let whole = members.concat();
        for offset in (0..members[4].len()).step_by(29).chain([1, 2, 3, members[4].len() - 1]) {
            for mask in [0xff, 0x01] {
                let mut damaged = whole.clone();
                damaged[start + offset] ^= mask;
                let found = Found::in_bytes("in.warc.gz", &damaged);
                let mut urls: Vec<_> =
                    found.entries.iter().map(|entry| entry.record.carrier.url.clone().unwrap()).collect();
                let intact = found.entries.iter().all(|entry| {
                    let body = String::from_utf8_lossy(&entry.record.body);
                    (0..9).any(|number| page(number).contains(body.as_ref()))
                });
                assert!(intact, "{name}: byte {offset}: a damaged record was handed over");
                // A byte of the head that means nothing (a time, say) may change without harm.
                if urls.len() == 8 {
                    assert_eq!(found.troubles.len(), 1, "{name}: byte {offset}: {:?}", found.reports());
                    assert_eq!(found.troubles[0].place, "in.warc.gz#5", "{name}: byte {offset}");
                    urls.insert(4, "http://a.example/4".into());
                }
                let expected: Vec<_> = (0..9).map(|number| format!("http://a.example/{number}")).collect();
                assert_eq!(urls, expected, "{name}: byte {offset} with {mask:#x}");
            }
        }
    }
}

/// A frame with a checksum, as `zstd` writes it.
fn zstd_checked(record: &str) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("memory does not fail");
    encoder.include_checksum(true).expect("it is a valid setting");
    std::io::Write::write_all(&mut encoder, record.as_bytes()).expect("memory does not fail");
    encoder.finish().expect("memory does not fail")
}

#[test]
fn a_missing_or_cut_member_loses_one_record() {
    let members: Vec<Vec<u8>> = (0..5).map(|number| gzip(page(number).as_bytes())).collect();
    let cut = [&members[0][..], &members[1][..100], &members[2], b"garbage", &members[3], &members[4]].concat();
    let found = Found::in_bytes("in.warc.gz", &cut);
    let urls: Vec<_> = found.entries.iter().filter_map(|entry| entry.record.carrier.url.as_deref()).collect();
    assert_eq!(urls, ["http://a.example/0", "http://a.example/2", "http://a.example/3", "http://a.example/4"]);
    assert_eq!(found.troubles.len(), 2, "{:?}", found.reports());

    let truncated = [&members[0][..], &members[1][..members[1].len() - 5]].concat();
    let found = Found::in_bytes("in.warc.gz", &truncated);
    assert_eq!(found.entries.len(), 1);
    assert_eq!(found.reports(), ["in.warc.gz#2: ends too early: the file is cut off"]);
}

#[test]
fn a_wrong_length_loses_one_record() {
    for wrong in ["1", "999999", "99999999999999999999", "-1", "x", ""] {
        let right = page(1);
        let length = right.split("Content-Length: ").nth(1).unwrap().split("\r\n").next().unwrap();
        let damaged = right.replace(&format!("Content-Length: {length}"), &format!("Content-Length: {wrong}"));
        for bytes in [
            [page(0), damaged.clone(), page(2), page(3)].concat().into_bytes(),
            gzip([page(0), damaged.clone(), page(2), page(3)].concat().as_bytes()),
            [page(0), damaged.clone(), page(2), page(3)].iter().flat_map(|record| gzip(record.as_bytes())).collect(),
        ] {
            let found = Found::in_bytes("in.warc", &bytes);
            let urls: Vec<_> = found.entries.iter().filter_map(|entry| entry.record.carrier.url.as_deref()).collect();
            assert_eq!(urls, ["http://a.example/0", "http://a.example/2", "http://a.example/3"], "length {wrong}");
            assert_eq!(found.troubles.len(), 1, "{:?}", found.reports());
            assert_eq!(found.troubles[0].place, "in.warc#2");
        }
    }
}

/// Records that each claim to be long must not be read again and again: that would be 75 GB.
#[test]
fn many_wrong_lengths_cost_linear_time() {
    let lie = "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 3000000\r\n\r\n";
    let started = std::time::Instant::now();
    let found = Found::in_bytes("in.warc", lie.repeat(50_000).as_bytes());
    assert!(found.entries.is_empty() && !found.troubles.is_empty());
    assert!(started.elapsed().as_secs() < 10, "{:?} for 3 MB", started.elapsed());
}

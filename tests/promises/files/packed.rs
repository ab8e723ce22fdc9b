//! What is packed: bombs, ends that are missing, members of archives.

use super::*;

#[test]
fn a_bomb_is_rejected() {
    let limits = Limits { unpacked_bytes_max: 3_000_000, body_bytes_max: 1_000_000, ..limits() };
    let zeros = || std::io::repeat(b' ').take(60_000_000);
    let bomb = gzip(zeros());
    assert!(bomb.len() < 100_000);
    for name in ["a.html.gz", "a.mbox.gz", "a.jsonl.gz", "blank.jsonl.gz", "a.txt.gz", "a.eml.gz", "a.gz"] {
        let bytes = match name {
            "a.mbox.gz" => gzip(b"From a Sat Jan  3 01:05:34 1996\nSubject: x\n\n".chain(zeros())),
            "a.jsonl.gz" => gzip(b"{\"html\":\"x\"}\n{".chain(zeros())),
            "blank.jsonl.gz" => gzip(std::io::repeat(b'\n').take(60_000_000)),
            _ => bomb.clone(),
        };
        let found = Found::within(name, &bytes, &limits);
        assert!(found.entries.len() <= 1, "{name}");
        let [trouble] = found.troubles.as_slice() else { panic!("{name}: {:?}", found.reports()) };
        let rejection = trouble.cause.rejection().expect(name);
        assert!(matches!(rejection, Rejection::UnpacksTooLarge { limit: 3_000_000 }), "{name}: {rejection}");
    }
}

#[test]
fn a_bomb_in_an_archive_loses_only_itself() {
    let limits = Limits { unpacked_bytes_max: 10_000_000, body_bytes_max: 1_000_000, ..limits() };
    let bomb = gzip(std::io::repeat(b'a').take(40_000_000));
    let tar = [
        tar_member("a.html", b"<p>a"),
        tar_member("bomb.html.gz", &bomb),
        tar_member("b.html", b"<p>b"),
        vec![0; 1024],
    ]
    .concat();
    let found = Found::within("in.tar", &tar, &limits);
    assert_eq!(found.bodies(), ["<p>a", "<p>b"]);
    assert_eq!(found.troubles[0].cause.rejection().unwrap().reason(), "unpacks_too_large");

    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n",
        u64::MAX
    );
    let record = gzip(head.as_bytes().chain(std::io::repeat(b'a').take(40_000_000)));
    let warc = [gzip(page(0).as_bytes()), record, gzip(page(1).as_bytes())].concat();
    let found = Found::within("in.warc.gz", &warc, &limits);
    assert_eq!(found.entries.len(), 2);
    assert_eq!(found.reports(), ["in.warc.gz#2: body unpacks to more than 10000000 bytes (limits.unpacked_bytes_max)"]);
}

#[test]
fn a_truncated_gzip_is_named_and_gives_what_came_before() {
    let html = gzip(noise(1, 5000).as_bytes());
    let found = Found::in_bytes("a.html.gz", &html[..html.len() / 2]);
    assert_eq!(
        (found.entries.len(), found.reports()),
        (0, vec!["a.html.gz: ends too early: the file is cut off".into()])
    );

    let jsonl: String = (0..50).map(|number| format!("{{\"html\":\"{}\"}}\n", noise(number, 300))).collect();
    let packed = gzip(jsonl.as_bytes());
    let found = Found::in_bytes("a.jsonl.gz", &packed[..packed.len() / 2]);
    assert!((20..30).contains(&found.entries.len()), "{}", found.entries.len());
    let lost = found.entries.len() + 1;
    assert_eq!(found.reports(), [format!("a.jsonl.gz#{lost}: ends too early: the file is cut off")]);

    for (name, bytes) in [("a.html.gz", &b""[..]), ("a.html.zst", &[0, 1, 2, 3]), ("a.html.gz", &html[..7])] {
        let found = Found::in_bytes(name, bytes);
        assert_eq!((found.entries.len(), found.troubles.len()), (0, 1), "{name} of {} bytes", bytes.len());
    }
}

/// As tapes and block devices leave them: `gzip` reads such a file without a word.
#[test]
fn zeros_behind_a_gzip_are_padding() {
    let (html, jsonl) = (gzip(&b"<p>a"[..]), gzip(&b"{\"html\":\"x\"}\n"[..]));
    for n_zeros in [1, 5, 512, 200_000] {
        let zeros = vec![0; n_zeros];
        for (name, bytes, n_entries) in [
            ("a.html.gz", [&html[..], &zeros].concat(), 1),
            ("a.jsonl.gz", [&jsonl[..], &zeros].concat(), 1),
            ("a.jsonl.gz", [&jsonl[..], &zeros, &jsonl, &zeros].concat(), 2),
            ("a.warc.gz", [&gzip(page(0).as_bytes())[..], &gzip(page(1).as_bytes()), &zeros].concat(), 2),
        ] {
            let found = Found::in_bytes(name, &bytes);
            assert_eq!((found.entries.len(), found.reports()), (n_entries, vec![]), "{name}, {n_zeros} zeros");
        }
    }
}

#[test]
fn garbage_behind_a_gzip_is_told() {
    const TOLD: &str = "trailing garbage: what follows the last gzip member is none, and was left out";
    let (html, jsonl) = (gzip(&b"<p>a"[..]), gzip(&b"{\"html\":\"x\"}\n"[..]));
    for garbage in [&b"x"[..], b"garbage", b"\0\0\0garbage that is longer than the head of a member"] {
        for (name, packed) in [("a.html.gz", &html), ("a.jsonl.gz", &jsonl)] {
            let found = Found::in_bytes(name, &[packed, garbage].concat());
            assert_eq!((found.entries.len(), found.reports()), (1, vec![format!("{name}: {TOLD}")]));
        }
        let found = Found::in_bytes("a.warc.gz", &[&gzip(page(0).as_bytes())[..], garbage].concat());
        assert_eq!((found.entries.len(), found.reports()), (1, vec![format!("a.warc.gz#2: damaged: {TOLD}")]));
    }
    // The beginning of a member is no garbage.
    for n in [1, 2, 3, 9] {
        let found = Found::in_bytes("a.jsonl.gz", &[&jsonl[..], &html[..n]].concat());
        assert_eq!((found.entries.len(), found.troubles.len()), (1, 1), "{n} bytes");
        assert!(found.reports()[0].ends_with("ends too early: the file is cut off"), "{:?}", found.reports());
    }
}

#[test]
fn members_of_a_tar_are_read_by_their_names() {
    let long = format!("{}/page.html", "folder".repeat(30));
    let pax = format!("path={long}\n");
    let pax = format!("{} {pax}", pax.len() + 4);
    assert_eq!(pax.len(), pax.split(' ').next().unwrap().parse::<usize>().unwrap());
    let mut gnu_name = tar_member("././@LongLink", format!("{long}\0").as_bytes());
    let mut pax_name = tar_member("pax", pax.as_bytes());
    for (head, flag) in [(&mut gnu_name, b'L'), (&mut pax_name, b'x')] {
        // The checksum counts the flag.
        let sum: u32 = u32::from_str_radix(std::str::from_utf8(&head[148..154]).unwrap(), 8).unwrap();
        head[156] = flag;
        head[148..154].copy_from_slice(format!("{:06o}", sum - u32::from(b'0') + u32::from(flag)).as_bytes());
    }
    let tar = [
        tar_member("./a.html", b"<p>a"),
        tar_member("style.css", b"p {}"),
        tar_member(".hidden.html", b"<p>hidden"),
        tar_member("box/cur/123:2,S", b"Subject: x\n\ny"),
        tar_member("in.mbox", MBOX.as_bytes()),
        tar_member("b.html.gz", &gzip(&b"<p>b"[..])),
        tar_member("picture", b"\x89PNG\0\0"),
        tar_member("inner.tar", b"x"),
        gnu_name,
        tar_member("cut", b"<p>c"),
        pax_name,
        tar_member("cut", b"<p>d"),
        tar_member("e.html", b"<p>e"),
        vec![0; 1024],
    ]
    .concat();
    let found = Found::in_bytes("in.tgz", &gzip(&tar[..]));
    let places: Vec<_> = found.places().iter().map(|place| place.strip_prefix("in.tgz#").unwrap().to_owned()).collect();
    assert_eq!(places, ["./a.html", "box/cur/123:2,S", "in.mbox#1", "in.mbox#2", "b.html.gz", &long, &long, "e.html"]);
    assert_eq!(found.entries[1].record.format, Format::Mail);
    assert_eq!(found.reports(), ["in.tgz#inner.tar: an archive in an archive is not read: unpack it first"]);
    assert_eq!(found.tally.n_other_files, 3);
}

#[test]
fn a_damaged_head_in_a_tar_loses_one_member() {
    let mut damaged = tar_member("b.html", b"<p>b");
    damaged[3] = b'!';
    let tar = [tar_member("a.html", b"<p>a"), damaged, tar_member("c.html", b"<p>c"), vec![0; 1024]].concat();
    let found = Found::in_bytes("in.tar", &tar);
    assert_eq!(found.bodies(), ["<p>a", "<p>c"]);
    assert_eq!(found.reports(), ["in.tar: damaged after member 1: looking for the next one"]);
    let found = Found::in_bytes("in.tar", &tar[..700]);
    assert_eq!(found.bodies(), ["<p>a"]);
}

//! Folders: walked in order, without loops, and past what may not be read.

use super::*;

#[test]
fn directories_are_walked_in_name_order() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.html", "a/z.txt", "a/b.eml", "c/deep/er/x.html", ".git/x.html", "a.css", "B.html"] {
        write(folder.path(), name, b"From: x\n\ny");
    }
    write(folder.path(), "c/photo", b"\x89PNG\0");
    let found = Found::under(folder.path());
    let root = folder.path().to_string_lossy().into_owned() + "/";
    let names: Vec<_> = found.places().iter().map(|place| place.replace(&root, "")).collect();
    assert_eq!(names, ["B.html", "a/b.eml", "a/z.txt", "b.html", "c/deep/er/x.html"]);
    assert_eq!(found.tally.n_other_files, 2);
    assert_eq!(found.entries[0].record.carrier.id.as_deref(), Some(found.entries[0].place.as_str()));
    let total = corpus::total_bytes(&[folder.path().to_path_buf()]);
    assert_eq!(total, Some(6 * 10 + 5));
    assert_eq!(Found::under(&folder.path().join("c/deep")).entries.len(), 1);
}

#[test]
fn the_files_of_a_maildir_are_mails() {
    let folder = tempfile::tempdir().unwrap();
    for name in
        ["cur/1:2,S", "new/2.host", ".Sent/cur/3", ".Sent/new/4", "tmp/5", "dovecot-uidlist", ".Sent/maildirfolder"]
    {
        write(folder.path(), name, b"Hello: x\n\ny");
    }
    std::fs::create_dir_all(folder.path().join(".Sent/tmp")).unwrap();
    write(folder.path(), "cur/6.gz", &gzip(&b"Hello: packed\n\ny"[..]));
    let found = Found::under(folder.path());
    assert!(found.entries.iter().all(|entry| entry.record.format == Format::Mail));
    let root = folder.path().to_string_lossy().into_owned() + "/";
    let names: Vec<_> = found.places().iter().map(|place| place.replace(&root, "")).collect();
    assert_eq!(names, [".Sent/cur/3", ".Sent/new/4", "cur/1:2,S", "cur/6.gz", "new/2.host"]);
    assert_eq!(found.good()[3], "Hello: packed\n\ny");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_loops_are_not() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    write(folder.path(), "a/x.html", b"<p>x");
    write(other.path(), "y.html", b"<p>y");
    symlink(folder.path(), folder.path().join("a/loop")).unwrap();
    symlink(other.path(), folder.path().join("b")).unwrap();
    symlink("nowhere.html", folder.path().join("dangling.html")).unwrap();
    let found = Found::under(folder.path());
    assert_eq!(found.bodies(), ["<p>x", "<p>y"]);
    let [trouble] = found.troubles.as_slice() else { panic!("{:?}", found.reports()) };
    assert!(trouble.place.ends_with("dangling.html"), "{trouble}");
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_named_and_the_rest_goes_on() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.html", b"<p>a");
    let secret = write(folder.path(), "b.html", b"<p>b");
    write(folder.path(), "c.html", b"<p>c");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o000)).unwrap();
    let found = Found::under(folder.path());
    if std::fs::File::open(&secret).is_ok() {
        println!("running as root: nothing is unreadable here");
        assert_eq!(found.good().len(), 3);
        return;
    }
    assert_eq!(found.bodies(), ["<p>a", "<p>c"]);
    assert!(matches!(found.troubles.as_slice(), [Trouble { cause: Cause::Unreadable(_), .. }]));
}

#[test]
fn nothing_is_not_an_error_and_a_missing_file_is() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Found::under(folder.path()).good().len(), 0);
    for (name, n_entries) in [("a.mbox", 0), ("a.jsonl", 0), ("a.warc", 0), ("a.tar", 0), ("a.html", 1), ("empty", 1)] {
        let found = Found::under(&write(folder.path(), name, b""));
        assert_eq!(found.good().len(), n_entries, "{name}");
    }
    let found = Found::under(&folder.path().join("missing.html"));
    assert!(found.reports()[0].ends_with("missing.html: no such file or folder (`-` reads standard input)"));
    let found = Found::under(&write(folder.path(), "photo.jpg", b"\xff\xd8\xff\0"));
    assert!(
        matches!(found.troubles.as_slice(), [Trouble { cause: Cause::Unsupported(_), .. }]),
        "{:?}",
        found.reports()
    );
    let found = Found::in_bytes("a.mbox", b"Subject: one mail\n\nand no mailbox\n");
    assert!(matches!(found.troubles.as_slice(), [Trouble { cause: Cause::Damaged(_), .. }]));
}

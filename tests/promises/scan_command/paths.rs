//! What is read is not written over, and what is written is not read.

use super::{MEMORY, parsed, refusal, three_pages};
use std::io::{Read, Write};
use std::process::Stdio;

#[test]
fn nothing_that_is_read_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    three_pages(folder.path());
    let before = std::fs::read(folder.path().join("pages.jsonl")).unwrap();
    for arguments in [
        &["scan", "pages.jsonl", "-o", "./pages.jsonl"][..],
        &["scan", "pages.jsonl", "--clusters", "pages.jsonl"],
        &["scan", "pages.jsonl", "--report", "x", "-o", "x"],
        &["scan", "pages.jsonl", "--store", "x", "-o", "x"],
        &["scan", "pages.jsonl", "-o", "linked.jsonl"],
        &["scan", "pages.jsonl", "-c", "my.toml", "-o", "my.toml"],
        &["scan", "pages.jsonl", "--store", "x", "-o", ".x.lock"],
        &["scan", "pages.jsonl", "--store", "x", "--report", ".x.new"],
    ] {
        std::fs::write(folder.path().join("my.toml"), "").unwrap();
        let linked = folder.path().join("linked.jsonl");
        if !linked.exists() {
            std::fs::hard_link(folder.path().join("pages.jsonl"), linked).unwrap();
        }
        let said = refusal(folder.path(), arguments, 2);
        assert!(said.contains("are one file"), "{said}");
    }
    let open = || std::fs::OpenOptions::new().read(true).append(true).open(folder.path().join("pages.jsonl")).unwrap();
    for arguments in [&["scan", "-"][..], &["scan", "-", "-o", "pages.jsonl"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_seamripper"));
        let output = command.args(arguments).current_dir(folder.path()).stdin(open()).stdout(open()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("are one file"), "{said}");
    }
    assert_eq!(std::fs::read(folder.path().join("pages.jsonl")).unwrap(), before);
    assert!(refusal(folder.path(), &["scan", "-", "-"], 2).contains("standard input (-) is an input twice"));
}

/// As `inetd` and `socat` start a command.
#[cfg(unix)]
#[test]
fn one_socket_can_be_read_and_written() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    let folder = tempfile::tempdir().unwrap();
    three_pages(folder.path());
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_seamripper"));
    command.args(["scan", "-"]).env(MEMORY.0, MEMORY.1).stdin(OwnedFd::from(theirs.try_clone().unwrap()));
    let child = command.stdout(OwnedFd::from(theirs)).stderr(Stdio::piped()).spawn().unwrap();
    // It holds the other end.
    drop(command);
    ours.write_all(&std::fs::read(folder.path().join("pages.jsonl")).unwrap()).unwrap();
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    let mut verdicts = String::new();
    ours.read_to_string(&mut verdicts).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(parsed(&verdicts).len(), 3);
}

/// It would judge its own verdicts, and these again, until the disk is full.
#[test]
fn what_is_written_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("pages");
    std::fs::create_dir(&pages).unwrap();
    three_pages(&pages);
    for arguments in [&["-o", "pages/verdicts.jsonl"][..], &["--report", "pages/deep.html", "-o", "elsewhere.jsonl"]] {
        let said = refusal(folder.path(), &[&["scan", "pages"], arguments].concat(), 2);
        assert!(said.contains("lies in a folder that is read") && said.contains("write it elsewhere"), "{said}");
    }
    let redirected = std::fs::File::create(pages.join("verdicts.jsonl")).unwrap();
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_seamripper"))
        .args(["scan", "pages"])
        .current_dir(folder.path())
        .stdout(redirected)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
    assert_eq!(std::fs::read_dir(&pages).unwrap().count(), 2, "nothing else was made");
}

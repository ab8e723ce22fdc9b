//! A quick start: a document whose commands are run as they stand there, word for word.
//!
//! Its fenced `sh` blocks are one session of `sh -eu` in a scratch folder that looks like a clone: what is committed is linked
//! into it, what the commands write stays in it, and `seamripper` on the PATH is the one under test. Blocks of other kinds
//! (`console`, `python`, `json`) are for reading. `documents.rs` lists the documents.
//!
//! # Invariants
//! - A command that fails fails the test, also inside a document. (`a_command_that_fails_is_told`)
//! - Only `sh` blocks are run, each of them, in their order. (`only_sh_blocks_are_run_and_all_of_them`)
//! - Ports are its own, and what it leaves in the background goes with it. (`what_runs_in_the_background_ends_with_it`)

use std::fs::File;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A document that has not come to its end by then hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// What of the repository the commands of a document may name.
const LINKED: [&str; 6] = ["demo", "docs", "examples", "schemas", "scripts", "tests"];

/// The commands of a document, and where they will be run.
pub(crate) struct Quickstart {
    script: String,
    command: Command,
    folder: TempDir,
}

/// A document that was run to its end.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Where it was run, with all that it left.
    pub(crate) folder: TempDir,
}

/// A session of a shell with all that it has started, killed with the test.
struct Session(Child);

impl Drop for Session {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        // Nobody may be left to be told.
        let _gone = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _reaped = self.0.wait();
    }
}

impl Quickstart {
    /// The document at a path of the repository.
    pub(crate) fn of(document: &str) -> Self {
        let path = root().join(document);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::reading(&text)
    }

    fn reading(markdown: &str) -> Self {
        let script = commands(markdown);
        assert!(!script.trim().is_empty(), "no `sh` block in it");
        let folder = tempfile::tempdir().unwrap();
        for name in LINKED.iter().filter(|name| root().join(name).exists()) {
            std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).unwrap();
        }
        let binary = Path::new(env!("CARGO_BIN_EXE_seamripper"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(binary.parent().unwrap().to_owned()).chain(std::env::split_paths(&path));
        let mut command = Command::new("sh");
        command.arg("-eux").current_dir(folder.path()).env("PATH", std::env::join_paths(path).unwrap());
        // The settings are those of the document, not of whoever runs the tests.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SEAMRIPPER_")) {
            command.env_remove(name);
        }
        // What `scripts/python` and others keep is kept where cargo keeps its own.
        command.env("CARGO_TARGET_DIR", binary.parent().unwrap().parent().unwrap());
        command.env("SEAMRIPPER_STORE__MEMORY", (64 << 20).to_string());
        Self { script, command, folder }.listening("SEAMRIPPER_HTTP__LISTEN")
    }

    /// With a variable of the environment.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// With an address of its own in a variable of the environment. The HTTP side has one already.
    pub(crate) fn listening(self, name: &str) -> Self {
        let address = address();
        self.with(name, &address)
    }

    /// What a variable was given.
    pub(crate) fn given(&self, name: &str) -> String {
        let mut given = self.command.get_envs();
        let value = given.find_map(|(other, value)| (other == name).then_some(value).flatten());
        value.and_then(std::ffi::OsStr::to_str).unwrap_or_else(|| panic!("no {name}")).to_owned()
    }

    /// Runs it to its end, which must be a good one.
    pub(crate) fn run(self) -> Ran {
        match self.end() {
            (Some(0), ran) => ran,
            (code, Ran { stdout, stderr, .. }) => panic!("ended with {code:?}\n{stdout}\n{stderr}"),
        }
    }

    /// Runs it to its end: its exit code, and what it has said. Output goes to files, since what is in the background has it
    /// open for longer than the shell.
    fn end(self) -> (Option<i32>, Ran) {
        let Self { script, mut command, folder } = self;
        let kept = tempfile::tempdir().unwrap();
        let file = |name: &str| kept.path().join(name);
        std::fs::write(file("script"), &script).unwrap();
        command
            .arg(file("script"))
            .stdin(Stdio::null())
            .stdout(File::create(file("stdout")).unwrap())
            .stderr(File::create(file("stderr")).unwrap())
            .process_group(0);
        let mut session = Session(command.spawn().unwrap());
        let said = |name: &str| String::from_utf8_lossy(&std::fs::read(file(name)).unwrap()).into_owned();
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = session.0.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "does not end\n{}\n{}", said("stdout"), said("stderr"));
            std::thread::sleep(Duration::from_millis(20));
        };
        drop(session);
        (status.code(), Ran { stdout: said("stdout"), stderr: said("stderr"), folder })
    }
}

/// An address on this machine that nobody listens on, with a port below those that the system gives to clients. No two of this
/// process are the same.
pub(crate) fn address() -> String {
    static N: AtomicU16 = AtomicU16::new(0);
    let begin = (std::process::id() % 12_000) as u16;
    let mut ports =
        std::iter::repeat_with(|| 20_000 + (begin + N.fetch_add(1, Ordering::Relaxed)) % 12_000).take(12_000);
    let port = ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    format!("127.0.0.1:{}", port.expect("a free port"))
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The `sh` blocks of a document.
fn commands(markdown: &str) -> String {
    let mut script = String::new();
    let mut kind = None;
    for line in markdown.lines() {
        match (line.strip_prefix("```"), kind) {
            (Some(opened), None) => kind = Some(opened.trim()),
            (Some(_), Some(_)) => kind = None,
            (None, Some("sh")) => script += &format!("{line}\n"),
            (None, _) => {}
        }
    }
    assert!(kind.is_none(), "a block is not closed");
    script
}

#[test]
fn only_sh_blocks_are_run_and_all_of_them() {
    let text = "# T\n```sh\nfirst=1\ncat > kept <<END\n$first\nEND\n```\n```json\nfalse\n```\nfalse\n\n```sh\necho $first $(cat kept)\n```\n";
    let ran = Quickstart::reading(text).run();
    assert_eq!(ran.stdout, "1 1\n", "{}", ran.stderr);
    assert!(ran.folder.path().join("kept").exists() && !root().join("kept").exists());
    let ran = Quickstart::reading("```sh\nseamripper --version; ls demo/corpus; scripts/need sh\n```").run();
    assert!(ran.stdout.starts_with("seamripper ") && ran.stdout.contains("truth.tsv"), "{}", ran.stdout);
}

#[test]
fn a_command_that_fails_is_told() {
    let (code, ran) = Quickstart::reading("```sh\necho before\n```\n```sh\nsh -c 'exit 7'\necho after\n```\n").end();
    assert_eq!((code, &*ran.stdout), (Some(7), "before\n"));
    let (code, ran) = Quickstart::reading("```sh\necho $UNKNOWN_TO_ALL\n```\n").end();
    assert!(code != Some(0) && ran.stderr.contains("UNKNOWN_TO_ALL"), "{}", ran.stderr);
}

/// Also two at once have ports of their own.
#[test]
fn what_runs_in_the_background_ends_with_it() {
    let text = "```sh\nseamripper run --until-idle 600 &\nuntil test -s seamripper-data/http-token; do sleep 0.1; done\n\
        echo $! $SEAMRIPPER_HTTP__LISTEN\n```\n";
    let ran = Quickstart::reading(text).run();
    let (process, address) = ran.stdout.trim().split_once(' ').unwrap();
    assert!(address.starts_with("127.0.0.1:2") || address.starts_with("127.0.0.1:3"), "{address}");
    let status = Path::new("/proc").join(process).join("cmdline");
    let begun = Instant::now();
    // Whoever has its number now is someone else; a process that has ended has no command line.
    while std::fs::read(&status).is_ok_and(|line| String::from_utf8_lossy(&line).contains("until-idle")) {
        assert!(begun.elapsed() < PATIENCE, "still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

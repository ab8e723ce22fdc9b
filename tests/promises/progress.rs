//! On a terminal a scan shows how far it is: documents, documents per second, and how many of each class. Into a pipe it
//! says nothing of it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Documents that are sent, and of these the ones that are judged while standard input stays open: what comes after them
/// waits for its batch to be full.
const N_SENT: usize = 256;
const N_JUDGED: usize = 192;
const PATIENCE: Duration = Duration::from_secs(120);

fn root() -> PathBuf {
    env!("CARGO_MANIFEST_DIR").into()
}

/// The first `n` documents of the demo.
fn documents(n: usize) -> String {
    let pages = std::fs::read_to_string(root().join("demo/corpus/pages.jsonl")).unwrap();
    pages.split_inclusive('\n').take(n).collect()
}

/// A scan of standard input: on a terminal if `terminal` is the program that makes one.
fn scan(terminal: Option<&Path>, arguments: &[&str]) -> Command {
    let seamripper = assert_cmd::cargo::cargo_bin("seamripper");
    let mut command = match terminal {
        Some(terminal) => {
            let mut command = Command::new("python3");
            command.arg(terminal).arg(seamripper);
            command
        }
        None => Command::new(seamripper),
    };
    command.args(["scan", "-", "--format", "jsonl"]).args(arguments);
    command.env("SEAMRIPPER_STORE__MEMORY", "16777216").env("TERM", "xterm").env_remove("NO_COLOR");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a terminal has been sent so far.
struct Screen {
    shown: String,
    further: Receiver<Vec<u8>>,
}

impl Screen {
    fn of(mut terminal: impl Read + Send + 'static) -> Self {
        let (sender, further) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = terminal.read(&mut buffer) {
                if sender.send(buffer[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { shown: String::new(), further }
    }

    /// Waits until `is_there` finds what it looks for in what was shown; `None` where the terminal ends before.
    fn until<T>(&mut self, is_there: impl Fn(&str) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = is_there(&self.shown) {
                return Some(found);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.further.recv_timeout(left) {
                // No letter that is looked for takes more than a byte.
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    let frames: Vec<&str> = self.shown.split('\r').collect();
                    panic!("not shown in time, at last {:?}", frames.last());
                }
            }
        }
    }

    /// All that is shown to the end.
    fn end(mut self) -> String {
        assert!(self.until(|_| None::<()>).is_none());
        self.shown
    }
}

/// The number before `noun`, or before its plural, behind the last `anchor` in `line`.
fn number(line: &str, anchor: &str, noun: &str) -> Option<u64> {
    let (_, behind) = line.rsplit_once(anchor)?;
    let mut parts = behind.split([',', '\r', '\n', '\u{1b}']).map(str::trim);
    parts.find_map(|part| {
        let (number, what) = part.split_once(' ')?;
        (what.trim_end().trim_end_matches('s') == noun.trim_end_matches('s')).then(|| number.parse().ok())?
    })
}

/// What a scan of the first `n` documents says on a pipe.
fn summary(n: usize) -> String {
    let mut child = scan(None, &[]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(documents(n).as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    stderr
}

#[test]
fn a_terminal_shows_documents_a_second_and_the_counts_per_class() {
    let terminal = root().join("tests/python/terminal.py");
    let mut child = scan(Some(&terminal), &[]).spawn().expect("python3 is there (`scripts/need python3` installs it)");
    let mut stdin = child.stdin.take().unwrap();
    let mut screen = Screen::of(child.stdout.take().unwrap());
    let writer = std::thread::spawn(move || {
        stdin.write_all(documents(N_SENT).as_bytes()).unwrap();
        stdin
    });
    let done = format!("{N_JUDGED} done");
    let shown = screen.until(|shown| {
        let of = |noun: &str| number(shown, &done, noun);
        Some((of("documents/s")?, of("mirror")?, of("quilt")?, of("template")?))
    });
    let (rate, n_mirrors, n_quilts, n_templates) = shown.expect("it waits for more documents");
    assert!(rate > 0 && n_quilts > 0, "{:?}", screen.shown);
    let of_these = summary(N_JUDGED);
    let said = |noun: &str| number(&of_these, &format!("{N_JUDGED} documents:"), noun);
    assert_eq!((Some(n_mirrors), Some(n_templates)), (said("mirror"), said("template")), "{of_these}");
    // It was waiting for more all the time.
    drop(writer.join().unwrap());
    let all = screen.end();
    assert!(child.wait().unwrap().success(), "{all:?}");
    let (_, last) = all.rsplit_once("done").unwrap();
    let (bar, rest) = last.split_once("\u{1b}[2K").expect("the bar is taken away");
    assert!(!bar.contains("documents:") && rest.contains(&format!("{N_SENT} documents: ")), "{last:?}");
}

#[test]
fn who_wants_quiet_has_it_on_a_terminal() {
    let terminal = root().join("tests/python/terminal.py");
    let mut child = scan(Some(&terminal), &["--quiet"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let screen = Screen::of(child.stdout.take().unwrap());
    stdin.write_all(documents(N_SENT).as_bytes()).unwrap();
    drop(stdin);
    assert_eq!(screen.end(), "");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_pipe_gets_nothing_but_the_summary() {
    let stderr = summary(N_SENT);
    let lines: Vec<&str> = stderr.lines().collect();
    assert!(lines.len() == 2 && lines[1].contains("documents/s"), "{stderr}");
    assert!(lines[0].starts_with(&format!("{N_SENT} documents: ")), "{stderr}");
    assert!(!stderr.contains(['\r', '\u{1b}']) && !stderr.contains("done"), "{stderr:?}");
}

//! With a real Postfix: every mail that it takes is delivered, with what the filter says of it.

use super::until;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// An instance of its own, gone with the test.
pub(crate) struct Postfix {
    folder: TempDir,
    pub(crate) port: u16,
}

impl Postfix {
    /// One that asks this milter.
    pub(crate) fn up(milter: &str, settings: &[&str]) -> Self {
        // It drops its rights, and must get in all the same.
        let folder = tempfile::Builder::new().prefix("postfix").permissions(PermissionsExt::from_mode(0o755)).tempdir();
        let mut postfix = Self { folder: folder.unwrap(), port: 0 };
        let watched = std::process::id().to_string();
        let mut arguments = vec!["up", "--milter", milter, "--watch", &watched];
        settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
        postfix.port = postfix.script(&arguments).trim().parse().unwrap();
        postfix
    }

    /// `scripts/postfix ARGUMENTS`; what it prints.
    fn script(&self, arguments: &[&str]) -> String {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/postfix");
        let output =
            Command::new(script).args(arguments).arg("--dir").arg(self.folder.path().join("postfix")).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("postfix/{name}"))
    }

    /// Hands over a mail; what the server says of it.
    pub(crate) fn send(&self, mail: &str) -> String {
        Sender::connect(self.port).send(mail)
    }

    /// The mails that were delivered.
    pub(crate) fn delivered(&self) -> Vec<String> {
        let Ok(files) = std::fs::read_dir(self.place("mail/new")) else { return Vec::new() };
        files.map(|file| String::from_utf8_lossy(&std::fs::read(file.unwrap().path()).unwrap()).into_owned()).collect()
    }

    /// The one mail with this subject, when it is there.
    pub(crate) fn mail(&self, subject: &str) -> String {
        let line = format!("\nSubject: {subject}\n");
        let mut found = None;
        until(&format!("{subject} is delivered: {}", self.log()), || {
            found = self.delivered().into_iter().find(|mail| mail.contains(&line));
            found.is_some()
        });
        found.unwrap()
    }

    /// Mails that are held back.
    pub(crate) fn n_held(&self) -> usize {
        let held = std::fs::read_dir(self.place("spool/hold")).unwrap();
        held.filter(|entry| entry.as_ref().unwrap().file_type().unwrap().is_file()).count()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.place("log")).unwrap_or_default()
    }
}

impl Drop for Postfix {
    fn drop(&mut self) {
        self.script(&["down"]);
    }
}

/// A connection to a mail server.
pub(crate) struct Sender {
    stream: BufReader<TcpStream>,
}

impl Sender {
    pub(crate) fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(super::PATIENCE)).unwrap();
        let mut sender = Self { stream: BufReader::new(stream) };
        sender.answer();
        sender.says("EHLO client.example\r\n", "250");
        sender
    }

    /// Hands over a mail, with line feeds alone; what the server says of it.
    pub(crate) fn send(&mut self, mail: &str) -> String {
        self.says("MAIL FROM:<ann@a.example>\r\n", "250");
        self.says("RCPT TO:<bob@example.test>\r\n", "250");
        self.says("DATA\r\n", "354");
        self.tell(&format!("{}\r\n.\r\n", mail.trim_end().replace('\n', "\r\n")))
    }

    fn says(&mut self, line: &str, code: &str) {
        let answer = self.tell(line);
        assert!(answer.starts_with(code), "{answer} to {line}");
    }

    fn tell(&mut self, text: &str) -> String {
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
        self.answer()
    }

    /// The last line of an answer.
    fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            if line.as_bytes().get(3) != Some(&b'-') {
                return line.trim_end().to_owned();
            }
        }
    }
}

/// The header of a mail, folded lines joined.
pub(crate) fn header(mail: &str) -> Vec<(String, String)> {
    let header = mail.split("\n\n").next().unwrap().replace("\n\t", " ").replace("\n ", " ");
    header.lines().filter_map(|line| line.split_once(": ")).map(|(n, v)| (n.to_owned(), v.to_owned())).collect()
}

/// The values of our fields in a mail: what follows the prefix, in lower case, and the value.
pub(crate) fn ours(mail: &str) -> Vec<(String, String)> {
    let name = |name: &str| name.to_lowercase().strip_prefix("x-seamripper-").map(str::to_owned);
    header(mail).into_iter().filter_map(|(n, value)| Some((name(&n)?, value))).collect()
}

mod stories {
    use super::super::{Fake, Milter, Reaction, checked};
    use super::*;
    use seamripper::config::Action;

    #[test]
    fn forged_fields_are_gone_however_they_are_written() {
        let fake = Fake::start(|_| Reaction::Answer(200, checked("filter", &[])));
        let milter = Milter::of(fake.address, |_| ());
        let postfix = Postfix::up(&format!("inet:{}", milter.address), &[]);
        let mail = "Received: from client.example by somebody\nX-Seamripper-Class: forged\nx-seamripper-class : forged\n\
            X-SEAMRIPPER-CLASS\t: forged\nX-Seamripper-Group:\n folded\n\tforged\nX-Seamripper-Status:forged\n\
            X-Seamripper-New: forged\nX-Seamripper-Empty:\nSubject: forgery\nX-Seamripper-Class: forged\n\n\
            X-Seamripper-Class: in the body it stays\n";
        assert!(postfix.send(mail).starts_with("250"));
        let found = postfix.mail("forgery");
        let status = ours(&found);
        let expected = [
            ("status", "checked"),
            ("mode", "filter"),
            ("id", "mail-1"),
            ("class", "mirror"),
            ("group", "head-1"),
            ("size", "17"),
            ("spread", "5"),
        ];
        assert_eq!(status, expected.map(|(name, value)| (name.to_owned(), value.to_owned())), "{found}");
        assert!(!found.contains("forged") && found.contains("\n\nX-Seamripper-Class: in the body it stays"), "{found}");
        let names: Vec<String> = header(&found).into_iter().map(|(name, _)| name).collect();
        let ours = names.iter().position(|name| name.starts_with("X-Seamripper-")).unwrap();
        assert_eq!(names[ours - 1], "Received", "below the server's own trace and above everything else: {found}");
        // What the server was given is what came, without what was forged.
        let asked = &fake.asked()[0];
        let body = String::from_utf8(asked.body.clone()).unwrap();
        assert!(
            body.contains("Subject: forgery\r\n") && body.ends_with("it stays\r\n") && !body.contains("forged"),
            "{body}"
        );
        assert_eq!((asked.header("client-ip"), asked.header("mail-from")), (Some("127.0.0.1"), Some("ann@a.example")));
        let queue_id = found.split(" id ").nth(1).unwrap().split_whitespace().next().unwrap();
        assert!(asked.header("id").unwrap().starts_with(&format!("{queue_id}-")), "{queue_id}: {asked:?}");
    }

    /// Killed, hung and stopped in order, again and again, while mails come that a run is asked about.
    #[test]
    fn every_mail_is_delivered_whatever_happens_to_the_milter() {
        const N_SENDERS: usize = 6;
        const N_EACH: usize = 30;
        let mut run = crate::http::served(|_| ());
        let mut milter = Milter::of_run(&run, |settings| {
            settings.milter.stop_timeout_ms = 500;
            // While it is away its port is nobody's: one that is given to clients might be given to who asks for it.
            settings.milter.listen = format!("inet:{}", crate::quickstart::address()).try_into().unwrap();
        });
        let timeouts = ["milter_connect_timeout=1s", "milter_command_timeout=1s", "milter_content_timeout=1s"];
        let postfix = Postfix::up(&format!("inet:{}", milter.address), &timeouts);
        let postfix_port = postfix.port;
        let senders: Vec<_> = (0..N_SENDERS)
            .map(|sender| {
                std::thread::spawn(move || {
                    for number in 0..N_EACH {
                        // A connection for each, and sometimes for two.
                        let mut connection = Sender::connect(postfix_port);
                        let answer = connection.send(&format!("Subject: load-{sender}-{number}\n\nHello {number}.\n"));
                        assert!(answer.starts_with("250"), "{answer}");
                        if number % 5 == 0 {
                            let answer =
                                connection.send(&format!("Subject: more-{sender}-{number}\n\nHello {number}.\n"));
                            assert!(answer.starts_with("250"), "{answer}");
                        }
                    }
                })
            })
            .collect();
        let n_mails = N_SENDERS * (N_EACH + N_EACH / 5);
        let some = |n: usize| {
            let begun = Instant::now();
            while postfix.delivered().len() < n {
                let log = || postfix.log();
                assert!(begun.elapsed() < super::super::PATIENCE, "{} of {n}:\n{}", postfix.delivered().len(), log());
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        let restart = |milter: Milter| {
            drop(milter.process);
            Milter::start(milter.ground)
        };
        some(n_mails / 8);
        milter.process.kill();
        some(n_mails / 4);
        milter = restart(milter);
        some(3 * n_mails / 8);
        milter.process.signal("STOP");
        let hung = Instant::now();
        some(n_mails / 2);
        assert!(hung.elapsed() < super::super::PATIENCE);
        milter.process.signal("CONT");
        some(5 * n_mails / 8);
        milter.process.signal("TERM");
        assert!(milter.process.ended().success(), "{}", milter.process.log());
        some(3 * n_mails / 4);
        restart(milter);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        until(&format!("all {n_mails}"), || postfix.delivered().len() == n_mails);
        let subjects: BTreeSet<String> = postfix
            .delivered()
            .iter()
            .map(|mail| header(mail).into_iter().find(|(name, _)| name == "Subject").unwrap().1)
            .collect();
        assert_eq!(subjects.len(), n_mails, "each once");
        let n_checked = postfix.delivered().iter().filter(|mail| mail.contains("X-Seamripper-Status: checked")).count();
        assert!((1..n_mails).contains(&n_checked), "{n_checked} of {n_mails} were checked");
        assert_eq!(postfix.n_held(), 0);
        // Whatever the run was given of them, it has judged once.
        run.process.signal("TERM");
        assert!(run.process.ended().success(), "{}", run.process.log());
        let n_judged = crate::run::n_judged(&crate::run::verdicts(&*run.ground.open(), &run.ground));
        assert!((n_checked..=n_mails).contains(&n_judged), "{n_judged} were judged, {n_checked} say so");
        crate::run::audited(&run.ground, n_judged);
    }

    #[test]
    fn a_label_is_acted_on_by_the_mail_server() {
        let fake = Fake::start(|asked| {
            let labels: &[&str] = if asked.body.windows(4).any(|word| word == b"pill") { &["spam"] } else { &["bulk"] };
            Reaction::Answer(200, checked("filter", labels))
        });
        let milter = Milter::of(fake.address, |settings| {
            let actions = [("spam", Action::Reject), ("bulk", Action::Quarantine)];
            settings.milter.actions = actions.map(|(label, action)| (label.to_owned(), action)).into();
        });
        let postfix = Postfix::up(&format!("inet:{}", milter.address), &[]);
        let answer = postfix.send("Subject: pills\n\npill\n");
        assert_eq!(answer, "550 5.7.1 this is a message that is labelled spam");
        assert!(postfix.send("Subject: news\n\nnews\n").starts_with("250"));
        until("it is held", || postfix.n_held() == 1);
        assert_eq!(postfix.delivered().len(), 0);
        let log = postfix.log();
        assert!(log.contains("milter-reject: END-OF-MESSAGE") && log.contains("milter-hold: END-OF-MESSAGE"), "{log}");
    }
}

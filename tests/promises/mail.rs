//! Mails are read as a person would see them: bundled ones of every form, and real ones as Python reads them.

use crate::data;
use base64::Engine;
use seamripper::config::Settings;
use seamripper::document::asides::AsideSort;
use seamripper::document::{Document, Format, Reader, Record};
use seamripper::signature::keyed::Keys;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn reader() -> Reader {
    Reader::new(Settings::default().limits, Keys::derive("mails"))
}

fn mail(body: Vec<u8>) -> Record {
    Record { format: Format::Mail, body, ..Record::default() }
}

fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mail")
}

/// What was read, as `tests/data/mail/NAME.txt` has it.
fn shown(document: &Document) -> String {
    let mut out = String::new();
    let facts = document.mail.as_ref().unwrap();
    let mut fact = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            writeln!(out, "{name}: {value}").unwrap();
        }
    };
    fact("title", Some(&document.title));
    fact("from", facts.from.as_deref());
    fact("domain", document.identity.domain.as_deref());
    fact("date", facts.date.as_deref());
    fact("message id", facts.message_id.as_deref());
    fact("list id", facts.list_id.as_deref());
    fact("recipients", Some(&facts.recipients.join(" ")));
    let reading = &document.reading;
    fact("charset", Some(reading.charset));
    fact("parts", Some(&format!("{}, attachments {}", reading.n_parts, reading.n_attachments)));
    fact("markup", Some(if document.markup.noise.is_empty() { "no" } else { "yes" }));
    out.push('\n');
    let mut start = 0;
    for line in document.text.split('\n') {
        let inside = |span: seamripper::document::Span| span.range().contains(&start);
        let margin = match document.asides.iter().find(|aside| inside(aside.span)).map(|aside| aside.sort) {
            Some(AsideSort::Quoted) => 'Q',
            Some(AsideSort::Signature) => 'S',
            Some(AsideSort::Footer) => 'F',
            None => ' ',
        };
        writeln!(out, "{margin} {line}").unwrap();
        start += line.len() + 1;
    }
    out
}

#[test]
fn bundled_mails_are_read_as_a_person_sees_them() {
    let mut reader = reader();
    let mut n_mails = 0;
    let mut wrong = String::new();
    for entry in std::fs::read_dir(bundled()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "eml") {
            continue;
        }
        n_mails += 1;
        let read = shown(reader.read(&mail(std::fs::read(&path).unwrap())).unwrap());
        let expected = std::fs::read_to_string(path.with_extension("txt")).unwrap_or_default();
        if read != expected {
            writeln!(wrong, "=== {}\n{read}", path.display()).unwrap();
        }
    }
    assert!(n_mails >= 15, "{n_mails} mails in {}", bundled().display());
    assert!(wrong.is_empty(), "read otherwise than expected:\n{wrong}");
}

/// Line ends are the transport's, not the sender's.
#[test]
fn line_ends_do_not_matter() {
    let mut reader = reader();
    for name in ["plain_reply", "alternative", "picture", "forwarded", "outlook_reply", "digest", "signed"] {
        let crlf = String::from_utf8(std::fs::read(bundled().join(name).with_extension("eml")).unwrap()).unwrap();
        let lf = crlf.replace("\r\n", "\n");
        let mixed: String = lf
            .split_inclusive('\n')
            .enumerate()
            .map(|(n, line)| if n % 2 == 0 { line.into() } else { line.replace('\n', "\r\n") })
            .collect();
        let text = shown(reader.read(&mail(lf.clone().into_bytes())).unwrap());
        for other in [lf.replace('\n', "\r\n"), mixed, lf.replace('\n', "\r")] {
            assert_eq!(shown(reader.read(&mail(other.into_bytes())).unwrap()), text, "{name}");
        }
    }
}

/// Cut anywhere, a mail is read as far as it goes; only what has no header line is no mail.
#[test]
fn truncated_mails_are_read_as_far_as_they_go() {
    let mut reader = reader();
    for name in ["plain_reply", "alternative", "forwarded", "japanese", "truncated"] {
        let whole = std::fs::read(bundled().join(name).with_extension("eml")).unwrap();
        for len in 0..whole.len() {
            match reader.read(&mail(whole[..len].to_vec())) {
                Ok(document) => assert!(document.reading.n_parts > 0),
                Err(error) => {
                    assert_eq!(error.reason(), "not_a_mail");
                    // The separator line of a mailbox holds colons, and is no header.
                    let headers = whole
                        .strip_prefix(b"From ")
                        .map_or(0, |rest| 6 + rest.iter().position(|&byte| byte == b'\n').unwrap());
                    assert!(!whole[headers.min(len)..len].contains(&b':'), "{name} cut at {len}: {error}");
                }
            }
        }
    }
}

#[test]
fn what_has_no_header_line_is_no_mail() {
    for body in
        ["", "\n\n", "Just a text.\nWith two lines.\n", "<html><p>A page</p></html>", "\0\0\0", " folded: nothing\n"]
    {
        let error = reader().read(&mail(body.into())).map(|_| ()).unwrap_err();
        assert_eq!(error.reason(), "not_a_mail", "{body:?}");
    }
}

/// The files of a real corpus.
fn real_mails(set: &str) -> Vec<Vec<u8>> {
    let Some(folder) = data::real(set) else { return Vec::new() };
    let tar = data::unpacked(&folder.join("mails.tar.zst"));
    let mut mails = Vec::new();
    let mut at = 0;
    while at + 512 <= tar.len() && tar[at] != 0 {
        let size = std::str::from_utf8(&tar[at + 124..at + 135]).unwrap().trim_matches(['\0', ' ']);
        let size = usize::from_str_radix(size, 8).unwrap();
        if matches!(tar[at + 156], b'0' | 0) {
            mails.push(tar[at + 512..at + 512 + size].to_vec());
        }
        at += 512 + size.next_multiple_of(512);
    }
    mails
}

const REAL: [&str; 3] = ["mail_spamassassin", "mail_phishing_pot", "mail_csdmc2010"];

#[test]
fn every_real_mail_is_read() {
    let mut reader = reader();
    for set in REAL {
        let mails = real_mails(set);
        let mut n_empty = 0;
        for (n, body) in mails.iter().enumerate() {
            let document = match reader.read(&mail(body.clone())) {
                Ok(document) => document,
                Err(error) => panic!("{set}, mail {n}: {error}"),
            };
            n_empty += usize::from(document.text.len() == document.title.len());
            let mut end = document.title.len() as u32;
            for aside in &document.asides {
                assert!(aside.span.start >= end && !aside.span.is_empty(), "{set}, mail {n}: {:?}", document.asides);
                end = aside.span.end;
            }
            assert!(end as usize <= document.text.len().max(document.title.len()), "{set}, mail {n}");
        }
        if !mails.is_empty() {
            println!("{set}: {} mails, {n_empty} without text below the subject", mails.len());
            assert!(n_empty * 20 < mails.len(), "{set}: {n_empty} of {} mails have no text", mails.len());
        }
    }
}

/// What `oracle.py` says of each mail; `None` where there is no Python.
fn oracle(mails: &[Vec<u8>]) -> Option<Vec<serde_json::Value>> {
    let script = bundled().join("oracle.py");
    let child =
        Command::new("python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else {
        println!("python3 is not there: subjects and texts are not compared");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let answers = std::thread::scope(|scope| {
        scope.spawn(move || {
            for mail in mails {
                writeln!(stdin, "{}", base64::engine::general_purpose::STANDARD.encode(mail)).unwrap();
            }
        });
        stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect::<Vec<_>>()
    });
    assert!(child.wait().unwrap().success());
    assert_eq!(answers.len(), mails.len());
    Some(answers)
}

/// Words with how often they occur. Quote marks are joined and invisible characters dropped by design.
fn words(text: &str) -> HashMap<String, i64> {
    let mut words = HashMap::new();
    let is_invisible = |c: &char| {
        matches!(c, '\0'..='\x08' | '\x0e'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fffd}' | '\u{e0000}'..='\u{e01ef}')
    };
    for word in text.split_whitespace() {
        let word: String = word.chars().filter(|c| !is_invisible(c) && *c != '>').collect();
        if !word.is_empty() {
            *words.entry(word).or_insert(0) += 1;
        }
    }
    words
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Python's `email` reads the same subjects, words and parts. What differs on the whole corpora, of 10,199 mails: one
/// subject in ISO-8859-1 with a byte that means a trade mark in practice; one mail whose boundary lacks its closing
/// quote (Python finds no parts); lines of `=` in a quoted-printable text that forgot to escape them; and words that
/// `delsp=yes` joins, which Python leaves apart.
#[test]
fn mails_are_read_as_python_reads_them() {
    let verbose = std::env::var_os("SEAMRIPPER_SHOW_DIFFERENCES").is_some();
    let mut reader = reader();
    let mut sets: Vec<(&str, Vec<Vec<u8>>, usize)> = REAL.map(|set| (set, real_mails(set), 3)).into();
    let mut own: Vec<PathBuf> = std::fs::read_dir(bundled()).unwrap().map(|entry| entry.unwrap().path()).collect();
    own.retain(|path| path.extension().is_some_and(|extension| extension == "eml"));
    own.sort();
    sets.push(("bundled", own.iter().map(|path| std::fs::read(path).unwrap()).collect(), 1));
    for (set, mails, every) in sets {
        let mails: Vec<Vec<u8>> = mails.into_iter().step_by(every).collect();
        if mails.is_empty() {
            continue;
        }
        let Some(answers) = oracle(&mails) else { return };
        let (mut n_subjects, mut n_subjects_wrong, mut n_parts_wrong) = (0, 0, 0);
        let (mut n_texts, mut n_words, mut n_lost, mut n_invented) = (0, 0, 0, 0);
        for (n, (body, answer)) in mails.iter().zip(&answers).enumerate() {
            let document = reader.read(&mail(body.clone())).unwrap();
            if let Some(subject) = answer["subject"].as_str() {
                n_subjects += 1;
                if words(subject) != words(&document.title) {
                    n_subjects_wrong += 1;
                    if verbose {
                        println!("{set} {n}: subject {:?} is {:?} in Python", document.title, collapsed(subject));
                    }
                }
            }
            if answer["n_parts"].as_u64().unwrap() as usize != document.reading.n_parts {
                n_parts_wrong += 1;
                if verbose {
                    println!("{set} {n}: {} parts are {} in Python", document.reading.n_parts, answer["n_parts"]);
                }
            }
            // Plain text that is HTML is read as such.
            if let Some(text) = answer["text"].as_str().filter(|_| document.markup.noise.is_empty()) {
                n_texts += 1;
                let theirs = words(text);
                let ours = words(&document.text[document.title.len()..]);
                let missing = |from: &HashMap<String, i64>, other: &HashMap<String, i64>| -> i64 {
                    from.iter().map(|(word, n)| (n - other.get(word).unwrap_or(&0)).max(0)).sum()
                };
                let (lost, invented) = (missing(&theirs, &ours), missing(&ours, &theirs));
                n_words += theirs.values().sum::<i64>();
                n_lost += lost;
                n_invented += invented;
                if verbose && lost + invented > 0 {
                    let some = |from: &HashMap<String, i64>, other: &HashMap<String, i64>| -> Vec<String> {
                        from.iter()
                            .filter(|(word, n)| other.get(*word) != Some(n))
                            .map(|(word, _)| word.clone())
                            .take(5)
                            .collect()
                    };
                    println!(
                        "{set} {n}: {lost} lost {:?}, {invented} invented {:?}",
                        some(&theirs, &ours),
                        some(&ours, &theirs)
                    );
                }
            }
        }
        let share = |n: i64, of: i64| 100.0 * n as f64 / of.max(1) as f64;
        println!(
            "{set}: {} mails; subjects equal {:.2} % of {n_subjects}; parts equal {:.2} %; \
             words of {n_texts} plain mails: {n_words}, lost {:.4} %, invented {:.4} %",
            mails.len(),
            share(n_subjects - n_subjects_wrong, n_subjects),
            share(mails.len() as i64 - n_parts_wrong, mails.len() as i64),
            share(n_lost, n_words),
            share(n_invented, n_words),
        );
        assert!(share(n_subjects_wrong, n_subjects) <= 0.1, "{set}: {n_subjects_wrong} subjects of {n_subjects}");
        assert!(share(n_parts_wrong, mails.len() as i64) <= 0.1, "{set}: {n_parts_wrong} of {} mails", mails.len());
        assert!(share(n_lost + n_invented, n_words) <= 0.1, "{set}: {n_lost} lost, {n_invented} invented of {n_words}");
    }
}

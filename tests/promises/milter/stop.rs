//! It starts where it is told to, and ends in order.

use super::wire::Client;
use super::{Fake, Letter, Milter, Reaction, checked, until};
use crate::run::Process;
use seamripper::config::Listen;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

#[test]
fn what_has_begun_is_finished_when_asked_to_stop() {
    let fake = Fake::start(|_| Reaction::Later(Duration::from_millis(300), 200, checked("filter", &[])));
    let mut milter = Milter::of(fake.address, |settings| settings.milter.stop_timeout_ms = 30_000);
    let letter = Letter::new("one that is under way\r\n");
    let mut under_way = Client::agreed(milter.address);
    under_way.begin(&letter);
    let mut idle = Client::agreed(milter.address);
    milter.process.signal("TERM");
    milter.process.says("stopping");
    assert!(idle.is_closed(), "between two mails it goes at once");
    until("no more connections are taken", || std::net::TcpStream::connect(milter.address).is_err());
    under_way.say(b'B', &letter.body);
    assert_eq!(under_way.end(&letter).field("X-Seamripper-Status"), Some("checked"));
    assert!(under_way.is_closed());
    assert!(milter.process.ended().success());
    assert!(milter.process.log().contains("checked=1 unchecked=0"), "{}", milter.process.log());
}

#[test]
fn who_never_ends_is_left_behind() {
    let fake = Fake::start(|_| Reaction::Silence);
    let mut milter = Milter::of(fake.address, |settings| settings.milter.stop_timeout_ms = 200);
    let mut under_way = Client::agreed(milter.address);
    under_way.begin(&Letter::new("x"));
    milter.process.signal("TERM");
    assert!(milter.process.ended().success());
    assert!(milter.process.log().contains("milter.stop_timeout_ms"), "{}", milter.process.log());
    assert!(under_way.is_closed());
}

#[test]
fn a_socket_in_the_file_system_is_for_its_group() {
    let fake = Fake::start(|_| Reaction::Answer(200, checked("filter", &[])));
    let mut ground = super::ground();
    let path = ground.folder.path().join("milter.sock");
    ground.settings.milter.listen = Listen::Unix(path.clone());
    ground.settings.milter.server = format!("http://{}", fake.address).try_into().unwrap();
    let mut process = Process::start(&ground, &["milter"], None);
    process.says("milter listening");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o660);
    let send = || {
        let mut client = Client::over(UnixStream::connect(&path).unwrap());
        client.negotiate(6, 0x1ff, 0);
        client.send(&Letter::new("x"))
    };
    assert_eq!(send().field("X-Seamripper-Class"), Some("mirror"));
    let mut second = Process::start(&ground, &["milter"], None);
    assert_eq!(second.ended().code(), Some(1));
    assert!(second.log().contains("somebody listens there already"), "{}", second.log());
    assert_eq!(send().field("X-Seamripper-Class"), Some("mirror"));
    // One that was killed leaves its socket; the next one takes its place.
    process.kill();
    assert!(path.exists());
    let mut third = Process::start(&ground, &["milter"], None);
    third.says("milter listening");
    assert_eq!(send().field("X-Seamripper-Class"), Some("mirror"));
    third.signal("TERM");
    assert!(third.ended().success() && !path.exists());
}

#[test]
fn wrong_settings_end_with_two_and_a_port_in_use_with_one() {
    let fake = Fake::start(|_| Reaction::Silence);
    let milter = Milter::of(fake.address, |_| ());
    let started = |name: &str, value: &str| {
        let ground = super::ground();
        let mut command = crate::run::command(&ground, &["milter"], None);
        command.env(name, value);
        let mut process = Process::begin(command, &ground);
        (process.ended().code(), process.log())
    };
    let (code, log) = started("SEAMRIPPER_MILTER__LISTEN", &format!("inet:{}", milter.address));
    assert!(code == Some(1) && log.contains("milter.listen") && log.contains("in use"), "{log}");
    let wrong = [
        ("SEAMRIPPER_MILTER__LISTEN", "8472", "inet:HOST:PORT"),
        ("SEAMRIPPER_MILTER__SERVER", "https://a.example", "http://HOST:PORT"),
        ("SEAMRIPPER_MILTER__ACTIONS__SPAM", "delete", "quarantine"),
        ("SEAMRIPPER_MILTER__SOCKET_MODE", "rw", "octal"),
        ("SEAMRIPPER_MILTER__METRICS_LISTEN", "here", "ADDRESS:PORT"),
    ];
    for (name, value, hint) in wrong {
        let (code, log) = started(name, value);
        assert!(code == Some(2) && log.contains(hint), "{name}: {log}");
    }
}

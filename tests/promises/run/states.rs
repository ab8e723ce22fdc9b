//! Settings that change, and states that are written down.

use super::oracle::entries;
use super::{Process, audited, command, drain, inputs, n_judged, verdicts};
use crate::bus::Ground;
use seamripper::bus::Outgoing;
use seamripper::pipeline::run::journal::{Origin, What};

/// A changed threshold begins an epoch that goes on with all that was seen; a change that the tables cannot take is refused
/// with what to do.
pub(super) fn changed_settings_are_an_epoch(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    feeder.append(inputs(ground, 21, 200)).unwrap();
    drain(ground);
    let mut changed =
        Ground { settings: ground.settings.clone(), silence: ground.silence, folder: tempfile::tempdir().unwrap() };
    changed.settings.quilt.fraction_min = 0.75;
    changed.settings.batch.documents_max = 20.try_into().unwrap();
    feeder.append(inputs(ground, 22, 200)).unwrap();
    drain(&changed);
    let epochs: Vec<Origin> = entries(ground)
        .into_iter()
        .filter_map(|entry| match entry.what {
            What::Epoch(epoch) => Some(epoch.state),
            _ => None,
        })
        .collect();
    assert_eq!(epochs, [Origin::Empty, Origin::Carried]);
    audited(&changed, 400);
    changed.settings.store.memory = 8 << 20;
    let mut refused = Process::start(&changed, &["run", "--until-idle", "1"], None);
    assert_eq!(refused.ended().code(), Some(1));
    assert!(refused.log().contains("--accept-loss"), "{}", refused.log());
    let mut accepted = Process::start(&changed, &["run", "--until-idle", "1", "--accept-loss"], None);
    assert!(accepted.ended().success(), "{}", accepted.log());
    drain(&changed);
}

/// What `scan --store` has seen is known to the run that begins with it, and to whoever follows it.
pub(super) fn a_store_of_scan_is_a_beginning(ground: &Ground) {
    let words = "a text about rivers and boats that was scanned long before anything ran on a bus ".repeat(8);
    let html = format!("<html><body><p>{words}</p></body></html>");
    let folder = ground.folder.path();
    std::fs::write(folder.join("old.html"), &html).unwrap();
    let scanned = command(ground, &["scan", "old.html", "--store", "seen.store", "-o", "old.jsonl"], None).output();
    let scanned = scanned.unwrap();
    assert!(scanned.status.success(), "{}", String::from_utf8_lossy(&scanned.stderr));
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let copy = |id: &str| {
        let key = Some(format!("http://{id}.example/").into_bytes());
        Outgoing { key, value: Some(html.clone().into_bytes()), ..Outgoing::to(ground.settings.topics.pages.as_str()) }
    };
    feeder.append(vec![copy("a")]).unwrap();
    let mut first = Process::start(ground, &["run", "--until-idle", "1", "--store", "seen.store"], None);
    assert!(first.ended().success(), "{}", first.log());
    feeder.append(vec![copy("b")]).unwrap();
    let mut second = Process::start(ground, &["run", "--until-idle", "1", "--store", "seen.store"], None);
    assert!(second.ended().success(), "{}", second.log());
    assert!(second.log().contains("passed over"), "{}", second.log());
    let verdicts = verdicts(&*bus, ground);
    assert_eq!(n_judged(&verdicts), 2);
    for verdict in verdicts.values() {
        assert_eq!(verdict.mirror.as_ref().unwrap().of, "old.html", "{verdict:?}");
    }
    audited(ground, 2);
}

/// A run of another store keeps away from a journal that is not its own, and other topics are other inputs.
pub(super) fn names_that_change_are_noticed(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    feeder.append(inputs(ground, 81, 60)).unwrap();
    drain(ground);
    let with = |change: &dyn Fn(&mut seamripper::config::Settings)| {
        let folder = tempfile::tempdir().unwrap();
        let mut changed = Ground { settings: ground.settings.clone(), silence: ground.silence, folder };
        change(&mut changed.settings);
        changed
    };
    let store = with(&|settings| settings.bus.store.push_str("-other"));
    let mut refused = Process::start(&store, &["run", "--until-idle", "1"], None);
    assert_eq!(refused.ended().code(), Some(1), "{}", refused.log());
    assert!(refused.log().contains("bus.store is"), "{}", refused.log());
    let journal = with(&|settings| settings.topics.journal.push_str("-other"));
    let mut refused = Process::start(&journal, &["run", "--until-idle", "1"], None);
    assert_eq!(refused.ended().code(), Some(1), "{}", refused.log());
    assert!(refused.log().contains("it was made again, or is another"), "{}", refused.log());
    let pages = with(&|settings| settings.topics.pages.push_str("-other"));
    drain(&pages);
    pages.open().feeder().unwrap().append(inputs(&pages, 82, 60)).unwrap();
    drain(&pages);
    audited(&pages, 120);
}

/// The secret changes, which begins an empty store, and then the old one comes back: it is said what is wrong, at once.
pub(super) fn an_old_secret_is_refused_by_name(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let run = |secret: &str, more: &[&str]| {
        let mut command = command(ground, &[&["run", "--until-idle", "1"], more].concat(), None);
        command.env("SEAMRIPPER_SECRET", secret);
        Process::begin(command, ground)
    };
    feeder.append(inputs(ground, 83, 60)).unwrap();
    assert!(run("old", &[]).ended().success());
    let mut refused = run("new", &[]);
    assert_eq!(refused.ended().code(), Some(1), "{}", refused.log());
    assert!(refused.log().contains("it was made with another `secret` or other lexicons"), "{}", refused.log());
    let mut accepted = run("new", &["--accept-loss"]);
    assert!(accepted.ended().success(), "{}", accepted.log());
    let mut refused = run("old", &[]);
    assert_eq!(refused.ended().code(), Some(1), "{}", refused.log());
    let log = refused.log();
    assert!(log.contains("cannot be used (--accept-loss goes on without it)"), "{log}");
    assert!(log.contains("it was made with another `secret` or other lexicons"), "{log}");
    feeder.append(inputs(ground, 84, 60)).unwrap();
    let mut accepted = run("old", &["--accept-loss"]);
    assert!(accepted.ended().success(), "{}", accepted.log());
    assert_eq!(n_judged(&verdicts(&*bus, ground)), 120);
}

/// A lexicon of the user's own is changed and then gone: what was judged with it can still be followed.
pub(super) fn a_lexicon_that_is_gone_is_still_there(ground: &Ground) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.lexicon");
    let build = |first: u64| {
        let text = folder.path().join("text");
        std::fs::create_dir_all(&text).unwrap();
        for number in 0..40 {
            std::fs::write(text.join(format!("{number}.html")), crate::made::page_of_its_own(first + number)).unwrap();
        }
        let built = std::process::Command::new(env!("CARGO_BIN_EXE_seamripper"))
            .args(["lexicon", "build", "--df-min", "1", "-o"])
            .args([&file, &text])
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    };
    build(0);
    let changed = |lexicon: &str| {
        let folder = tempfile::tempdir().unwrap();
        let mut changed = Ground { settings: ground.settings.clone(), silence: ground.silence, folder };
        changed.settings.imatch.page_lexicon = lexicon.to_owned();
        changed
    };
    let own = changed(file.to_str().unwrap());
    let bus = own.prepared();
    let mut feeder = bus.feeder().unwrap();
    feeder.append(inputs(&own, 85, 100)).unwrap();
    // Without its last snapshot a run has to follow.
    let mut killed = Process::start(&own, &["run"], None);
    super::judged(&*bus, &own, 100);
    killed.kill();
    build(1000);
    let built_in = changed("english-web");
    let mut refused = Process::start(&built_in, &["run", "--until-idle", "1"], None);
    assert_eq!(refused.ended().code(), Some(1), "{}", refused.log());
    let said = refused.log();
    assert!(said.contains("the settings have changed in a way that the store cannot go on under"), "{said}");
    std::fs::remove_file(&file).unwrap();
    audited(&built_in, 100);
}

//! The filter on a bus judges every document once, whatever breaks. Each bus runs the same tests on a ground of its own.
//!
//! Counts are small here and full with `SEAMRIPPER_SOAK=full` (`make soak`).

mod embedded;
mod faults;
mod heirs;
mod kafka;
mod memory;
mod oracle;
mod poison;
mod roles;
mod seats;
mod states;
mod succession;
mod trouble;

use crate::bus::{Ground, patient};
use crate::made::Made;
use seamripper::bus::{Bus, Outgoing, Reader, Record};
use seamripper::config::Settings;
use seamripper::document::{self, Format};
use seamripper::verdict::event::Verdict;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What has not happened by then does not happen. A soak has more to do between two things that can be seen.
fn patience() -> Duration {
    Duration::from_secs(scaled(180, 1800) as u64)
}

/// A count: `small` in every test run, `full` in a soak.
pub(crate) fn scaled(small: usize, full: usize) -> usize {
    if std::env::var("SEAMRIPPER_SOAK").is_ok_and(|soak| soak == "full") { full } else { small }
}

/// All of it as tests, on grounds that the function makes.
macro_rules! promises {
    ($ground:path) => {
        $crate::run::promises! { $ground:
            oracle::verdicts_are_those_of_the_naive_fold
            oracle::labels_and_forgetting_hold_from_the_next_batch_on
            oracle::real_documents_are_judged_as_the_naive_fold_judges_them
            faults::killed_with_one_partition_nothing_is_lost_or_repeated
            faults::killed_at_any_moment_nothing_is_lost_or_repeated
            faults::killed_at_the_worst_moments_nothing_is_lost_or_repeated
            faults::doubted_commits_are_looked_up
            poison::every_malformed_record_is_set_aside_and_the_others_are_judged
            poison::a_label_that_is_too_large_is_set_aside
            roles::signers_and_a_store_judge_as_one_instance_does
            roles::roles_can_change_over
            roles::a_doubted_commit_of_a_signer_repeats_nothing
            roles::signers_say_what_is_lost
            seats::a_killed_holder_is_followed_by_a_standby
            seats::a_hung_holder_is_shut_out
            seats::a_newcomer_does_not_take_the_seat
            states::changed_settings_are_an_epoch
            states::a_store_of_scan_is_a_beginning
            states::names_that_change_are_noticed
            states::an_old_secret_is_refused_by_name
            states::a_lexicon_that_is_gone_is_still_there
            memory::a_long_run_stays_within_its_memory
            trouble::a_folder_that_cannot_be_written_stops_nothing
            trouble::a_damaged_snapshot_is_refused_and_nothing_is_lost
            trouble::a_lost_state_is_said_and_accepted_by_name
            trouble::lost_inputs_are_said_and_accepted_by_name
            trouble::a_forged_journal_is_noticed
        }
    };
    ($ground:path: $($module:ident::$promise:ident)*) => {
        $(
            #[test]
            fn $promise() {
                $crate::run::$module::$promise(&$ground());
            }
        )*
    };
}
pub(crate) use promises;

/// A ground with settings that make faults likely: small batches, frequent snapshots, a small store.
pub(crate) fn hasty(mut ground: Ground) -> Ground {
    let settings = &mut ground.settings;
    settings.store.memory = 16 << 20;
    settings.batch.documents_max = 50.try_into().unwrap();
    settings.batch.idle_ms = 200;
    settings.snapshot.every_s = 1;
    // Nothing is trimmed, so that an audit sees all of it.
    settings.snapshot.kept = 10_000.try_into().unwrap();
    settings.http.enabled = false;
    ground
}

/// A made document as a record of an input.
pub(crate) fn input(ground: &Ground, record: document::Record) -> Outgoing {
    let topics = &ground.settings.topics;
    let topic = match record.format {
        Format::Page | Format::PageEnvelope => &topics.pages,
        Format::Mail | Format::MailEnvelope => &topics.emails,
    };
    let key = record.carrier.id.or(record.carrier.url).map(String::into_bytes);
    Outgoing { key, value: Some(record.body), ..Outgoing::to(topic.as_str()) }
}

/// The first `n` made documents of a seed.
pub(crate) fn inputs(ground: &Ground, seed: u64, n: usize) -> Vec<Outgoing> {
    let mut made = Made::new(seed);
    (0..n).map(|_| input(ground, made.record())).collect()
}

/// All records of a topic, as they come.
pub(crate) fn records(bus: &dyn Bus, topic: &str) -> Vec<Record> {
    let mut reader = crate::bus::reader(bus, topic);
    let mut records = Vec::new();
    loop {
        let more = patient(|| reader.poll(10_000, usize::MAX, Duration::from_millis(1500)));
        if more.is_empty() && reader.is_at_end() {
            return records;
        }
        records.extend(more);
    }
}

/// The verdicts that are published, by their ids. None may be there twice.
pub(crate) fn verdicts(bus: &dyn Bus, ground: &Ground) -> BTreeMap<String, Verdict> {
    let mut verdicts = BTreeMap::new();
    for record in records(bus, &ground.settings.topics.verdicts) {
        let id = String::from_utf8(record.header("verdict").unwrap().to_vec()).unwrap();
        let verdict: Verdict = serde_json::from_slice(record.value.as_deref().unwrap()).unwrap();
        assert!(verdicts.insert(id.clone(), verdict).is_none(), "{id} is there twice");
    }
    verdicts
}

/// Counts documents that have a verdict, as verdicts come.
pub(crate) struct Watch {
    reader: Box<dyn Reader>,
    n_judged: usize,
}

impl Watch {
    pub(crate) fn new(bus: &dyn Bus, ground: &Ground) -> Self {
        Self { reader: crate::bus::reader(bus, &ground.settings.topics.verdicts), n_judged: 0 }
    }

    /// How many there are so far.
    pub(crate) fn look(&mut self) -> usize {
        for record in patient(|| self.reader.poll(10_000, 64 << 20, Duration::from_millis(100))) {
            // The id of a verdict ends with its revision.
            self.n_judged += usize::from(record.header("verdict").unwrap().ends_with(b"/0"));
        }
        self.n_judged
    }

    /// Waits until there are `n`: for as long as more of them come.
    pub(crate) fn until(&mut self, n: usize, process: Option<&Process>) {
        let (mut active, mut n_before) = (Instant::now(), self.n_judged);
        while self.n_judged < n {
            if self.look() > n_before {
                (active, n_before) = (Instant::now(), self.n_judged);
            }
            let log = || process.map(Process::log).unwrap_or_default();
            assert!(active.elapsed() < patience(), "only {} of {n}\n{}", self.n_judged, log());
        }
    }
}

/// Waits until `n` documents have their verdicts.
pub(crate) fn judged(bus: &dyn Bus, ground: &Ground, n: usize) -> Duration {
    let begun = Instant::now();
    Watch::new(bus, ground).until(n, None);
    begun.elapsed()
}

/// How many documents have a verdict.
pub(crate) fn n_judged(verdicts: &BTreeMap<String, Verdict>) -> usize {
    verdicts.values().filter(|verdict| verdict.revision == 0).count()
}

/// A number that nothing else in this test run has.
fn number() -> usize {
    static N: AtomicUsize = AtomicUsize::new(0);
    N.fetch_add(1, Ordering::Relaxed)
}

/// `seamripper` as a process, killed with the test.
pub(crate) struct Process {
    child: RefCell<Child>,
    log: PathBuf,
}

impl Process {
    /// Starts `seamripper ARGUMENTS` with the ground's settings.
    pub(crate) fn start(ground: &Ground, arguments: &[&str], fault: Option<&str>) -> Self {
        Self::begin(command(ground, arguments, fault), ground)
    }

    pub(crate) fn begin(mut command: Command, ground: &Ground) -> Self {
        let log = ground.folder.path().join(format!("log-{}", number()));
        command.stderr(File::create(&log).unwrap());
        Self { child: RefCell::new(command.spawn().unwrap()), log }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.borrow().id()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// How it ended, if it has.
    fn status(&self) -> Option<ExitStatus> {
        self.child.borrow_mut().try_wait().unwrap()
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.status() {
                return status;
            }
            assert!(begun.elapsed() < patience(), "still running:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the log says so.
    pub(crate) fn says(&self, words: &str) {
        let begun = Instant::now();
        while !self.log().contains(words) {
            assert!(self.status().is_none() || self.log().contains(words), "ended without {words:?}:\n{}", self.log());
            assert!(begun.elapsed() < patience(), "never said {words:?}:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        self.child.get_mut().kill().unwrap();
        self.child.get_mut().wait().unwrap();
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ended = self.child.get_mut().kill();
        let _reaped = self.child.get_mut().wait();
    }
}

/// The command `seamripper ARGUMENTS` with the ground's settings.
pub(crate) fn command(ground: &Ground, arguments: &[&str], fault: Option<&str>) -> Command {
    // A file of its own: another process may be reading the last one just now.
    let path = ground.folder.path().join(format!("seamripper-{}.toml", number()));
    std::fs::write(&path, toml(&ground.settings)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_seamripper"));
    command.args(arguments).arg("-c").arg(&path).current_dir(ground.folder.path());
    if let Some(fault) = fault {
        command.env("SEAMRIPPER_FAULT", fault);
    }
    command
}

/// What settings change, as a file. Secrets are not shown.
pub(crate) fn toml(own: &Settings) -> String {
    let settings = serde_json::to_value(own).unwrap();
    let defaults = serde_json::to_value(Settings::default()).unwrap();
    let mut toml = format!("mode = {}\n", settings["mode"]);
    for (section, values) in settings.as_object().unwrap() {
        let Some(values) = values.as_object() else { continue };
        let changed = values.iter().filter(|(key, value)| **value != defaults[section][*key] && !value.is_object());
        toml += &format!("[{section}]\n");
        changed.for_each(|(key, value)| toml += &format!("{key} = {value}\n"));
    }
    toml += "[milter.actions]\n";
    for (label, action) in settings["milter"]["actions"].as_object().unwrap() {
        toml += &format!("{label:?} = {action}\n");
    }
    toml += "[kafka.properties]\n";
    for (name, value) in &own.kafka.properties {
        toml += &format!("{name:?} = {:?}\n", value.reveal());
    }
    toml
}

/// Judges what is there, and ends.
pub(crate) fn drain(ground: &Ground) {
    let mut process = Process::start(ground, &["run", "--until-idle", "1.5"], None);
    let status = process.ended();
    assert!(status.success(), "{status}:\n{}", process.log());
}

/// An audit finds nothing, and `n` documents are judged.
pub(crate) fn audited(ground: &Ground, n: usize) {
    let output = command(ground, &["audit", "--json"], None).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let findings: serde_json::Value = serde_json::from_str(&said).unwrap();
    let all = verdicts(&*ground.open(), ground);
    assert_eq!(findings["n_published"], all.len() as u64, "{findings}");
    assert_eq!(n_judged(&all), n, "{findings}");
}

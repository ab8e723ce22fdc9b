//! Rules that types cannot say: ranges, and contradictions between keys. All are collected, each with its values.

use super::{Band, COPIES_MAX, Settings, THREADS_MAX};

/// Offsets into a document are 32-bit; a quarter of that leaves room for what decoding and joining add.
const BYTES_CEILING: usize = 1 << 30;
/// Slots of a minhash.
const SLOTS: usize = 128;
/// Bins of a style.
const BINS: u32 = 128;
/// A smaller store holds nothing worth the name.
const MEMORY_FLOOR: usize = 1 << 20;
/// 16 million documents, which is as many as can be told apart, need less.
const MEMORY_CEILING: usize = 96 << 30;
/// Bytes of a record that waits to be looked at again.
const QUEUED_BYTES: usize = 24;
/// A head has room for three further prototypes.
const PROTOTYPES_CEILING: usize = 4;
/// Owners of a gram lie in one cache line.
const OWNERS_CEILING: usize = 5;
/// A cluster that two were merged into has room for the leaders of both.
const LEADERS_CEILING: usize = 8;
/// More bytes on their way to a bus than fit into memory help nobody.
const WAITING_CEILING: usize = 1 << 40;
/// Places in the queues of checks are made at the start.
const CHECKS_CEILING: usize = 1 << 20;
/// There are no more ports.
const CONNECTIONS_CEILING: usize = 65536;
/// Each is two ids of 2 KiB at most, and every snapshot begins with them.
const HEIRS_CEILING: usize = 1_000_000;
/// More partitions than this are a mistyped number.
const PARTITIONS_MAX: i32 = 10_000;
/// Rows of excerpts are whole lines, and their lengths have 16 bits; more than a screen is no beginning.
const EXCERPT_CEILING: usize = 4096;
/// Postfix waits five minutes for what a milter says of a whole mail (`milter_content_timeout`).
const PATIENCE_CEILING_MS: u64 = 240_000;

/// Runs of more words, or windows of more grams, are longer than the passages that they are to find.
const RUN_CEILING: usize = 1000;
/// What no setting needs more of, by how its name ends, the first that fits: a petabyte, a century, a billion of anything else. Sums of
/// such numbers cannot overflow.
const EXCESSES: [(&str, u64); 6] = [
    ("_bytes", 1 << 50),
    ("_bytes_max", 1 << 50),
    ("_ms", 100 * 366 * 86_400_000),
    ("_s", 100 * 366 * 86_400),
    ("hours", 100 * 366 * 24),
    ("", 1_000_000_000),
];

/// All that is wrong with `settings`.
pub(super) fn problems(settings: &Settings) -> Vec<String> {
    let mut problems = rules(settings);
    excesses("", &serde_json::to_value(settings).expect("settings are plain data with names"), &mut problems);
    problems
}

/// Numbers that can only be mistyped, of every setting that has a number.
fn excesses(key: &str, value: &serde_json::Value, problems: &mut Vec<String>) {
    if let serde_json::Value::Object(settings) = value {
        for (name, value) in settings {
            let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            excesses(&key, value, problems);
        }
    }
    let ceiling = EXCESSES.iter().find(|(end, _)| key.ends_with(end)).map_or(u64::MAX, |(_, ceiling)| *ceiling);
    // What has a lower ceiling of its own was told already.
    let is_told = || problems.iter().any(|problem| problem.starts_with(&format!("{key} (")));
    if let Some(value) = value.as_u64().filter(|value| *value > ceiling)
        && key != "store.memory"
        && !is_told()
    {
        problems.push(format!("{key} ({value}) must be at most {ceiling}"));
    }
}

/// What the rules of single keys and of several say.
pub(super) fn rules(settings: &Settings) -> Vec<String> {
    let mut problems = Vec::new();
    let Settings { secret, limits, text, content, imatch, minhash, grams, .. } = settings;
    let mut refuse = |wrong: bool, problem: String| {
        if wrong {
            problems.push(problem);
        }
    };

    refuse(secret.reveal().is_empty(), "secret must not be empty".into());
    for (key, value) in [
        ("limits.body_bytes_max", limits.body_bytes_max),
        ("limits.unpacked_bytes_max", limits.unpacked_bytes_max),
        ("limits.text_bytes_max", limits.text_bytes_max),
        ("limits.words_max", limits.words_max),
        ("limits.nesting_max", limits.nesting_max),
        ("limits.attributes_max", limits.attributes_max),
        ("limits.links_max", limits.links_max),
        ("limits.parts_max", limits.parts_max),
        ("limits.frame_items_max", limits.frame_items_max),
        ("text.terms_min", text.terms_min),
        ("text.digits_masked_min", text.digits_masked_min),
    ] {
        refuse(value == 0, format!("{key} (0) must be at least 1"));
    }
    for (key, value) in
        [("limits.body_bytes_max", limits.body_bytes_max), ("limits.text_bytes_max", limits.text_bytes_max)]
    {
        refuse(value > BYTES_CEILING, format!("{key} ({value}) must be at most {BYTES_CEILING}"));
    }
    for (key, value) in [
        ("minhash.page_shingle_words", minhash.page_shingle_words),
        ("minhash.mail_shingle_words", minhash.mail_shingle_words),
        ("minhash.shingle_characters", minhash.shingle_characters),
        ("grams.window", grams.window),
    ] {
        refuse(value.get() > RUN_CEILING, format!("{key} ({value}) must be at most {RUN_CEILING}"));
    }
    refuse(
        limits.nesting_max > usize::from(u16::MAX),
        format!("limits.nesting_max ({}) must be at most {}", limits.nesting_max, u16::MAX),
    );
    refuse(
        limits.unpacked_bytes_max < limits.body_bytes_max,
        format!(
            "limits.unpacked_bytes_max ({}) must not be below limits.body_bytes_max ({})",
            limits.unpacked_bytes_max, limits.body_bytes_max
        ),
    );
    refuse(
        content.sentence_chars_max >= text.sentence_chars_min,
        format!(
            "content.sentence_chars_max ({}) must be below text.sentence_chars_min ({})",
            content.sentence_chars_max, text.sentence_chars_min
        ),
    );
    refuse(
        text.terms_min_unspaced < text.terms_min,
        format!(
            "text.terms_min_unspaced ({}) must not be below text.terms_min ({})",
            text.terms_min_unspaced, text.terms_min
        ),
    );
    refuse(
        imatch.terms_min.get() < text.terms_min,
        format!("imatch.terms_min ({}) must not be below text.terms_min ({})", imatch.terms_min, text.terms_min),
    );
    refuse(imatch.copies > COPIES_MAX, format!("imatch.copies ({}) must be at most {COPIES_MAX}", imatch.copies));
    for (key, value) in [
        ("content.node_share", content.node_share),
        ("content.link_share", content.link_share),
        ("imatch.drop_share", imatch.drop_share),
    ] {
        refuse(!(value > 0.0 && value < 1.0), format!("{key} ({value}) must lie between 0 and 1"));
    }
    for (key, band) in [
        ("imatch.page_band", imatch.page_band),
        ("imatch.mail_band", imatch.mail_band),
        ("imatch.unspaced_band", imatch.unspaced_band),
    ] {
        let Band { min, max } = band;
        refuse(
            !(0.0 <= min && min < max && max <= 1.0),
            format!("{key} ([{min}, {max}]) must ascend and lie in 0 to 1"),
        );
    }
    store_problems(settings, &mut problems);
    run_problems(settings, &mut problems);
    milter_problems(settings, &mut problems);
    problems
}

/// What is wrong with the settings of `milter`.
fn milter_problems(settings: &Settings, problems: &mut Vec<String>) {
    let Settings { milter, http, check, .. } = settings;
    let mut refuse = |wrong: bool, problem: String| {
        if wrong {
            problems.push(problem);
        }
    };
    refuse(
        milter.mail_bytes_max > http.body_bytes_max,
        format!(
            "milter.mail_bytes_max ({}) must not be above http.body_bytes_max ({})",
            milter.mail_bytes_max, http.body_bytes_max
        ),
    );
    refuse(
        milter.timeout_ms > check.timeout_max_ms,
        format!(
            "milter.timeout_ms ({}) must not be above check.timeout_max_ms ({}), or every mail would be refused",
            milter.timeout_ms, check.timeout_max_ms
        ),
    );
    refuse(
        milter.waiting_bytes_max < milter.mail_bytes_max,
        format!(
            "milter.waiting_bytes_max ({}) must not be below milter.mail_bytes_max ({})",
            milter.waiting_bytes_max, milter.mail_bytes_max
        ),
    );
    refuse(
        milter.waiting_bytes_max > WAITING_CEILING,
        format!("milter.waiting_bytes_max ({}) must be at most {WAITING_CEILING}", milter.waiting_bytes_max),
    );
    for (key, value) in [
        ("milter.connections_max", milter.connections_max),
        ("milter.mails_max", milter.mails_max),
        ("milter.authserv_headers", milter.authserv_headers),
    ] {
        refuse(
            !(1..=CONNECTIONS_CEILING).contains(&value),
            format!("{key} ({value}) must lie in 1 to {CONNECTIONS_CEILING}"),
        );
    }
    for (key, value) in [
        ("milter.timeout_ms", milter.timeout_ms),
        ("milter.read_timeout_ms", milter.read_timeout_ms),
        ("milter.idle_timeout_ms", milter.idle_timeout_ms),
    ] {
        refuse(value == 0, format!("{key} (0) must be at least 1"));
    }
    refuse(
        milter.timeout_ms > PATIENCE_CEILING_MS,
        format!(
            "milter.timeout_ms ({}) must be at most {PATIENCE_CEILING_MS}: mail servers wait no longer themselves",
            milter.timeout_ms
        ),
    );
    for label in milter.actions.keys() {
        refuse(
            label == "allow",
            "milter.actions.allow: nothing is done with mails that are allowed, leave it out".to_owned(),
        );
        refuse(
            label.is_empty() || label.contains(char::is_control),
            format!("milter.actions.{}: this is no label", label.escape_debug()),
        );
    }
}

/// What is wrong with the settings of `run`.
fn run_problems(settings: &Settings, problems: &mut Vec<String>) {
    let Settings { limits, bus, topics, batch, snapshot, http, check, kafka, .. } = settings;
    let mut refuse = |wrong: bool, problem: String| {
        if wrong {
            problems.push(problem);
        }
    };
    refuse(
        bus.record_bytes_max < limits.body_bytes_max,
        format!(
            "bus.record_bytes_max ({}) must not be below limits.body_bytes_max ({})",
            bus.record_bytes_max, limits.body_bytes_max
        ),
    );
    refuse(
        http.body_bytes_max < bus.record_bytes_max,
        format!(
            "http.body_bytes_max ({}) must not be below bus.record_bytes_max ({})",
            http.body_bytes_max, bus.record_bytes_max
        ),
    );
    refuse(
        http.waiting_bytes_max < http.body_bytes_max,
        format!(
            "http.waiting_bytes_max ({}) must not be below http.body_bytes_max ({})",
            http.waiting_bytes_max, http.body_bytes_max
        ),
    );
    refuse(
        http.waiting_bytes_max > WAITING_CEILING,
        format!("http.waiting_bytes_max ({}) must be at most {WAITING_CEILING}", http.waiting_bytes_max),
    );
    refuse(
        http.streams_max >= http.connections_max,
        format!(
            "http.streams_max ({}) must be below http.connections_max ({})",
            http.streams_max, http.connections_max
        ),
    );
    refuse(
        http.connections_max > CONNECTIONS_CEILING,
        format!("http.connections_max ({}) must be at most {CONNECTIONS_CEILING}", http.connections_max),
    );
    refuse(
        http.rate_per_s > 0 && http.rate_burst == 0,
        format!("http.rate_burst (0) must be at least 1 where http.rate_per_s ({}) is not 0", http.rate_per_s),
    );
    refuse(http.timeout_ms == 0, "http.timeout_ms (0) must be at least 1".into());
    refuse(
        !(1..=check.timeout_max_ms).contains(&check.timeout_ms),
        format!(
            "check.timeout_ms ({}) must lie in 1 to check.timeout_max_ms ({})",
            check.timeout_ms, check.timeout_max_ms
        ),
    );
    refuse(
        check.queue_bytes_max < http.body_bytes_max,
        format!(
            "check.queue_bytes_max ({}) must not be below http.body_bytes_max ({})",
            check.queue_bytes_max, http.body_bytes_max
        ),
    );
    refuse(
        check.queue_bytes_max > WAITING_CEILING,
        format!("check.queue_bytes_max ({}) must be at most {WAITING_CEILING}", check.queue_bytes_max),
    );
    for (key, value) in [("check.queue_max", check.queue_max.get()), ("check.waiters_max", check.waiters_max.get())] {
        refuse(value > CHECKS_CEILING, format!("{key} ({value}) must be at most {CHECKS_CEILING}"));
    }
    refuse(check.threads > THREADS_MAX, format!("check.threads ({}) must be at most {THREADS_MAX}", check.threads));
    for (key, value) in
        [("kafka.fetch_bytes_max", kafka.fetch_bytes_max), ("kafka.send_bytes_max", kafka.send_bytes_max)]
    {
        refuse(
            value < bus.record_bytes_max,
            format!("{key} ({value}) must not be below bus.record_bytes_max ({})", bus.record_bytes_max),
        );
    }
    refuse(
        !is_holder(&snapshot.holder),
        format!(
            "snapshot.holder ({:?}) must be empty or the address of another instance's HTTP side, such as \
             \"http://10.0.0.5:8470\" (without TLS: that is for a proxy)",
            snapshot.holder
        ),
    );
    let excerpt_bytes = settings.texts.excerpt_bytes;
    refuse(
        excerpt_bytes > EXCERPT_CEILING,
        format!("texts.excerpt_bytes ({excerpt_bytes}) must be at most {EXCERPT_CEILING}"),
    );
    refuse(bus.store.is_empty(), "bus.store must not be empty".into());
    refuse(settings.succession.hours == 0, "succession.hours (0) must be at least 1".into());
    refuse(
        settings.succession.heirs_max > HEIRS_CEILING,
        format!("succession.heirs_max ({}) must be at most {HEIRS_CEILING}", settings.succession.heirs_max),
    );
    refuse(bus.lease_ms < 500, format!("bus.lease_ms ({}) must be at least 500", bus.lease_ms));
    for (key, value) in [("batch.wait_ms", batch.wait_ms), ("batch.kafka_wait_ms", batch.kafka_wait_ms)] {
        refuse(
            value > kafka.transaction_timeout_ms / 2,
            format!(
                "{key} ({value}) must be at most half of kafka.transaction_timeout_ms ({})",
                kafka.transaction_timeout_ms
            ),
        );
    }
    for (key, value) in [("topics.partitions", topics.partitions), ("topics.replication", topics.replication)] {
        refuse(value < 1, format!("{key} ({value}) must be at least 1"));
    }
    refuse(
        settings.batch.threads > THREADS_MAX,
        format!("batch.threads ({}) must be at most {THREADS_MAX}", settings.batch.threads),
    );
    refuse(
        topics.partitions > PARTITIONS_MAX,
        format!("topics.partitions ({}) must be at most {PARTITIONS_MAX}", topics.partitions),
    );
    let outputs = [
        ("topics.labels", &topics.labels),
        ("topics.verdicts", &topics.verdicts),
        ("topics.clusters", &topics.clusters),
        ("topics.dead_letters", &topics.dead_letters),
        ("topics.journal", &topics.journal),
        ("topics.signed", &topics.signed),
    ];
    for (key, name) in outputs {
        refuse(name.is_empty(), format!("{key} must not be empty"));
    }
    refuse(
        topics.pages.is_empty() && topics.emails.is_empty(),
        "topics.pages and topics.emails are both empty: nothing would be read".into(),
    );
    let mut named: Vec<(&str, &String)> = outputs.into();
    named.extend([("topics.pages", &topics.pages), ("topics.emails", &topics.emails)]);
    for (number, (key, name)) in named.iter().enumerate() {
        for (other_key, other) in &named[number + 1..] {
            refuse(!name.is_empty() && name == other, format!("{key} and {other_key} are both {name:?}"));
        }
    }
}

/// Whether a snapshot can be asked for there, or is to be asked for nowhere.
fn is_holder(holder: &str) -> bool {
    let is_plain = |url: url::Url| {
        let is_bare = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        url.scheme() == "http" && url.has_host() && is_bare && url.fragment().is_none()
    };
    holder.is_empty() || url::Url::parse(holder).is_ok_and(is_plain)
}

/// What is wrong with the settings of match and judge.
fn store_problems(settings: &Settings, problems: &mut Vec<String>) {
    let Settings { text, store, mirror, quilt, template, revisions, .. } = settings;
    let mut refuse = |wrong: bool, problem: String| {
        if wrong {
            problems.push(problem);
        }
    };
    refuse(
        store.memory > MEMORY_CEILING,
        format!("store.memory ({}) must be at most {MEMORY_CEILING}: it holds no more documents", store.memory),
    );
    refuse(store.memory < MEMORY_FLOOR, format!("store.memory ({}) must be at least {MEMORY_FLOOR}", store.memory));
    let queue_bytes = revisions.queue_max.saturating_mul(QUEUED_BYTES);
    refuse(
        store.memory >= MEMORY_FLOOR && queue_bytes > store.memory / 2,
        format!(
            "revisions.queue_max ({}) times {QUEUED_BYTES} bytes must be at most half of store.memory ({})",
            revisions.queue_max, store.memory
        ),
    );
    for (key, value) in [
        ("store.share_max", store.share_max),
        ("mirror.cosine_min", mirror.cosine_min),
        ("mirror.core_cosine_min", mirror.core_cosine_min),
        ("mirror.resemblance_min", mirror.resemblance_min),
        ("mirror.resemblance_min_unspaced", mirror.resemblance_min_unspaced),
        ("mirror.prototype_below", mirror.prototype_below),
        ("mirror.head_min", mirror.head_min),
        ("quilt.fraction_min", quilt.fraction_min),
        ("quilt.source_own_min", quilt.source_own_min),
        ("quilt.linked_min", quilt.linked_min),
        ("template.frame_min", template.frame_min),
        ("template.frame_beside_min", template.frame_beside_min),
        ("template.leader_below", template.leader_below),
        ("template.merge_min", template.merge_min),
        ("template.linked_min", template.linked_min),
        ("template.copies_min", template.copies_min),
    ] {
        refuse(!(0.0..=1.0).contains(&value), format!("{key} ({value}) must lie in 0 to 1"));
    }
    for (key, value, ceiling) in [
        ("mirror.prototypes_max", mirror.prototypes_max, PROTOTYPES_CEILING),
        ("mirror.candidates_max", mirror.candidates_max, 64),
        ("mirror.related_max", mirror.related_max, 64),
        ("quilt.owners_max", quilt.owners_max, OWNERS_CEILING),
        ("quilt.sources_min", quilt.sources_min, 64),
        ("quilt.remembered_max", quilt.remembered_max, 64),
        ("template.candidates_max", template.candidates_max, 64),
        ("template.leaders_max", template.leaders_max, LEADERS_CEILING),
    ] {
        refuse(!(1..=ceiling).contains(&value), format!("{key} ({value}) must lie in 1 to {ceiling}"));
    }
    for (key, value) in [
        ("mirror.sentence_df_max", u32::from(mirror.sentence_df_max)),
        ("quilt.gram_df_max", u32::from(quilt.gram_df_max)),
        ("quilt.source_grams_min", quilt.source_grams_min),
        ("quilt.source_grams_min_unspaced", quilt.source_grams_min_unspaced),
        ("template.bins_min", template.bins_min),
    ] {
        refuse(value == 0, format!("{key} (0) must be at least 1"));
    }
    refuse(store.share_max == 0.0, "store.share_max (0) must be above 0: nobody could store anything".into());
    for (key, value) in
        [("template.size_min", template.size_min), ("template.farm_domains_min", template.farm_domains_min)]
    {
        refuse(value < 2, format!("{key} ({value}) must be at least 2"));
    }
    for (bands_key, bands, rows_key, rows) in [
        ("mirror.bands", mirror.bands, "mirror.rows", mirror.rows),
        ("mirror.page_bands", mirror.page_bands, "mirror.page_rows", mirror.page_rows),
    ] {
        refuse(
            bands.saturating_mul(rows).get() > SLOTS,
            format!("{bands_key} ({bands}) times {rows_key} ({rows}) must be at most {SLOTS}, the slots of a minhash"),
        );
    }
    refuse(
        template.bins_alone_min > BINS,
        format!("template.bins_alone_min ({}) must be at most {BINS}, the bins of a style", template.bins_alone_min),
    );
    for (low_key, low, high_key, high) in [
        ("template.bins_beside_min", template.bins_beside_min, "template.bins_min", template.bins_min),
        ("template.bins_min", template.bins_min, "template.bins_alone_min", template.bins_alone_min),
    ] {
        refuse(low > high, format!("{low_key} ({low}) must not be above {high_key} ({high})"));
    }
    for (low_key, low, high_key, high) in [
        ("mirror.core_cosine_min", mirror.core_cosine_min, "mirror.cosine_min", mirror.cosine_min),
        ("mirror.head_min", mirror.head_min, "mirror.prototype_below", mirror.prototype_below),
        ("template.frame_beside_min", template.frame_beside_min, "template.frame_min", template.frame_min),
        ("template.frame_min", template.frame_min, "template.merge_min", template.merge_min),
        ("template.frame_min", template.frame_min, "template.leader_below", template.leader_below),
    ] {
        refuse(low > high, format!("{low_key} ({low}) must not be above {high_key} ({high})"));
    }
    refuse(
        quilt.remembered_max < quilt.sources_min,
        format!(
            "quilt.remembered_max ({}) must not be below quilt.sources_min ({})",
            quilt.remembered_max, quilt.sources_min
        ),
    );
    refuse(
        (mirror.contained_chars_min as usize) < text.sentence_chars_min,
        format!(
            "mirror.contained_chars_min ({}) must not be below text.sentence_chars_min ({})",
            mirror.contained_chars_min, text.sentence_chars_min
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Plan;

    #[test]
    fn the_defaults_have_no_problem() {
        assert_eq!(problems(&Settings::default()), Vec::<String>::new());
        assert_eq!((MEMORY_FLOOR, SLOTS), (Plan::MEMORY_MIN, crate::signature::minhash::SLOTS));
    }

    /// Each change alone is refused with these words, and nothing else is wrong.
    #[test]
    fn each_problem_is_named_with_its_values() {
        type Change = fn(&mut Settings);
        let table: [(Change, &str); 28] = [
            (|s| s.store.memory = 1000, "store.memory (1000) must be at least 1048576"),
            (
                |s| s.store.memory = 4 << 20,
                "revisions.queue_max (100000) times 24 bytes must be at most half of store.memory (4194304)",
            ),
            (|s| s.store.share_max = 1.5, "store.share_max (1.5) must lie in 0 to 1"),
            (|s| s.store.share_max = 0.0, "store.share_max (0) must be above 0"),
            (|s| s.quilt.fraction_min = f64::NAN, "quilt.fraction_min (NaN) must lie in 0 to 1"),
            (|s| s.mirror.prototypes_max = 5, "mirror.prototypes_max (5) must lie in 1 to 4"),
            (|s| s.mirror.prototypes_max = 0, "mirror.prototypes_max (0) must lie in 1 to 4"),
            (|s| s.template.leaders_max = 9, "template.leaders_max (9) must lie in 1 to 8"),
            (|s| s.quilt.gram_df_max = 0, "quilt.gram_df_max (0) must be at least 1"),
            (
                |s| s.mirror.bands = 33.try_into().unwrap(),
                "mirror.bands (33) times mirror.rows (4) must be at most 128",
            ),
            (
                |s| s.mirror.page_rows = 7.try_into().unwrap(),
                "mirror.page_bands (20) times mirror.page_rows (7) must be at most 128",
            ),
            (|s| s.mirror.resemblance_min_unspaced = 2.0, "mirror.resemblance_min_unspaced (2) must lie in 0 to 1"),
            (|s| s.mirror.cosine_min = 0.4, "mirror.core_cosine_min (0.5) must not be above mirror.cosine_min (0.4)"),
            (
                |s| s.template.bins_alone_min = 10,
                "template.bins_min (20) must not be above template.bins_alone_min (10)",
            ),
            (
                |s| s.template.bins_beside_min = 21,
                "template.bins_beside_min (21) must not be above template.bins_min (20)",
            ),
            (|s| s.template.merge_min = 0.6, "template.frame_min (0.65) must not be above template.merge_min (0.6)"),
            (
                |s| s.template.frame_beside_min = 0.7,
                "template.frame_beside_min (0.7) must not be above template.frame_min (0.65)",
            ),
            (
                |s| s.snapshot.holder = "10.0.0.5:8470".into(),
                "snapshot.holder (\"10.0.0.5:8470\") must be empty or the",
            ),
            (|s| s.snapshot.holder = "https://h.example".into(), "snapshot.holder (\"https://h.example\") must be"),
            (|s| s.snapshot.holder = "http://h.example/?x".into(), "snapshot.holder (\"http://h.example/?x\") must be"),
            (|s| s.text.terms_min_unspaced = 4, "text.terms_min_unspaced (4) must not be below text.terms_min (5)"),
            (|s| s.quilt.remembered_max = 3, "quilt.remembered_max (3) must not be below quilt.sources_min (4)"),
            (|s| s.milter.mails_max = 0, "milter.mails_max (0) must lie in 1 to 65536"),
            (
                |s| (s.milter.timeout_ms, s.check.timeout_max_ms) = (300_000, 300_000),
                "milter.timeout_ms (300000) must be at most 240000",
            ),
            (|s| s.milter.mail_bytes_max = 1 << 26, "milter.mail_bytes_max (67108864) must not be above"),
            (
                |s| s.milter.timeout_ms = 31_000,
                "milter.timeout_ms (31000) must not be above check.timeout_max_ms (30000)",
            ),
            (|s| s.milter.waiting_bytes_max = 1, "milter.waiting_bytes_max (1) must not be below"),
            (|s| s.http.rate_burst = 0, "http.rate_burst (0) must be at least 1 where http.rate_per_s (2000) is not 0"),
        ];
        for (change, expected) in table {
            let mut settings = Settings::default();
            change(&mut settings);
            let problems = problems(&settings);
            assert!(problems.len() == 1 && problems[0].starts_with(expected), "{expected}: {problems:?}");
        }
    }
}

//! A filter goes on under other settings with all that it remembers, where these change neither keys nor sizes of tables.
//!
//! Thresholds decide what is said of a document when it comes; what is stored of it is the same. Whatever decides signatures, the
//! keys that are made of them, or how the memory is divided needs a store of its own.
//!
//! # Invariants
//! - Tables are moved, never copied, and nothing of them changes. (`a_carried_filter_remembers_everything`)
//! - What cannot be carried is told by key, with both values, and nothing is lost by asking. (`what_cannot_be_carried_is_named`)

use super::Filter;
use crate::config::Settings;
use serde_json::Value;

/// Sections that decide signatures.
const SIGNING: [&str; 6] = ["text", "content", "imatch", "minhash", "grams", "style"];
/// Keys that decide the sizes of tables, under what a document is found again, or by what it is compared.
const SHAPING: [(&str, &str); 8] = [
    ("text", "terms_min_unspaced"),
    ("store", "memory"),
    ("store", "cross_kinds"),
    ("mirror", "bands"),
    ("mirror", "rows"),
    ("mirror", "page_bands"),
    ("mirror", "page_rows"),
    ("revisions", "queue_max"),
];

/// Why a filter cannot go on under other settings.
#[derive(Debug, thiserror::Error)]
#[error("what is stored cannot be used under other {}", .0.join(", "))]
pub struct NotCarried(Vec<String>);

/// The settings that decide whether a filter can be carried. The secret is not among them.
pub(super) struct Deciding(Value);

impl Deciding {
    pub(super) fn of(settings: &Settings) -> Self {
        let mut all = serde_json::to_value(settings).expect("settings have no map with odd keys");
        if let Value::Object(sections) = &mut all {
            sections.retain(|name, _| {
                SIGNING.contains(&name.as_str()) || SHAPING.iter().any(|(section, _)| section == name)
            });
        }
        Self(all)
    }

    /// The keys of the two that differ, with both values.
    fn differences(&self, other: &Self, is_one_key: bool) -> Vec<String> {
        let difference = |section: &str, key: &str| {
            let (was, is) = (&self.0[section][key], &other.0[section][key]);
            (was != is).then(|| format!("{section}.{key} (it was {was}, and is {is})"))
        };
        let mut differences: Vec<String> =
            SHAPING.iter().filter_map(|(section, key)| difference(section, key)).collect();
        if !is_one_key {
            let n_before = differences.len();
            for section in SIGNING {
                let keys = self.0[section].as_object().into_iter().flat_map(|keys| keys.keys());
                let keys = keys.filter(|key| !SHAPING.contains(&(section, key)));
                differences.extend(keys.filter_map(|key| difference(section, key)));
            }
            if differences.len() == n_before {
                differences.push("secret, or contents of lexicons".into());
            }
        }
        differences
    }
}

impl Filter {
    /// Whether `to` can go on with what this one remembers.
    pub fn can_carry(&self, to: &Self) -> Result<(), NotCarried> {
        let mut differences = self.deciding.differences(&to.deciding, self.head.key_id == to.head.key_id);
        if self.head.scheme != to.head.scheme {
            differences.push("signature scheme".into());
        }
        if differences.is_empty() { Ok(()) } else { Err(NotCarried(differences)) }
    }

    /// Goes on with all that `from` remembers, but for its labels. Only between batches; what was being written of `from` is given
    /// up. After an error, which [`Filter::can_carry`] tells before, `from` is lost.
    pub fn carry(&mut self, mut from: Self) -> Result<(), NotCarried> {
        from.can_carry(self)?;
        self.abandon_snapshot();
        from.abandon_snapshot();
        self.store.carry(from.store);
        self.judge.carry(from.judge);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Kind;
    use crate::store::tests::{arrival, settings};
    use crate::verdict::labels::Labels;

    fn filter(change: impl FnOnce(&mut Settings), key_id: u64) -> Filter {
        let mut settings = settings(6 << 20);
        change(&mut settings);
        Filter::new(&settings, Labels::new(0), key_id)
    }

    #[test]
    fn a_carried_filter_remembers_everything() {
        let mut old = filter(|_| {}, 7);
        let batch: Vec<_> = (0..40).map(|n| arrival(&format!("d{n}"), Kind::Email, 50 * n..50 * n + 60)).collect();
        old.fold(&batch, 2, |_| {});
        let census = old.census();
        let saved = old.save().unwrap();
        let change = |settings: &mut Settings| {
            settings.mirror.cosine_min = 0.83;
            settings.quilt.fraction_min = 0.75;
            settings.template.size_min = 9;
            settings.revisions.per_document = 3;
            settings.store.share_max = 0.5;
            settings.limits.links_max = 17;
        };
        let mut new = filter(change, 7);
        new.carry(old).unwrap();
        assert_eq!(new.census(), census);
        // The same but for the head, which names the settings.
        let bytes = new.save().unwrap();
        let body = |bytes: &[u8]| {
            let mut opened = bytes;
            let mut opened = crate::store::snapshot::Opened::open(&mut opened).unwrap();
            let (mut blocks, mut bytes) = (Vec::new(), Vec::new());
            while opened.block(&mut bytes).unwrap().is_some() {
                blocks.push(bytes.clone());
            }
            blocks
        };
        assert!(bytes != saved && body(&bytes) == body(&saved));
        let again = arrival("again", Kind::Email, 0..60);
        let mut n_copies = 0;
        new.fold(&[again], 1, |event| {
            let super::super::Event::Verdict(verdict) = event else { return };
            n_copies += usize::from(verdict.mirror.is_some_and(|mirror| mirror.of == "d0"));
        });
        assert_eq!(n_copies, 1);
    }

    #[test]
    fn what_cannot_be_carried_is_named() {
        let told = |change: fn(&mut Settings), key_id: u64| {
            filter(|_| {}, 7).can_carry(&filter(change, key_id)).unwrap_err().to_string()
        };
        let memory = told(|settings| settings.store.memory += 1, 7);
        assert_eq!(memory, "what is stored cannot be used under other store.memory (it was 6291456, and is 6291457)");
        let pairs = told(|settings| settings.text.terms_min_unspaced = 20, 7);
        assert!(pairs.ends_with("under other text.terms_min_unspaced (it was 16, and is 20)"), "{pairs}");
        let bands = told(|settings| settings.mirror.bands = 3.try_into().unwrap(), 7);
        assert!(bands.contains("mirror.bands (it was ") && bands.contains(", and is 3)"), "{bands}");
        assert!(told(|settings| settings.revisions.queue_max += 1, 7).contains("revisions.queue_max"));
        let both =
            told(|settings| (settings.grams.window, settings.store.cross_kinds) = (9.try_into().unwrap(), true), 8);
        assert!(both.contains("store.cross_kinds (it was false, and is true), grams.window (it was "), "{both}");
        assert!(told(|_| {}, 8).ends_with("secret, or contents of lexicons"));
        let mut old = filter(|_| {}, 7);
        assert!(filter(|_| {}, 8).carry(std::mem::replace(&mut old, filter(|_| {}, 7))).is_err());
    }
}

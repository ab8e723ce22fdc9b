//! The items of the page frame: what the pages of one template have in common, whatever they say.
//!
//! Head items are the stylesheets and icons (rel and file name), scripts (file name), meta names and other link rels;
//! beside them stand each `tag@attribute-name` and the ids of structural elements. Digit runs count as `#`, content
//! hashes in names and the query and path of an address do not count, and no content does. Tags that are
//! [commonplace](super::commonplace) do not come here.
//!
//! # Invariants
//! - An item is kept once, and no more items than the limit are kept. (`items_are_kept_once_and_bounded`)
//! - Numbers, content hashes, queries and folders do not change an item. (`names_are_reduced`)
//! - An item's hash depends on the item and the key alone. (`golden_items`)

use super::tokens::{Attribute, TagToken};
use crate::document::{FrameItem, FramePart};
use crate::signature::keyed::mix;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Which items have been met, and a buffer for names.
#[derive(Default)]
pub(super) struct Seen {
    /// Open addressing; 0 is free. At most half full.
    slots: Vec<u64>,
    n: usize,
    name: String,
}

/// Collects the items of one page.
pub(super) struct Frame<'a> {
    key: u64,
    items_max: usize,
    seen: &'a mut Seen,
    items: &'a mut Vec<FrameItem>,
    /// Whether an item was left out.
    pub(super) cut: bool,
}

impl<'a> Frame<'a> {
    /// Adds to `items`, which may hold those of an earlier part of the same document.
    pub(super) fn new(key: u64, items_max: usize, seen: &'a mut Seen, items: &'a mut Vec<FrameItem>) -> Self {
        seen.slots.clear();
        seen.slots.resize(512, 0);
        seen.n = 0;
        items.iter().for_each(|item| {
            seen.insert(item.hash);
        });
        Self { key, items_max, seen, items, cut: false }
    }

    /// The name of an attribute. `names` gives those of tag and attribute as written, if they are wanted.
    #[inline]
    pub(super) fn attribute<'n>(
        &mut self,
        tag: &TagToken,
        attribute: &Attribute,
        names: impl FnOnce() -> (&'n str, &'n str),
    ) {
        let hash = mix(mix(self.key ^ FramePart::Attribute as u64, tag.key), attribute.key).max(1);
        if !self.seen.has(hash) {
            self.new_attribute(hash, names());
        }
    }

    #[cold]
    fn new_attribute(&mut self, hash: u64, (tag, attribute): (&str, &str)) {
        let has_digit = |name: &str| name.bytes().any(|byte| byte.is_ascii_digit());
        // The names h1 to h6 are no numbered ones.
        if !has_digit(attribute) && (tag.len() <= 2 || !has_digit(tag)) {
            return self.add(FramePart::Attribute, hash);
        }
        self.seen.name.clear();
        reduce(&tag.to_ascii_lowercase(), &mut self.seen.name);
        self.seen.name.push('@');
        reduce(&attribute.to_ascii_lowercase(), &mut self.seen.name);
        self.add_named(FramePart::Attribute);
    }

    /// The id of a structural element.
    pub(super) fn id(&mut self, id: &str) {
        self.seen.name.clear();
        reduce(id.trim_ascii(), &mut self.seen.name);
        if !self.seen.name.is_empty() {
            self.add_named(FramePart::Id);
        }
    }

    /// A `<link>`.
    pub(super) fn link(&mut self, rel: &str, href: &str) {
        let has = |wanted: &str| rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(wanted));
        let is_stylesheet = has("stylesheet");
        let is_icon = rel.as_bytes().windows(4).any(|part| part.eq_ignore_ascii_case(b"icon"));
        self.seen.name.clear();
        self.seen.name.push_str("link ");
        reduce_lower(rel, &mut self.seen.name);
        if is_stylesheet || is_icon {
            self.seen.name.push('\n');
            reduce(file_name(href), &mut self.seen.name);
        }
        self.add_named(if is_stylesheet { FramePart::Stylesheet } else { FramePart::Head });
    }

    /// A `<script src>`.
    pub(super) fn script(&mut self, src: &str) {
        self.seen.name.clear();
        self.seen.name.push_str("script ");
        reduce(file_name(src), &mut self.seen.name);
        self.add_named(FramePart::Head);
    }

    /// The `name`, `property` or `http-equiv` of a `<meta>`.
    pub(super) fn meta(&mut self, name: &str) {
        self.seen.name.clear();
        self.seen.name.push_str("meta ");
        reduce_lower(name, &mut self.seen.name);
        self.add_named(FramePart::Head);
    }

    fn add_named(&mut self, part: FramePart) {
        let hash = xxh3_64_with_seed(self.seen.name.as_bytes(), self.key ^ part as u64).max(1);
        if !self.seen.has(hash) {
            self.add(part, hash);
        }
    }

    fn add(&mut self, part: FramePart, hash: u64) {
        if self.items.len() >= self.items_max {
            self.cut = true;
            return;
        }
        self.seen.insert(hash);
        self.items.push(FrameItem { part, hash });
    }
}

impl Seen {
    #[inline]
    fn has(&self, hash: u64) -> bool {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at & mask] != 0 {
            if self.slots[at & mask] == hash {
                return true;
            }
            at += 1;
        }
        false
    }

    fn insert(&mut self, hash: u64) {
        if 2 * self.n >= self.slots.len() {
            let n_slots = 2 * self.slots.len();
            let old = std::mem::replace(&mut self.slots, vec![0; n_slots]);
            old.into_iter().filter(|&hash| hash != 0).for_each(|hash| self.place(hash));
        }
        self.n += 1;
        self.place(hash);
    }

    fn place(&mut self, hash: u64) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = hash;
    }
}

/// The last part of an address's path.
fn file_name(address: &str) -> &str {
    let address = address.trim_ascii();
    if address.len() >= 5 && address.as_bytes()[..5].eq_ignore_ascii_case(b"data:") {
        return "data:";
    }
    let path = &address[..address.find(['?', '#', ';']).unwrap_or(address.len())];
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Adds `name` with digit runs as `#` and without content hashes, each with the separator before it.
fn reduce(name: &str, out: &mut String) {
    if !name.bytes().any(|byte| byte.is_ascii_digit()) {
        return out.push_str(name);
    }
    let mut rest = name;
    let mut separator = "";
    while !rest.is_empty() {
        let len = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(len);
        if !is_content_hash(word) {
            out.push_str(separator);
            reduce_digits(word, out);
        }
        let len = after.find(char::is_alphanumeric).unwrap_or(after.len());
        (separator, rest) = after.split_at(len);
    }
    out.push_str(separator);
}

/// The same for names whose case does not matter.
fn reduce_lower(name: &str, out: &mut String) {
    let start = out.len();
    name.split_ascii_whitespace().enumerate().for_each(|(i, word)| {
        if i > 0 {
            out.push(' ');
        }
        reduce(word, out);
    });
    out[start..].make_ascii_lowercase();
}

fn reduce_digits(word: &str, out: &mut String) {
    let mut in_digits = false;
    for character in word.chars() {
        let is_digit = character.is_ascii_digit();
        if !is_digit {
            out.push(character);
        } else if !in_digits {
            out.push('#');
        }
        in_digits = is_digit;
    }
}

/// Whether a word of a name was computed from content: eight and more hex digits, or letters and digits with a digit
/// before a letter (`bootstrap4` is a name). Numbers alone are numbers.
fn is_content_hash(word: &str) -> bool {
    let bytes = word.as_bytes();
    if bytes.len() < 8 || !bytes.iter().all(u8::is_ascii_alphanumeric) || !bytes.iter().any(u8::is_ascii_digit) {
        return false;
    }
    let is_number = bytes.iter().all(u8::is_ascii_digit);
    let is_hex = bytes.iter().all(u8::is_ascii_hexdigit);
    let is_mixed = bytes.windows(2).any(|pair| pair[0].is_ascii_digit() && pair[1].is_ascii_alphabetic());
    !is_number && (is_hex || is_mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced(name: &str) -> String {
        let mut out = String::new();
        reduce(file_name(name), &mut out);
        out
    }

    #[test]
    fn names_are_reduced() {
        for (name, expected) in [
            ("/assets/css/style.css?ver=5.2", "style.css"),
            ("https://a.example/x/main.3f2a9c1d.chunk.css#x", "main.chunk.css"),
            ("main-a8Kd93jQ2.js", "main.js"),
            ("jquery-3.6.0.min.js", "jquery-#.#.#.min.js"),
            ("bootstrap4.css", "bootstrap#.css"),
            ("app-20240131.js", "app-#.js"),
            ("theme/", ""),
            ("data:text/css;base64,AAAA", "data:"),
            ("日本語12.css", "日本語#.css"),
            ("--x--", "--x--"),
        ] {
            assert_eq!(reduced(name), expected, "{name}");
        }
    }

    #[test]
    fn items_are_kept_once_and_bounded() {
        let (mut seen, mut items) = (Seen::default(), Vec::new());
        let mut frame = Frame::new(7, 3000, &mut seen, &mut items);
        for round in 0..2 {
            for i in 0..2000u32 {
                let letters: String = i.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
                frame.id(&letters);
                frame.id(&format!("post-{i}-{round}"));
            }
        }
        assert!(!frame.cut);
        frame.meta("generator");
        assert_eq!(items.len(), 2002);
        let mut frame = Frame::new(7, 2002, &mut seen, &mut items);
        frame.meta("Generator");
        assert!(!frame.cut, "a second part of the same document repeats it");
        frame.meta("viewport");
        assert!(frame.cut);
        assert_eq!(items.len(), 2002);
    }

    #[test]
    fn golden_items() {
        let (mut seen, mut items) = (Seen::default(), Vec::new());
        let mut frame = Frame::new(1, 100, &mut seen, &mut items);
        frame.link("Shortcut Icon", "/favicon.ico");
        frame.link("stylesheet", "a.css");
        frame.link("canonical", "https://a.example/");
        frame.script("a.js");
        frame.id("main-1");
        let hashes: Vec<_> = items.iter().map(|item| (item.part, item.hash)).collect();
        assert_eq!(hashes, GOLDEN);
    }

    const GOLDEN: [(FramePart, u64); 5] = [
        (FramePart::Head, 14616570687829539455),
        (FramePart::Stylesheet, 11772688659940016279),
        (FramePart::Head, 15313144701731201707),
        (FramePart::Head, 16789183646364828387),
        (FramePart::Id, 5522573884435430402),
    ];
}

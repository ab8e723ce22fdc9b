//! What a stored document says of itself: names, where its record is, where its grams stand.

use crate::document::{Kind, Span};
use crate::text::grams::Place;
use crate::verdict::event::Source;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a stored document says of itself, for evidence and revisions. Every field is always written: the form in which it
/// is kept has no names. The places follow them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Its id.
    pub id: String,
    /// Its URL, where that is not the id.
    url: Option<String>,
    /// Whether the id is the URL.
    is_url: bool,
    /// Its registered domain.
    pub domain: Option<String>,
    /// The page's own word on where its original is, where that is another page.
    pub canonical: Option<String>,
    topic: Arc<str>,
    partition: i32,
    offset: i64,
    time: Option<String>,
    /// Page or mail.
    pub kind: Kind,
    /// Whether a limit cut something off.
    pub truncated: bool,
    /// Units of its core.
    pub n_core_words: u32,
    /// Whether most of the text is in a script without spaces.
    pub unspaced: bool,
    n_grams: u32,
    /// Where its grams stand, packed: most readers want the names alone, and leave this as it is.
    #[serde(skip)]
    places: Vec<u8>,
}

/// What a relative is first asked for: the same bytes as a [`Card`], field by field, read where they lie.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Glance<'a> {
    id: &'a str,
    url: Option<&'a str>,
    is_url: bool,
    _domain: Option<&'a str>,
    _canonical: Option<&'a str>,
    _topic: &'a str,
    _partition: i32,
    _offset: i64,
    _time: Option<&'a str>,
    _kind: Kind,
    _truncated: bool,
    _n_core_words: u32,
    _unspaced: bool,
    n_grams: u32,
}

impl<'a> Glance<'a> {
    /// Its id.
    pub fn id(&self) -> &'a str {
        self.id
    }

    /// Its URL.
    pub fn url(&self) -> Option<&'a str> {
        if self.is_url { Some(self.id) } else { self.url }
    }

    /// How many grams it has, whether or not it is kept where they stand.
    pub fn n_grams(&self) -> usize {
        self.n_grams as usize
    }

    /// Reads what [`Card::write`] has written.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        postcard::take_from_bytes(bytes).ok().map(|(glance, _)| glance)
    }
}

/// Bytes of a registered domain at most, as of any name of a host.
const DOMAIN_BYTES_MAX: usize = 255;

/// Numbers of a place, as it is packed. An echo has one more.
const STEPS: usize = 8;
/// Bytes of a place at most, as it is packed: five numbers of 32 bits and four of 16.
pub(super) const STEP_BYTES_MAX: usize = 5 * 5 + 4 * 3;

impl Card {
    /// The card of an arrival. URLs beyond `url_bytes_max` are left out, and so is what is no name of a host.
    pub(super) fn of(arrival: &super::Arrival, url_bytes_max: usize, grams_max: usize) -> Self {
        let is_url = arrival.url.as_deref() == Some(&arrival.id);
        let url = arrival.url.clone().filter(|url| !is_url && url.len() <= url_bytes_max);
        let canonical = arrival
            .canonical
            .clone()
            .filter(|canonical| Some(canonical) != arrival.url.as_ref() && canonical.len() <= url_bytes_max);
        Self {
            n_grams: arrival.n_grams() as u32,
            places: packed(arrival.places.iter().take(grams_max)),
            id: arrival.id.clone(),
            url,
            is_url,
            domain: arrival.domain.clone().filter(|domain| domain.len() <= DOMAIN_BYTES_MAX),
            canonical,
            topic: arrival.source.topic.clone(),
            partition: arrival.source.partition,
            offset: arrival.source.offset,
            time: arrival.source.time.clone(),
            kind: arrival.signatures.kind,
            truncated: arrival.truncated,
            n_core_words: arrival.signatures.n_core_words,
            unspaced: arrival.unspaced,
        }
    }

    /// Its record.
    pub fn source(&self) -> Source {
        let Self { topic, partition, offset, time, .. } = self;
        Source { topic: topic.clone(), partition: *partition, offset: *offset, time: time.clone() }
    }

    /// Its URL.
    pub fn url(&self) -> Option<&str> {
        if self.is_url { Some(&self.id) } else { self.url.as_deref() }
    }

    /// How many distinct grams it has, whether or not it is kept where they stand.
    pub fn n_grams(&self) -> usize {
        self.n_grams as usize
    }

    /// Where its grams stand.
    pub fn places(&self) -> Vec<Place> {
        unpacked(&self.places)
    }

    /// Bytes that it takes, about.
    pub(super) fn n_bytes(&self) -> usize {
        let names = [&self.url, &self.domain, &self.canonical, &self.time];
        let names: usize = names.into_iter().flatten().map(String::len).sum();
        64 + self.id.len() + names + self.topic.len() + self.places.len()
    }

    /// Names first, places behind them.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        *out = postcard::to_extend(self, std::mem::take(out))
            .expect("a card has no map or unsized sequence, and memory does not fail");
        out.extend(&self.places);
    }

    /// Reads the names alone: `None` where `bytes` end within them.
    pub(super) fn read_names(bytes: &[u8]) -> Option<Self> {
        postcard::take_from_bytes(bytes).ok().map(|(card, _)| card)
    }

    /// Reads what [`Card::write`] has written.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (card, places) = postcard::take_from_bytes::<Self>(bytes).ok()?;
        Some(Self { places: places.into(), ..card })
    }
}

/// Each place as steps from the one before, in units and bytes: small numbers, seven bits to a byte.
fn packed<'a>(places: impl ExactSizeIterator<Item = &'a Place>) -> Vec<u8> {
    // Most numbers are small.
    let (mut bytes, mut last) = (Vec::with_capacity(STEPS * places.len() + STEP_BYTES_MAX), Place::default());
    for place in places {
        // A gram has a few units: there is room for a bit beside their number.
        let n_units = place.end.wrapping_sub(place.first);
        let steps: [u32; STEPS + 1] = [
            place.first.wrapping_sub(last.first),
            n_units << 1 | u32::from(place.is_echo()),
            place.span.start.wrapping_sub(last.span.start),
            place.span.end.wrapping_sub(place.span.start),
            place.lead.0.into(),
            place.lead.1.into(),
            place.trail.0.into(),
            place.trail.1.into(),
            place.echo,
        ];
        let (mut packed, mut n) = ([0; STEP_BYTES_MAX], 0);
        for mut step in steps.into_iter().take(STEPS + usize::from(place.is_echo())) {
            while step >= 0x80 {
                packed[n] = step as u8 | 0x80;
                (step, n) = (step >> 7, n + 1);
            }
            packed[n] = step as u8;
            n += 1;
        }
        bytes.extend_from_slice(&packed[..n]);
        last = *place;
    }
    bytes
}

fn unpacked(mut bytes: &[u8]) -> Vec<Place> {
    let mut step = || {
        let mut value = 0;
        for shift in (0..32).step_by(7) {
            let (&byte, rest) = bytes.split_first()?;
            bytes = rest;
            value |= u32::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                break;
            }
        }
        Some(value)
    };
    let (mut places, mut last) = (Vec::new(), Place::default());
    while let Some(first) = step() {
        let (first, [n_units, start, n_bytes, lead, lead_bytes, trail, trail_bytes]) =
            (last.first.wrapping_add(first), std::array::from_fn(|_| step().unwrap_or(0)));
        let echo = if n_units & 1 == 1 { step().unwrap_or(0) } else { 0 };
        let start = last.span.start.wrapping_add(start);
        last = Place {
            first,
            end: first.wrapping_add(n_units >> 1),
            span: Span { start, end: start.wrapping_add(n_bytes) },
            lead: (lead as u16, lead_bytes as u16),
            trail: (trail as u16, trail_bytes as u16),
            echo,
        };
        places.push(last);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_read_as_written(places: Vec<(u32, u16, u32, u32, (u16, u16), (u16, u16), Option<u32>)>, cut: usize) {
            let places: Vec<Place> = places
                .into_iter()
                .map(|(first, n_units, start, span_end, lead, trail, echo)| {
                    let (end, echo) = (first.wrapping_add(n_units.into()), echo.unwrap_or(0));
                    Place { first, end, span: Span { start, end: span_end }, lead, trail, echo }
                })
                .collect();
            let bytes = packed(places.iter());
            prop_assert_eq!(unpacked(&bytes), places);
            // Damage is read as something, never a panic.
            unpacked(&bytes[..cut % (bytes.len() + 1)]);
        }
    }

    #[test]
    fn a_glance_sees_what_the_card_says() {
        let mut arrival = crate::store::tests::arrival("a", Kind::Page, 0..60);
        arrival.places = vec![Place::default(); 7];
        for url in [None, Some("a"), Some("https://b.example/")] {
            arrival.url = url.map(str::to_owned);
            let mut bytes = Vec::new();
            Card::of(&arrival, 100, 5).write(&mut bytes);
            let (card, glance) = (Card::read(&bytes).unwrap(), Glance::read(&bytes).unwrap());
            assert_eq!((glance.url(), glance.n_grams()), (card.url(), card.n_grams()));
            assert_eq!((glance.url(), glance.n_grams()), (url, 7));
            let names = (0..=bytes.len()).find_map(|end| Card::read_names(&bytes[..end])).unwrap();
            assert_eq!(Card { places: card.places.clone(), ..names }, card, "whatever lies behind the names");
        }
        assert_eq!(Glance::read(&[]), None);
    }
}

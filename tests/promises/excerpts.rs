//! What is kept of texts for people decides nothing, goes with its document, and obeys the rule in force at once.

use crate::fold::{filter, line, small, variants};
use crate::made::stream;
use seamripper::config::Settings;
use seamripper::pipeline::filter::Filter;
use seamripper::store::Arrival;

/// The settings with another rule for excerpts.
fn keeping(settings: &Settings, excerpt_bytes: usize, excerpt_emails: bool) -> Settings {
    let mut settings = settings.clone();
    (settings.texts.excerpt_bytes, settings.texts.excerpt_emails) = (excerpt_bytes, excerpt_emails);
    settings
}

fn said(filter: &mut Filter, arrivals: &[Arrival]) -> Vec<String> {
    let mut lines = Vec::new();
    arrivals.chunks(37).for_each(|batch| filter.fold(batch, 2, |event| lines.push(line(&event))));
    filter.settle_revisions(|event| lines.push(line(&event)));
    lines
}

/// The beginnings that are kept, of the documents of these ids.
fn kept(filter: &Filter, arrivals: &[Arrival]) -> Vec<(String, String)> {
    let store = filter.store();
    let text = |id: &String| Some((id.clone(), store.excerpt(store.known(id)?.own?)?.text));
    arrivals.iter().filter_map(|arrival| text(&arrival.id)).collect()
}

fn holds(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

/// Whatever is kept, the same is said, and the same documents give way: in stores where they do all the time.
#[test]
fn excerpts_decide_nothing() {
    let wide = keeping(&Settings::default(), 4096, true);
    let arrivals = stream(14, 500, &wide);
    assert!(arrivals.iter().filter(|arrival| !arrival.excerpt.is_empty()).count() > 400);
    for (name, settings) in variants() {
        let mut none = filter(&keeping(&settings, 0, true));
        let expected = said(&mut none, &arrivals);
        assert!(kept(&none, &arrivals).is_empty());
        for (excerpt_bytes, excerpt_emails) in [(240, true), (4096, false), (1, true)] {
            let mut keeps = filter(&keeping(&settings, excerpt_bytes, excerpt_emails));
            assert!(said(&mut keeps, &arrivals) == expected, "{name}: {excerpt_bytes} bytes");
            assert_eq!(keeps.census(), none.census(), "{name}");
            let found = kept(&keeps, &arrivals);
            assert!(!found.is_empty() && found.iter().all(|(_, text)| text.len() <= excerpt_bytes), "{name}");
        }
    }
}

/// A store that was written down under another rule is read, and goes on under the present one with what that allows.
#[test]
fn another_rule_holds_from_the_next_start_on() {
    let settings = small(1 << 20);
    let arrivals = stream(15, 300, &keeping(&settings, 240, true));
    let (first, rest) = arrivals.split_at(200);
    let mut whole = filter(&keeping(&settings, 240, true));
    said(&mut whole, first);
    let (saved, before) = (whole.save().unwrap(), kept(&whole, first));
    let of_mails = before.iter().filter(|(id, _)| !id.starts_with("http")).count();
    assert!(before.len() > 50 && of_mails > 5, "{} of {}", of_mails, before.len());
    let expected = said(&mut whole, rest);
    for (excerpt_bytes, excerpt_emails) in [(0, true), (60, false), (240, true), (500, true)] {
        let settings = keeping(&settings, excerpt_bytes, excerpt_emails);
        let mut loaded = filter(&settings);
        loaded.load(&saved).unwrap();
        let again = loaded.save().unwrap();
        let allowed = kept(&loaded, first);
        assert_eq!(again == saved, (excerpt_bytes, excerpt_emails) == (240, true));
        for (id, text) in &before {
            let is_page = loaded.store().known(id).unwrap().kind == seamripper::document::Kind::Page;
            let still = allowed.iter().find(|(other, _)| other == id).map(|(_, text)| text.as_str());
            let wanted = seamripper::document::excerpt::of(text, excerpt_bytes);
            let wanted = Some(wanted).filter(|wanted| !wanted.is_empty() && (is_page || excerpt_emails));
            assert_eq!(still, wanted, "{id}");
            if wanted.is_none() {
                assert!(!holds(&again, text), "{id} under {excerpt_bytes}, {excerpt_emails}");
            }
        }
        // The same with what is carried over in memory.
        let mut from = filter(&keeping(&settings, 240, true));
        from.load(&saved).unwrap();
        let mut carried = filter(&settings);
        carried.carry(from).unwrap();
        assert!(carried.save().unwrap() == again);
        assert!(said(&mut loaded, rest) == expected && said(&mut carried, rest) == expected);
    }
}

/// Of the text of what was forgotten no byte is left in what is written down. (What was said of others may still name it.)
#[test]
fn what_is_forgotten_leaves_no_text() {
    let settings = keeping(&small(1 << 20), 240, true);
    let mut arrivals = stream(16, 200, &settings);
    let special = |number: usize| format!("forgotten-{number:03}-id");
    for (number, arrival) in arrivals.iter_mut().enumerate().filter(|(number, _)| number % 5 == 0) {
        arrival.excerpt = format!("beginning of the {number:03}rd text");
        arrival.id = special(number);
    }
    let mut filter = filter(&settings);
    said(&mut filter, &arrivals);
    let mut n_kept = 0;
    for number in (0..200).step_by(5) {
        let (id, text) = (special(number), format!("beginning of the {number:03}rd text"));
        let is_kept = !kept(&filter, &arrivals[number..=number]).is_empty();
        // A record may outlive the memory of its id: then nobody finds it by that, but it can be forgotten.
        assert!(holds(&filter.save().unwrap(), &text) || !is_kept, "{id}");
        n_kept += usize::from(is_kept);
        filter.forget(&id);
        let after = filter.save().unwrap();
        assert!(!holds(&after, &text), "the text of {id}");
    }
    assert!(n_kept > 4, "{n_kept}");
}

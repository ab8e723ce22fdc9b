//! Near copies of real spam find each other, and ham stays out of it, in whatever order the mails arrive.
//!
//! True pairs are those of spam whose distinct visible terms have a cosine of 0.9 and more (Kolcz 2004), found by comparing
//! all with all. A mail of fewer than five terms is in none.

use super::corpora::{self, Mail};
use super::{Groups, Input, arranged, by_id, each_signed, folded, judged, orders, print_list, share};
use seamripper::config::Settings;
use seamripper::signature::cosine;
use seamripper::signature::imatch::IMatch;
use seamripper::verdict::event::Verdict;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

const SETS: [&str; 3] = ["mail_phishing_pot", "mail_spamassassin", "mail_csdmc2010"];
const COSINE_MIN: f64 = 0.9;
/// A member that has less in common with its head is unrelated.
const RELATED_MIN: f64 = 0.5;
const TERMS_MIN: usize = 5;

/// The distinct terms of a mail, view by view; a view that is not there is the visible one.
#[derive(Default)]
struct Terms {
    shown: Vec<u64>,
    core: Option<Vec<u64>>,
    full: Option<Vec<u64>>,
}

impl Terms {
    /// The best cosine over the views that both have, one of them at least written apart.
    fn likeness(&self, other: &Self) -> f64 {
        let core = |terms: &Self| terms.core.clone().unwrap_or_else(|| terms.shown.clone());
        let full = |terms: &Self| terms.full.clone().unwrap_or_else(|| terms.shown.clone());
        let shown = cosine(&self.shown, &other.shown);
        shown.max(cosine(&core(self), &core(other))).max(cosine(&full(self), &full(other)))
    }
}

/// A mail, what is known of it, and what it says.
struct Known {
    id: String,
    is_spam: bool,
    terms: Terms,
    imatch: Option<IMatch>,
}

/// Mails, and the pairs of spam among them that are near copies.
struct Collection {
    inputs: Vec<Input>,
    mails: Vec<Known>,
    /// Places in `mails`, the lower first, ascending.
    pairs: Vec<(usize, usize)>,
}

impl Collection {
    fn new(mails: Vec<Mail>, settings: &Settings) -> Self {
        let inputs: Vec<Input> = mails.iter().map(|mail| mail.input.clone()).collect();
        let signed = each_signed(&inputs, settings, |signed| {
            let signatures = &signed.signatures;
            let terms = Terms {
                shown: signatures.shown.terms.clone(),
                core: signatures.core.as_ref().map(|view| view.terms.clone()),
                full: signatures.full.as_ref().map(|view| view.terms.clone()),
            };
            (terms, signatures.imatch.clone())
        });
        let known = mails.iter().zip(signed).map(|(mail, signed)| {
            let (terms, imatch) = signed.unwrap_or_default();
            Known { id: mail.input.id().to_owned(), is_spam: mail.is_spam, terms, imatch }
        });
        let mails: Vec<Known> = known.collect();
        let pairs = near_pairs(&mails);
        Self { inputs, mails, pairs }
    }

    /// The true pairs without mails that have the same terms as an earlier one: copies to the letter are found by
    /// anything, and large campaigns of them hide all else.
    fn distinct_pairs(&self) -> Vec<(usize, usize)> {
        let mut seen: HashSet<&[u64]> = HashSet::new();
        let is_first: Vec<bool> =
            self.mails.iter().map(|mail| mail.is_spam && seen.insert(&mail.terms.shown)).collect();
        self.pairs.iter().copied().filter(|&(a, b)| is_first[a] && is_first[b]).collect()
    }
}

/// All pairs of spam with a cosine of [`COSINE_MIN`] and more.
fn near_pairs(mails: &[Known]) -> Vec<(usize, usize)> {
    let is_wanted = |&place: &usize| mails[place].is_spam && mails[place].terms.shown.len() >= TERMS_MIN;
    let mut by_size: Vec<usize> = (0..mails.len()).filter(is_wanted).collect();
    by_size.sort_by_key(|&place| mails[place].terms.shown.len());
    let mut pairs = Vec::new();
    for (number, &larger) in by_size.iter().enumerate() {
        let large = &mails[larger].terms.shown;
        // All terms of a mail of n common to one of m have a cosine of sqrt(n / m).
        let size_min = (COSINE_MIN * COSINE_MIN * large.len() as f64).floor() as usize;
        for &smaller in by_size[..number].iter().rev() {
            let small = &mails[smaller].terms.shown;
            if small.len() < size_min {
                break;
            }
            if may_be_near(small, large) && cosine(small, large) >= COSINE_MIN {
                pairs.push((larger.min(smaller), larger.max(smaller)));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Whether `small` can reach the cosine: gives up when too many of its terms have been missed.
fn may_be_near(small: &[u64], large: &[u64]) -> bool {
    let needed = (COSINE_MIN * ((small.len() * large.len()) as f64).sqrt()).floor() as usize;
    let mut n_spare = small.len() as isize - needed as isize;
    let mut rest = large.iter().peekable();
    for term in small {
        while rest.next_if(|other| *other < term).is_some() {}
        if rest.peek() != Some(&term) {
            n_spare -= 1;
            if n_spare < 0 {
                return false;
            }
        }
    }
    true
}

/// The share of pairs found, and Kolcz's recall: the mean over mails with a near copy of the share of theirs that is found.
fn recalls(pairs: &[(usize, usize)], is_found: impl Fn(usize, usize) -> bool) -> (f64, f64) {
    let mut of_mail: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut n_found = 0;
    for &(a, b) in pairs {
        let found = usize::from(is_found(a, b));
        n_found += found;
        for mail in [a, b] {
            let (n_near_found, n_near) = of_mail.entry(mail).or_default();
            *n_near_found += found;
            *n_near += 1;
        }
    }
    let sum: f64 = of_mail.values().map(|&(n_found, n_near)| n_found as f64 / n_near as f64).sum();
    (share(n_found, pairs.len()), if of_mail.is_empty() { 1.0 } else { sum / of_mail.len() as f64 })
}

/// How well near copies of mails are told.
#[derive(Debug, Default)]
struct Figures {
    n_pairs: usize,
    recall: f64,
    n_distinct_pairs: usize,
    distinct_recall: f64,
    mean_recall: f64,
    n_groups: usize,
    n_copies: usize,
    /// True pairs in two groups.
    missed: Vec<String>,
    /// Ham in a group with spam none of which it is a copy of.
    ham_with_spam: Vec<String>,
    /// Ham in a group with spam that it is a copy of.
    true_copies: Vec<String>,
    /// Members that have little in common with their head in any view.
    unrelated: Vec<String>,
}

impl Figures {
    fn print(&self, title: &str) {
        println!(
            "{title}: recall {:.4} of {} pairs ({:.4} of {} without exact copies, {:.4} by mail), {} groups, {} copies, \
             ham with spam {} (and {} true copies), unrelated {}",
            self.recall,
            self.n_pairs,
            self.distinct_recall,
            self.n_distinct_pairs,
            self.mean_recall,
            self.n_groups,
            self.n_copies,
            self.ham_with_spam.len(),
            self.true_copies.len(),
            self.unrelated.len(),
        );
        print_list("missed", &self.missed);
        print_list("ham with spam", &self.ham_with_spam);
        print_list("ham that is a copy of spam", &self.true_copies);
        print_list("unrelated to their head", &self.unrelated);
    }
}

/// The figures of `verdicts` (folded).
fn measured(collection: &Collection, verdicts: &[Verdict]) -> Figures {
    let Collection { mails, pairs, .. } = collection;
    let groups = Groups::of(verdicts);
    let places: HashMap<&str, usize> =
        mails.iter().enumerate().map(|(place, mail)| (mail.id.as_str(), place)).collect();
    let verdicts = by_id(verdicts);
    let cosine_of = |a: &Known, b: &Known| cosine(&a.terms.shown, &b.terms.shown);
    let joined = |a: usize, b: usize| groups.joined(&mails[a].id, &mails[b].id);

    let mut figures = Figures::default();
    let distinct = collection.distinct_pairs();
    (figures.n_pairs, figures.n_distinct_pairs) = (pairs.len(), distinct.len());
    (figures.recall, figures.mean_recall) = recalls(pairs, joined);
    figures.distinct_recall = recalls(&distinct, joined).0;
    let missed = distinct.iter().filter(|&&(a, b)| !joined(a, b)).map(|&(a, b)| {
        let (a, b) = (&mails[a], &mails[b]);
        format!(
            "{:.3} {} ({} terms) and {} ({} terms)",
            cosine_of(a, b),
            a.id,
            a.terms.shown.len(),
            b.id,
            b.terms.shown.len()
        )
    });
    figures.missed = missed.collect();

    for (head, members) in groups.all() {
        let place = |id: &str| *places.get(id).unwrap_or_else(|| panic!("{id} was never sent"));
        let head = &mails[place(head)];
        let members: Vec<&Known> = members.into_iter().map(|id| &mails[place(id)]).collect();
        figures.n_groups += 1;
        figures.n_copies += members.len();
        for member in &members {
            let likeness = member.terms.likeness(&head.terms);
            if likeness < RELATED_MIN {
                let view = verdicts[member.id.as_str()].mirror.as_ref().map(|mirror| mirror.view);
                figures.unrelated.push(format!("{likeness:.3} {} to {} by {view:?}", member.id, head.id));
            }
        }
        let all = || members.iter().copied().chain([head]);
        let spam: Vec<&Known> = all().filter(|mail| mail.is_spam).collect();
        if spam.is_empty() {
            continue;
        }
        for ham in all().filter(|mail| !mail.is_spam) {
            let nearest = spam.iter().max_by(|a, b| cosine_of(ham, a).total_cmp(&cosine_of(ham, b)));
            let nearest = nearest.expect("there is spam");
            let line = format!("{:.3} {} to {} of {}", cosine_of(ham, nearest), ham.id, nearest.id, head.id);
            let is_copy = cosine_of(ham, nearest) >= COSINE_MIN;
            if is_copy { &mut figures.true_copies } else { &mut figures.ham_with_spam }.push(line);
        }
    }
    figures
}

/// All real mails, signed once for all measurements.
static COLLECTION: LazyLock<Collection> = LazyLock::new(|| {
    let mails = SETS.into_iter().flat_map(corpora::mails).collect();
    Collection::new(mails, &Settings::default())
});

#[test]
fn copies_of_spam_find_each_other_and_ham_stays_out() {
    if COLLECTION.mails.is_empty() {
        return;
    }
    let settings = Settings::default();
    for order in orders(5) {
        let verdicts = folded(&judged(arranged(&COLLECTION.inputs, order), &settings));
        super::assert_complete(COLLECTION.inputs.iter().map(|input| input.id().to_owned()), &verdicts);
        let figures = measured(&COLLECTION, &verdicts);
        figures.print(&format!("mails, order {order}"));
        assert!(figures.n_pairs > 1000, "{} near copies", figures.n_pairs);
        assert!(figures.recall >= 0.995, "order {order}: recall {:.4}", figures.recall);
        assert!(figures.ham_with_spam.is_empty(), "order {order}: {:?}", figures.ham_with_spam);
        assert!(figures.unrelated.is_empty(), "order {order}: {:?}", figures.unrelated);
    }
}

/// Whether two agree on one of the first `copies + 1` coordinates.
fn agree(a: &Known, b: &Known, copies: usize) -> bool {
    let (Some(a), Some(b)) = (&a.imatch, &b.imatch) else { return false };
    let coordinates = a.coordinates.iter().zip(&b.coordinates).take(copies + 1);
    a.lexicon == b.lexicon && coordinates.into_iter().any(|(a, b)| a.is_some() && a == b)
}

#[test]
fn imatch_alone_gains_with_its_copies_and_never_meets_ham() {
    let mails = &COLLECTION.mails;
    if mails.is_empty() {
        return;
    }
    let distinct = COLLECTION.distinct_pairs();
    let measured: Vec<(f64, f64)> = [0, 2, 5, 10]
        .into_iter()
        .map(|copies| {
            let recalls = recalls(&distinct, |a, b| agree(&mails[a], &mails[b], copies));
            let all = self::recalls(&COLLECTION.pairs, |a, b| agree(&mails[a], &mails[b], copies));
            println!(
                "I-Match alone, K = {copies}: recall {:.4} ({:.4} by mail) of {} pairs; with exact copies {:.4} ({:.4})",
                recalls.0,
                recalls.1,
                distinct.len(),
                all.0,
                all.1
            );
            recalls
        })
        .collect();
    assert!(measured.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1), "{measured:?}");
    let (first, last) = (measured[0], measured[3]);
    println!("gain at K = 10: {:.3} ({:.3} by mail)", last.0 / first.0, last.1 / first.1);
    assert!(last.0 >= 1.21 * first.0, "{measured:?}");

    let mut with_coordinate: HashMap<(usize, u64), (bool, bool)> = HashMap::new();
    for mail in mails {
        let coordinates = mail.imatch.iter().flat_map(|signed| signed.coordinates.iter().enumerate());
        for (index, bits) in coordinates.filter_map(|(index, bits)| Some((index, (*bits)?))) {
            let (spam, ham) = with_coordinate.entry((index, bits)).or_default();
            *spam |= mail.is_spam;
            *ham |= !mail.is_spam;
        }
    }
    let n_met = with_coordinate.values().filter(|(spam, ham)| *spam && *ham).count();
    assert_eq!(n_met, 0, "coordinates that ham and spam share");
}

/// Mails of the given terms.
fn made(mails: &[(&str, bool, &[u64])]) -> Collection {
    let known = mails.iter().map(|&(id, is_spam, shown)| {
        let terms = Terms { shown: shown.to_vec(), ..Terms::default() };
        Known { id: id.into(), is_spam, terms, imatch: None }
    });
    let mails: Vec<Known> = known.collect();
    let pairs = near_pairs(&mails);
    Collection { inputs: Vec::new(), mails, pairs }
}

#[test]
fn made_mails_have_the_figures_known_by_hand() {
    use super::made::{copy, original};
    let ten: Vec<u64> = (0..10).collect();
    let (nine, eight): (Vec<u64>, Vec<u64>) = ((0..9).collect(), (0..8).collect());
    let others: Vec<u64> = (100..110).collect();
    // Cosines to ten terms: nine of them 0.949, eight 0.894, and nine to eight 0.943.
    let collection = made(&[
        ("ten", true, &ten),
        ("nine", true, &nine),
        ("eight", true, &eight),
        ("ham", false, &nine),
        ("other", true, &others),
        ("thin", true, &ten[..4]),
        ("again", true, &ten),
    ]);
    assert_eq!(collection.pairs, [(0, 1), (0, 6), (1, 2), (1, 6)]);
    assert_eq!(collection.distinct_pairs(), [(0, 1), (1, 2)]);

    let perfect = measured(&collection, &[copy("nine", "ten"), copy("eight", "ten"), copy("again", "ten")]);
    assert_eq!((perfect.recall, perfect.distinct_recall, perfect.mean_recall), (1.0, 1.0, 1.0));
    assert_eq!((perfect.n_groups, perfect.n_copies), (1, 3));
    assert!(perfect.ham_with_spam.is_empty() && perfect.unrelated.is_empty() && perfect.missed.is_empty());

    let half = measured(&collection, &[original("ten"), copy("nine", "ten"), copy("again", "ten")]);
    assert_eq!((half.recall, half.distinct_recall, half.missed.len()), (0.75, 0.5, 1));
    assert_eq!(half.mean_recall, (1.0 + 2.0 / 3.0 + 0.0 + 1.0) / 4.0);

    let mixed = measured(&collection, &[copy("ham", "ten"), copy("other", "nine"), copy("thin", "nine")]);
    assert_eq!((mixed.true_copies.len(), mixed.ham_with_spam.len()), (1, 0), "a cosine of 0.949");
    assert_eq!(mixed.unrelated.len(), 1, "{:?}", mixed.unrelated);
    let bad = measured(&collection, &[copy("ham", "other")]);
    assert_eq!((bad.ham_with_spam.len(), bad.unrelated.len(), bad.recall), (1, 1, 0.0));
}

#[test]
fn near_pairs_are_all_pairs() {
    use seamripper::signature::keyed::mix;
    let mail = |number: u64| -> Vec<u64> {
        let base = number / 4 * 1000;
        (0..40).filter(|term| !mix(number, *term).is_multiple_of(10)).map(|term| base + term).collect()
    };
    let terms: Vec<Vec<u64>> = (0..80).map(mail).collect();
    let ids: Vec<String> = (0..80).map(|number| number.to_string()).collect();
    let mails: Vec<(&str, bool, &[u64])> =
        ids.iter().zip(&terms).map(|(id, terms)| (&id[..], true, &terms[..])).collect();
    let mut expected = Vec::new();
    for b in 0..80 {
        expected.extend((0..b).filter(|&a| cosine(&terms[a], &terms[b]) >= COSINE_MIN).map(|a| (a, b)));
    }
    expected.sort_unstable();
    assert!(expected.len() > 10 && expected.len() < 120, "{}", expected.len());
    assert_eq!(made(&mails).pairs, expected);
}

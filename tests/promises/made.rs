//! A made stream of pages and mails with everything in it that the filter tells apart, the same for the same seed.
//!
//! The vocabulary is small and articles are numbered, so that copies, copies of copies, quilts of earlier and of later
//! articles, template pages, changed pages, mails with footers and floods all meet each other within a few dozen documents.

use seamripper::config::Settings;
use seamripper::document::{Carrier, Format, Record};
use seamripper::pipeline::lexicon;
use seamripper::pipeline::scan::{Arriver, source};
use seamripper::signature::keyed::mix;
use seamripper::store::Arrival;
use std::collections::VecDeque;

/// The domain that floods.
pub(crate) const FLOOD: &str = "flood.example";

/// Random numbers from a seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(mix(seed, 0xD1CE))
    }

    /// One of `0..n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        (mix(self.0, 0x5EED) % n as u64) as usize
    }
}

/// One of 768 made words.
fn word(number: u64) -> String {
    const STARTS: [&str; 8] = ["ba", "co", "di", "fe", "gru", "ha", "jo", "ki"];
    const MIDDLES: [&str; 8] = ["lu", "me", "na", "po", "ri", "stu", "ta", "ve"];
    const ENDS: [&str; 12] = ["lan", "mer", "dock", "sing", "ton", "ver", "wick", "ra", "less", "ment", "ny", "sher"];
    let [start, middle] = [STARTS[(number % 8) as usize], MIDDLES[(number / 8 % 8) as usize]];
    format!("{start}{middle}{}", ENDS[(number / 64 % 12) as usize])
}

/// An attribute of its own punctuation: what tells the tags of one template from those of another.
fn marks(seed: u64) -> String {
    const MARKS: [char; 8] = ['-', '.', ':', ';', ',', '/', '+', '~'];
    let marks = (0..6 + seed % 6).map(|place| MARKS[(mix(seed, place) % 8) as usize]);
    format!("style=\"{}\"", marks.flat_map(|mark| ['a', mark]).collect::<String>())
}

/// A sentence of an article: nine to sixteen words.
fn sentence(article: u64, index: u64) -> String {
    let seed = mix(mix(0xA47, article), index);
    let words: Vec<String> = (0..9 + seed % 8).map(|place| word(mix(seed, place))).collect();
    format!("The {}.", words.join(" "))
}

fn sentences(article: u64, range: std::ops::Range<u64>) -> Vec<String> {
    range.map(|index| sentence(article, index)).collect()
}

/// What can be copied, quilted and fetched again.
#[derive(Clone)]
struct Text {
    id: String,
    paragraphs: Vec<String>,
    /// The template that it is shown in.
    shell: Option<u64>,
    links: Vec<String>,
    is_mail: bool,
}

/// The stream.
pub(crate) struct Made {
    dice: Dice,
    seed: u64,
    n_made: u64,
    n_articles: u64,
    earlier: VecDeque<Text>,
}

impl Made {
    pub(crate) fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), seed, n_made: 0, n_articles: 0, earlier: VecDeque::new() }
    }

    /// A fresh page URL.
    fn url(&mut self) -> String {
        let (domain, sub) = (self.dice.below(12), self.dice.below(2));
        let host = if sub == 0 { "www." } else { "" };
        format!("http://{host}site{domain}.example/{}.html", self.n_made)
    }

    /// A number that no article has had, or will have in another stream.
    fn article(&mut self) -> u64 {
        self.n_articles += 1;
        self.seed * 1_000_000 + self.n_articles
    }

    /// One of the last texts; the very last are the likeliest, so that copies of copies fall into one batch.
    fn recent(&mut self) -> Option<Text> {
        let n = self.earlier.len();
        let reach = if self.dice.below(2) == 0 { n.min(6) } else { n };
        (n > 0).then(|| self.earlier[n - 1 - self.dice.below(reach)].clone())
    }

    /// One of the templates of the day: they go out of fashion, and their clusters expire.
    fn shell(&mut self) -> u64 {
        self.n_made / 100 + self.dice.below(3) as u64
    }

    fn own_article(&mut self) -> Text {
        let (article, n) = (self.article(), 6 + self.dice.below(14) as u64);
        let shell = match self.dice.below(6) {
            0 => Some(self.shell()),
            // A look of its own.
            1 => Some(1000 + self.n_made),
            _ => None,
        };
        Text { id: self.url(), paragraphs: sentences(article, 0..n), shell, links: Vec::new(), is_mail: false }
    }

    /// A near copy: a few words changed, a sentence dropped or added, another place.
    fn copy(&mut self) -> Text {
        let Some(mut text) = self.recent() else { return self.own_article() };
        for _ in 0..self.dice.below(4) {
            let (at, number) = (self.dice.below(text.paragraphs.len()), self.dice.below(768) as u64);
            let paragraph = &mut text.paragraphs[at];
            let cut = paragraph.rfind(' ').unwrap_or(0);
            paragraph.truncate(cut);
            paragraph.push_str(&format!(" {}.", word(number)));
        }
        match self.dice.below(6) {
            0 if text.paragraphs.len() > 4 => drop(text.paragraphs.pop()),
            1 => text.paragraphs.push(sentence(self.n_made, 77)),
            2 if text.paragraphs.len() > 9 => text.paragraphs.truncate(6),
            _ => {}
        }
        text.id = if text.is_mail { format!("mail-{}", self.n_made) } else { self.url() };
        text
    }

    /// Stitched from four to six articles, some of which are still to come.
    fn quilt(&mut self) -> Text {
        let n_patches = 4 + self.dice.below(3);
        let mut paragraphs = Vec::new();
        let mut links = Vec::new();
        for _ in 0..n_patches {
            let reach = self.n_articles + 20;
            let article = self.seed * 1_000_000 + 1 + self.dice.below(reach as usize) as u64;
            let near = self.recent().filter(|text| !text.is_mail && self.dice.below(2) == 0);
            match near {
                Some(text) => {
                    paragraphs.extend(text.paragraphs.iter().take(5).cloned());
                    links.extend((self.dice.below(2) == 0).then_some(text.id));
                }
                None => paragraphs.extend(sentences(article, 1..6)),
            }
        }
        Text { id: self.url(), paragraphs, shell: None, links, is_mail: false }
    }

    fn mail(&mut self) -> Text {
        let article = self.article();
        Text {
            id: format!("mail-{}", self.n_made),
            paragraphs: sentences(article, 0..4 + self.dice.below(5) as u64),
            shell: (self.dice.below(2) == 0).then(|| self.shell()),
            links: Vec::new(),
            is_mail: true,
        }
    }

    /// The next document.
    pub(crate) fn record(&mut self) -> Record {
        self.n_made += 1;
        let text = match self.dice.below(100) {
            0..22 => self.own_article(),
            22..45 => self.copy(),
            45..56 => self.quilt(),
            56..64 => Text { shell: Some(self.shell()), ..self.own_article() },
            64..70 => self.recent().unwrap_or_else(|| self.own_article()),
            70..75 => match self.recent() {
                Some(text) => Text { paragraphs: self.own_article().paragraphs, ..text },
                None => self.own_article(),
            },
            75..85 => self.mail(),
            85..89 => Text { paragraphs: vec!["Soon.".into()], ..self.own_article() },
            _ => Text { id: format!("http://{FLOOD}/{}", self.n_made), ..self.own_article() },
        };
        if text.paragraphs.len() > 1 {
            self.earlier.push_back(text.clone());
        }
        if self.earlier.len() > 120 {
            self.earlier.pop_front();
        }
        self.written(&text)
    }

    fn written(&mut self, text: &Text) -> Record {
        let seconds = 60 * self.n_made;
        let time =
            format!("2026-01-{:02}T{:02}:{:02}:00Z", 1 + seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
        if text.is_mail {
            let from = ["list.example", "shop.example", "bank.example"][self.dice.below(3)];
            let footer = "You get this mail because you asked for it.\r\nTo leave the list write to the office.";
            let body = format!("{}\r\n-- \r\n{footer}\r\n", text.paragraphs.join("\r\n\r\n"));
            let html = text.shell.map(|shell| shelled(shell, &text.paragraphs, &[], self.n_made));
            let (content_type, body) = html.map_or(("text/plain", body), |html| ("text/html", html));
            let body = format!(
                "From: <news@{from}>\r\nTo: <you@there.example>\r\nSubject: News {}\r\nMIME-Version: 1.0\r\n\
                 Content-Type: {content_type}; charset=utf-8\r\n\r\n{body}",
                self.n_made
            );
            let carrier = Carrier { id: Some(text.id.clone()), time: Some(time), ..Carrier::default() };
            return Record { format: Format::Mail, body: body.into_bytes(), carrier };
        }
        let html = match text.shell {
            Some(shell) => shelled(shell, &text.paragraphs, &text.links, self.n_made),
            None => plain(&text.paragraphs, &text.links),
        };
        let url = Some(text.id.clone());
        let carrier = Carrier { id: url.clone(), url, time: Some(time), ..Carrier::default() };
        Record { format: Format::Page, body: html.into_bytes(), carrier }
    }
}

fn plain(paragraphs: &[String], links: &[String]) -> String {
    let paragraphs: String = paragraphs.iter().map(|paragraph| format!("<p>{paragraph}</p>\n")).collect();
    let links: String = links.iter().map(|link| format!("<p>See <a href=\"{link}\">there</a>.</p>\n")).collect();
    format!("<html><head><title>page</title></head><body><div>\n{paragraphs}{links}</div></body></html>")
}

/// A page in one of a few templates. Some of the shell varies from page to page, so that clusters have several leaders and
/// sometimes become one.
fn shelled(shell: u64, paragraphs: &[String], links: &[String], number: u64) -> String {
    let n_items = 14 + shell % 5;
    let name = |of: u64, item: u64| [0, 24].map(|shift| word(mix(of, item) >> shift)).concat();
    let items: String = (0..n_items)
        .map(|item| {
            // Every third page is halfway to the next template.
            let of = if number.is_multiple_of(3) && item % 4 == 0 { shell + 1 } else { shell };
            let odd = if mix(number, item).is_multiple_of(5) { number % 7 } else { 0 };
            let (class, id, to) = (name(of, item), name(of + odd, 100 + item), name(of, 200 + item));
            let marks = marks(mix(of, 400 + item));
            format!(
                "<li class=\"{class}\" data-role=\"{to}\" {marks}>\
                 <a href=\"/menu/{to}\" id=\"{id}\">{to}</a></li>\n"
            )
        })
        .collect();
    let [text, head, main, foot] = [300, 301, 302, 303].map(|item| name(shell, item));
    let body: String = paragraphs.iter().map(|paragraph| format!("<p class=\"{text}\">{paragraph}</p>\n")).collect();
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\">source</a>\n")).collect();
    // Every other template has a stylesheet.
    let sheet = if shell.is_multiple_of(2) {
        format!("<link rel=\"stylesheet\" href=\"/css/{main}.css\">")
    } else {
        String::new()
    };
    format!(
        "<html><head><title>{}</title><script src=\"/js/{head}.js\"></script>{sheet}\
         <meta name=\"generator\" content=\"{main}\"></head><body class=\"{foot}\">\
         <div id=\"{head}\"><ul class=\"{text}\">\n{items}</ul></div>\
         <div class=\"{main}\" role=\"main\">\n{body}{links}</div>\
         <div class=\"{foot}\"><span id=\"{foot}\">All rights</span></div></body></html>",
        word(number)
    )
}

/// Records as the fold takes them.
pub(crate) fn arrivals(records: impl IntoIterator<Item = Record>, settings: &Settings) -> Vec<Arrival> {
    let lexicons = lexicon::load(settings).unwrap_or_else(|problems| panic!("{problems}"));
    let mut arriver = Arriver::new(settings, lexicons);
    let signed = |(number, record): (usize, Record)| arriver.arrival(&record, source(&format!("made#{}", number + 1)));
    records.into_iter().enumerate().map(signed).collect::<Result<_, _>>().unwrap()
}

/// The first `n` documents of the stream of a seed.
pub(crate) fn stream(seed: u64, n: usize, settings: &Settings) -> Vec<Arrival> {
    let mut made = Made::new(seed);
    arrivals((0..n).map(|_| made.record()), settings)
}

/// Articles, and pages that quote each of them between them, most of which link to it; in an order of its own.
pub(crate) fn quoted(seed: u64, settings: &Settings) -> Vec<Arrival> {
    let mut dice = Dice::new(seed);
    let mut pages: Vec<(String, String)> = Vec::new();
    for article in 0..12 {
        let url = format!("http://article{article}.example/");
        let n_silent = dice.below(6);
        for number in 0..5_u64 {
            let own = sentences((1000 * seed + article) * 10 + number, 0..9);
            let taken = sentences(seed * 100 + article, 3 * number..3 * number + 3);
            let links = if (number as usize) < n_silent { Vec::new() } else { vec![url.clone()] };
            let quoter = format!("http://quoter{number}-of{article}.example/");
            pages.push((quoter, plain(&[own, taken].concat(), &links)));
        }
        pages.push((url, plain(&sentences(seed * 100 + article, 0..15), &[])));
    }
    for place in (1..pages.len()).rev() {
        pages.swap(place, dice.below(place + 1));
    }
    let record = |(url, html): (String, String)| {
        let carrier = Carrier { id: Some(url.clone()), url: Some(url), ..Carrier::default() };
        Record { format: Format::Page, body: html.into_bytes(), carrier }
    };
    arrivals(pages.into_iter().map(record), settings)
}

/// A page that has neither text nor look in common with any other.
pub(crate) fn page_of_its_own(number: u64) -> String {
    let name = |item: u64| [0, 20, 40].map(|shift| word(mix(number, item) >> shift)).concat();
    let items: String = (0..20)
        .map(|item| {
            let (class, tag) = (name(item), ["li", "div", "span", "section"][(mix(number, item) >> 60) as usize % 4]);
            let (id, marks) = (name(100 + item), marks(mix(number, 300 + item)));
            format!("<{tag} class=\"{class}\" id=\"{id}\" {marks}><a href=\"/{class}\">{class}</a></{tag}>\n")
        })
        .collect();
    let body: String =
        sentences(1 << 40 | number, 0..36).iter().map(|sentence| format!("<p>{sentence}</p>\n")).collect();
    let (script, main) = (name(200), name(201));
    format!(
        "<html><head><title>{number}</title><script src=\"/{script}.js\"></script></head><body class=\"{script}\">\
         <div class=\"{main}\">\n{items}</div><div id=\"{main}\">{body}</div></body></html>"
    )
}

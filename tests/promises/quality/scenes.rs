//! Small scenes whose right verdicts anybody can tell, made of articles that have nothing else in common.

use super::articles::{page, sentence, sentences};
use super::corpora::{html_page, raw_mail};
use super::{Input, by_id, folded, is, is_full, judged, judged_exactly, share};
use seamripper::config::Settings;
use seamripper::verdict::event::{Class, Outcome, QuiltKind, Recrawl, TextView, Verdict};
use seamripper::verdict::relation::Direction;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Folded verdicts by id.
fn told(inputs: Vec<Input>, settings: &Settings) -> HashMap<String, Verdict> {
    let verdicts = folded(&judged(inputs, settings));
    assert!(!verdicts.is_empty(), "nothing was judged");
    verdicts.into_iter().map(|verdict| (verdict.id.clone(), verdict)).collect()
}

/// Some sentences as a page under `url`, which is its id too.
fn at(url: &str, paragraphs: &[String]) -> Input {
    html_page(url, Some(url), &page("page", paragraphs))
}

/// A plain mail.
fn mail(id: &str, from: &str, subject: &str, lines: &[String]) -> Input {
    let body = lines.join("\r\n");
    let head = "To: someone@there.example\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8";
    raw_mail(id, format!("From: {from}\r\nSubject: {subject}\r\n{head}\r\n\r\n{body}\r\n").as_bytes())
}

/// The sources that a verdict names.
fn sources(verdict: &Verdict) -> BTreeSet<&str> {
    verdict.quilt.iter().flat_map(|quilt| &quilt.sources).map(|source| source.of.as_str()).collect()
}

/// Five sentences of each of four articles.
fn patches(articles: [u64; 4]) -> Vec<String> {
    articles.into_iter().flat_map(|article| sentences(article, 6..11)).collect()
}

/// What makes a document of an id (for pages the URL too) and its paragraphs.
type Maker = fn(&str, &[String]) -> Input;

fn as_mail(id: &str, paragraphs: &[String]) -> Input {
    let host = id.trim_start_matches("http://").trim_end_matches('/');
    mail(id, &format!("news@{host}"), "News", paragraphs)
}

#[test]
fn a_quilt_of_four_campaigns_is_a_quilt() {
    let n_copies = if is_full() { 10_000 } else { 200 };
    for (kind, made) in [("pages", at as Maker), ("mails", as_mail as Maker)] {
        let id = |campaign: u64, copy: usize| format!("http://host{copy}-of{campaign}.example/");
        let mut inputs = Vec::new();
        for copy in 0..n_copies {
            for campaign in 0..4 {
                let mut text = sentences(campaign, 0..16);
                // Each copy has a word of its own.
                text[0] = format!("Dear {}, {}", super::articles::word(copy as u64 * 7 + campaign), text[0]);
                inputs.push(made(&id(campaign, copy), &text));
            }
        }
        inputs.push(made("http://quilt.example/", &patches([0, 1, 2, 3])));
        let verdicts = told(inputs, &Settings::default());
        let quilt = &verdicts["http://quilt.example/"];
        assert!(is(quilt, Class::Quilt), "{kind}: {quilt:?}");
        let heads: Vec<String> = (0..4).map(|campaign| id(campaign, 0)).collect();
        assert_eq!(sources(quilt), heads.iter().map(String::as_str).collect(), "{kind}");
        let n_mirrors = verdicts.values().filter(|verdict| is(verdict, Class::Mirror)).count();
        assert_eq!(n_mirrors, 4 * (n_copies - 1), "{kind}: all but the first of each are copies");
        let last = verdicts[&id(3, n_copies - 1)].mirror.as_ref().unwrap();
        assert_eq!((last.of.as_str(), last.size as usize), (heads[3].as_str(), n_copies), "{kind}");
    }
}

#[test]
fn a_home_page_of_its_own_articles_is_no_quilt() {
    let articles = (0..6).map(|number| at(&format!("http://blog.example/{number}"), &sentences(number, 0..16)));
    let excerpts: Vec<String> = (0..6).flat_map(|number| sentences(number, 0..4)).collect();
    let home = at("http://www.blog.example/", &excerpts);
    let foreign = at("http://thief.example/", &excerpts[..20]);
    let articles: Vec<Input> = articles.collect();
    let after = [articles.clone(), vec![home.clone(), foreign.clone()]].concat();
    let before = [vec![home, foreign], articles].concat();
    for (order, inputs) in [("after", after), ("before", before)] {
        let verdicts = told(inputs, &Settings::default());
        let home = &verdicts["http://www.blog.example/"];
        assert!(!is(home, Class::Quilt), "{order} its articles: {home:?}");
        let articles = (0..6).map(|number| &verdicts[&format!("http://blog.example/{number}")]);
        assert!(articles.into_iter().all(|article| !is(article, Class::Quilt)), "{order}");
    }
    let articles = (0..6).map(|number| at(&format!("http://blog.example/{number}"), &sentences(number, 0..16)));
    let verdicts = told(articles.chain([at("http://thief.example/", &excerpts[..20])]).collect(), &Settings::default());
    assert!(is(&verdicts["http://thief.example/"], Class::Quilt), "the same on a foreign server is one");
}

#[test]
fn five_mirrors_of_one_page_are_mirrors_and_no_quilts() {
    let url = |number: u32| format!("http://mirror{number}.example/manual.html");
    let inputs = (0..6).map(|number| at(&url(number), &sentences(1, 0..20))).collect();
    let verdicts = told(inputs, &Settings::default());
    assert_eq!(verdicts[&url(0)].classes, [], "the first is the original");
    for number in 1..6 {
        let verdict = &verdicts[&url(number)];
        assert_eq!(verdict.classes.first(), Some(&Class::Mirror), "{verdict:?}");
        assert!(!is(verdict, Class::Quilt), "{verdict:?}");
        assert_eq!(verdict.mirror.as_ref().unwrap().of, url(0));
    }
}

/// A mail with the markup of one sender's template.
fn newsletter(id: &str, issue: u64) -> Input {
    let stories: String = (0..5)
        .map(|story| {
            format!(
                "<tr class=\"story\"><td class=\"picture\"><img src=\"http://img.letter.example/{issue}-{story}.png\" \
                 alt=\"\" width=\"120\"></td><td class=\"words\"><h2>{}</h2><p style=\"margin:0 0 8px\">{}</p>\
                 <p><a class=\"more\" href=\"http://letter.example/{issue}/{story}\">more</a></p></td></tr>\r\n",
                &sentence(issue, story * 10)[..20],
                sentences(issue, story * 10 + 1..story * 10 + 5).join(" ")
            )
        })
        .collect();
    let html = format!(
        "<html><head><meta name=\"viewport\" content=\"width=device-width\"><style>.story{{padding:4px}}</style></head>\
         <body bgcolor=\"#ffffff\"><table id=\"letter\" width=\"600\" cellpadding=\"0\" cellspacing=\"0\" border=\"0\">\
         <tr id=\"head\"><td colspan=\"2\"><img src=\"http://img.letter.example/logo.png\" alt=\"Letter\"></td></tr>\r\n\
         {stories}<tr id=\"foot\"><td colspan=\"2\"><small>You get this since you asked for it. \
         <a href=\"http://letter.example/off\" title=\"off\">No more</a></small></td></tr></table></body></html>"
    );
    let head = "MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8";
    let subject = sentence(issue, 99);
    let raw = format!("From: Letter <news@letter.example>\r\nSubject: {subject}\r\n{head}\r\n\r\n{html}\r\n");
    raw_mail(id, raw.as_bytes())
}

#[test]
fn newsletters_of_one_template_are_a_template_and_no_mirrors() {
    let mut inputs: Vec<Input> = (0..12).map(|issue| newsletter(&format!("issue-{issue}"), issue)).collect();
    inputs.push(newsletter("again", 3));
    let verdicts = told(inputs, &Settings::default());
    for issue in 0..12 {
        let verdict = &verdicts[&format!("issue-{issue}")];
        assert!(!is(verdict, Class::Mirror) && !is(verdict, Class::Quilt), "{verdict:?}");
        // The class begins with the fifth.
        assert_eq!(is(verdict, Class::Template), issue >= 4, "{verdict:?}");
    }
    let again = &verdicts["again"];
    assert_eq!(again.classes, [Class::Mirror, Class::Template], "the same text is a copy: {again:?}");
    assert_eq!(again.mirror.as_ref().unwrap().of, "issue-3");
}

/// What half of the web loads, by whoever made the page.
const PUBLIC_HEAD: &str = "<meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
    <meta name=\"description\" content=\"x\"><meta name=\"robots\" content=\"index\">\
    <link rel=\"preconnect\" href=\"https://fonts.gstatic.com\" crossorigin>\
    <link rel=\"stylesheet\" href=\"https://cdn.jsdelivr.net/npm/bootstrap@5.1.3/dist/css/bootstrap.min.css\">\
    <link rel=\"stylesheet\" href=\"https://cdnjs.cloudflare.com/ajax/libs/font-awesome/6.0.0/css/all.min.css\">\
    <script src=\"https://code.jquery.com/jquery-3.6.0.min.js\"></script>\
    <script src=\"https://cdn.jsdelivr.net/npm/bootstrap@5.1.3/dist/js/bootstrap.bundle.min.js\"></script>\
    <script async src=\"https://www.googletagmanager.com/gtag/js?id=UA-1\"></script>";

/// The body of a page as one of four people would write it.
fn handmade(maker: usize, article: u64) -> String {
    let text = sentences(article, 0..6 + article % 5);
    let each = |form: fn(usize, &str) -> String| -> String {
        text.iter().enumerate().map(|(place, sentence)| form(place, sentence)).collect()
    };
    match maker {
        0 => format!(
            "<form id=\"find\" method=\"get\" action=\"/find\"><input type=\"text\" name=\"q\" size=\"9\"></form>\
             <div class=\"sidebar\"><ul><li class=\"l1\"><a class=\"ref\" href=\"a.html\">a</a></li></ul></div>\
             <div class=\"body\"><section id=\"top\"><h1>x<a class=\"headerlink\" href=\"#x\">#</a></h1>{}</section></div>",
            each(|_, text| format!("<div class=\"note\"><p>{text}</p></div>\n"))
        ),
        1 => format!(
            "<div id=\"doc\" lang=\"en\" dir=\"ltr\"><img src=\"x.png\" alt=\"\" width=\"9\" height=\"9\" border=\"0\"></div>\
             <h1>Module <tt>x</tt></h1><pre>val <span id=\"VAL\">x</span> : int</pre>{}<hr><a href=\"b.html\">b</a>",
            each(|_, text| format!("<dl class=\"fn\"><dt><code>x(y)</code></dt><dd>{text}</dd></dl>"))
        ),
        2 => format!(
            "<table width=\"100%\" cellpadding=\"4\" border=\"0\" bgcolor=\"#fff\"><tr align=\"left\"><td id=\"side\" valign=\"top\"><a href=\"/wiki/a\">a</a></td><td id=\"page\">{}\
             <hr><i>Edit this page</i> | <a href=\"?history\">History</a></td></tr></table>",
            each(|place, text| format!("<a name=\"s{place}\"></a><h2>x</h2><p>{text}</p>\n"))
        ),
        _ => format!(
            "<div class=\"crumbs\"><a href=\"/f/a\">a</a> &raquo; </div><table class=\"topic\" cellspacing=\"1\">{}</table>\
             <form action=\"/reply\"><textarea name=\"msg\"></textarea></form>",
            each(|place, text| format!(
                "<tr class=\"row\"><td class=\"author\"><b>x</b><br>7</td><td class=\"msg\" id=\"p{place}\">{text}</td></tr>\n"
            ))
        ),
    }
}

#[test]
fn what_everybody_loads_makes_no_template() {
    // A stylesheet of their own that all call the same is not what they are told by either.
    for own in ["", "<link rel=\"stylesheet\" href=\"/css/style.css\">"] {
        let page = |number: u64| {
            let (maker, site) = (number as usize % 4, number / 4 % 5);
            let url = format!("http://maker{maker}-site{site}.example/{number}");
            let body = handmade(maker, number);
            html_page(&url, Some(&url), &format!("<html><head>{PUBLIC_HEAD}{own}</head><body>{body}</body></html>"))
        };
        let verdicts = told((0..80).map(page).collect(), &Settings::default());
        let mut makers: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for verdict in verdicts.values() {
            let maker = verdict.id.strip_prefix("http://").and_then(|rest| rest.split('-').next()).unwrap();
            if let Some(cluster) = verdict.cluster.as_deref() {
                *makers.entry(cluster).or_default().entry(maker).or_default() += 1;
            }
        }
        assert!(makers.values().all(|makers| makers.len() == 1), "{own}: {makers:?}");
        let n_clustered: usize = makers.values().flat_map(BTreeMap::values).sum();
        assert!(n_clustered >= 70, "pages of one maker are still of one template: {makers:?}");
    }
}

#[test]
fn empty_and_one_line_mails_match_nothing() {
    let bodies: [&[&str]; 6] = [&[], &[""], &["Thanks!"], &["See attached."], &["ok"], &["  ", " ", ""]];
    let mut inputs = Vec::new();
    for (number, body) in bodies.into_iter().enumerate() {
        for (copy, subject) in ["", "Hello", "Hello"].into_iter().enumerate() {
            let lines: Vec<String> = body.iter().map(|line| line.to_string()).collect();
            inputs.push(mail(&format!("{number}-{copy}"), "someone@here.example", subject, &lines));
        }
    }
    let n_sent = inputs.len();
    let verdicts = told(inputs, &Settings::default());
    assert_eq!(verdicts.len(), n_sent);
    for verdict in verdicts.values() {
        assert_eq!((&verdict.classes[..], verdict.outcome), (&[][..], Outcome::Insufficient), "{verdict:?}");
        assert!(verdict.mirror.is_none() && verdict.related.is_empty() && verdict.cluster.is_none(), "{verdict:?}");
    }
}

#[test]
fn a_spam_of_nothing_but_the_footer_of_a_list_matches_no_ham_of_it() {
    let footer = [
        "_______________________________________________".to_owned(),
        "Gardeners mailing list".to_owned(),
        "Gardeners@lists.garden.example".to_owned(),
        "To change your subscription or leave the list visit".to_owned(),
        "http://lists.garden.example/mailman/listinfo/gardeners".to_owned(),
    ];
    let mut inputs = Vec::new();
    for number in 0..10 {
        let lines = [&[sentence(number, 0), sentence(number, 1), String::new()][..], &footer].concat();
        inputs.push(mail(&format!("ham-{number}"), "member@garden.example", "roses", &lines));
        // Between the others, so that it meets earlier and later ones.
        if number % 5 == 4 {
            inputs.push(mail(
                &format!("spam-{number}"),
                "x@junk.example",
                "",
                &[&[String::new()][..], &footer].concat(),
            ));
        }
    }
    let verdicts = told(inputs, &Settings::default());
    for verdict in verdicts.values() {
        // Two footers may well be called copies of each other.
        let of = verdict.mirror.as_ref().map(|mirror| mirror.of.as_str());
        let is_of_its_kind = of.is_none_or(|of| of.starts_with("spam") && verdict.id.starts_with("spam"));
        assert!(is_of_its_kind, "{verdict:?}");
    }
}

/// Whose copy each of `inputs` is, in a stream and with all pairs compared, which must agree.
fn heads(inputs: Vec<Input>) -> BTreeMap<String, Option<String>> {
    let settings = Settings::default();
    let of = |verdicts: &[Verdict]| -> BTreeMap<String, Option<String>> {
        let head = |verdict: &Verdict| verdict.mirror.as_ref().map(|mirror| mirror.of.clone());
        verdicts.iter().map(|verdict| (verdict.id.clone(), head(verdict))).collect()
    };
    let streamed = of(&folded(&judged(inputs.clone(), &settings)));
    assert_eq!(streamed, of(&judged_exactly(inputs, &settings)));
    streamed
}

/// What stands below "-- ", or behind ">", is no text of its own in an honest mail. A campaign that puts all of itself there is one.
#[test]
fn a_campaign_does_not_hide_in_its_signature() {
    let spam = sentences(7, 0..12);
    let quoted: Vec<String> = spam.iter().map(|line| format!("> {line}")).collect();
    let below = |greeting: &str| [&[greeting.to_owned(), "-- ".to_owned()][..], &spam].concat();
    for (text, mark) in [(below("Hi"), ""), (below(""), ""), (below("Hello dear"), ""), (quoted, "> ")] {
        for subject in ["Hi", "", "prize"] {
            let mails = (0..12).map(|number| {
                // Each has its own number, and a word of its own at the end.
                let subject = if subject == "prize" { format!("prize {number}") } else { subject.to_owned() };
                let text = [text.clone(), vec![format!("{mark}{}", super::articles::word(number))]].concat();
                mail(&format!("{number:02}"), &format!("a@b{number}.example"), &subject, &text)
            });
            let heads = heads(mails.collect());
            let n_copies = heads.values().filter(|of| of.as_deref() == Some("00")).count();
            assert_eq!(n_copies, 11, "{subject:?}, {:?}", &text[..2]);
        }
    }
}

/// `text` as a reply quotes it.
fn quoted(text: &[String]) -> Vec<String> {
    text.iter().map(|line| format!("> {line}")).collect()
}

/// `text` as it is forwarded below `title`.
fn forwarded(title: &str, text: &[String]) -> Vec<String> {
    let head = [title, "From: bank@bank.example", "Date: Monday", "Subject: account", "To: client", ""];
    [head.map(str::to_owned).to_vec(), text.to_vec()].concat()
}

/// `text` as Gmail quotes it, and as Thunderbird does, in a language that nobody has told us of.
fn html_quoted(text: &[String]) -> [Vec<String>; 2] {
    let quoted = |head: &str, end: &str| [&[head.to_owned()][..], text, &[end.to_owned()]].concat();
    let gmail = "<div class=\"gmail_quote\"><div class=\"gmail_attr\">Pank &lt;bank@bank.example&gt; kirjutas (1. jaan):</div>\
                 <blockquote class=\"gmail_quote\"><p>";
    let thunderbird = "<div class=\"moz-cite-prefix\">1. jaan kirjutas Pank:</div><blockquote type=\"cite\"><p>";
    [quoted(gmail, "</p></blockquote></div>"), quoted(thunderbird, "</p></blockquote>")]
}

/// Lines of HTML as a mail.
fn html(lines: &[String]) -> Vec<String> {
    [&["<html><body>".to_owned()][..], lines, &["</body></html>".to_owned()]].concat()
}

/// Without a word of its own, what a mail quotes or forwards is what it says, whatever its subject.
#[test]
fn a_campaign_does_not_hide_in_a_quotation() {
    let spam = sentences(7, 0..10);
    for text in [
        quoted(&spam),
        quoted(&quoted(&spam)),
        [vec!["On Mon, 1 Jan 2024 at 10:00, Bank <bank@bank.example> wrote:".to_owned()], quoted(&spam)].concat(),
        [quoted(&spam), ["-- ", "Ann", "____", "Gardeners mailing list"].map(str::to_owned).to_vec()].concat(),
        forwarded("-----Original Message-----", &spam),
        forwarded("---------- Forwarded message ---------", &spam),
        html(&html_quoted(&spam)[0]),
        html(&html_quoted(&spam)[1]),
    ] {
        for n_words in [2, 8] {
            let mails = (0..10).map(|number| {
                let words: Vec<String> =
                    (0..n_words).map(|place| super::articles::word(1000 + 10 * number + place)).collect();
                mail(&number.to_string(), &format!("a@b{number}.example"), &words.join(" "), &text)
            });
            let heads = heads(mails.collect());
            let n_copies = heads.values().filter(|of| of.as_deref() == Some("0")).count();
            assert_eq!(n_copies, 9, "{n_words} words in the subject, {:?}", &text[..2]);
        }
    }
}

/// Elements that mail programs quote in are seen as such by the line that introduces them. Without it the text below two words
/// of each mail's own is what the mail says.
#[test]
fn a_campaign_does_not_hide_in_an_element() {
    let spam = sentences(7, 0..10);
    for element in [
        "div class=\"gmail_quote\"",
        "div class=\"yahoo_quoted\"",
        "blockquote type=\"cite\" style=\"margin:0;border:0\"",
    ] {
        let mails = (0..10).map(|number| {
            let words: Vec<String> = (0..2).map(|place| super::articles::word(1000 + 10 * number + place)).collect();
            let own = format!("<p>{}</p><{element}><p>", words.join(" "));
            let lines = html(&[&[own][..], &spam].concat());
            mail(&number.to_string(), &format!("a@b{number}.example"), "Account", &lines)
        });
        let n_copies = heads(mails.collect()).values().filter(|of| of.as_deref() == Some("0")).count();
        assert_eq!(n_copies, 9, "{element}");
    }
}

/// What makes a mail of somebody's own words, a text and the footer of a list.
type Answer = fn(&[String], &[String], &[String]) -> Vec<String>;

/// Who adds to a text says what he adds; and a footer is none behind `>` either.
#[test]
fn answers_to_one_text_are_no_copies() {
    let text = sentences(7, 0..10);
    let footer = ["____", "Gardeners mailing list", "To leave it visit", "http://garden.example/mailman/listinfo"];
    let footer = [footer.map(str::to_owned).to_vec(), vec![sentence(8, 0), sentence(8, 1)]].concat();
    let answers: [(&str, Answer); 8] = [
        ("above", |own, text, _| [own.to_vec(), quoted(text)].concat()),
        ("below", |own, text, _| [quoted(text), own.to_vec()].concat()),
        ("original", |own, text, _| [own.to_vec(), forwarded("-----Original Message-----", text)].concat()),
        ("forwarded", |own, text, _| {
            [own.to_vec(), forwarded("---------- Forwarded message ---------", text)].concat()
        }),
        ("a footer", |own, _, footer| quoted(&[own, footer].concat())),
        ("gmail", |own, text, _| html(&[own, &html_quoted(text)[0]].concat())),
        ("thunderbird", |own, text, _| html(&[own, &html_quoted(text)[1]].concat())),
        ("apple, below a colon", |own, text, _| {
            let own = own.iter().map(|line| format!("<p>{}:</p>", line.trim_end_matches('.'))).collect::<Vec<_>>();
            let quote = "<blockquote type=\"cite\"><div>On 1 Jan 2024, at 10:00, Ann wrote:</div><p>";
            html(&[&own[..], &[quote.to_owned()], text].concat())
        }),
    ];
    for (form, answer) in answers {
        let mails = (0..6).map(|number| {
            let lines = answer(&[sentence(100 + number, 0)], &text, &footer);
            mail(&number.to_string(), &format!("a@b{number}.example"), "Re: roses", &lines)
        });
        assert!(heads(mails.collect()).values().all(Option::is_none), "{form}");
    }
}

/// Who draws a line below the title of a mail, or says at its top how to leave a list, has written what follows.
#[test]
fn a_line_below_its_title_does_not_hide_a_campaign() {
    let spam = sentences(7, 0..10);
    for line in ["__________", "To unsubscribe reply with that word"] {
        let mails = (0..10).map(|number| {
            let words: Vec<String> = (0..8).map(|place| super::articles::word(1000 + 10 * number + place)).collect();
            let lines = [&["The offer".to_owned(), line.to_owned()][..], &spam].concat();
            mail(&number.to_string(), &format!("a@b{number}.example"), &words.join(" "), &lines)
        });
        let n_copies = heads(mails.collect()).values().filter(|of| of.as_deref() == Some("0")).count();
        assert_eq!(n_copies, 9, "{line}");
    }
}

/// As many words in the subject as in the text, and no two alike.
#[test]
fn a_campaign_does_not_hide_behind_its_subjects() {
    let mails = |n_sentences: u64| {
        let mail = move |number: u64| {
            let subject = sentences(300 + number, 0..2).join(" ");
            let text = [sentences(7, 0..n_sentences), vec![format!("http://shop{number}.example/")]].concat();
            mail(&format!("{number:02}"), &format!("a@b{number}.example"), &subject, &text)
        };
        (0..12).map(mail).collect::<Vec<_>>()
    };
    let n_copies = |inputs| heads(inputs).values().filter(|of| of.as_deref() == Some("00")).count();
    assert_eq!(n_copies(mails(2)), 11);
    assert_eq!(n_copies(mails(1)), 0, "so few words may be anybody's");
}

/// A few words above a long footer are all that such mails have of their own.
#[test]
fn few_words_above_one_footer_are_told_by_these_words() {
    let footer = [vec!["-- ".to_owned()], sentences(8, 0..8)].concat();
    let own = ["Hi Bob, ok", "thanks!", "ok so", "No.", "Thanks Ann", "Thanks Bob", ""];
    let mails = own.iter().enumerate().map(|(number, own)| {
        mail(&number.to_string(), "me@firm.example", "", &[&[own.to_string()][..], &footer].concat())
    });
    let again = mail("again", "you@firm.example", "", &[&["Thanks, Ann".to_owned()][..], &footer].concat());
    let elsewhere = [&["thanks!".to_owned(), "-- ".to_owned()][..], &sentences(9, 0..8)].concat();
    let elsewhere = mail("elsewhere", "me@other.example", "", &elsewhere);
    let heads = heads(mails.chain([elsewhere, again]).collect());
    let copies: Vec<_> = heads.iter().filter_map(|(id, of)| of.as_deref().map(|of| (id.as_str(), of))).collect();
    assert_eq!(copies, [("again", "4")]);
}

/// A company puts one long notice below all mails, without a dash before it: who writes two sentences above it has written them.
#[test]
fn a_disclaimer_makes_no_copies() {
    let disclaimers = include_str!("../../data/disclaimers.txt");
    let disclaimers: Vec<&str> = disclaimers.trim_end().split("\n\n").collect();
    assert_eq!(disclaimers.len(), 8, "in English, German, French, Japanese, Russian, Chinese and Korean");
    for disclaimer in disclaimers {
        for wrapped in [true, false] {
            let notice = if wrapped { disclaimer.to_owned() } else { disclaimer.replace('\n', " ") };
            let letter = |id: &str, from: u64, article: u64| {
                let text = sentences(article, 0..2 + article % 3).join("\r\n");
                let below = ["Regards,".to_owned(), format!("member {from}"), String::new(), notice.clone()];
                let lines = [&[text, String::new()][..], &below].concat();
                mail(id, &format!("member@firm{from}.example"), &sentence(article, 9)[..12], &lines)
            };
            let mails = (0..7).map(|number| letter(&number.to_string(), number, number));
            // One is sent on by another member.
            let heads = heads(mails.chain([letter("again", 8, 3)]).collect());
            let copies: Vec<_> =
                heads.iter().filter_map(|(id, of)| of.as_deref().map(|of| (id.as_str(), of))).collect();
            assert_eq!(copies, [("again", "3")], "{notice}");
        }
    }
}

/// Sixty links to all of a shop, and what it says of one of its goods.
fn goods(url: &str, text: &str) -> Input {
    let link = |n: u64| format!("<li><a href=\"/{n}\">{}</a></li>", super::articles::sentence(77, n));
    let menu: String = (0..60).map(link).collect();
    let html = format!(
        "<html><head><title>shop</title></head><body><div id=\"menu\"><ul>{menu}</ul></div>\
         <div id=\"goods\"><p>{text}</p></div></body></html>"
    );
    html_page(url, Some(url), &html)
}

#[test]
fn a_menu_makes_no_mirrors_of_small_pages() {
    let url = |number: u64| format!("http://shop.example/{number}");
    let mut inputs: Vec<Input> =
        (0..6).map(|number| goods(&url(number), &sentences(100 + number, 0..3).join(" "))).collect();
    inputs.push(goods("http://mirror.example/2", &sentences(102, 0..3).join(" ")));
    // Too few words to be told by.
    inputs.extend([6, 7].map(|number| goods(&url(number), ["Soon here.", "Sold out."][number as usize - 6])));
    let heads = heads(inputs.clone());
    let copies: Vec<_> = heads.iter().filter_map(|(id, of)| of.as_deref().map(|of| (id.as_str(), of))).collect();
    assert_eq!(copies, [("http://mirror.example/2", url(2).as_str()), (url(7).as_str(), url(6).as_str())]);
    let told = told(inputs, &Settings::default());
    let view = |id: &str| told[id].mirror.as_ref().unwrap().view;
    assert_eq!(view("http://mirror.example/2"), TextView::Shown, "it was compared by all of it");
    assert_eq!(view(&url(7)), TextView::Core, "a menu without content is all of the page");
}

/// Each passage stands in it twice: as a summary, say, and below it in full.
#[test]
fn a_quilt_that_says_everything_twice_is_a_quilt() {
    let sources: Vec<Input> =
        (0..4).map(|number| at(&format!("http://source{number}.example/"), &sentences(number, 0..16))).collect();
    let twice = [patches([0, 1, 2, 3]), patches([3, 2, 1, 0]), sentences(900, 0..4)].concat();
    let quilt = at("http://quilt.example/", &twice);
    for inputs in [[sources.clone(), vec![quilt.clone()]].concat(), [vec![quilt], sources].concat()] {
        let told = told(inputs, &Settings::default());
        let quilt = told["http://quilt.example/"].quilt.as_ref().expect("it is a quilt");
        assert_eq!(quilt.sources.len(), 4);
        assert!(quilt.patch_fraction > 0.85, "{}", quilt.patch_fraction);
    }
}

/// A notice longer than each passage stands in as many pages as still count, and all of them come before the sources.
#[test]
fn what_many_pages_carry_leaves_room_for_sources() {
    let notice = || sentences(950, 0..7);
    let url = |number: u64| format!("http://source{number}.example/");
    let sources = (0..4).map(|number| at(&url(number), &sentences(number, 0..16)));
    let carriers = (100..147)
        .map(|number| at(&format!("http://carrier{number}.example/"), &[sentences(number, 0..12), notice()].concat()));
    let quilt = at("http://quilt.example/", &[patches([0, 1, 2, 3]), notice()].concat());
    let told = told([vec![quilt], carriers.chain(sources).collect()].concat(), &Settings::default());
    let quilt = told["http://quilt.example/"].quilt.as_ref().expect("it is a quilt");
    for number in 0..4 {
        assert!(quilt.sources.iter().any(|source| source.of == url(number)), "{number}: {quilt:?}");
    }
}

/// A phrase of ten words is too little to be a source, and does not become more by being said again.
#[test]
fn a_phrase_said_twice_is_no_source() {
    let phrase = |number: u64| {
        let words: Vec<String> = sentence(number, 3).split(' ').map(str::to_owned).collect();
        words[..words.len().min(10)].join(" ")
    };
    let mut inputs: Vec<Input> = Vec::new();
    for number in 0..4 {
        let own = [sentences(number, 10..20), vec![format!("{}.", phrase(number))]].concat();
        inputs.push(at(&format!("http://source{number}.example/"), &own));
    }
    for n_times in [1, 3] {
        let own: Vec<String> =
            (0..4).flat_map(|number| std::iter::repeat_n(format!("{}.", phrase(number)), n_times)).collect();
        inputs.push(at(&format!("http://own{n_times}.example/"), &own));
    }
    let told = told(inputs, &Settings::default());
    for n_times in [1, 3] {
        assert_eq!(told[&format!("http://own{n_times}.example/")].quilt, None, "{n_times} times");
    }
}

/// More often than a gram may have owners, and than its counter can count.
#[test]
fn a_page_crawled_again_and_again_keeps_its_patches() {
    const N_CRAWLS: u64 = 300;
    let url = |number: u64| format!("http://source{number}.example/");
    for is_changed in [false, true] {
        let mut inputs: Vec<Input> = (0..4).map(|number| at(&url(number), &sentences(number, 0..16))).collect();
        for crawl in 0..N_CRAWLS {
            let mut text = sentences(0, 0..16);
            if is_changed {
                text.push(sentence(1000, crawl));
            }
            inputs.push(at(&url(0), &text));
        }
        // The quilt too: its sources are told by what they share with its last version.
        inputs.extend((0..N_CRAWLS).map(|crawl| {
            let own = if is_changed { vec![sentence(2000, crawl)] } else { Vec::new() };
            at("http://quilt.example/", &[patches([0, 1, 2, 3]), own].concat())
        }));
        let events = judged(inputs, &Settings::default());
        let verdicts: HashMap<String, Verdict> =
            folded(&events).into_iter().map(|verdict| (verdict.id.clone(), verdict)).collect();
        let quilt = verdicts.get("http://quilt.example/").expect("it was judged");
        assert!(is(quilt, Class::Quilt), "changed {is_changed}: {quilt:?}");
        let all: Vec<String> = (0..4).map(url).collect();
        assert_eq!(sources(quilt), all.iter().map(String::as_str).collect(), "changed {is_changed}");
        assert_eq!(quilt.recrawl, Some(if is_changed { Recrawl::Changed } else { Recrawl::Unchanged }));
        for number in 0..4 {
            let source = &verdicts[&url(number)];
            assert_eq!(source.classes, [], "an original stays one, crawled again or not: {source:?}");
        }
        let crawls = events.iter().filter(|event| event.id == url(0) && event.revision == 0).skip(1);
        let expected = if is_changed { Recrawl::Changed } else { Recrawl::Unchanged };
        let n_right = crawls.filter(|event| event.recrawl == Some(expected)).count();
        assert_eq!(n_right as u64, N_CRAWLS, "changed {is_changed}");
    }
}

/// Of 200 pages of as many domains, the share that is still known after `n_junk` pages that nobody else has, from `host`
/// or each from a domain of its own.
fn known_after_flood(settings: &Settings, n_junk: usize, host: Option<&str>) -> f64 {
    const N_PAGES: usize = 200;
    let url = |number: usize, copy: &str| format!("http://honest{number}-{copy}.example/");
    let pages = |copy: &'static str| {
        (0..N_PAGES).map(move |number| at(&url(number, copy), &sentences(number as u64, 0..12))).collect::<Vec<_>>()
    };
    let junk = (0..n_junk).map(|number| {
        let host = host.map_or_else(|| format!("junk{number}.example"), str::to_owned);
        at(&format!("http://{host}/{number}"), &sentences(1_000_000 + number as u64, 0..12))
    });
    let inputs = pages("first").into_iter().chain(junk).chain(pages("second")).collect();
    let verdicts = told(inputs, settings);
    let is_known = |number: &usize| {
        let mirror = verdicts[&url(*number, "second")].mirror.as_ref();
        mirror.is_some_and(|mirror| mirror.of == url(*number, "first"))
    };
    share((0..N_PAGES).filter(is_known).count(), N_PAGES)
}

#[test]
fn a_flood_from_one_domain_pushes_nobody_out() {
    let settings = super::with_memory(8 << 20);
    let n_junk = if is_full() { 40_000 } else { 12_000 };
    let many = known_after_flood(&settings, n_junk, None);
    assert!(many < 0.5, "the store is not small enough to tell: {many:.3}");
    for host in ["junk.example", "192.0.2.7", "[2001:db8::7]", "intranet"] {
        let one = known_after_flood(&settings, n_junk, Some(host));
        println!("known after {n_junk} pages of {host}: {one:.3}, of as many domains: {many:.3}");
        assert!(one >= 0.99, "{host}: {one:.3}");
    }
}

/// An article that four quilts took from looks like a quilt of them: the relation is symmetric.
#[test]
fn a_plundered_original_is_no_quilt() {
    let settings = Settings::default();
    let original = at("http://plundered.example/", &sentences(900, 0..12));
    let mut others: Vec<Input> = Vec::new();
    let mut quilts: Vec<Input> = Vec::new();
    for taker in 0..4_u64 {
        let mut text = sentences(900, 3 * taker..3 * taker + 3);
        for other in 0..4 {
            let article = 1000 + 10 * taker + other;
            others.push(at(&format!("http://source{article}.example/"), &sentences(article, 0..10)));
            text.extend(sentences(article, 2..5));
        }
        quilts.push(at(&format!("http://taker{taker}.example/"), &text));
    }
    let orders = [
        [vec![original.clone()], others.clone(), quilts.clone()].concat(),
        [quilts.clone(), others.clone(), vec![original.clone()]].concat(),
        [others, quilts, vec![original]].concat(),
    ];
    for inputs in orders {
        let told = told(inputs, &settings);
        assert!(!is(&told["http://plundered.example/"], Class::Quilt));
        for taker in 0..4 {
            let quilt = &told[&format!("http://taker{taker}.example/")];
            assert!(is(quilt, Class::Quilt) && sources(quilt).contains("http://plundered.example/"));
        }
    }
}

/// A page with a link.
fn linking(url: &str, paragraphs: &[String], to: &str) -> Input {
    let quoted = format!("Quoted from <a href=\"{to}\">there</a>.");
    html_page(url, Some(url), &page("page", &[paragraphs, &[quoted]].concat()))
}

/// Twelve sites each show half of an article, or a third: it is taken from once, and they have one source, whoever came first.
#[test]
fn excerpts_of_one_article_are_no_quilts() {
    const ARTICLE: &str = "http://article.example/";
    let n_sentences = 30;
    let article = at(ARTICLE, &sentences(900, 0..n_sentences));
    for of_twelve in [4, 6] {
        let excerpt = |number: u64| {
            // Numbers without a pattern, the same on each machine.
            let is_shown = |sentence: &u64| (number * 31 + sentence + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            let shown = (0..n_sentences).filter(|sentence| is_shown(sentence) % 12 < of_twelve);
            at(&format!("http://site{number}.example/"), &shown.map(|number| sentence(900, number)).collect::<Vec<_>>())
        };
        let excerpts: Vec<Input> = (0..12).map(excerpt).collect();
        for n_before in [0, 5, 12] {
            let inputs = [&excerpts[..n_before], std::slice::from_ref(&article), &excerpts[n_before..]].concat();
            let exact = judged_exactly(inputs.clone(), &Settings::default());
            let streamed: Vec<Verdict> = told(inputs, &Settings::default()).into_values().collect();
            for (way, verdicts) in [("exact", &exact), ("stream", &streamed)] {
                let quilts: Vec<&str> = verdicts
                    .iter()
                    .filter(|verdict| is(verdict, Class::Quilt))
                    .map(|verdict| verdict.id.as_str())
                    .collect();
                assert!(quilts.is_empty(), "{of_twelve} of 12, {n_before} before it, {way}: {quilts:?}");
            }
        }
    }
}

/// Five others quote all of an article between them. Who links to it took from it, whoever came first; without a link, or where the
/// article links to them as well, nothing tells who took from whom.
#[test]
fn an_article_is_no_quilt_of_those_who_quote_it() {
    const ARTICLE: &str = "http://article.example/";
    let quoters = |links: bool| -> Vec<Input> {
        let quoter = |number: u64| {
            let url = format!("http://quoter{number}.example/");
            let text = [sentences(910 + number, 0..9), sentences(900, 3 * number..3 * number + 3)].concat();
            if links { linking(&url, &text, ARTICLE) } else { at(&url, &text) }
        };
        (0..5).map(quoter).collect()
    };
    let text = sentences(900, 0..15);
    let article = at(ARTICLE, &text);
    let to_all: Vec<String> = (0..5)
        .map(|number| format!("<a href=\"http://quoter{number}.example/\">{}</a>", sentence(990, number)))
        .collect();
    let answering = html_page(ARTICLE, Some(ARTICLE), &page("page", &[text, to_all].concat()));
    let mut paper = Settings::default();
    paper.quilt.quoters_are_sources = true;
    let default = Settings::default();
    for (case, article, links, settings, is_quilt) in [
        ("quoters link to it", &article, true, &default, false),
        ("nobody links", &article, false, &default, true),
        ("both link", &answering, true, &default, true),
        ("the settings say so", &article, true, &paper, true),
    ] {
        let before = [vec![article.clone()], quoters(links)].concat();
        let after = [quoters(links), vec![article.clone()]].concat();
        let among = [quoters(links)[..2].to_vec(), vec![article.clone()], quoters(links)[2..].to_vec()].concat();
        for (order, inputs) in [("before", before), ("after", after), ("among", among)] {
            let exact = judged_exactly(inputs.clone(), settings);
            let streamed: Vec<Verdict> = told(inputs, settings).into_values().collect();
            for (way, verdicts) in [("exact", &exact), ("stream", &streamed)] {
                let verdict = by_id(verdicts)[ARTICLE];
                assert_eq!(is(verdict, Class::Quilt), is_quilt, "{case}, {order} them, {way}: {verdict:?}");
                let others = verdicts.iter().filter(|verdict| verdict.id != ARTICLE);
                assert_eq!(
                    others.filter(|verdict| is(verdict, Class::Quilt)).count(),
                    0,
                    "{case}, {order} them, {way}"
                );
            }
        }
    }
}

/// The ways in which a page under `http://HOST/story/1.html` is linked to: as it was crawled, and as others write it.
const WAYS: [&str; 6] = [
    "http://HOST/story/1.html",
    "https://HOST/story/1.html",
    "http://www.HOST/story/1.html#top",
    "http://HOST/story/1/",
    "http://HOST/story/1.html?utm_source=rss&utm_medium=feed",
    "https://www.HOST/story/1.html?ref=feed&fbclid=7",
];

/// Five others quote all of an article between them, and each links to it. However they write its address, they took from it.
#[test]
fn a_link_is_one_however_it_is_written() {
    let article = at("http://article.example/story/1.html", &sentences(900, 0..15));
    for way in WAYS {
        let to = way.replace("HOST", "article.example");
        let quoter = |number: u64| {
            let text = [sentences(910 + number, 0..9), sentences(900, 3 * number..3 * number + 3)].concat();
            linking(&format!("http://quoter{number}.example/"), &text, &to)
        };
        let quoters: Vec<Input> = (0..5).map(quoter).collect();
        for inputs in [[vec![article.clone()], quoters.clone()].concat(), [quoters, vec![article.clone()]].concat()] {
            let exact = judged_exactly(inputs.clone(), &Settings::default());
            let streamed: Vec<Verdict> = told(inputs, &Settings::default()).into_values().collect();
            for verdicts in [&exact, &streamed] {
                assert!(verdicts.iter().all(|verdict| !is(verdict, Class::Quilt)), "{to}");
                let relations: BTreeSet<&str> = verdicts
                    .iter()
                    .flat_map(|verdict| &verdict.related)
                    .map(|related| related.relation.name())
                    .collect();
                assert_eq!(relations, BTreeSet::from(["citation"]), "{to}");
            }
        }
    }
}

/// Four passages with a link to each of their sources are an aggregator, however the links are written and whoever else has the passages.
/// What is said of links is said of the sources that are named.
#[test]
fn an_aggregator_links_to_the_sources_that_it_names() {
    let sources: Vec<Input> = (1..=4)
        .map(|article| at(&format!("http://source{article}.example/story/1.html"), &sentences(article, 0..12)))
        .collect();
    // Each has less of a passage, and none is named.
    let others: Vec<Input> = (1..=4)
        .map(|article| {
            let text = [sentences(920 + article, 0..9), sentences(article, 6..9)].concat();
            at(&format!("http://other{article}.example/"), &text)
        })
        .collect();
    for way in WAYS {
        let link = |article: u64| {
            let to = way.replace("HOST", &format!("source{article}.example"));
            format!("<a href=\"{to}\">more</a>")
        };
        let passages = (1..=4).flat_map(|article| [sentences(article, 6..11), vec![link(article)]].concat());
        let url = "http://today.example/";
        let today = html_page(url, Some(url), &page("page", &passages.collect::<Vec<_>>()));
        let last = [sources.clone(), others.clone(), vec![today.clone()]].concat();
        let first = [vec![today], others.clone(), sources.clone()].concat();
        for inputs in [last, first] {
            let exact = judged_exactly(inputs.clone(), &Settings::default());
            let streamed: Vec<Verdict> = told(inputs, &Settings::default()).into_values().collect();
            for verdicts in [&exact, &streamed] {
                let verdict = by_id(verdicts)[url];
                let quilt = verdict.quilt.as_ref().unwrap();
                let n_linked = quilt.sources.iter().filter(|source| source.linked).count();
                assert_eq!((quilt.kind, n_linked), (QuiltKind::Aggregator, quilt.sources.len()), "{way}: {quilt:?}");
                let features = verdict.features.unwrap();
                assert_eq!((features.n_sources, features.sources_linked), (n_linked as f64, 1.0), "{way}");
            }
        }
    }
}

/// An article that has half of its words from one other is no quilt. A copy of it that has taken two sentences from each of three more
/// is no quilt either: the article is what it is made of. A copy of a quilt is one.
#[test]
fn a_copy_is_a_quilt_if_its_head_is() {
    let half = [sentences(900, 0..11), sentences(901, 0..20)].concat();
    let mut inputs = vec![at("http://half.example/", &half)];
    inputs.extend((1..=4).map(|article| at(&format!("http://source{article}.example/"), &sentences(article, 0..10))));
    let article = sentences(900, 0..20);
    let copy = [article.clone(), (1..=3).flat_map(|other| sentences(other, 3..5)).collect()].concat();
    let quilt = [sentences(1, 0..5), sentences(2, 0..5), sentences(3, 5..10), sentences(4, 5..10)].concat();
    let copied = [quilt.clone(), sentences(950, 0..1)].concat();
    for (id, text) in [("article", &article), ("copy", &copy), ("quilt", &quilt), ("copied", &copied)] {
        inputs.push(at(&format!("http://{id}.example/"), text));
    }
    let streamed = told(inputs.clone(), &Settings::default());
    let exact = judged_exactly(inputs, &Settings::default());
    for told in [by_id(&streamed.into_values().collect::<Vec<_>>()), by_id(&exact)] {
        let of = |id: &str| told[&*format!("http://{id}.example/")];
        let head = |id: &str| of(id).mirror.as_ref().map(|mirror| mirror.of.as_str());
        assert_eq!((head("copy"), head("copied")), (Some("http://article.example/"), Some("http://quilt.example/")));
        let features = of("copy").features.unwrap();
        assert!(features.patch_fraction >= 0.5 && features.n_sources >= 4.0, "by itself it would be one: {features:?}");
        assert_eq!(
            ["article", "copy", "quilt", "copied"].map(|id| is(of(id), Class::Quilt)),
            [false, false, true, true]
        );
    }
}

#[test]
fn revisions_repeat_what_was_said() {
    let settings = Settings::default();
    let mut inputs = vec![at("http://early.example/", &patches([1, 2, 3, 4]))];
    inputs.extend((1..=4).map(|article| at(&format!("http://source{article}.example/"), &sentences(article, 0..10))));
    let events = judged(inputs, &settings);
    let mut of_early = events.iter().filter(|verdict| verdict.id == "http://early.example/");
    let (first, last) = (of_early.next().unwrap(), of_early.next_back().unwrap());
    assert!(first.classes.is_empty() && first.revision == 0);
    assert!(is(last, Class::Quilt) && last.revision > 0 && sources(last).len() == 4, "{last:?}");
    let bare = |verdict: &Verdict| Verdict {
        revision: 0,
        classes: Vec::new(),
        quilt: None,
        features: None,
        ..verdict.clone()
    };
    assert_eq!(bare(first), bare(last));
    let words = |verdict: &Verdict| verdict.features.unwrap().n_words;
    assert_eq!(words(first), words(last));
}

#[test]
fn a_part_stays_its_own_head() {
    let settings = Settings::default();
    let day = at("http://log.example/2026/05/03", &sentences(1, 0..8));
    let month: Vec<String> = (1..=5).flat_map(|article| sentences(article, 0..8)).collect();
    let month = at("http://log.example/2026/05", &month);
    let copy = at("http://other.example/copy", &sentences(1, 0..8));
    let told = told(vec![day, month, copy], &settings);
    let part = told["http://log.example/2026/05"].mirror.as_ref().unwrap();
    assert_eq!((part.of.as_str(), part.size, part.relation.name()), ("http://log.example/2026/05/03", 1, "archive"));
    assert_eq!(part.direction, Direction::ThatInThis);
    let copy = told["http://other.example/copy"].mirror.as_ref().unwrap();
    assert_eq!((copy.of.as_str(), copy.size), ("http://log.example/2026/05/03", 2));
    assert_eq!(copy.direction, Direction::Equal);
}

/// A shop whose pages have forty lines of a menu and a note about parcels in common, and little or nothing of their own.
#[test]
fn what_a_site_puts_around_its_pages_makes_no_mirrors() {
    use super::articles::word;
    let line = |number: u64| (0..4).map(|place| word(7 * number + place)).collect::<Vec<_>>().join(" ");
    let site = |url: &str, own: &[String]| {
        let menu: String = (0..40).map(|number| format!("<div>{}</div>", line(number))).collect();
        let own: String = own.iter().map(|paragraph| format!("<p>{paragraph}</p>")).collect();
        let note = sentences(900, 0..3).join(" ");
        html_page(url, Some(url), &format!("<body><div>{menu}<div>{own}</div><div>{note}</div></div></body>"))
    };
    let host = "http://shop.example";
    let url = |path: &str| format!("{host}{path}");
    let article = sentences(1, 0..9);
    let inputs = vec![
        site(&url("/"), &sentences(2, 0..1)),
        site(&url("/login"), &[]),
        site(&url("/contact"), &sentences(3, 0..2)),
        site(&url("/goods/1"), &sentences(4, 0..1)),
        site(&url("/goods/2"), &sentences(5, 0..1)),
        site(&url("/goods/3"), &sentences(6, 0..6)),
        site(&url("/news?id=1"), &article),
        // All of these are pages that were there before.
        site(&url("/goods/1?sid=0123456789abcdef"), &sentences(4, 0..1)),
        site(&url("/entry"), &[]),
        at(&url("/print?id=1"), &article),
        at("http://other.example/all", &[article.clone(), sentences(7, 0..20)].concat()),
        at(&url("/all"), &[sentences(8, 0..20), sentences(9, 0..9)].concat()),
        at(&url("/one"), &sentences(9, 0..9)),
    ];
    let expected = BTreeMap::from([
        (url("/goods/1?sid=0123456789abcdef"), (url("/goods/1"), "mirror")),
        (url("/entry"), (url("/login"), "mirror")),
        (url("/print?id=1"), (url("/news?id=1"), "archive")),
        (url("/one"), (url("/all"), "archive")),
        ("http://other.example/all".to_owned(), (url("/print?id=1"), "excerpt_list")),
    ]);
    let settings = Settings::default();
    for verdicts in [folded(&judged(inputs.clone(), &settings)), folded(&judged_exactly(inputs, &settings))] {
        let mirrors = verdicts.iter().filter(|verdict| is(verdict, Class::Mirror)).map(|verdict| {
            let mirror = verdict.mirror.as_ref().unwrap();
            (verdict.id.clone(), (mirror.of.clone(), mirror.relation.name()))
        });
        assert_eq!(mirrors.collect::<BTreeMap<_, _>>(), expected);
    }
}

/// Of an article and a half of it, the sentences of both are 0.67 the same.
#[test]
fn a_half_lies_in_the_whole() {
    let half = at("http://half.example/", &sentences(1, 0..10));
    let whole = at("http://whole.example/", &sentences(1, 0..20));
    for (inputs, last, direction) in [
        ([half.clone(), whole.clone()], "http://whole.example/", Direction::ThatInThis),
        ([whole, half], "http://half.example/", Direction::ThisInThat),
    ] {
        let told = told(inputs.to_vec(), &Settings::default());
        let part = told[last].mirror.as_ref().unwrap();
        assert!(part.overlap > 0.6 && part.containment == 1.0, "{part:?}");
        assert_eq!((part.relation.name(), part.direction), ("excerpt_list", direction));
    }
}

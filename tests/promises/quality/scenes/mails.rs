//! Campaigns, newsletters and letters: what is a copy, and what only has a footer, a quotation or a subject in common.

use super::super::articles::{sentence, sentences, word};
use super::super::corpora::raw_mail;
use super::super::{Input, is};
use super::{heads, mail, told};
use seamripper::config::Settings;
use seamripper::verdict::event::{Class, Outcome};

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

/// Two characters are no word: five terms of Japanese would be six characters.
#[test]
fn one_line_mails_in_scripts_without_spaces_match_nothing() {
    let lines = [
        "はい、了解しました。",
        "承知いたしました。よろしくお願いいたします。",
        "添付をご確認ください。",
        "好的，我知道了，谢谢您的帮助。",
        "资料已收到，非常感谢您的支持。",
        "ขอบคุณมากครับ",
        "OK、明日 Skype で話しましょう。",
    ];
    let mut inputs = Vec::new();
    for (number, line) in lines.into_iter().enumerate() {
        for copy in 0..3 {
            inputs.push(mail(&format!("{number}-{copy}"), &format!("a@b{copy}.example"), "", &[line.to_owned()]));
        }
    }
    for verdict in told(inputs, &Settings::default()).values() {
        assert_eq!((&verdict.classes[..], verdict.outcome), (&[][..], Outcome::Insufficient), "{verdict:?}");
        assert!(verdict.mirror.is_none() && verdict.related.is_empty() && verdict.cluster.is_none(), "{verdict:?}");
    }
}

#[test]
fn a_longer_line_in_a_script_without_spaces_is_judged() {
    for line in [
        "口座が停止されました。すぐに下記のリンクから本人確認をお願いいたします。",
        "您的账户已被冻结，请立即点击下面的链接验证您的身份信息。",
    ] {
        let mails =
            (0..3).map(|number| mail(&number.to_string(), &format!("a@b{number}.example"), "", &[line.to_owned()]));
        let heads = heads(mails.collect());
        assert_eq!(heads.values().filter(|of| of.as_deref() == Some("0")).count(), 2, "{line}");
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
                let text = [text.clone(), vec![format!("{mark}{}", word(number))]].concat();
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
                let words: Vec<String> = (0..n_words).map(|place| word(1000 + 10 * number + place)).collect();
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
            let words: Vec<String> = (0..2).map(|place| word(1000 + 10 * number + place)).collect();
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
            let words: Vec<String> = (0..8).map(|place| word(1000 + 10 * number + place)).collect();
            let lines = [&["The offer".to_owned(), line.to_owned()][..], &spam].concat();
            mail(&number.to_string(), &format!("a@b{number}.example"), &words.join(" "), &lines)
        });
        let n_copies = heads(mails.collect()).values().filter(|of| of.as_deref() == Some("0")).count();
        assert_eq!(n_copies, 9, "{line}");
    }
}

/// What one form puts above and below of what is written into it is no message.
#[test]
fn inquiries_by_one_form_are_no_copies() {
    let line = "-".repeat(60);
    for (above, below) in [
        (
            vec!["Below is what somebody has written into the form on Tuesday".to_owned(), line.clone()],
            vec![line.clone()],
        ),
        (vec!["CAUTION This came from outside our organisation".to_owned(), line.clone()], Vec::new()),
        (vec!["View in browser | Unsubscribe".to_owned()], Vec::new()),
        (vec!["The weekly letter of gardeners and their friends".to_owned(), "=".repeat(50)], Vec::new()),
    ] {
        let mails = (0..6).map(|number| {
            let lines = [&above[..], &sentences(100 + number, 0..3), &below].concat();
            mail(&number.to_string(), &format!("a@b{number}.example"), "Form submission", &lines)
        });
        assert!(heads(mails.collect()).values().all(Option::is_none), "{above:?}");
    }
}

/// A thread has a long subject, and all answers quote one text: they are told by what is new in them.
#[test]
fn answers_under_one_long_subject_are_no_copies() {
    let subject = "Re: Quarterly planning meeting regional coordinators Hamburg March";
    let own = [
        "I will attend and bring two people from accounting.",
        "Sorry, cannot travel because of surgery next week.",
        "Count me in! Vegetarian food please.",
        "No, thanks.",
        "My train arrives late Thursday evening, around eleven.",
        "",
    ];
    let disclaimers = include_str!("../../../data/disclaimers.txt").replace('\n', "\r\n");
    let disclaimer = disclaimers.split("\r\n\r\n").next().unwrap().to_owned();
    for below in [quoted(&sentences(7, 0..10)), vec![String::new(), disclaimer]] {
        let mails = own.iter().enumerate().map(|(number, own)| {
            let lines = [&[own.to_string(), String::new()][..], &below].concat();
            mail(&number.to_string(), &format!("a@b{number}.example"), subject, &lines)
        });
        let heads = heads(mails.collect());
        assert!(heads.values().all(Option::is_none), "{heads:?}");
    }
}

/// Subject and text go from one mail to the next, and a notice stays: the last has nothing of the first.
#[test]
fn the_head_of_a_group_is_one_of_it() {
    let disclaimers = include_str!("../../../data/disclaimers.txt");
    let disclaimer = disclaimers.split("\n\n").next().unwrap().replace('\n', "\r\n");
    let [supper, copier] = ["Harvest supper village hall october bread", "Broken copier third floor toner smell"];
    let [plates, chairs, drum] = [
        "Everybody brings apples cider cheese plates",
        "Nobody reserved seven chairs near window",
        "Technician called again about leaking drum",
    ];
    let mails = [(supper, plates), (supper, chairs), (copier, chairs), (copier, drum)];
    let mails = mails.iter().enumerate().map(|(number, (subject, text))| {
        let lines = [text.to_string(), String::new(), disclaimer.clone()];
        mail(&number.to_string(), &format!("a@b{number}.example"), subject, &lines)
    });
    let heads = heads(mails.collect());
    assert_eq!(heads["3"], None, "{heads:?}");
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
    let disclaimers = include_str!("../../../data/disclaimers.txt");
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

//! One tolerant, non-recursive pass over HTML: the text a person would see, and what stands around it.
//!
//! [`tokens`] cuts the source as the HTML standard does. `open` knows which elements are open, with the end tags that
//! may be left out; `hiding` what is not shown; `write` makes lines; `entities` decodes; `frame` collects the page
//! frame; `page` joins them. There is no tree: 500 KB of nested elements take a tree builder half a minute.
//!
//! **Visible text** is all text but that of scripts, styles, comments, templates, frames, select lists (options
//! anywhere), the title, and hidden text. `<noscript>` is read as markup, since no script runs. Blocks, table cells and
//! `<br>` stand on lines of their own; inline elements join; buttons, fields and the parts of SVG and MathML are words
//! of their own.
//!
//! **Hidden text** is what stands in an element with `hidden`, `display: none`, `visibility: hidden`, `opacity: 0`,
//! `max-height: 0`, or no width or height and no overflow, in the tag itself; and the text of an inline element with
//! `font-size: 0` up to where an element inside has another size. `<html>` and `<body>` hide nothing: a page that
//! hides all of itself shows itself by script.
//!
//! **The outline** holds the block-level elements that have visible text, in document order, parents
//! before children. Left out, so that their children count as those of the element around them: `html`, `body`,
//! `form`, `tbody`, `thead`, `tfoot`, all inline elements, and elements deeper than `limits.nesting_max`. A span runs
//! from the first to after the last visible character inside, without the line feeds around it; the lines between the
//! spans of an element's children are its own direct text. An element's depth is the number of outline elements around
//! it. Elements whose end tag is missing end as in the standard.
//!
//! # Invariants
//! - The words are those of a tree built by the standard, but for one in a thousand. (`tests/promises/html/`)
//! - Every limit has its outcome. (`every_limit_has_its_outcome`)
//! - No page is read differently because of the one before it. (`a_used_scratch_reads_as_a_new_one`)

mod commonplace;
pub mod entities;
mod frame;
mod hiding;
mod open;
mod page;
mod plain;
mod swar;
mod tag;
pub mod tokens;
mod write;

pub use plain::read_plain;
pub use tag::Tag;

use super::{Document, noise};
use crate::config::Limits;

/// Buffers that outlive one page.
#[derive(Default)]
pub struct Scratch {
    /// Whether the noise of the whole page is left out; that of its tags is always there.
    pub without_noise: bool,
    open: open::Open,
    seen: frame::Seen,
    attributes: Vec<tokens::Attribute>,
    tags: Vec<super::Span>,
}

/// Reads `source` (decoded, but otherwise raw) and adds what it holds to `document`: visible and hidden text,
/// title, outline, links, markup, counts. `frame_key` keys the hashes of the frame items.
///
/// Adds to the end of `document.text`, so that a mail can put its subject before the body.
pub fn read(source: &str, limits: &Limits, frame_key: u64, scratch: &mut Scratch, document: &mut Document) {
    if !scratch.without_noise {
        noise::strip(source, &mut document.markup.noise);
    }
    let attributes = page::Page::new(source, limits, frame_key, scratch, document).read();
    scratch.attributes = attributes;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::document::Truncation;
    use proptest::prelude::*;

    fn limits() -> Limits {
        Settings::default().limits
    }

    fn document(source: &str) -> Document {
        let mut document = Document::default();
        read(source, &limits(), 1, &mut Scratch::default(), &mut document);
        document
    }

    fn text(source: &str) -> String {
        document(source).text
    }

    /// The outline as `tag depth [text]` lines.
    fn outline(document: &Document) -> Vec<String> {
        let line = |element: &crate::document::Element| {
            let text = &document.text[element.span.range()];
            format!("{} {} [{}]", element.tag.name(), element.depth, text.replace('\n', "|"))
        };
        document.outline.iter().map(line).collect()
    }

    #[test]
    fn blocks_are_lines_and_inline_elements_join() {
        for (source, expected) in [
            ("<p>a<b>b</b>c <i> d</i></p>e", "abc d\ne"),
            ("a<br>b<BR/>c</br>d", "a\nb\nc\nd"),
            ("<table><tr><td>a<td>b<tr><th>c</table>d", "a\nb\nc\nd"),
            ("<ul><li>a<li>b</ul>", "a\nb"),
            ("<dl><dt>a<dd>b</dl>", "a\nb"),
            ("<pre>\n a  b\n\n c</pre>", "a b\nc"),
            ("a</p>b</div>c", "a\nbc"),
            ("<div> <p> </p>\n</div>", ""),
            ("a<button>b</button><input>c<select><option>x</select>d", "a b c d"),
            ("<p>&lt;a&gt; &amp;amp; &eacute;&#x20AC;", "<a> &amp; é€"),
            ("<form>a</form>b", "a\nb"),
            ("a<td>b", "ab"),
            ("<h1>a<h2>b</h1>c", "a\nb\nc"),
            ("a<hr>b", "a\nb"),
            ("<textarea>a\n<b></textarea>c", "a\n<b> c"),
            ("<xmp>a<b>&amp;</xmp>c", "a<b>&amp;\nc"),
            ("<plaintext>a</plaintext>", "a</plaintext>"),
            ("1 < 2<p", "1 < 2"),
        ] {
            assert_eq!(text(source), expected, "{source}");
        }
    }

    #[test]
    fn what_is_no_text_is_not_seen() {
        let source = "<title>T &amp;\n t</title><script>s</script><style>s</style><!-- c --><template><p>t</template>a\
            <select><optgroup label=x><option>o<option>o</select><datalist><option>o</datalist><iframe>i</iframe>\
            <noframes>n</noframes><noscript>b<p>c</noscript><svg><title>t</title><style>.a{}</style><text>d</text></svg>";
        let document = document(source);
        assert_eq!(document.text, "a b\nc d");
        assert_eq!(document.title, "T & t");
        assert_eq!(document.hidden, "");
        let reading = &document.reading;
        assert_eq!((reading.n_comments, reading.n_options, reading.n_script_bytes), (1, 3, 2));
        assert_eq!(text("a<option>b"), "a");
    }

    #[test]
    fn hidden_text_is_kept_apart() {
        for (source, shown, hidden) in [
            ("a<span hidden>b<span>c</span>d</span>e", "ae", "bcd"),
            ("a<div style='display:none'>b<p>c</div>d", "a\nd", "b\nc"),
            ("<p style=\"Visibility: Hidden\">a<p>b", "b", "a"),
            ("<ul><li hidden>a<li>b</ul>", "b", "a"),
            ("<table><tr><td hidden>a<td>b</table>", "b", "a"),
            ("<div><span style=opacity:0>a</div>b", "b", "a"),
            ("<span hidden>a<div>b</span>c</div>d", "", "a\nbc\nd"),
            ("<textarea hidden>a</textarea>b", "b", "a"),
            ("<i hidden>a</i><i hidden>b</i>", "", "a\nb"),
            ("<div style='font-size:0'>a<p>b</div>", "a\nb", ""),
            ("a<span style='font-size:0'>b<b style='font-size:9px'>c</b>d</span>e", "ace", "b\nd"),
            ("<body style='opacity:0'>a", "a", ""),
            ("<img hidden>a<br hidden>b", "a\nb", ""),
            ("<div hidden><template>x</template><option>y</option>a</div>b", "b", "a"),
        ] {
            let document = document(source);
            assert_eq!((document.text.as_str(), document.hidden.as_str()), (shown, hidden), "{source}");
        }
        assert_eq!(document("<p hidden>a é</p>b\u{200B}").reading.n_hidden_chars, 4);
    }

    #[test]
    fn what_any_page_has_leaves_no_trace() {
        let page = |head: &str| {
            let own = "<link rel=stylesheet href=/a.css><meta property=og:title content=x><script src=/a.js></script>";
            let body = "<p id=x class=y>text<script>s</script></p>";
            document(&format!("<head>{head}{own}</head><body>{body}")).markup
        };
        let bare = page("");
        assert!(!bare.frame.is_empty() && !bare.tag_noise.is_empty());
        for head in [
            "<link rel=stylesheet href='https://cdn.jsdelivr.net/npm/bootstrap@5/bootstrap.min.css' integrity=x crossorigin>",
            "<link rel=preconnect href=//fonts.gstatic.com crossorigin>",
            "<script async src='https://www.googletagmanager.com/gtag/js?id=1'></script>",
            "<script src=//code.jquery.com/jquery.js>a < b</script>",
            "<meta charset=utf-8><META NAME=Viewport content='width=device-width, initial-scale=1'>",
            "<meta http-equiv='Content-Type' content='text/html; charset=utf-8'>",
        ] {
            let page = page(head);
            assert_eq!((&page.frame, &page.tag_noise), (&bare.frame, &bare.tag_noise), "{head}");
        }
        for head in [
            "<link rel=stylesheet href=https://s0.wp.com/bootstrap.min.css>",
            "<script src=/code.jquery.com/jquery.js></script>",
            "<meta name=og:type content=x>",
        ] {
            let page = page(head);
            assert_ne!(page.frame, bare.frame, "{head}");
            assert_ne!(page.tag_noise, bare.tag_noise, "{head}");
        }
        let canonical = document("<link rel=canonical href=https://unpkg.com/>").links.canonical;
        assert_eq!(canonical.as_deref(), Some("https://unpkg.com/"), "only the look is blind to it");
    }

    #[test]
    fn svg_and_mathml_have_their_own_rules() {
        for (source, expected) in [
            ("a<svg><style/>b</svg>c", "a b c"),
            ("a<svg><title/><text>b</svg>c", "a b c"),
            ("<svg><![CDATA[a<b>&amp;]]></svg>c", "a<b>&amp; c"),
            ("a<svg><desc>x<p>y</p></desc><p>b</svg>c", "a\nbc"),
            ("<svg><foreignObject><p>a</p><title>t</title></foreignObject></svg>b", "a\nb"),
            ("<svg><script>x</script>a</svg>", "a"),
            ("<math><mi>a</mi><annotation>x</annotation></math>b", "a b"),
            ("<div><svg><g>a</div>b", "a\nb"),
            ("a<![CDATA[b]]>c", "ac"),
        ] {
            assert_eq!(text(source), expected, "{source}");
        }
    }

    #[test]
    fn the_outline_holds_blocks_with_text() {
        let document = document(
            "<body><div id=a><p>one<p>two <b>2</b></div><div> </div>\
             <table><tbody><tr><td>x<td></table><ul><li>y<li>z<ul><li>zz</ul></ul><span>loose</span>",
        );
        assert_eq!(
            outline(&document),
            [
                "div 0 [one|two 2]",
                "p 1 [one]",
                "p 1 [two 2]",
                "table 0 [x]",
                "tr 1 [x]",
                "td 2 [x]",
                "ul 0 [y|z|zz]",
                "li 1 [y]",
                "li 1 [z|zz]",
                "ul 2 [zz]",
                "li 3 [zz]",
            ]
        );
        assert!(document.text.ends_with("\nloose"));
    }

    #[test]
    fn links_have_their_text() {
        let document = document(
            "<base href=' /b/ '><link rel='x CANONICAL' href='/c?a&amp;b'>a <a href=' /1?x=1&amp;y '> one <b>1</b></a>\
             <a>none</a><a href=2 rel='UGC x'><p>two<a href=3></a><p>rest<table><tr><td><a href=4>four<td>five</table>",
        );
        let links = &document.links;
        assert_eq!((links.base.as_deref(), links.canonical.as_deref()), (Some("/b/"), Some("/c?a&b")));
        let anchors: Vec<_> = links
            .anchors
            .iter()
            .map(|anchor| (&links.hrefs[anchor.href.range()], &document.text[anchor.text.range()], anchor.nofollow))
            .collect();
        assert_eq!(anchors, [("/1?x=1&y", "one 1", false), ("2", "two", true), ("3", "", false), ("4", "four", false)]);
    }

    #[test]
    fn a_mail_keeps_its_subject_first() {
        let mut document = Document { text: "Subject".into(), title: "Subject".into(), ..Document::default() };
        let mut scratch = Scratch::default();
        read("<title>t</title><p>a", &limits(), 1, &mut scratch, &mut document);
        read("<p>b", &limits(), 1, &mut scratch, &mut document);
        read_plain("c\n\nd", &limits(), &mut document);
        assert_eq!((document.text.as_str(), document.title.as_str()), ("Subject\na\nb\nc\nd", "Subject"));
        assert_eq!(outline(&document), ["p 0 [a]", "p 0 [b]", "p 0 [c]", "p 0 [d]"]);
    }

    #[test]
    fn plain_text_keeps_its_lines() {
        let mut document = Document::default();
        read_plain("\r\n one  <b>\r\n two\u{AD}&amp;\r\n \t\r\n\n three\rfour", &limits(), &mut document);
        assert_eq!(document.text, "one <b>\ntwo&amp;\nthree\nfour");
        assert_eq!(outline(&document), ["p 0 [one <b>|two&amp;]", "p 0 [three|four]"]);
        assert_eq!(document.reading.n_hidden_chars, 1);
    }

    #[test]
    fn every_limit_has_its_outcome() {
        let cut = |source: &str, change: fn(&mut Limits)| {
            let (mut limits, mut document) = (limits(), Document::default());
            change(&mut limits);
            read(source, &limits, 1, &mut Scratch::default(), &mut document);
            (document.reading.truncated.clone(), document)
        };
        let (truncated, document) = cut("<p>abc<p>def<a href=x>g", |limits| limits.text_bytes_max = 5);
        assert_eq!((truncated, document.text.as_str()), (vec![Truncation::Text], "abc\nd"));
        assert_eq!(document.links.anchors.len(), 1);
        let (truncated, document) = cut("<div><div><div>a</div>b</div>c</div>d", |limits| limits.nesting_max = 2);
        assert_eq!((truncated, document.text.as_str()), (vec![Truncation::Nesting], "a\nb\nc\nd"));
        assert_eq!(outline(&document), ["div 0 [a|b|c]", "div 1 [a|b]"]);
        let (truncated, _) = cut("<a b c d>", |limits| limits.attributes_max = 2);
        assert_eq!(truncated, [Truncation::Attributes]);
        let (truncated, document) = cut("<a href=1>a</a><a href=2>b", |limits| limits.links_max = 1);
        assert_eq!((truncated, document.links.anchors.len()), (vec![Truncation::Links], 1));
        let (truncated, document) = cut("<a b c d>", |limits| limits.frame_items_max = 2);
        assert_eq!((truncated, document.markup.frame.len()), (vec![Truncation::Frame], 2));
    }

    #[test]
    fn a_used_scratch_reads_as_a_new_one() {
        let mut scratch = Scratch::default();
        for source in ["<svg><div hidden id=a><select>", "<p id=b>a<b hidden>c</b>", "<title>x", "<p>y"] {
            let mut again = Document::default();
            read(source, &limits(), 1, &mut scratch, &mut again);
            assert_eq!(again, document(source));
        }
    }

    /// Sources made of the pieces that parsers stumble over.
    pub(super) fn hostile() -> impl Strategy<Value = String> {
        let texts = [
            "<", ">", "</", "/>", "<!--", "-->", "--!>", "<!", "<?", "=", "\"", "'", "&", "&amp;", "&#x41", "&not",
            " ", "\n", "\r\n", "\0", "\u{200B}", "\u{AD}", "\u{3000}", "é", "日本", "word", "x",
        ];
        let tags = [
            "<p>",
            "</p>",
            "<div>",
            "</div>",
            "<b>",
            "</b>",
            "<br>",
            "<a href=x>",
            "</a>",
            "<table>",
            "<tr>",
            "<td>",
            "</table>",
            "<ul>",
            "<li>",
            "</ul>",
            "<span hidden>",
            "</span>",
            "<div style='display:none'>",
            "<svg>",
            "</svg>",
            "<title>",
            "</title>",
            "<script>",
            "</script>",
            "<select>",
            "<option>",
            "</select>",
            "<pre>",
            "<template>",
            "</template>",
            "<h1>",
            "</h2>",
            "<button>",
            "<style>",
            "</style>",
            "<![CDATA[",
            "]]>",
            "<textarea>",
            "</textarea>",
            "<foreignObject>",
            "<x-y>",
            "</x-y>",
            "<link rel=stylesheet href=a.css>",
            "<i style=font-size:0>",
        ];
        let piece = prop_oneof![
            4 => prop::sample::select(texts.to_vec()).prop_map(String::from),
            4 => prop::sample::select(tags.to_vec()).prop_map(String::from),
            1 => any::<String>(),
        ];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn outlines_are_well_nested(source in hostile()) {
            let document = document(&source);
            let mut ancestors: Vec<crate::document::Element> = Vec::new();
            let mut last_start = 0;
            for &element in &document.outline {
                prop_assert!(usize::from(element.depth) <= ancestors.len(), "depths grow by one");
                ancestors.truncate(element.depth.into());
                prop_assert!(!element.span.is_empty() && element.span.start >= last_start);
                if let Some(parent) = ancestors.last() {
                    prop_assert!(parent.span.start <= element.span.start && element.span.end <= parent.span.end);
                }
                last_start = element.span.start;
                ancestors.push(element);
            }
        }

        #[test]
        fn spans_lie_in_the_text(source in hostile()) {
            let document = document(&source);
            for span in document.outline.iter().map(|element| element.span).chain(document.links.anchors.iter().map(|a| a.text)) {
                let text = document.text.get(span.range()).expect("on character borders");
                prop_assert_eq!(text, text.trim());
            }
            for anchor in &document.links.anchors {
                prop_assert!(document.links.hrefs.get(anchor.href.range()).is_some());
            }
            for text in [&document.text, &document.hidden] {
                prop_assert!(text.lines().all(|line| !line.is_empty() && line == line.trim()), "{text:?}");
            }
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            document(&String::from_utf8_lossy(&bytes));
        }
    }
}

//! Hostile pages: long, deep, cut off, and never closed.
//!
//! Reading is a part of signing, which may take five times as long per byte as on ordinary pages; a page of nothing but
//! `<p>` has ten times as many tags per byte as any real one, so that reading alone is held to [`TIMES_MAX`]. What is
//! not linear is slower by thousands.

use cpu_time::ThreadTime;
use seamripper::config::Settings;
use seamripper::document::Document;
use seamripper::document::html::{Scratch, read};
use std::time::Duration;

const N_BYTES: usize = 300_000;
const TIMES_MAX: f64 = 12.0;

fn repeated(piece: &str) -> String {
    piece.repeat(N_BYTES.div_ceil(piece.len()))
}

/// The best of several rounds, per byte.
fn seconds_per_byte(source: &str) -> f64 {
    let limits = Settings::default().limits;
    let (mut scratch, mut best) = (Scratch::default(), Duration::MAX);
    for _ in 0..5 {
        let mut document = Document::default();
        let start = ThreadTime::now();
        read(source, &limits, 1, &mut scratch, &mut document);
        best = best.min(start.elapsed());
    }
    best.as_secs_f64() / source.len() as f64
}

#[test]
fn hostile_input_takes_linear_time() {
    let ordinary = repeated(include_str!("../../../demo/pages/gazette-tide-mills.html"));
    let ordinary = seconds_per_byte(&ordinary);
    let deep = format!("{}{}", "<div>".repeat(255), repeated("</p>"));
    let deep_button = format!("<p><button>{}{}", "<div>".repeat(250), repeated("</p>"));
    let deep_svg = format!("<svg>{}{}", "<x>".repeat(250), repeated("</y>"));
    let deep_cells = format!("{}{}", "<table><tr><td>".repeat(80), repeated("</h1><td>"));
    let deep_items = format!("<ul><li>{}{}", "<div>".repeat(250), repeated("<li>"));
    let letters = "a".repeat(N_BYTES);
    let sources = [
        ("<", repeated("<")),
        ("</>", repeated("</>")),
        ("<div>", repeated("<div>")),
        ("<p>", repeated("<p>")),
        ("</div>", repeated("</div>")),
        ("<a>", repeated("<a href=x>")),
        ("<div hidden>", repeated("<div hidden>a")),
        ("<svg>", repeated("<svg>")),
        ("<select>", repeated("<select><option>")),
        ("<table>", repeated("<table>")),
        ("&", repeated("&")),
        ("&notso", repeated("&notso ")),
        ("&CounterClockwise", repeated("&CounterClockwiseContourIntegral")),
        ("&#1", format!("&#{}", "1".repeat(N_BYTES))),
        ("<!--", repeated("<!--")),
        ("<!", repeated("<!")),
        ("-->", format!("<!--{}", repeated("->"))),
        ("<script>", format!("<script>{}", repeated("</scrip"))),
        ("</script", format!("<script><!--<script>{}", repeated("</script ><script "))),
        ("<title>", format!("<title>{}", repeated("</titl"))),
        ("<![CDATA[", format!("<svg>{}", repeated("<![CDATA[]]"))),
        ("one attribute", format!("<a {letters}>")),
        ("one value", format!("<a b=\"{letters}\">")),
        ("an open value", format!("<a b=\"{letters}")),
        ("many attributes", format!("<a {}>", repeated("b ="))),
        ("many quotes", format!("<a {}", repeated("\"'"))),
        ("many names", (0..N_BYTES / 10).map(|i| format!("<a x{i} {i}>")).collect()),
        ("one tag name", format!("<{letters}>")),
        ("one id", format!("<div id={letters}1>")),
        ("one style", format!("<p style=\"{}\">", repeated("d:"))),
        ("spaces", format!("a{}b", " ".repeat(N_BYTES))),
        ("zero width", "\u{200B}".repeat(N_BYTES / 3)),
        ("NUL", "\0".repeat(N_BYTES)),
        ("deep", deep),
        ("deep in a button", deep_button),
        ("deep in SVG", deep_svg),
        ("deep cells", deep_cells),
        ("deep items", deep_items),
    ];
    let mut slow = Vec::new();
    for (name, source) in &sources {
        let times = seconds_per_byte(source) / ordinary;
        if times > 1.0 {
            println!("{name}: {times:.1} times an ordinary page");
        }
        if times > TIMES_MAX {
            slow.push(format!("{name}: {times:.1}"));
        }
    }
    println!("ordinary: {:.0} MB/s", 1e-6 / ordinary);
    assert!(slow.is_empty(), "more than {TIMES_MAX} times as slow as an ordinary page: {slow:?}");
}

//! Sketches estimate what they say they do: without bias, and with the spread of 128 independent samples.
//!
//! Each figure is printed (`cargo test estimates -- --nocapture`).

use super::data;
use seamripper::config::Settings;
use seamripper::document::{Carrier, Format, Reader, Record};
use seamripper::signature::frame::Frame;
use seamripper::signature::keyed::{Keys, mix};
use seamripper::signature::minhash::{MinHash, SLOTS};
use seamripper::signature::style::Sketcher;

/// Two sets of `n` values each that have `n_common` in common; the values are hashes, as those of words are.
fn sets(n: u64, n_common: u64, seed: u64) -> (Vec<u64>, Vec<u64>) {
    let value = |i: u64| mix(mix(i, seed), 0x5EED);
    let a = (0..n).map(value).collect();
    let b = (n - n_common..2 * n - n_common).map(value).collect();
    (a, b)
}

/// Mean error, and standard deviation relative to `sqrt(J(1-J)/128)`, of `trials` estimates.
fn quality(n: u64, n_common: u64, trials: u64) -> (f64, f64, f64) {
    let truth = n_common as f64 / (2 * n - n_common) as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for seed in 0..trials {
        // Neither values nor key repeat between trials.
        let (a, b) = sets(n, n_common, 1 + seed);
        let key = mix(seed, 0xBEE);
        let sign = |set: Vec<u64>| MinHash::of(set.into_iter(), key).unwrap();
        let estimate = sign(a).resemblance(&sign(b));
        sum += estimate - truth;
        squares += (estimate - truth).powi(2);
    }
    let bias = sum / trials as f64;
    let spread = (squares / trials as f64 - bias * bias).sqrt();
    (truth, bias, spread / (truth * (1.0 - truth) / SLOTS as f64).sqrt())
}

#[test]
fn minhash_is_unbiased_and_spreads_as_theory_says() {
    for tenths in 1..=9 {
        // |A| = |B| = 300: J = c / (600 - c).
        let n_common = (600.0 * f64::from(tenths) / (10.0 + f64::from(tenths))).round() as u64;
        // The bias of 4,000 trials is known to 0.0007, the spread to 1.1 %.
        let (truth, bias, spread) = quality(300, n_common, 4000);
        println!("300 parts, J = {truth:.3}: bias {bias:+.4}, spread {spread:.3} of theory");
        assert!(bias.abs() < 0.01, "bias {bias} at J = {truth}");
        assert!(spread < 1.1, "spread {spread} of theory at J = {truth}");
    }
}

/// Sets of a mail's size leave most bins to the rounds after the first.
#[test]
fn minhash_of_small_sets_is_unbiased() {
    for n in [5, 10, 20, 50, 100] {
        for share in [0.2, 0.4, 0.6, 0.8] {
            let n_common = (n as f64 * share).round() as u64;
            let (truth, bias, spread) = quality(n, n_common, 4000);
            println!("{n} parts, J = {truth:.3}: bias {bias:+.4}, spread {spread:.3} of theory");
            assert!(bias.abs() < 0.01, "bias {bias} at {n} parts, J = {truth}");
            assert!(spread < 1.1, "spread {spread} of theory at {n} parts, J = {truth}");
        }
    }
}

/// Pages in pairs: neighbours in the real corpus, which are mostly of one site, or all pairs of the bundled pages.
fn page_pairs() -> Vec<(String, String)> {
    let Some(folder) = data::real("html_generators") else {
        let mut pages: Vec<_> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/pages"))
            .expect("the demo is bundled")
            .map(|entry| String::from_utf8_lossy(&std::fs::read(entry.unwrap().path()).unwrap()).into_owned())
            .collect();
        pages.sort_unstable();
        return (0..pages.len())
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| (pages[i].clone(), pages[j].clone()))
            .collect();
    };
    let lines = data::unpacked(&folder.join("pages.jsonl.zst"));
    let lines: Vec<&[u8]> = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let html = |line: &[u8]| {
        let page: serde_json::Value = serde_json::from_slice(line).unwrap();
        page["html"].as_str().unwrap().to_owned()
    };
    (0..lines.len() - 1).step_by(40).map(|i| (html(lines[i]), html(lines[i + 1]))).collect()
}

/// 128 bins of 8 bits tell the Jaccard coefficient of the grams as well as 128 independent samples would.
#[test]
fn style_estimates_the_jaccard_coefficient_of_real_pages() {
    const KEYS: u64 = 12;
    let noise = |html: &str| {
        let mut noise = Vec::new();
        seamripper::document::noise::strip(html, &mut noise);
        noise
    };
    // The truth is that of any key.
    let exact = Sketcher::new(1, 100);
    let pairs = page_pairs().into_iter().map(|(a, b)| (noise(&a), noise(&b)));
    let pairs: Vec<_> = pairs.map(|(a, b)| (exact.exact(&a, &b), a, b)).collect();
    let (mut n, mut sum, mut squares, mut theory, mut paper) = (0.0_f64, 0.0, 0.0, 0.0, 0.0);
    for seed in 0..KEYS {
        let mut sketcher = Sketcher::new(mix(seed, 0xACE), 100);
        for (truth, a, b) in &pairs {
            let (Some(first), Some(second)) = (sketcher.sketch(a), sketcher.sketch(b)) else { continue };
            // Small pages have no bins to estimate from.
            let Some(matching) = first.bins_matching(&second) else { continue };
            let (truth, error) = (*truth, first.resemblance(&second) - truth);
            n += 1.0;
            sum += error;
            squares += error * error;
            // Bins that agree by chance (one in 255) add their own spread.
            theory += (truth * (1.0 - truth) + (1.0 - truth) / 255.0) / 128.0;
            paper += matching as f64 / 128.0 - truth;
        }
    }
    let (bias, error, theory) = (sum / n, (squares / n).sqrt(), (theory / n).sqrt());
    println!(
        "style: {} pairs, {KEYS} keys: bias {bias:+.4}, error {error:.4} (theory {theory:.4}); of all 128 bins, by the paper: bias {:+.4}",
        pairs.len(),
        paper / n
    );
    assert!(n >= 12.0 * 10.0, "only {n} pairs to judge by");
    assert!(bias.abs() < 0.01, "bias {bias}");
    assert!(error < 1.1 * theory, "error {error}, theory {theory}");
}

/// A page whose template is known.
struct Page {
    site: String,
    template: Option<(String, String)>,
    html: String,
}

/// Every 23rd page of the real corpus with its site, generator and theme; or the bundled pages, of which those of the gazette
/// are one site.
fn labelled_pages() -> Vec<Page> {
    let Some(folder) = data::real("html_generators") else {
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/pages")).unwrap();
        let page = |path: std::path::PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let site = if name.starts_with("gazette-") { "gazette".to_owned() } else { name };
            Page { site, template: None, html: std::fs::read_to_string(path).unwrap() }
        };
        return files.map(|file| page(file.unwrap().path())).collect();
    };
    let lines = data::unpacked(&folder.join("pages.jsonl.zst"));
    let page = |line: &[u8]| {
        let page: serde_json::Value = serde_json::from_slice(line).unwrap();
        let field = |name: &str| page[name].as_str().unwrap().to_owned();
        let template = Some((field("generator"), field("theme"))).filter(|(generator, _)| !generator.is_empty());
        Page { site: field("site"), template, html: field("html") }
    };
    lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).step_by(23).map(page).collect()
}

/// A page's frame finds the other pages of its site and hardly any of another template.
#[test]
fn frames_tell_templates_apart() {
    const SIMILARITY_MIN: f64 = 0.65;
    let settings = Settings::default();
    let keys = Keys::derive(settings.secret.reveal());
    let mut reader = Reader::new(settings.limits.clone(), keys);
    let mut frames = Vec::new();
    for Page { site, template, html } in labelled_pages() {
        let record = Record { format: Format::Page, body: html.into_bytes(), carrier: Carrier::default() };
        let document = reader.read(&record).unwrap();
        let frame = Frame::of(&document.markup.frame, keys.frame, settings.style.frame_items_min);
        frames.push((site, template, frame));
    }
    let (mut n_joined, mut n_right, mut n_site, mut n_found, mut n_vetoed) = (0.0, 0.0, 0.0, 0.0, 0);
    for (i, (site, template, frame)) in frames.iter().enumerate() {
        for (other_site, other_template, other) in &frames[..i] {
            let (is_site, is_template) = (site == other_site, template.is_some() && template == other_template);
            n_site += f64::from(u8::from(is_site));
            let (Some(frame), Some(other)) = (frame, other) else { continue };
            if frame.similarity(other) < SIMILARITY_MIN {
                continue;
            }
            if !frame.stylesheets_agree(other) {
                n_vetoed += 1;
                continue;
            }
            n_joined += 1.0;
            n_right += f64::from(u8::from(is_site || is_template));
            n_found += f64::from(u8::from(is_site));
        }
    }
    let (precision, recall) = (n_right / n_joined, n_found / n_site);
    let n_without = frames.iter().filter(|(.., frame)| frame.is_none()).count();
    println!(
        "frame: {} pages ({n_without} without), pairs at {SIMILARITY_MIN}: precision {precision:.4}, recall within a site \
         {recall:.3}, {n_vetoed} pairs vetoed by stylesheets",
        frames.len()
    );
    assert!(precision > 0.995, "precision {precision}");
    assert!(recall > 0.8, "recall {recall}");
}

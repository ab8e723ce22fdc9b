//! The script and the style of the report, and the policy that allows these two and nothing else.
//!
//! # Invariants
//! - The hashes are those of the files; a browser would refuse them otherwise. (`the_policy_holds_the_hashes`)

use super::page::Page;

const SCRIPT: &str = include_str!("report.js");
const STYLE: &str = include_str!("report.css");

/// What a browser may load and run: two inline blocks, told by their SHA-256.
const POLICY: &str = concat!(
    "default-src 'none'; base-uri 'none'; form-action 'none'; ",
    "script-src 'sha256-i7c733qMVU+rr9jDYbl/nu1x30CR2cW7ePP1lLCMgTE='; ",
    "style-src 'sha256-4ZgkE1Tt/zZt8B6if7vhooa9DL1r87HbGpHu5lF165I='"
);

/// The policy and the style, for the head of the page. The policy comes first, so that it holds for all that follows.
pub(super) fn write(page: &mut Page) {
    page.markup("<meta http-equiv=\"Content-Security-Policy\" content=\"").markup(POLICY).markup("\">\n");
    page.markup("<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"robots\" content=\"noindex\">\n");
    page.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.markup("<meta name=\"color-scheme\" content=\"light dark\">\n");
    page.markup("<style>").markup(STYLE).markup("</style>\n");
}

/// The script, for the end of the page.
pub(super) fn write_script(page: &mut Page) {
    page.markup("<script>").markup(SCRIPT).markup("</script>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::prelude::{BASE64_STANDARD, Engine};

    /// The first 32 bits of the fractional parts of roots of primes, as FIPS 180-4 derives its constants.
    fn fractions(n: usize, root: f64) -> Vec<u32> {
        let primes = (2_u64..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
        primes.take(n).map(|prime| ((prime as f64).powf(root).fract() * 2_f64.powi(32)) as u32).collect()
    }

    /// SHA-256 (FIPS 180-4).
    fn sha256(message: &[u8]) -> Vec<u8> {
        let k = fractions(64, 1.0 / 3.0);
        let mut state = fractions(8, 0.5);
        let mut padded = message.to_vec();
        padded.push(0x80);
        padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
        padded.extend((message.len() as u64 * 8).to_be_bytes());
        for block in padded.chunks(64) {
            let mut w: Vec<u32> = block.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect();
            for t in 16..64 {
                let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ (w[t - 15] >> 3);
                let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ (w[t - 2] >> 10);
                w.push(w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1));
            }
            let mut s = state.clone();
            for t in 0..64 {
                let s1 = s[4].rotate_right(6) ^ s[4].rotate_right(11) ^ s[4].rotate_right(25);
                let choice = (s[4] & s[5]) ^ (!s[4] & s[6]);
                let t1 = s[7].wrapping_add(s1).wrapping_add(choice).wrapping_add(k[t]).wrapping_add(w[t]);
                let s0 = s[0].rotate_right(2) ^ s[0].rotate_right(13) ^ s[0].rotate_right(22);
                let majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
                s.rotate_right(1);
                s[4] = s[4].wrapping_add(t1);
                s[0] = t1.wrapping_add(s0).wrapping_add(majority);
            }
            state.iter_mut().zip(s).for_each(|(old, new)| *old = old.wrapping_add(new));
        }
        state.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn the_policy_holds_the_hashes() {
        // FIPS 180-4's own example.
        let abc = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
        assert_eq!(BASE64_STANDARD.encode(sha256(b"abc")), abc);
        for (directive, file) in [("script-src", SCRIPT), ("style-src", STYLE)] {
            let allowed = format!("{directive} 'sha256-{}'", BASE64_STANDARD.encode(sha256(file.as_bytes())));
            assert!(POLICY.contains(&allowed), "the file has changed: put {allowed} into POLICY, not {POLICY}");
        }
    }

    #[test]
    fn nothing_ends_the_blocks_early() {
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--") && !STYLE.contains("</"));
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"), "the file needs no network");
        assert!(!POLICY.contains("unsafe"));
    }

    /// A colour of the style as its relative luminance (WCAG 2, "relative luminance").
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn patches_are_readable_in_both_schemes() {
        let schemes: Vec<&str> = STYLE.split("prefers-color-scheme: dark").collect();
        assert_eq!(schemes.len(), 2);
        for scheme in schemes {
            let value = |name: &str| {
                let at =
                    scheme.find(&format!("{name}:")).unwrap_or_else(|| panic!("{name} is missing")) + name.len() + 1;
                scheme[at..].trim_start()[..7].to_owned()
            };
            let (ink, ground) = (value("--ink"), value("--ground"));
            for source in 1..=12 {
                let (tint, line) = (value(&format!("--tint{source}")), value(&format!("--line{source}")));
                assert!(contrast(&ink, &tint) >= 7.0, "ink on tint {source}: {}", contrast(&ink, &tint));
                assert!(contrast(&line, &ground) >= 3.0, "line {source}: {}", contrast(&line, &ground));
            }
            for (text, on) in [("--ink", "--ground"), ("--soft", "--ground"), ("--soft", "--card")] {
                assert!(contrast(&value(text), &value(on)) >= 4.5, "{text} on {on}");
            }
        }
    }
}

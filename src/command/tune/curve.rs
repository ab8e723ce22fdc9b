//! A curve from (0, 0) to (1, 1) drawn in characters: dots of Braille patterns, or stars where only ASCII will do.
//!
//! # Invariants
//! - No line is wider than asked for. (`a_plot_keeps_to_its_width`)
//! - The highest dot stands where the curve is 1, the lowest where it is 0. (`a_step_goes_from_floor_to_ceiling`)

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Canvas {
    /// The columns there are, axis included.
    pub(super) n_columns: usize,
    /// The rows of the plot itself.
    pub(super) n_rows: usize,
    /// Whether to use ASCII alone.
    pub(super) ascii: bool,
}

/// The columns of the axis and its labels.
const MARGIN: usize = 6;

/// Draws `curve`, and below it a mark for each of `marks` (position, letter).
pub(super) fn drawn(curve: impl Fn(f64) -> f64, marks: &[(f64, char)], canvas: Canvas) -> Vec<String> {
    let Canvas { n_columns, n_rows, ascii } = canvas;
    let n_cells = n_columns.saturating_sub(MARGIN + 1).max(10);
    let (dots_x, dots_y) = if ascii { (1, 1) } else { (2, 4) };
    let (width, height) = (n_cells * dots_x, n_rows * dots_y);
    // Rows of dots count from the top.
    let y_of = |x: usize| {
        let value = curve(x as f64 / (width - 1) as f64).clamp(0.0, 1.0);
        height - 1 - (value * (height - 1) as f64).round() as usize
    };
    let mut cells = vec![vec![0_u8; n_cells]; n_rows];
    let mut before = y_of(0);
    for x in 0..width {
        let y = y_of(x);
        // A steep curve is drawn without gaps.
        let (high, low) = if y < before { (y, before - 1) } else { (y, y) };
        for dot in high..=low.max(high) {
            cells[dot / dots_y][x / dots_x] |= braille_dot(x % dots_x, dot % dots_y);
        }
        before = y;
    }
    let (bar, corner, line) = if ascii { ('|', '+', '-') } else { ('│', '└', '─') };
    let mut lines: Vec<String> = cells
        .iter()
        .enumerate()
        .map(|(row, cells)| {
            let label = match row {
                0 => "1.0",
                _ if row == n_rows / 2 => "0.5",
                _ if row == n_rows - 1 => "0.0",
                _ => "",
            };
            let drawn: String = cells.iter().map(|&dots| cell(dots, ascii)).collect();
            format!("{label:>5} {bar}{drawn}").trim_end().to_owned()
        })
        .collect();
    lines.push(format!("{:>5} {corner}{}", "", line.to_string().repeat(n_cells)));
    let labels = [(0.0, "0"), (0.5, "0.5"), (1.0, "1"), (0.25, "0.25"), (0.75, "0.75")];
    lines.push(labelled(n_cells, if n_cells < 32 { &labels[..3] } else { &labels }));
    let letters: Vec<_> = marks.iter().map(|&(at, letter)| (at, letter.to_string())).collect();
    let letters: Vec<_> = letters.iter().map(|(at, letter)| (*at, letter.as_str())).collect();
    if !letters.is_empty() {
        lines.push(labelled(n_cells, &letters));
    }
    lines
}

fn cell(dots: u8, ascii: bool) -> char {
    match (dots, ascii) {
        (0, _) => ' ',
        (_, true) => '*',
        (_, false) => char::from_u32(0x2800 + u32::from(dots)).expect("all 256 patterns are characters"),
    }
}

/// The bit of a dot in a Braille pattern of two columns and four rows.
fn braille_dot(x: usize, y: usize) -> u8 {
    [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]][x][y]
}

/// A line with each label under its place.
fn labelled(n_cells: usize, labels: &[(f64, &str)]) -> String {
    let mut line = vec![' '; MARGIN + 1 + n_cells];
    for &(at, label) in labels {
        let n_chars = label.chars().count();
        let middle = MARGIN + 1 + (at * (n_cells - 1) as f64).round() as usize;
        let first = (middle - n_chars / 2).min(line.len() - n_chars);
        line[first..].iter_mut().zip(label.chars()).for_each(|(place, character)| *place = character);
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_goes_from_floor_to_ceiling() {
        let canvas = Canvas { n_columns: 27, n_rows: 5, ascii: true };
        let lines = drawn(|x| if x < 0.5 { 0.0 } else { 1.0 }, &[(0.5, 's')], canvas);
        assert_eq!(
            lines,
            [
                "  1.0 |          **********",
                "      |          *",
                "  0.5 |          *",
                "      |          *",
                "  0.0 |**********",
                "      +--------------------",
                "       0        0.5       1",
                "                 s",
            ]
        );
    }

    #[test]
    fn a_plot_keeps_to_its_width() {
        for n_columns in [40, 41, 80, 133] {
            for ascii in [false, true] {
                let canvas = Canvas { n_columns, n_rows: 8, ascii };
                let lines = drawn(|x| x * x, &[(0.0, 'u'), (1.0, 's')], canvas);
                assert!(lines.iter().all(|line| line.chars().count() <= n_columns), "{lines:#?}");
                assert!(!ascii || lines.iter().all(|line| line.is_ascii()));
            }
        }
    }
}

//! The beginning of a text, as much of it as is wanted.

/// At most `bytes_max` bytes of the beginning; no character is cut in two.
pub fn of(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max.min(text.len()))]
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn no_character_is_cut_in_two() {
        let text = "aé漢🧵";
        let lengths: Vec<usize> = (0..12).map(|bytes_max| of(text, bytes_max).len()).collect();
        assert_eq!(lengths, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10]);
        assert_eq!(of(text, usize::MAX), text);
    }
}

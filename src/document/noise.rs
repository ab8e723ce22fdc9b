//! HTML noise: the source without its letters and digits (Urvoy 2006).

/// Adds the noise of `source` to `noise`: every character that is not alphanumeric, in order, as UTF-8.
pub fn strip(source: &str, noise: &mut Vec<u8>) {
    let _ = (source, noise);
    todo!()
}

/// The same for the inside of one tag (from `<` to `>`), with each run of white space as one space.
pub fn strip_tag(tag: &str, noise: &mut Vec<u8>) {
    let _ = (tag, noise);
    todo!()
}

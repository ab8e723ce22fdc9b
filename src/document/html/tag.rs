//! The elements that the reader knows by name, and what it knows of each.
//!
//! A name is recognised by its [`key`]: its first eight letters, packed into one word, so that the tokenizer compares
//! numbers and not strings. What an element means for the text lies in one table of flags beside the names.
//!
//! # Invariants
//! - Every name finds its own tag, in any case, and no other name does. (`every_name_finds_its_tag`)

/// Text inside starts and ends a line, and the element stands in the outline if it holds text.
pub(super) const BLOCK: u32 = 1;
/// Text inside starts and ends a line; the element is not recorded.
pub(super) const LINE: u32 = 1 << 1;
/// An atom of a line (a button, a field): words beside it do not join with it.
pub(super) const ATOM: u32 = 1 << 2;
/// Has no content and no end tag.
pub(super) const VOID: u32 = 1 << 3;
/// Kept on the stack of open elements even where nothing is hidden.
pub(super) const KEPT: u32 = 1 << 4;
/// The end tag of an inline element does not reach beyond it (the standard's "special").
pub(super) const SPECIAL: u32 = 1 << 5;
/// The end tag of a block does not reach beyond it (the standard's "scope").
pub(super) const SCOPE: u32 = 1 << 6;
/// `</li>` does not reach beyond it.
pub(super) const LIST: u32 = 1 << 7;
/// `</p>` does not reach beyond it.
pub(super) const BUTTON: u32 = 1 << 8;
/// The end tag of a part of a table does not reach beyond it.
pub(super) const TABLE: u32 = 1 << 9;
/// Its start tag ends an open paragraph.
pub(super) const ENDS_P: u32 = 1 << 10;
/// A part of a table, which has no meaning outside one.
pub(super) const PART: u32 = 1 << 11;
/// Its id belongs to the page frame.
pub(super) const STRUCTURE: u32 = 1 << 12;
/// Line feeds inside are ends of lines.
pub(super) const PRE: u32 = 1 << 13;
/// Nobody sees what is inside, and it is not kept as hidden text either.
pub(super) const UNSEEN: u32 = 1 << 14;
/// Ends embedded SVG or MathML.
pub(super) const BREAKOUT: u32 = 1 << 15;

/// What is inside is no markup.
pub(super) const RAW: u32 = 1 << 16;

/// A block that ends paragraphs, as most do.
const B: u32 = BLOCK | KEPT | SPECIAL | ENDS_P;

macro_rules! tags {
    ($($(#[$doc:meta])* $variant:ident $name:literal $flags:expr;)*) => {
        /// The elements that the reader knows by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Tag {
            /// A run of text that stands beside elements, not inside one of them.
            Text,
            /// Any element that has no meaning of its own here.
            Other,
            $(#[doc = concat!("`<", $name, ">`")] $(#[$doc])* $variant,)*
        }

        const NAMES: &[(Tag, &str)] = &[$((Tag::$variant, $name),)*];
        static FLAGS: [u32; NAMES.len() + 2] = [0, 0, $($flags,)*];
    };
}

tags! {
    A "a" 0;
    Address "address" B;
    Applet "applet" KEPT | SPECIAL | SCOPE;
    Area "area" VOID;
    Article "article" B | STRUCTURE;
    Aside "aside" B | STRUCTURE;
    Audio "audio" ATOM;
    Base "base" VOID;
    Basefont "basefont" VOID;
    Bgsound "bgsound" VOID;
    Blockquote "blockquote" B | BREAKOUT;
    Body "body" LINE | STRUCTURE | BREAKOUT;
    Br "br" VOID | LINE | BREAKOUT;
    Button "button" ATOM | KEPT | SPECIAL | BUTTON;
    Canvas "canvas" ATOM;
    Caption "caption" BLOCK | KEPT | SPECIAL | SCOPE | PART;
    Center "center" B | BREAKOUT;
    Col "col" VOID | PART;
    Colgroup "colgroup" KEPT | SPECIAL | PART;
    Command "command" VOID;
    Datalist "datalist" KEPT | UNSEEN;
    Dd "dd" B | BREAKOUT;
    Desc "desc" 0;
    Details "details" B;
    Dialog "dialog" B;
    Dir "dir" B;
    Div "div" B | STRUCTURE | BREAKOUT;
    Dl "dl" B | STRUCTURE | BREAKOUT;
    Dt "dt" B | BREAKOUT;
    Embed "embed" VOID | BREAKOUT;
    Fieldset "fieldset" B | STRUCTURE;
    Figcaption "figcaption" B;
    Figure "figure" B;
    Footer "footer" B | STRUCTURE;
    ForeignObject "foreignobject" 0;
    // `</form>` takes no other element with it, so it is not kept; the outline sees through it.
    Form "form" LINE | ENDS_P | STRUCTURE;
    Frame "frame" VOID;
    H1 "h1" B | BREAKOUT;
    H2 "h2" B | BREAKOUT;
    H3 "h3" B | BREAKOUT;
    H4 "h4" B | BREAKOUT;
    H5 "h5" B | BREAKOUT;
    H6 "h6" B | BREAKOUT;
    Head "head" LINE | BREAKOUT;
    Header "header" B | STRUCTURE;
    Hgroup "hgroup" B;
    Hr "hr" VOID | LINE | ENDS_P | BREAKOUT;
    Html "html" LINE | STRUCTURE;
    Iframe "iframe" ATOM | UNSEEN | RAW;
    Image "image" VOID;
    Img "img" VOID | BREAKOUT;
    Input "input" VOID | ATOM;
    Keygen "keygen" VOID | ATOM;
    Legend "legend" BLOCK | KEPT;
    Li "li" B | BREAKOUT;
    Link "link" VOID;
    Listing "listing" B | PRE | BREAKOUT;
    Main "main" B | STRUCTURE;
    Marquee "marquee" BLOCK | KEPT | SPECIAL | SCOPE;
    Math "math" KEPT | ATOM;
    Menu "menu" B | STRUCTURE | BREAKOUT;
    Meta "meta" VOID | BREAKOUT;
    Metadata "metadata" 0;
    Meter "meter" ATOM;
    Nav "nav" B | STRUCTURE;
    Noembed "noembed" UNSEEN | RAW;
    Noframes "noframes" UNSEEN | RAW;
    Object "object" ATOM | KEPT | SPECIAL | SCOPE;
    Ol "ol" B | STRUCTURE | LIST | BREAKOUT;
    Optgroup "optgroup" KEPT | UNSEEN;
    Option "option" KEPT | UNSEEN;
    P "p" B | BREAKOUT;
    Param "param" VOID;
    Plaintext "plaintext" B | PRE | RAW;
    Pre "pre" B | PRE | BREAKOUT;
    Progress "progress" ATOM;
    Script "script" UNSEEN | RAW;
    Search "search" B | STRUCTURE;
    Section "section" B | STRUCTURE;
    Select "select" ATOM | KEPT | SPECIAL | SCOPE | UNSEEN;
    Source "source" VOID;
    Span "span" BREAKOUT;
    Style "style" UNSEEN | RAW;
    Summary "summary" B;
    Svg "svg" KEPT | ATOM;
    Table "table" B | SCOPE | TABLE | STRUCTURE | BREAKOUT;
    Tbody "tbody" LINE | KEPT | SPECIAL | PART;
    Td "td" BLOCK | KEPT | SPECIAL | SCOPE | PART;
    Template "template" KEPT | SPECIAL | SCOPE | TABLE | UNSEEN;
    Textarea "textarea" ATOM | PRE | RAW;
    Tfoot "tfoot" LINE | KEPT | SPECIAL | PART;
    Th "th" BLOCK | KEPT | SPECIAL | SCOPE | PART;
    Thead "thead" LINE | KEPT | SPECIAL | PART;
    Title "title" RAW;
    Tr "tr" BLOCK | KEPT | SPECIAL | PART;
    Track "track" VOID;
    Ul "ul" B | STRUCTURE | LIST | BREAKOUT;
    Video "video" ATOM;
    Wbr "wbr" VOID;
    Xmp "xmp" B | PRE | RAW;
    // Inline elements that only end embedded SVG or MathML.
    B "b" BREAKOUT;
    Big "big" BREAKOUT;
    Code "code" BREAKOUT;
    Em "em" BREAKOUT;
    I "i" BREAKOUT;
    Nobr "nobr" BREAKOUT;
    Ruby "ruby" BREAKOUT;
    S "s" BREAKOUT;
    Small "small" BREAKOUT;
    Strong "strong" BREAKOUT;
    Strike "strike" BREAKOUT;
    Sub "sub" BREAKOUT;
    Sup "sup" BREAKOUT;
    Tt "tt" BREAKOUT;
    U "u" BREAKOUT;
    Var "var" BREAKOUT;
    // Leaves of MathML, inside which HTML rules hold.
    Mi "mi" 0;
    Mn "mn" 0;
    Mo "mo" 0;
    Ms "ms" 0;
    Mtext "mtext" 0;
    Annotation "annotation" 0;
    AnnotationXml "annotation-xml" 0;
}

impl Tag {
    /// The tag whose name has this [`key`].
    #[inline]
    pub fn of(key: u64) -> Self {
        let mut slot = slot(key);
        loop {
            let (found, tag) = TABLE_OF_KEYS[slot];
            if found == key || found == 0 {
                return tag;
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// The name, in lower case. Empty for [`Tag::Text`] and [`Tag::Other`].
    pub fn name(self) -> &'static str {
        (self as usize).checked_sub(2).map_or("", |index| NAMES[index].1)
    }

    /// Whether it is one of `h1` to `h6`.
    pub fn is_heading(self) -> bool {
        (Self::H1 as u8..=Self::H6 as u8).contains(&(self as u8))
    }

    #[inline]
    pub(super) fn flags(self) -> u32 {
        FLAGS[self as usize]
    }

    #[inline]
    pub(super) fn is(self, flags: u32) -> bool {
        self.flags() & flags != 0
    }
}

/// The key of a name in lower case: its bytes in one little-endian word, with longer names folded in word by word.
pub(super) const fn key(name: &[u8]) -> u64 {
    let (mut key, mut at) = (0, 0);
    loop {
        let mut word = [0; 8];
        let mut i = 0;
        while i < 8 && at + i < name.len() {
            word[i] = name[at + i];
            i += 1;
        }
        key = folded(key, u64::from_le_bytes(word));
        at += 8;
        if at >= name.len() {
            return key;
        }
    }
}

/// A key with the next eight bytes of a name. The first word stays as it is.
#[inline]
pub(super) const fn folded(key: u64, word: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ word
}

const SLOTS: usize = 512;

#[inline]
const fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SLOTS.trailing_zeros())) as usize
}

static TABLE_OF_KEYS: [(u64, Tag); SLOTS] = {
    let mut table = [(0, Tag::Other); SLOTS];
    let mut i = 0;
    while i < NAMES.len() {
        let (tag, name) = NAMES[i];
        let key = key(name.as_bytes());
        let mut at = slot(key);
        while table[at].0 != 0 {
            at = (at + 1) % SLOTS;
        }
        table[at] = (key, tag);
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_tag() {
        for &(tag, name) in NAMES {
            assert_eq!(Tag::of(key(name.as_bytes())), tag, "{name}");
            assert_eq!(tag.name(), name);
        }
        for name in ["divs", "blockquot", "blockquotes", "figcaptions", "x", "foreignobjects", "h7", "text"] {
            assert_eq!(Tag::of(key(name.as_bytes())), Tag::Other, "{name}");
        }
    }

    #[test]
    fn only_h1_to_h6_are_headings() {
        let headings: Vec<_> = NAMES.iter().filter(|(tag, _)| tag.is_heading()).map(|(_, name)| *name).collect();
        assert_eq!(headings, ["h1", "h2", "h3", "h4", "h5", "h6"]);
    }
}

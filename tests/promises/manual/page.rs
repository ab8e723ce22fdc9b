//! A Markdown document taken apart: headings, links, words in backticks, blocks of code, each with its line.

/// A piece of a document.
#[derive(Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// A block of code.
#[derive(Debug, PartialEq)]
pub(crate) struct Block {
    /// The word behind the fence; empty for an indented block.
    pub(crate) kind: String,
    /// Of its first line of code.
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// A document.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) anchors: Vec<String>,
    pub(crate) links: Vec<Piece>,
    pub(crate) spans: Vec<Piece>,
    pub(crate) blocks: Vec<Block>,
}

impl Page {
    /// Takes a document apart.
    pub(crate) fn read(markdown: &str) -> Self {
        let mut page = Self::default();
        let mut prose = String::new();
        let mut open: Option<Block> = None;
        let (mut after_blank, mut in_list) = (true, false);
        for (line, number) in markdown.lines().zip(1..) {
            let is_blank = line.trim().is_empty();
            let fence = line.trim_start().strip_prefix("```");
            let indented = line.strip_prefix("    ").filter(|_| !is_blank && fence.is_none());
            if indented.is_none() && !is_blank {
                page.close_indented(&mut open);
            }
            match (&mut open, fence) {
                (None, Some(kind)) => {
                    let kind = kind.trim().to_owned();
                    open = Some(Block { kind, line: number + 1, text: String::new() });
                }
                (Some(_), Some(_)) => page.blocks.extend(open.take()),
                (Some(block), None) if block.kind == INDENTED => {
                    block.text += &format!("{}\n", indented.unwrap_or_default());
                }
                (Some(block), None) => block.text += &format!("{line}\n"),
                (None, None) => match indented.filter(|_| after_blank && !in_list) {
                    Some(text) => {
                        open = Some(Block { kind: INDENTED.to_owned(), line: number, text: format!("{text}\n") })
                    }
                    None => {
                        let title = line.trim_start_matches('#').strip_prefix(' ');
                        if let Some(title) = title.filter(|_| line.starts_with('#')) {
                            page.add_anchor(title);
                        }
                        prose += line;
                        in_list = is_item(line) || in_list && (is_blank || line.starts_with("  "));
                    }
                },
            }
            prose.push('\n');
            after_blank = is_blank;
        }
        page.close_indented(&mut open);
        if let Some(block) = open {
            page.spans.push(Piece { line: block.line, text: "```".to_owned() });
        }
        page.read_prose(&prose);
        page
    }

    fn close_indented(&mut self, open: &mut Option<Block>) {
        if let Some(block) = open.take_if(|block| block.kind == INDENTED) {
            self.blocks.push(Block { kind: String::new(), ..block });
        }
    }

    /// As GitHub makes them.
    fn add_anchor(&mut self, title: &str) {
        let text = visible(title).to_lowercase();
        let kept = text.chars().filter(|letter| letter.is_alphanumeric() || "-_ ".contains(*letter));
        let anchor: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        let n = self.anchors.iter().filter(|other| **other == anchor).count();
        self.anchors.push(if n == 0 { anchor } else { format!("{anchor}-{n}") });
    }

    fn read_prose(&mut self, prose: &str) {
        let mut at = 0;
        while let Some(here) = prose[at..].find(['`', ']', '"', '<']).map(|found| at + found) {
            let rest = &prose[here..];
            let line = prose[..here].matches('\n').count() + 1;
            let run = rest.len() - rest.trim_start_matches('`').len();
            at = here + run.max(1);
            if run > 0 {
                let fence = &rest[..run];
                // A span may go over the end of a line, not over that of a paragraph.
                let paragraph = rest[run..].find("\n\n").map_or(&rest[run..], |end| &rest[run..run + end]);
                if let Some(end) = paragraph.find(fence) {
                    let text = paragraph[..end].replace('\n', " ");
                    at = here + run + end + run;
                    self.spans.push(Piece { line, text: text.trim().to_owned() });
                }
            } else if let Some(target) = rest.strip_prefix("](").and_then(|rest| rest.split_once(')')) {
                self.links.push(Piece { line, text: target.0.split(' ').next().unwrap_or_default().to_owned() });
            } else if rest.starts_with('"') && (prose[..here].ends_with("src=") || prose[..here].ends_with("href=")) {
                let target = rest[1..].split('"').next().unwrap_or_default();
                self.links.push(Piece { line, text: target.to_owned() });
            } else if let Some(target) = rest.strip_prefix("<http").and_then(|rest| rest.split_once('>')) {
                self.links.push(Piece { line, text: format!("http{}", target.0) });
            }
        }
    }
}

/// The kind of a block that is indented, while it is open.
const INDENTED: &str = " indented";

/// Whether a line begins an item of a list.
fn is_item(line: &str) -> bool {
    let rest = line.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
    line.trim_start().starts_with("- ") || rest.len() < line.trim_start().len() && rest.starts_with(". ")
}

/// A title without marks and targets of links.
fn visible(title: &str) -> String {
    let mut text = String::new();
    let mut rest = title.trim();
    while let Some((before, after)) = rest.split_once("](") {
        text += before;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    (text + rest).replace(['`', '[', '*'], "")
}

#[test]
fn a_document_is_taken_apart() {
    let text = "# One `two`, three\n\nSee [the\nfile](a/b.md#c \"title\") and `code\nspan`, ``a ` b``.\n\n```sh\nls # not a title\n```\n\n\
        Code:\n\n    seamripper run\n\n    make test\n## One two three\n<img src=\"p.png\">\n- item\n\n    `not code` of an item\n```toml\n```\n";
    let page = Page::read(text);
    assert_eq!(page.anchors, ["one-two-three", "one-two-three-1"]);
    let links: Vec<(usize, &str)> = page.links.iter().map(|link| (link.line, &*link.text)).collect();
    assert_eq!(links, [(4, "a/b.md#c"), (17, "p.png")]);
    let spans: Vec<&str> = page.spans.iter().map(|span| &*span.text).collect();
    assert_eq!(spans[..3], ["two", "code span", "a ` b"]);
    let blocks: Vec<(&str, usize, &str)> =
        page.blocks.iter().map(|block| (&*block.kind, block.line, block.text.trim())).collect();
    let expected = [("sh", 8, "ls # not a title"), ("", 13, "seamripper run\n\nmake test"), ("toml", 22, "")];
    assert_eq!(blocks, expected);
    let open = Page::read("```sh\nls\n");
    assert_eq!(open.spans, [Piece { line: 2, text: "```".into() }]);
}

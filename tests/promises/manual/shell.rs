//! Blocks of shell taken apart into the commands that they run: just enough of a shell to read documents.

/// A command with its arguments.
#[derive(Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) line: usize,
    pub(crate) words: Vec<String>,
}

/// A file that a block writes with `cat > NAME <<END`.
#[derive(Debug, PartialEq)]
pub(crate) struct Written {
    pub(crate) line: usize,
    pub(crate) name: String,
    pub(crate) text: String,
}

/// What a block does.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) runs: Vec<Run>,
    pub(crate) written: Vec<Written>,
}

/// Words after which a command begins.
const KEYWORDS: [&str; 12] = ["do", "then", "if", "while", "until", "else", "elif", "!", "{", "(", "exec", "time"];

impl Script {
    /// Takes a block apart that begins at `line`.
    pub(crate) fn read(text: &str, line: usize) -> Self {
        let mut script = Self::default();
        let mut lines = text.lines().zip(line..);
        while let Some((first, number)) = lines.next() {
            // Prompts of examples that are there to be read.
            let first = first
                .strip_prefix("$ ")
                .or_else(|| first.strip_prefix("# ").filter(|_| first.contains("<<")))
                .unwrap_or(first);
            let mut whole = first.to_owned();
            while let Some(begun) = whole.strip_suffix('\\') {
                whole = begun.to_owned() + lines.next().map_or("", |(next, _)| next);
            }
            if let Some((command, end)) = whole.split_once("<<") {
                let end = end.trim().trim_matches(['\'', '"', '-']).to_owned();
                let end = end.split_whitespace().next().unwrap_or_default();
                let body: Vec<&str> = lines.by_ref().map(|(line, _)| line).take_while(|line| *line != end).collect();
                let name = command.split_once('>').map_or("", |(_, name)| name.trim_start_matches('>').trim());
                let text = body.iter().map(|line| format!("{line}\n")).collect();
                script.written.push(Written { line: number + 1, name: name.to_owned(), text });
                whole = command.to_owned();
            }
            script.read_line(&whole, number);
        }
        script
    }

    fn read_line(&mut self, text: &str, line: usize) {
        let mut words: Vec<String> = Vec::new();
        let mut word: Option<String> = None;
        // The next word is where output goes.
        let mut redirected = false;
        let mut letters = text.char_indices().peekable();
        let end = |words: &mut Vec<String>, word: &mut Option<String>, redirected: &mut bool| {
            if let Some(word) = word.take()
                && !std::mem::take(redirected)
            {
                words.push(word);
            }
        };
        while let Some((at, letter)) = letters.next() {
            match letter {
                ' ' | '\t' => end(&mut words, &mut word, &mut redirected),
                '#' if word.is_none() => break,
                '\'' | '"' => {
                    let inside: String =
                        letters.by_ref().map(|(_, other)| other).take_while(|other| *other != letter).collect();
                    if letter == '"' {
                        self.read_inner(&inside, line);
                    }
                    word.get_or_insert_default().push_str(&inside);
                }
                '\\' => word.get_or_insert_default().extend(letters.next().map(|(_, letter)| letter)),
                '$' if text[at..].starts_with("$(") => {
                    let inside = balanced(&text[at + 2..]);
                    self.read_line(inside, line);
                    letters.nth(inside.chars().count() + 1);
                    word.get_or_insert_default().push_str("$()");
                }
                '|' | ';' | '&' if !redirected => {
                    end(&mut words, &mut word, &mut redirected);
                    self.add(std::mem::take(&mut words), line);
                }
                '>' | '<' => {
                    // What stands before it is the number of a stream, or the end of a word.
                    word.take_if(|word| word.chars().all(|letter| letter.is_ascii_digit()));
                    end(&mut words, &mut word, &mut redirected);
                    redirected = true;
                }
                letter => word.get_or_insert_default().push(letter),
            }
        }
        end(&mut words, &mut word, &mut redirected);
        self.add(words, line);
    }

    /// Commands inside double quotes.
    fn read_inner(&mut self, text: &str, line: usize) {
        if let Some((_, rest)) = text.split_once("$(") {
            self.read_line(balanced(rest), line);
        }
    }

    fn add(&mut self, words: Vec<String>, line: usize) {
        let words: Vec<String> = words.into_iter().skip_while(|word| KEYWORDS.contains(&&**word)).collect();
        if !words.is_empty() {
            self.runs.push(Run { line, words });
        }
    }
}

impl Run {
    /// The variables that it sets for itself, and the rest.
    pub(crate) fn split(&self) -> (&[String], &[String]) {
        let is_name =
            |name: &str| !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let is_set = |word: &String| word.split_once('=').is_some_and(|(name, _)| is_name(name)) || *word == "export";
        self.words.split_at(self.words.iter().take_while(|word| is_set(word)).count())
    }
}

/// Up to the parenthesis that closes.
fn balanced(text: &str) -> &str {
    let mut depth = 1;
    for (at, letter) in text.char_indices() {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

#[test]
fn commands_are_found_where_they_stand() {
    let text = "A=1 seamripper run -c k.toml 2> run.log &   # seamripper no\nuntil test -s a; do sleep 0.1; done\n\
        id=$(seamripper tail --json | head -n 1)\ncurl \\\n  -d 'x; y' \"$(make z)\" > out\ncat > mail.toml <<END\nseamripper inside\nEND\nlast";
    let script = Script::read(text, 10);
    let runs: Vec<(usize, String)> = script.runs.iter().map(|run| (run.line, run.words.join(" "))).collect();
    let expected = [
        (10, "A=1 seamripper run -c k.toml"),
        (11, "test -s a"),
        (11, "sleep 0.1"),
        (11, "done"),
        (12, "seamripper tail --json"),
        (12, "head -n 1"),
        (12, "id=$()"),
        (13, "make z"),
        (13, "curl -d x; y $(make z)"),
        (15, "cat"),
        (18, "last"),
    ];
    assert_eq!(runs, expected.map(|(line, words)| (line, words.to_owned())));
    assert_eq!(script.written, [Written { line: 16, name: "mail.toml".into(), text: "seamripper inside\n".into() }]);
    assert_eq!(script.runs[0].split().0, ["A=1"]);
}

//! Standard output that goes quiet when nobody reads it any more.

use std::io::{self, Write};

/// Standard output, buffered by the caller, ended without a word when the reader of the pipe has gone.
pub struct Output(io::StdoutLock<'static>);

impl Output {
    /// Standard output.
    pub fn new() -> Self {
        Self(io::stdout().lock())
    }
}

impl Default for Output {
    fn default() -> Self {
        Self::new()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(quiet_on_closed_pipe)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(quiet_on_closed_pipe)
    }
}

/// `head` has seen enough: that is no failure, and there is nobody left to tell.
fn quiet_on_closed_pipe(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    error
}

/// Prints `bytes` to standard output.
pub fn print(bytes: &[u8]) -> io::Result<()> {
    let mut output = Output::new();
    output.write_all(bytes)?;
    output.flush()
}

/// Writes a line to standard error. If that cannot be written there is nowhere left to say so.
pub fn tell(line: std::fmt::Arguments<'_>) {
    let _nowhere_left = writeln!(anstream::stderr(), "{line}");
}

/// The word before an error message, in colour where colours are wanted.
pub const ERROR: &str = "\u{1b}[1m\u{1b}[31merror\u{1b}[0m";

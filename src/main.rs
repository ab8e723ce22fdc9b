//! Arguments and exit code; everything else is in the library.

use clap::Parser;
use seamripper::command::output::{ERROR, tell};
use seamripper::command::{Arguments, Ending, run};
use seamripper::config::Problems;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(Ending::Good) => ExitCode::SUCCESS,
        Ok(Ending::SomeFailed) => ExitCode::FAILURE,
        Err(error) => {
            tell(format_args!("{ERROR}: {error:#}"));
            ExitCode::from(if error.is::<Problems>() { 2 } else { 1 })
        }
    }
}

//! Arguments, logging, exit code; everything else is in the library.

use clap::Parser;
use seamripper::command::{Arguments, Ending, run};
use seamripper::config::Problems;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let filter = EnvFilter::try_from_env("SEAMRIPPER_LOG")
        .unwrap_or_else(|_| EnvFilter::new(if arguments.common.quiet { "error" } else { "warn" }));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false).init();
    match run(arguments) {
        Ok(Ending::Good) => ExitCode::SUCCESS,
        Ok(Ending::SomeFailed) => ExitCode::FAILURE,
        Err(error) => {
            anstream::eprintln!("{}: {error:#}", seamripper::command::output::ERROR);
            ExitCode::from(if error.is::<Problems>() { 2 } else { 1 })
        }
    }
}

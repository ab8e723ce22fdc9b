//! Arguments and exit code; everything else is in the library.

use clap::Parser;
use seamripper::bus::BusError;
use seamripper::command::output::{ERROR, tell};
use seamripper::command::{Arguments, Ending, heap, run};
use seamripper::config::Problems;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    heap::give_back_at_once();
    match run(Arguments::parse()) {
        Ok(Ending::Good) => ExitCode::SUCCESS,
        Ok(Ending::SomeFailed) => ExitCode::FAILURE,
        Err(error) => {
            tell(format_args!("{ERROR}: {error:#}"));
            ExitCode::from(if is_configuration(&error) { 2 } else { 1 })
        }
    }
}

/// Whether there is no use in trying again with the same settings.
fn is_configuration(error: &anyhow::Error) -> bool {
    let bus = error.downcast_ref::<BusError>();
    error.is::<Problems>() || matches!(bus, Some(BusError::Settings(_) | BusError::Refused { .. }))
}

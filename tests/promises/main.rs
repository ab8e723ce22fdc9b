//! What Seamripper promises to its users, one file per promise.
#![allow(clippy::unwrap_used, reason = "all of this is tests; clippy's own exception covers only `#[test]` functions")]

mod command_line;
mod compare_command;
mod content;
mod data;
mod envelopes;
mod estimates;
mod files;
mod golden;
mod hostile;
mod html;
mod imatch;
mod lexicons;
mod limits;
mod mail;
mod relations;
mod sign_command;
mod tune_command;
mod words;

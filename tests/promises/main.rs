//! What Seamripper promises to its users, one file per promise.
#![allow(clippy::unwrap_used, reason = "all of this is tests; clippy's own exception covers only `#[test]` functions")]

mod bus;
mod command_line;
mod compare_command;
mod content;
mod data;
mod demo;
mod envelopes;
mod estimates;
mod explain_command;
mod files;
mod fold;
mod golden;
mod hostile;
mod html;
mod http;
mod imatch;
mod ingest_command;
mod kafka;
mod lexicons;
mod limits;
mod made;
mod mail;
mod memory;
mod naive;
mod probe;
mod quality;
mod relations;
mod run;
mod scan_command;
mod schemas;
mod sign_command;
mod snapshots;
mod tail_command;
mod tune_command;
mod words;

//! What Seamripper promises to its users, one file per promise.

mod data;
mod tune_command;
mod estimates;

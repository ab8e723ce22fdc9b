//! What Seamripper promises to its users, one file per promise.

mod data;
mod estimates;
mod tune_command;

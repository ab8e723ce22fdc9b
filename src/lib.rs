//! Seamripper tells mirrors, quilts and template pages in a stream of web pages and e-mails.
//!
//! A record comes from a [`bus`], or out of a [`corpus`] of files, becomes a [`document`], is cut into [`text`] and signed ([`signature`]);
//! the [`store`] says which earlier documents share its keys, and [`verdict`] what that means. [`pipeline`] joins the steps
//! and is the place to start reading; [`http`] is how others talk to a run, [`command`] what a user can ask for, and [`config`]
//! what can be set.

pub mod bus;
pub mod command;
pub mod config;
pub mod corpus;
pub mod document;
mod fault;
pub mod http;
pub mod metrics;
pub mod pipeline;
pub mod signature;
mod spelling;
pub mod store;
pub mod text;
pub mod verdict;

//! The old conversation, read from transcripts made up here: every kind of row, every shape of tree.

#![allow(
    clippy::collapsible_match,
    clippy::collapsible_if,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do"
)]

mod agreement;
mod commands;
mod cursors;
mod end;
mod generator;
mod index;
mod limits;
mod oracle;
mod shapes;
mod support;
mod truncation;

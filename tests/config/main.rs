//! The config: layers, checks, messages, schemas, and the commands that show them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod support;

mod bad_input;
mod commands;
mod editor;
mod exec;
mod kept;
mod last_good;
mod layers;
mod mutations;
mod readme;
mod schemas;

//! Tests of the notes store, through its library and through the program.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail as tests do"
)]

mod commands;
mod concurrency;
mod crash;
mod disk;
mod doctor;
mod foreign;
mod properties;
mod shelves;
mod support;
mod tools;

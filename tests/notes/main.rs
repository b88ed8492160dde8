//! Tests of the notes store, through its library and through the program.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod concurrency;
mod crash;
mod shelves;
mod support;
mod tools;

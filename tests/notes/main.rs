//! Tests of the notes store, through its library and through the program.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod shelves;
mod support;
mod tools;

//! The package: skills and playbook, the embedded plugin, install and uninstall, doctor, dream.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)] // a test may fail loudly

mod bench;
mod client;
mod copies;
mod doctor;
mod dream;
mod generated;
mod install;
mod journey;
mod readme;

#[path = "../support/mod.rs"]
mod support;

//! Scenarios in the real client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../support/mod.rs"]
mod support;

mod compaction;
mod config_lives;
mod history;
mod notes;
mod spine;
mod spine_auto;
mod spine_boot;
mod spine_config;
mod spine_handoff;
mod spine_helper;
mod spine_plugin;
mod spine_prune;
mod status_line;
mod support_works;
mod window;

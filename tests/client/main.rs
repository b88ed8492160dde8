//! Scenarios in the real client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../support/mod.rs"]
mod support;

mod spine;
mod spine_auto;
mod spine_boot;
mod spine_handoff;
mod support_works;
mod window;

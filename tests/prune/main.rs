//! The cut: its plan, the rebuilt conversation, the figures, and what a person is shown of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod budget;
mod cli;
mod estimate;
mod handback;
mod plan;
mod properties;
mod replay;
mod report;
mod rows;
mod shapes;
mod taken_back;
mod talk;

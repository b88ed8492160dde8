//! End-to-end support: the real client between a scripted model and a temporary home.
//!
//! ```ignore
//! #[path = "../support/mod.rs"]
//! mod support;
//! use support::{Lab, Reply, both_builds};
//!
//! both_builds! {
//!     /// A command's output is in the next request.
//!     fn a_tool_turn(build) {
//!         let lab = Lab::on(build).script([Reply::bash("echo soup"), Reply::text("done")]).start();
//!         let mut tty = lab.interactive();
//!         tty.ask("look");
//!         let request = lab.model.last();
//!         request.assert_well_formed();
//!         assert!(request.contains("soup"));
//!         tty.leave();
//!     }
//! }
//! ```
//!
//! makes two tests, `a_tool_turn::on_oldest` and `a_tool_turn::on_newest`. A build that is not here and cannot be
//! installed is left out, and stderr says so. At most two clients run at once, whatever the number of test threads
//! and processes. No scenario waits for a time: it waits for a text on the screen, a request, or rest.
//!
//! - [`Lab`]: folders, settings, files, plugins, headless and stream-json runs, transcript, logs.
//! - [`Model`]: the stand-in; [`Reply`] what it says, [`Gate`] to hold a reply, [`Request`] what it was sent.
//! - [`Tty`]: the client in a pseudo-terminal.
//!
//! A failed scenario prints the last screen (and draws it below `target/screens/`), the last request in outline, the
//! client's complaints, and the ends of both logs.

// A test binary uses a part of this, and clippy knows tests only by their attribute.
#![allow(dead_code, unused_imports, unused_macros)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use std::time::Duration;

mod build;
mod client;
mod http;
mod logs;
mod model;
mod reply;
mod request;
mod screen;
mod stream;
mod transcript;
mod tty;

pub use build::{Build, left_out, target, typescript};
pub use client::{Lab, LabBuilder, Run, checkout_plugin};
pub use logs::Logs;
pub use model::Model;
pub use reply::{Gate, Reply};
pub use request::{Asker, Request};
pub use stream::Stream;
pub use transcript::Transcript;
pub use tty::{Key, Tty};

/// How long a test waits for something that should come: long, since the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Makes one test a build out of each scenario.
macro_rules! both_builds {
    ($($(#[$meta:meta])* fn $name:ident($build:ident) $body:block)+) => {$(
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            fn scenario($build: $crate::support::Build) $body

            #[test]
            fn on_oldest() {
                $crate::support::Build::OLDEST.run(scenario);
            }

            #[test]
            fn on_newest() {
                $crate::support::Build::NEWEST.run(scenario);
            }
        }
    )+};
}
pub(crate) use both_builds;

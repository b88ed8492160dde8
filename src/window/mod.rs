//! The context window: where it ends, which one it is, and what happens on the way from one to the next.
//!
//! [`reset_point`] derives the marks from what the client says; [`ordinal`] names windows; [`machine`] decides about
//! boot, warning, close-out and reset; [`reset_text`] writes what a reset hands on. All of it is pure: the facts come
//! in as values, and what is to be done goes out as values.

mod environment;
pub mod machine;
pub mod options;
pub mod ordinal;
pub mod reset_point;
pub mod reset_text;

pub use machine::{Ctx, Input, Output, State, step, watch};
pub use options::WindowOptions;
pub use ordinal::{Standing, WindowId};
pub use reset_point::{Derivation, Environment, Marks, Unit};

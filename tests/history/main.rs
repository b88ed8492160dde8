//! The old conversation, read from transcripts made up here: every kind of row, every shape of tree.

mod agreement;
mod cursors;
mod generator;
mod limits;
mod oracle;
mod shapes;
mod support;
mod truncation;

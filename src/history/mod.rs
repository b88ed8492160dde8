//! The old conversation, read from the transcript that the client writes.
//!
//! The transcript is one JSON object a line. It is the only source and is never written. A pass over it
//! ([`Transcript`]) touches what it must and skips the payloads; a branch is chosen from a head; every row and call
//! has a lasting address, its seq.

mod boundary;
mod error;
mod key;
mod reader;
mod row;
mod scan;
mod skim;
mod table;
mod transcript;
mod tree;

pub use error::HistoryError;
pub use row::{Attachment, Block, Content, Kind, Row, Usage};
pub use transcript::{Head, RowId, Standing, Transcript};

//! The old conversation, read from the transcript that the client writes.
//!
//! The transcript is one JSON object a line. It is the only source and is never written. A pass over it
//! ([`Transcript`]) touches what it must and skips the payloads; a branch is chosen from a head; every row and call
//! has a lasting address, its seq.

mod boundary;
mod columns;
mod conversation;
mod copies;
mod end;
mod error;
mod event;
mod index;
mod key;
mod place;
mod reader;
pub mod record;
mod row;
mod scan;
mod search;
mod side;
mod skim;
mod table;
mod text;
pub mod tools;
mod transcript;
mod tree;

pub use conversation::{Conversation, Shown, WAIT};
pub use error::HistoryError;
pub use event::{Role, ToolStatus};
pub use row::{Attachment, Block, Content, Kind, Row, Usage};
pub use transcript::{Head, RowId, Standing, Transcript};

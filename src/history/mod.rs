//! The old conversation, read from the transcript that the client writes.

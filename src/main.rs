//! The `notesoup` program.
fn main() {}

//! Copies standard input to standard output: what any program costs that reads a request and answers it.

#![allow(clippy::unwrap_used, reason = "a bench ends when something fails")]

use std::io::{Read as _, Write as _, stdin, stdout};

fn main() {
    let mut request = Vec::new();
    stdin().lock().read_to_end(&mut request).unwrap();
    stdout().lock().write_all(&request).unwrap();
}

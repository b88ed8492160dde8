//! Tests of the notes store, through its library and through the program.

mod shelves;
mod support;

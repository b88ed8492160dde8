//! The config: layers, checks, messages, schemas, and the commands that show them.

mod support;

mod bad_input;
mod commands;
mod editor;
mod exec;
mod last_good;
mod layers;
mod mutations;
mod schemas;

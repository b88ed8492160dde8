//! The plugin and its marketplace file, compiled into the program.

/// Every embedded file: its path relative to the marketplace's folder, with `/` between components, and its bytes.
/// Sorted by path.
pub static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The bytes of one embedded file.
pub fn file(path: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, bytes)| *bytes)
}

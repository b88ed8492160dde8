//! Instants as the frontmatter writes them: `2026-11-30T12:00:00.000+00:00`.

use std::time::SystemTime;

use jiff::Timestamp;

/// The instant as text, in milliseconds.
pub fn format(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%S%.3f+00:00").to_string()
}

/// Reads any RFC 3339 instant.
pub fn parse(text: &str) -> Option<Timestamp> {
    text.trim().parse().ok()
}

/// A file's time as an instant, when the calendar reaches that far.
pub fn of_file(time: SystemTime) -> Option<Timestamp> {
    Timestamp::try_from(time).ok()
}

/// The present, cut to the milliseconds that a note keeps.
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

//! Whether a dream is worth it: time since the last one, and enough new material.

use jiff::Timestamp;
use serde::Serialize;

use super::DreamOptions;

/// Open, or why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Go ahead.
    Open,
    /// Not now.
    Closed {
        /// In one line, with the figures.
        reason: String,
    },
}

/// Judges by the options. A clock that was set back counts as no time gone by.
pub(super) fn judge(last: Option<Timestamp>, now: Timestamp, changed: usize, options: &DreamOptions) -> Gate {
    let closed = |reason: String| Gate::Closed { reason };
    if let Some(last) = last {
        let hours = (now.as_second() - last.as_second()).max(0) / 3600;
        if hours < i64::from(options.min_hours) {
            let ago = match hours {
                0 => "less than an hour".to_owned(),
                1 => "an hour".to_owned(),
                _ => format!("{hours} hours"),
            };
            return closed(format!(
                "the last one was {ago} ago, and {} hours must lie between two (dream.min_hours)",
                options.min_hours
            ));
        }
    }
    if changed < options.min_changed_notes {
        let since = if last.is_some() {
            "new or changed since the last one"
        } else {
            "there in all"
        };
        return closed(format!(
            "{} {since}, and it takes {} (dream.min_changed_notes)",
            match changed {
                1 => "1 note is".to_owned(),
                _ => format!("{changed} notes are"),
            },
            options.min_changed_notes
        ));
    }
    Gate::Open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn judged(last: Option<&str>, changed: usize) -> Gate {
        judge(
            last.map(at),
            at("2026-12-02T12:00:00Z"),
            changed,
            &DreamOptions::default(),
        )
    }

    #[test]
    fn the_first_dream_needs_material_only() {
        assert_eq!(judged(None, 5), Gate::Open);
        assert!(matches!(judged(None, 4), Gate::Closed { reason } if reason.starts_with("4 notes are there in all")));
    }

    #[test]
    fn a_dream_keeps_its_distance_from_the_last_one() {
        assert_eq!(judged(Some("2026-12-01T16:00:00Z"), 5), Gate::Open);
        assert!(
            matches!(judged(Some("2026-12-01T16:00:01Z"), 99), Gate::Closed { reason } if reason.contains("19 hours ago"))
        );
        assert!(
            matches!(judged(Some("2027-01-01T00:00:00Z"), 99), Gate::Closed { reason } if reason.contains("less than an hour ago"))
        );
    }

    #[test]
    fn zero_opens_a_gate() {
        let options = DreamOptions {
            min_hours: 0,
            min_changed_notes: 0,
            ..DreamOptions::default()
        };
        let now = at("2026-12-02T12:00:00Z");
        assert_eq!(judge(Some(now), now, 0, &options), Gate::Open);
    }
}

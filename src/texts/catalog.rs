//! Every text that the program asks for, with the placeholders it fills: what a layer may name and use.

/// A text that the config gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text {
    /// Its name: `[texts.<name>]`.
    pub name: &'static str,
    /// Where it is used.
    pub about: &'static str,
    /// The placeholders that are filled in; a text may leave any out.
    pub placeholders: &'static [&'static str],
}

const fn text(name: &'static str, about: &'static str, placeholders: &'static [&'static str]) -> Text {
    Text {
        name,
        about,
        placeholders,
    }
}

/// The texts, in the order in which a session meets them.
pub const ALL: &[Text] = &[
    text(
        "boot_identity",
        "Who the model is and which window this is.",
        &["agent", "model", "window_id"],
    ),
    text(
        "boot_previous",
        "Follows boot_identity when there was a window before this one.",
        &["window_id", "previous_window_id"],
    ),
    text(
        "boot_first",
        "Follows boot_identity in the first window of a conversation.",
        &["window_id"],
    ),
    text(
        "boot_protocol",
        "How memory works here.",
        &["wipe_sentence", "history_sentence"],
    ),
    text(
        "boot_history",
        "Fills {history_sentence} when the client gave a transcript.",
        &[],
    ),
    text(
        "boot_history_unavailable",
        "Fills {history_sentence} when it did not.",
        &[],
    ),
    text(
        "wipe_sentence",
        "Fills {wipe_sentence}: no tool resets the window, so a person does it.",
        &[],
    ),
    text(
        "wipe_sentence_tool",
        "Fills {wipe_sentence} where the tool `fresh_window` is switched on.",
        &[],
    ),
    text(
        "wipe_sentence_disabled",
        "Fills {wipe_sentence} where compaction is switched off altogether.",
        &[],
    ),
    text("boot_shelf", "Heading of one shelf.", &["home", "address", "count"]),
    text("boot_shelf_empty", "A shelf without a note.", &["home", "address"]),
    text(
        "boot_left_out",
        "Stands in place of what the budget did not let in.",
        &["count", "address"],
    ),
    text(
        "boot_cut",
        "Stands at the end of a text that was cut.",
        &["address", "total_chars"],
    ),
    text(
        "boot_home_unavailable",
        "Stands in place of a home that could not be read.",
        &["home", "reason"],
    ),
    text(
        "boot_home_partly",
        "Stands on a shelf of which a note or folder could not be read.",
        &["reason"],
    ),
    text(
        "boot_checkpoint",
        "Heading of the inlined checkpoint.",
        &["address", "age"],
    ),
    text("boot_agents", "Heading of the agents that still run.", &["count"]),
    text("boot_skills", "Our skills by name.", &["skills"]),
    text(
        "reset_head",
        "First row of a conversation after a reset.",
        &["window_id", "previous_window_id"],
    ),
    text(
        "forced_reset",
        "Behind the boot, chosen once for the new window and kept when the reset is tried again. The boot stands above it.",
        &["window_id", "previous_window_id"],
    ),
    text(
        "reset_last_calls",
        "Heading of the bounded text of the last calls, when the reset struck while a turn was at work.",
        &["count"],
    ),
    text("reset_todos", "Heading of the open todo list.", &["count"]),
    text(
        "reset_request",
        "Heading of what the person asked for last, when a reset came by itself between two turns.",
        &[],
    ),
    text(
        "warning",
        "What the model is sent when the fill crosses the warning mark.",
        &["window_id", "shared"],
    ),
    text(
        "closeout",
        "What the model is sent before a reset, in the turn that is ending.",
        &["window_id", "shared"],
    ),
    text(
        "warning_shared",
        "Fills {shared} in both. {fill} is one of the three lines below, {closing} one of the two closings.",
        &["fill", "closing"],
    ),
    text(
        "fill_before",
        "The fill, below the reset mark.",
        &["tokens", "reset_at", "until_reset"],
    ),
    text(
        "fill_reached",
        "The fill, at the reset mark or above.",
        &["tokens", "reset_at"],
    ),
    text("fill_asked", "The person asked for it, or there is no figure.", &[]),
    text("closing_warning", "Closing of the warning.", &["reset_at"]),
    text("closing_closeout", "Closing of the close-out.", &[]),
    text(
        "status_line",
        "{ordinal} is the window's number, {point} where Claude Code would compact, {next} one of the five below.",
        &["window_id", "ordinal", "bar", "tokens", "point", "next"],
    ),
    text(
        "status_line_uncounted",
        "The same where no row makes windows, so that none is counted.",
        &["bar", "tokens", "point", "next"],
    ),
    text("status_warning", "Below the warning mark.", &["until"]),
    text("status_warning_now", "At the warning mark.", &[]),
    text("status_reset", "Warned, below the reset mark.", &["until"]),
    text("status_reset_now", "A reset is due.", &[]),
    text("status_compaction", "No reset can follow.", &["until"]),
    text("handoff", "Instructions for the client's own summary.", &[]),
    text(
        "handoff_added",
        "Added behind the structure when the person typed something after /compact.",
        &["instructions"],
    ),
    text("veto_compact", "/compact under profile \"notesoup\".", &["profile"]),
    text("veto_prune", "/compact prune under profile \"notesoup\".", &["profile"]),
    text(
        "veto_precompute",
        "Summaries prepared ahead, under \"both\" and \"notesoup\".",
        &["profile"],
    ),
    text(
        "veto_plugin",
        "The same for a compaction that another plugin asked for, under profile \"notesoup\".",
        &["profile", "plugin"],
    ),
    text("prune_near_miss", "A near miss of `prune`.", &["instructions"]),
];

/// The text of this name.
pub fn find(name: &str) -> Option<&'static Text> {
    ALL.iter().find(|text| text.name == name)
}

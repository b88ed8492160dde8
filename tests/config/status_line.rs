//! The line under the prompt, through the whole table.

use std::fs;

use notesoup::handlers::{World, dispatch};
use notesoup::wire::{Answer, Effect, Event, Facts, Request, VERSION};
use serde_json::value::RawValue;
use serde_json::{Value, json};

struct Session {
    folder: tempfile::TempDir,
    state: Option<String>,
    answer: Option<Answer>,
}

impl Session {
    fn new(table: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let on = "[hooks]\nstatus-line.enabled = true\nstatus-line-in-turn.enabled = true\nstatus-line-at-start.enabled = true\n";
        fs::write(folder.path().join("hooks.toml"), format!("{table}\n{on}")).unwrap();
        let mut session = Self {
            folder,
            state: None,
            answer: None,
        };
        assert_eq!(
            session.line(Event::ClassicSessionStart, json!({"source": "startup"}), None, false),
            [None]
        );
        session
    }

    /// The lines that an event sets, with this many tokens in the window of a million.
    fn line(&mut self, event: Event, input: Value, tokens: Option<u64>, headless: bool) -> Vec<Option<String>> {
        let usage = json!({
            "tokens": tokens,
            "window": 1_000_000,
            "percent": tokens.map(|tokens| tokens / 10_000),
            "breakdown": { "rawMaxTokens": 1_000_000, "autoCompactThreshold": 967_000, "isAutoCompactEnabled": true },
        });
        let facts = Facts {
            session_id: Some("s".to_owned()),
            cwd: Some(self.folder.path().display().to_string()),
            usage: Some(serde_json::from_value(usage).unwrap()),
            headless,
            ..Facts::default()
        };
        let mut world = World::alone_in(self.folder.path());
        world.user_file = Some(self.folder.path().join("hooks.toml"));
        let input = RawValue::from_string(input.to_string()).unwrap();
        let state = self.state.take().map(|state| RawValue::from_string(state).unwrap());
        let request = Request {
            v: VERSION,
            event: event.name().into(),
            e: Some(&input),
            facts,
            state: state.as_deref(),
        };
        let reply = dispatch(&request, &mut world).unwrap();
        self.state = reply
            .state
            .as_ref()
            .map(Value::to_string)
            .or(state.as_deref().map(|state| state.get().to_owned()));
        self.answer = reply.answer;
        let lines = reply.effects.into_iter().filter_map(|effect| match effect {
            Effect::Status { text } => Some(text),
            _ => None,
        });
        lines.collect()
    }

    /// The one line after a measure.
    fn measured(&mut self, tokens: u64) -> Option<String> {
        let mut lines = self.line(Event::SessionMeasure, json!({}), Some(tokens), false);
        assert_eq!(lines.len(), 1);
        lines.remove(0)
    }
}

#[test]
fn it_is_there_from_a_runway_below_the_first_mark_on_and_says_what_is_next() {
    let mut session = Session::new("");
    assert_eq!(session.measured(20_000), None);
    assert_eq!(session.measured(926_039), None);
    let near = session.measured(926_040).unwrap();
    assert_eq!(
        near,
        "window :0 ███████████░ 926,040 of 967,000 · the model is warned in 16,384"
    );
    assert!(
        session
            .measured(942_424)
            .unwrap()
            .ends_with("· the model is warned now")
    );
    let batch = session.line(
        Event::ClassicPostToolBatch,
        json!({"tool_calls": []}),
        Some(944_000),
        false,
    );
    assert!(batch[0].as_ref().unwrap().contains("944,000"), "{batch:?}");
    assert!(
        matches!(session.answer, Some(Answer::Context { .. })),
        "the warning comes all the same"
    );
    assert!(
        session
            .measured(945_808)
            .unwrap()
            .ends_with("· a fresh window in 13,000")
    );
    assert!(
        session
            .measured(958_808)
            .unwrap()
            .ends_with("· a fresh window follows this turn")
    );
    // Nobody looks at a screen there.
    assert_eq!(session.line(Event::SessionMeasure, json!({}), Some(945_000), true), []);
    // Right after a compaction the client has no figure, and the old one goes.
    assert_eq!(session.line(Event::SessionMeasure, json!({}), None, false), [None]);
}

#[test]
fn where_no_row_makes_windows_none_is_counted_and_no_reset_promised() {
    let mut session = Session::new("profile = 'compact-shaper'");
    assert_eq!(session.measured(20_000), None);
    let near = session.measured(960_000).unwrap();
    assert_eq!(near, "███████████░ 960,000 of 967,000 · Claude Code compacts in 7,000");
}

//! A row that runs a program of the person's, through the whole table.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use notesoup::handlers::{World, dispatch};
use notesoup::wire::{Answer, Effect, Event, Facts, Reply, Request, VERSION};
use serde_json::json;
use serde_json::value::RawValue;
use tempfile::TempDir;

struct Team {
    folder: TempDir,
    facts: Facts,
}

impl Team {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let facts = Facts {
            session_id: Some("s".to_owned()),
            cwd: Some(folder.path().display().to_string()),
            ..Facts::default()
        };
        Self { folder, facts }
    }

    /// The person's file has one row, which runs this shell script.
    fn policy(self, event: &str, script: &str) -> Self {
        let path = self.script(script);
        self.row(event, &[path.to_str().unwrap()])
    }

    fn script(&self, text: &str) -> PathBuf {
        let path = self.folder.path().join("policy.sh");
        fs::write(&path, text).unwrap();
        path
    }

    fn row(self, event: &str, arguments: &[&str]) -> Self {
        let argv = [&["/bin/sh"], arguments].concat();
        let row = format!(
            "[hooks.policy]\nevent = '{event}'\nrun = 'exec'\norder = 1\noptions = {{ argv = {argv:?}, timeout_ms = 20000 }}\n"
        );
        fs::write(self.folder.path().join("hooks.toml"), row).unwrap();
        self
    }

    fn send(&self, event: Event, input: serde_json::Value) -> Reply {
        let mut world = World::alone_in(self.folder.path());
        world.user_file = Some(self.folder.path().join("hooks.toml"));
        let input = RawValue::from_string(input.to_string()).unwrap();
        let request = Request {
            v: VERSION,
            event: event.name().into(),
            e: Some(&input),
            facts: self.facts.clone(),
            state: None,
        };
        dispatch(&request, &mut world).unwrap()
    }

    fn compact(&self) -> Reply {
        self.send(
            Event::SessionCompact,
            json!({ "trigger": "manual", "instructions": "keep it", "messages": [] }),
        )
    }
}

#[test]
fn a_program_answers_in_the_place_of_the_rows_behind_it() {
    let team = Team::new().policy(
        "session.compact",
        r#"cat > seen.json; echo '{"v":1,"answer":{"kind":"skip","reason":"not on Fridays"},"effects":[{"effect":"log","text":"by policy"}]}'"#,
    );
    let reply = team.compact();
    assert_eq!(reply.row.as_deref(), Some("policy"));
    assert_eq!(
        reply.answer,
        Some(Answer::Skip {
            reason: "not on Fridays".to_owned()
        })
    );
    assert_eq!(
        reply.effects,
        [Effect::Log {
            text: "by policy".to_owned()
        }]
    );
    let seen: serde_json::Value =
        serde_json::from_slice(&fs::read(team.folder.path().join("seen.json")).unwrap()).unwrap();
    assert_eq!(
        (&seen["v"], &seen["event"], &seen["row"]),
        (&json!(1), &json!("session.compact"), &json!("policy"))
    );
    assert_eq!(seen["e"]["instructions"], "keep it");
    assert_eq!(seen["facts"]["session_id"], "s");
    assert!(seen.get("state").is_none());
}

/// Whatever the program does wrong, the next row answers.
#[test]
fn a_program_that_fails_is_as_if_its_row_were_not_there() {
    for script in [
        "",
        "exit 0",
        "exit 3",
        "echo rubbish",
        r#"echo '{"v":2}'"#,
        r#"echo '{"v":1,"answer":{"kind":"context","texts":["x"]}}'"#,
        r#"echo '{"v":1,"answer":{"kind":"nonsense"}}'"#,
        r#"echo '{"v":1,"effects":[{"effect":"run_command","id":"x","command":"clear","args":""}]}'"#,
        r#"echo '{"v":1,"answer":{"kind":"skip","reason":"x"}}'; kill -9 $$"#,
        "yes",
    ] {
        let reply = Team::new().policy("session.compact", script).compact();
        assert_eq!(reply.row.as_deref(), Some("handoff"), "{script}");
        assert!(matches!(reply.answer, Some(Answer::Next { .. })), "{script}");
        assert!(reply.effects.is_empty(), "{script}");
    }
}

#[test]
fn no_value_becomes_part_of_a_command_that_is_read_again() {
    let team = Team::new();
    let script = team.script(r#"printf '{"v":1,"answer":{"kind":"skip","reason":"%s"}}' "$1""#);
    let argument = "; touch pwned; $(touch pwned) `touch pwned` 'x";
    let team = team.row("session.compact", &[script.to_str().unwrap(), argument]);
    assert_eq!(
        team.compact().answer,
        Some(Answer::Skip {
            reason: argument.to_owned()
        })
    );
    assert!(!team.folder.path().join("pwned").exists());
}

#[test]
fn a_projects_variables_do_not_reach_the_program() {
    // PATH and HOME are what every process has; a cloned project that sets them is not to choose the program.
    let mut team = Team::new().policy(
        "session.compact",
        r#"printf '{"v":1,"answer":{"kind":"skip","reason":"%s"}}' "${CARGO_MANIFEST_DIR-gone}""#,
    );
    team.facts.settings.project_env = vec!["CARGO_MANIFEST_DIR".to_owned()];
    assert_eq!(
        team.compact().answer,
        Some(Answer::Skip {
            reason: "gone".to_owned()
        })
    );

    let mut team = Team::new();
    fs::write(
        team.folder.path().join("hooks.toml"),
        "[hooks.policy]\nevent = 'session.compact'\nrun = 'exec'\norder = 1\noptions = { argv = ['true'] }\n",
    )
    .unwrap();
    team.facts.settings.project_env = vec!["PATH".to_owned()];
    assert_eq!(team.compact().row.as_deref(), Some("handoff"));
}

#[test]
fn a_row_is_not_run_from_a_file_that_others_can_change() {
    let team = Team::new().policy(
        "session.compact",
        r#"echo '{"v":1,"answer":{"kind":"skip","reason":"x"}}'"#,
    );
    let file = team.folder.path().join("hooks.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(team.compact().row.as_deref(), Some("handoff"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(team.compact().row.as_deref(), Some("policy"));
}

//! A cut is taken back with `history_read`, by the id and by the address that the note names.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use notesoup::history::record::{self, Cut};
use notesoup::history::{Head, tools};
use notesoup::outcome::to_json;
use notesoup::prune::{CompactEvent, PruneInput, PruneOutcome, Seqs, is_cut, run};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::talk::{Talk, eager, long, rebuild, result_of, texts};

/// A transcript that is cut, and cut again.
struct Session {
    file: tempfile::NamedTempFile,
    state: tempfile::TempDir,
    last: Value,
}

impl Session {
    fn new(talk: &Talk) -> Self {
        Self {
            file: talk.transcript(),
            state: tempfile::tempdir().unwrap(),
            last: talk.rows.last().unwrap()["uuid"].clone(),
        }
    }

    /// Cuts the conversation, and writes what the client writes then: a boundary, and each message again.
    fn cut(&mut self, talk: &Talk, number: usize, with_record: bool) -> Vec<Value> {
        let event = talk.event();
        let raw: Box<RawValue> = serde_json::from_str(&event).unwrap();
        let parsed = CompactEvent::parse(&raw).unwrap();
        let (options, seqs) = (eager(), Seqs::new(Some(self.file.path().to_path_buf()), None));
        let outcome = run(&PruneInput {
            entries: &parsed.messages,
            transcript: Some(self.file.path()),
            options: &options,
            cwd: None,
            tokens: None,
            target: None,
            seq: &|id| seqs.of(id),
        });
        let PruneOutcome::Answer {
            messages, record: rows, ..
        } = outcome
        else {
            panic!("not cut: {outcome:?}")
        };
        if with_record {
            record::write(self.state.path(), self.file.path(), &Cut { messages: rows }).unwrap();
        }
        let boundary = format!("boundary-{number}");
        self.write(&json!({
            "type": "system", "subtype": "compact_boundary", "uuid": boundary, "parentUuid": null,
            "logicalParentUuid": self.last, "content": "Conversation compacted",
        }));
        let messages = rebuild(&talk.entries, &messages);
        let mut copies = Talk::after(&messages);
        copies.rows[0]["parentUuid"] = json!(boundary);
        for row in &copies.rows {
            self.write(&renamed(row, number));
        }
        self.last = renamed(copies.rows.last().unwrap(), number)["uuid"].clone();
        messages
    }

    fn write(&mut self, row: &Value) {
        writeln!(self.file, "{row}").unwrap();
        self.file.flush().unwrap();
    }

    fn call(&self, tool: &str, input: &Value) -> Value {
        let context = tools::Context {
            transcript: Some(self.file.path()),
            head: Head::Uuid(self.last.as_str().unwrap()),
            state_dir: Some(self.state.path()),
            is_subagent: false,
            wait: Duration::ZERO,
        };
        let outcome = to_json(&tools::call(tool, input, &context));
        assert_eq!(outcome["ok"], true, "{outcome}");
        outcome["data"].clone()
    }

    /// The whole result, as history has it.
    fn result(&self, input: Value) -> String {
        let data = self.call("history_read", &input);
        let from = usize::try_from(data["result_offset_chars"].as_u64().unwrap()).unwrap();
        data["content"]["text"].as_str().unwrap().chars().skip(from).collect()
    }
}

/// Rows of each cut have uuids of their own.
fn renamed(row: &Value, number: usize) -> Value {
    serde_json::from_str(&row.to_string().replace("-8000-9", &format!("-900{number}-9"))).unwrap()
}

/// The address in a note.
fn seq(note: &str) -> u64 {
    let (_, seq) = note
        .rsplit_once(" or seq ")
        .unwrap_or_else(|| panic!("no address: {note}"));
    seq.split(|character: char| !character.is_ascii_digit())
        .next()
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn by_id_and_by_address_also_after_a_second_cut() {
    for with_record in [true, false] {
        let mut talk = Talk::new();
        talk.prompt("go")
            .step("toolu_1", "Bash", json!({ "command": "make" }), &long(3_000))
            .queued("also this");
        talk.respond()
            .says("looking")
            .calls("toolu_2", "Bash", json!({ "command": "a" }));
        talk.calls("toolu_3", "Bash", json!({ "command": "b" }))
            .answered("toolu_3", &long(900));
        talk.answered("toolu_2", &long(800)).ending();
        let mut session = Session::new(&talk);
        let first = session.cut(&talk, 1, with_record);
        let sizes = [("toolu_1", 3_000), ("toolu_2", 800), ("toolu_3", 900)];
        let check = |session: &Session, messages: &[Value]| {
            for (id, size) in sizes {
                let cut = result_of(messages, id);
                assert!(is_cut(cut));
                assert_eq!(session.result(json!({ "tool_use_id": id })), long(size));
                assert_eq!(session.result(json!({ "seq": seq(cut) })), long(size));
            }
        };
        check(&session, &first);

        // The conversation goes on behind the first cut, and is cut again.
        let mut behind = Talk::after(&first);
        for row in &mut behind.rows {
            *row = renamed(row, 1);
        }
        for entry in &mut behind.entries {
            *entry = renamed(entry, 1);
        }
        behind.go_on_from(session.last.clone());
        let before = behind.rows.len();
        behind
            .step("toolu_4", "Bash", json!({ "command": "c" }), &long(2_000))
            .ending_in("later ");
        for row in &behind.rows[before..] {
            session.write(row);
        }
        session.last = behind.rows.last().unwrap()["uuid"].clone();
        let second = session.cut(&behind, 2, with_record);
        check(&session, &second);
        assert!(is_cut(result_of(&second, "toolu_4")));
        assert_eq!(session.result(json!({ "tool_use_id": "toolu_4" })), long(2_000));

        // Each word once, though it stands in the file three times.
        let listed = session.call("history_list", &json!({ "limit": 100, "roles": ["user", "assistant"] }));
        let contents: Vec<&str> = listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|item| item["content"].as_str())
            .collect();
        for text in texts(&first, "user").into_iter().chain(texts(&first, "assistant")) {
            // A prompt typed meanwhile is shown as the model was shown it.
            let framed = format!("\n{text}\n");
            let is_it = |content: &&&str| **content == text || content.contains(&framed);
            let times = contents.iter().filter(is_it).count();
            assert_eq!(times, 1, "{text}: {contents:?}");
        }
    }
}

#[test]
fn without_a_transcript_that_history_reads_the_id_stands_alone() {
    assert_eq!(Seqs::new(None, None).of("toolu_1"), None);
    assert_eq!(
        Seqs::new(Some(Path::new("/nowhere").to_path_buf()), None).of("toolu_1"),
        None
    );
}

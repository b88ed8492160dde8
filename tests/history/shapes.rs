//! Shapes that deserve a name, and every refusal.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::thread;
use std::time::Duration;

use notesoup::history::record::{self, Cut, HandedBack};
use notesoup::history::tools::{self, Context};
use notesoup::history::{Conversation, Head, Role, Standing, Transcript, WAIT};
use serde_json::{Value, json};

use crate::support::{Lab, boundary, call, code, data, lines, result, said, user};

fn texts(lab: &Lab, head: Head<'_>) -> Vec<String> {
    lab.shown(head).unwrap().into_iter().map(|shown| shown.text).collect()
}

#[test]
fn results_that_hang_off_parallel_calls_are_shown_with_them() {
    let lab = Lab::with(lines(&[
        user("a", None, "go"),
        call("b", "a", "m", "t1"),
        call("c", "b", "m", "t2"),
        result("d", "b", "t1", "one"),
        result("e", "c", "t2", "two"),
        said("f", "e", "done"),
    ]));
    let expected = ["go", "command: run t1\n---\none", "command: run t2\n---\ntwo", "done"];
    assert_eq!(texts(&lab, Head::AssumeLast), expected);
}

#[test]
fn each_call_sees_its_own_branch() {
    let lab = Lab::with(lines(&[
        user("a", None, "go"),
        user("left", Some("a"), "left"),
        user("right", Some("a"), "right"),
        call("l", "left", "ml", "tl"),
        call("r", "right", "mr", "tr"),
    ]));
    assert_eq!(texts(&lab, Head::ToolUse("tl")), ["go", "left", "command: run tl"]);
    assert_eq!(texts(&lab, Head::ToolUse("tr")), ["go", "right", "command: run tr"]);
    assert_eq!(
        code(lab.call("history_read", json!({"seq": 3}), Head::ToolUse("tl"))),
        "not_on_branch"
    );
}

#[test]
fn without_the_row_of_the_call_the_branch_ends_at_the_newest_row_or_result_that_is_known() {
    let lab = Lab::with(lines(&[
        user("a", None, "go"),
        call("left", "a", "ml", "tl"),
        result("left-result", "left", "tl", "left"),
        call("right", "a", "mr", "tr"),
        result("right-result", "right", "tr", "right"),
        call("pending", "left-result", "mp", "tp"),
    ]));
    let late = |rows: &[&str]| {
        let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
        lab.shown(Head::ToolUseOr("late", &rows))
            .map(|shown| shown.last().unwrap().text.clone())
    };
    assert_eq!(
        late(&["a", "left-result", "unknown"]).unwrap(),
        "command: run tl\n---\nleft"
    );
    // By their calls, as older builds name them; one without a result is passed over.
    assert_eq!(late(&["tl", "tp", "late"]).unwrap(), "command: run tl\n---\nleft");
    assert_eq!(late(&["tr"]).unwrap(), "command: run tr\n---\nright");
    assert!(late(&["unknown"]).is_err());
}

#[test]
fn the_row_of_the_call_itself_is_waited_for() {
    let lab = Lab::with(lines(&[user("a", None, "go")]));
    let context = Context {
        transcript: Some(&lab.path),
        head: Head::ToolUse("t"),
        state_dir: None,
        is_subagent: false,
        wait: WAIT,
    };
    let late = call("b", "a", "m", "t").to_string() + "\n";
    let page = thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = OpenOptions::new().append(true).open(&lab.path).unwrap();
            let (first, second) = late.split_at(late.len() / 2);
            thread::sleep(Duration::from_millis(60));
            file.write_all(first.as_bytes()).unwrap();
            thread::sleep(Duration::from_millis(60));
            file.write_all(second.as_bytes()).unwrap();
        });
        data(tools::call("history_list", &json!({"tool": "Bash"}), &context))
    });
    assert_eq!(page["items"][0]["tool_status"], "unfinished");
}

#[test]
fn a_cut_output_is_read_whole_by_the_id_of_its_call() {
    let whole = "the uncut output, ".repeat(100);
    let rows = [
        user("a", None, "go"),
        call("b", "a", "m", "t1"),
        result("c", "b", "t1", &whole),
        said("d", "c", "done"),
        boundary("x", "d"),
        user("a2", Some("x"), "go"),
        call("b2", "a2", "m2", "t1"),
        result("c2", "b2", "t1", "the uncut [cut: history_read]"),
        said("d2", "c2", "done"),
        user("e", Some("d2"), "on"),
    ];
    let cut = Cut {
        messages: vec![
            HandedBack {
                rows: vec!["a".into()],
                tool_use_ids: vec![],
            },
            HandedBack {
                rows: vec!["b".into()],
                tool_use_ids: vec!["t1".into()],
            },
            HandedBack {
                rows: vec!["c".into()],
                tool_use_ids: vec!["t1".into()],
            },
            HandedBack {
                rows: vec!["d".into()],
                tool_use_ids: vec![],
            },
        ],
    };
    for with_record in [true, false] {
        let lab = Lab::with(lines(&rows));
        if with_record {
            record::write(&lab.state(), &lab.path, &cut).unwrap();
        }
        let call = format!("command: run t1\n---\n{whole}");
        assert_eq!(
            texts(&lab, Head::AssumeLast),
            ["go", &call, "done", "Conversation compacted", "on"]
        );
        for input in [json!({"tool_use_id": "t1"}), json!({"seq": 3}), json!({"seq": 10})] {
            let read = data(lab.call("history_read", input, Head::AssumeLast));
            assert_eq!(read["content"]["text"], call);
            assert_eq!(read["seq"], 3);
            assert_eq!(read["window_id"], "claude:s:0");
        }
        let windows = data(lab.call("history_windows", json!({}), Head::AssumeLast));
        assert_eq!(windows["windows"][1]["began"], "prune");
        let again = lab
            .call("history_read", json!({"seq": 11}), Head::AssumeLast)
            .unwrap_err();
        assert_eq!((again.code, again.details), ("not_an_event", Some(json!({"seq": 3}))));
    }
}

#[test]
fn a_handed_back_prompt_is_shown_once_and_our_own_line_is_not_the_persons() {
    let rows = [
        user("a", None, "continue"),
        said("b", "a", "ok"),
        user("c", Some("b"), "continue"),
        boundary("x", "c"),
        user("y", Some("x"), "A fresh window begins here."),
        user("z", Some("y"), "continue"),
        said("d", "z", "ok"),
    ];
    let lab = Lab::with(lines(&rows));
    let cut = Cut {
        messages: vec![
            HandedBack::default(),
            HandedBack {
                rows: vec!["c".into()],
                tool_use_ids: vec![],
            },
        ],
    };
    record::write(&lab.state(), &lab.path, &cut).unwrap();
    let shown = lab.shown(Head::AssumeLast).unwrap();
    let prompts: Vec<u64> = shown
        .iter()
        .filter(|event| event.role == Role::User)
        .map(|event| event.seq)
        .collect();
    assert_eq!(prompts, [1, 3]);
    let windows = data(lab.call("history_windows", json!({}), Head::AssumeLast));
    assert_eq!(windows["windows"][1]["began"], "fresh_window");
}

#[test]
fn a_prompt_typed_after_a_compaction_is_no_copy_though_it_says_the_same() {
    let mut typed = user("y", Some("x"), "continue");
    typed["permissionMode"] = json!("default");
    let lab = Lab::with(lines(&[user("a", None, "continue"), boundary("x", "a"), typed]));
    assert_eq!(
        texts(&lab, Head::AssumeLast),
        ["continue", "Conversation compacted", "continue"]
    );
}

#[test]
fn what_stands_is_read_from_the_branch() {
    let boot = |uuid: &str, parent: &str, ordinal: u32| {
        let text = format!("<notesoup window=\"claude:s:{ordinal}\">\nnotes\n</notesoup>");
        json!({"type": "attachment", "uuid": uuid, "parentUuid": parent, "sessionId": "s",
            "attachment": {"type": "hook_additional_context", "content": [text]},
            "rendered": [{"content": format!("<system-reminder>\nSessionStart: {text} notesoup:warning\n</system-reminder>")}]})
    };
    let lab = Lab::with(lines(&[
        user("a", None, "go"),
        boot("b", "a", 0),
        boundary("x", "b"),
        boot("c", "x", 1),
        user("d", Some("c"), "on"),
        user("quote", Some("b"), "it says <notesoup window=\"claude:s:9\"> there"),
    ]));
    let transcript = Transcript::read(&lab.path).unwrap();
    let standing = |uuid: &str| {
        transcript.standing(
            transcript.head(Head::Uuid(uuid)).unwrap(),
            &["notesoup:warning", "notesoup:close-out"],
        )
    };
    let expected = Standing {
        boundaries: 1,
        marker: Some(1),
        marker_is_live: true,
        highest_in_file: 1,
        tagged: vec![true, false],
    };
    assert_eq!(standing("d").unwrap(), expected);
    // Rewound past the compaction: the first window stands again.
    let rewound = standing("quote").unwrap();
    assert_eq!((rewound.ordinal(), rewound.boundaries, rewound.marker), (0, 0, Some(0)));
}

#[test]
fn the_newest_row_known_brings_the_notes_behind_it_and_no_message() {
    let note = |uuid: &str, parent: &str| json!({"type": "attachment", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "attachment": {"type": "hook_additional_context", "content": ["so"]}});
    let lab = Lab::with(lines(&[
        user("a", None, "go"),
        said("b", "a", "of the one"),
        user("other", Some("a"), "of the other"),
        note("c", "b"),
        note("d", "c"),
        user("later", Some("d"), "left by a rewind"),
        note("elsewhere", "other"),
    ]));
    let transcript = Transcript::read(&lab.path).unwrap();
    let names = |rows: &[&str]| rows.iter().map(ToString::to_string).collect::<Vec<_>>();
    let head = |rows: &[&str]| transcript.head(Head::Newest(&names(rows))).ok();
    assert_eq!(head(&["a", "b", "late"]), transcript.find("d"));
    assert_eq!(head(&["a", "other"]), transcript.find("elsewhere"));
    assert_eq!(head(&["late"]), None);
}

#[test]
fn text_that_no_string_can_hold_is_shown_as_far_as_it_goes() {
    let mut bytes =
        br#"{"type":"user","uuid":"a","parentUuid":null,"message":{"content":"half \ud83d and bad "#.to_vec();
    bytes.extend_from_slice(b"\xff byte\"}}\n");
    let lab = Lab::with(bytes);
    assert_eq!(texts(&lab, Head::AssumeLast), ["half \u{fffd} and bad \u{fffd} byte"]);
}

#[test]
fn what_cannot_be_shown_is_refused_by_name_and_line() {
    let cases: [(&str, Vec<Value>, &str, Value); 3] = [
        (
            "unknown_row",
            vec![
                user("a", None, "x"),
                json!({"type": "hologram", "uuid": "b", "parentUuid": "a"}),
            ],
            "hologram",
            json!({"kind": "hologram", "line": 2}),
        ),
        (
            "unknown_row",
            vec![json!({"type": "assistant", "uuid": "b", "message": {"content": [{"type": "hum"}]}})],
            "hum",
            json!({"kind": "hum", "line": 1}),
        ),
        (
            "missing_ancestor",
            vec![user("b", Some("gone"), "x")],
            "gone",
            json!({"uuid": "gone", "line": 1}),
        ),
    ];
    for (expected, rows, name, details) in cases {
        let lab = Lab::with(lines(&rows));
        let refusal = lab.call("history_list", json!({}), Head::Uuid("b")).unwrap_err();
        assert_eq!((refusal.code, refusal.details), (expected, Some(details)));
        assert!(refusal.message.contains(name), "{}", refusal.message);
    }
    let lab = Lab::with(lines(&[user("a", None, "x")]) + "{\"type\":\"user\"\n" + &lines(&[user("b", Some("a"), "y")]));
    let refusal = lab.call("history_list", json!({}), Head::AssumeLast).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.details),
        ("malformed_row", Some(json!({"line": 2})))
    );
}

#[test]
fn a_row_whose_writing_was_broken_off_costs_no_other() {
    let torn = said("torn", "a", "half {\"of\": it").to_string();
    let mode = json!({"type": "mode", "mode": "normal", "sessionId": "s"});
    let behind = [user("b", Some("a"), "y"), said("c", "b", "z")];
    for cut in 1..torn.len() {
        for glued in [
            lines(&behind),
            lines(&[mode.clone(), behind[0].clone(), behind[1].clone()]),
        ] {
            let lab = Lab::with(lines(&[user("a", None, "x")]) + &torn[..cut] + &glued);
            assert_eq!(texts(&lab, Head::Uuid("c")), ["x", "y", "z"], "{}", &torn[..cut]);
        }
    }
    // Its own end may look like a row, but it is not one of the client's.
    let lab = Lab::with(lines(&[user("a", None, "x")]) + "{\"message\":{\"type\":\"text\"}\n");
    let refusal = lab.call("history_list", json!({}), Head::AssumeLast).unwrap_err();
    assert_eq!(refusal.code, "malformed_row");
}

#[test]
fn an_unknown_row_off_the_branch_harms_nobody() {
    let lab = Lab::with(lines(&[
        user("a", None, "x"),
        json!({"type": "hologram", "uuid": "b", "parentUuid": "a"}),
        json!({"type": "hologram", "no": "uuid"}),
        user("c", Some("a"), "y"),
    ]));
    assert_eq!(texts(&lab, Head::Uuid("c")), ["x", "y"]);
}

#[test]
fn every_refusal_has_its_code() {
    let lab = Lab::with(lines(&[
        user("a", None, "x"),
        json!({"type": "user", "uuid": "side", "parentUuid": "a", "isSidechain": true, "message": {"content": "s"}}),
        call("b", "a", "m", "t"),
        result("c", "b", "t", "r"),
        json!({"type": "system", "uuid": "d", "parentUuid": "c", "subtype": "turn_duration"}),
    ]));
    let list = |input: Value| code(lab.call("history_list", input, Head::Uuid("d")));
    let read = |input: Value| code(lab.call("history_read", input, Head::Uuid("d")));
    assert_eq!(list(json!({"window_id": "claude:s:7"})), "unknown_window_id");
    assert_eq!(list(json!({"window_id": "@previous"})), "unknown_window_id");
    assert_eq!(list(json!({"query": "  "})), "invalid_query");
    assert_eq!(list(json!({"query": [" "]})), "invalid_query");
    assert_eq!(list(json!({"limit": 201})), "page_too_large");
    for wrong in [
        json!({"max_chars_per_item": 20_001}),
        json!({"roles": ["nobody"]}),
        json!({"roles": ["user"], "tool": "Bash"}),
        json!({"limt": 5}),
        json!({"before": -1}),
        json!([1]),
    ] {
        assert_eq!(list(wrong.clone()), "invalid_arguments", "{wrong}");
    }
    assert_eq!(read(json!({})), "invalid_arguments");
    assert_eq!(read(json!({"seq": 1, "tool_use_id": "t"})), "invalid_arguments");
    assert_eq!(read(json!({"seq": 1, "limit_chars": 50_001})), "invalid_arguments");
    assert_eq!(read(json!({"seq": 99})), "unknown_seq");
    assert_eq!(read(json!({"tool_use_id": "none"})), "unknown_seq");
    assert_eq!(read(json!({"seq": 2})), "not_on_branch");
    assert_eq!(read(json!({"seq": 5})), "not_an_event");
    assert_eq!(read(json!({"seq": 7})), "not_an_event");
    assert_eq!(read(json!({"seq": 1, "offset_chars": 2})), "invalid_offset");
    assert_eq!(
        code(lab.call("history_windows", json!({"before": "x"}), Head::Uuid("d"))),
        "unknown_window_id"
    );
    assert_eq!(
        code(lab.call("history_list", json!({}), Head::Uuid("later"))),
        "head_not_on_disk"
    );
    assert_eq!(
        code(lab.call("history_list", json!({}), Head::Uuid("side"))),
        "subagent_refused"
    );
    assert_eq!(
        code(lab.call("history_none", json!({}), Head::Uuid("d"))),
        "invalid_arguments"
    );
    fs::remove_file(&lab.path).unwrap();
    assert_eq!(
        code(lab.call("history_list", json!({}), Head::Uuid("d"))),
        "history_unavailable"
    );
    let nowhere = Context {
        transcript: None,
        head: Head::ToolUse("t"),
        state_dir: None,
        is_subagent: false,
        wait: Duration::ZERO,
    };
    assert_eq!(
        code(tools::call("history_list", &json!({}), &nowhere)),
        "history_unavailable"
    );
    let by_subagent = Context {
        is_subagent: true,
        ..nowhere
    };
    assert_eq!(
        code(tools::call("history_list", &json!({}), &by_subagent)),
        "subagent_refused"
    );
}

#[test]
fn filler_that_models_send_counts_as_left_out() {
    let lab = Lab::with(lines(&[user("a", None, "x")]));
    let filler = json!({"limit": 0, "roles": [], "before": 0, "after": null, "window_id": "", "query": "", "tool": ""});
    assert_eq!(
        data(lab.call("history_list", filler, Head::AssumeLast))["items"][0]["content"],
        "x"
    );
}

#[test]
fn an_expansion_of_a_fold_shows_what_it_says() {
    let lab = Lab::with(lines(&[
        user("a", None, "x"),
        call("b", "a", "m", "t"),
        result("c", "b", "t", "r"),
        json!({"type": "system", "uuid": "d", "parentUuid": "c", "subtype": "local_command", "content": "note"}),
        said("e", "d", "y"),
    ]));
    let page = data(lab.call("history_list", json!({}), Head::AssumeLast));
    let fold = &page["items"][1];
    assert_eq!((&fold["count"], &fold["tools"]), (&json!(2), &json!({"Bash": 1})));
    let expand = json!({"after": fold["first_seq"].as_u64().unwrap() - 1, "before": fold["last_seq"].as_u64().unwrap() + 1,
        "roles": ["tool", "context"]});
    let seqs: Vec<u64> = data(lab.call("history_list", expand, Head::AssumeLast))["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, [3, 6]);
}

#[test]
fn side_files_go_when_their_transcript_has_gone() {
    let lab = Lab::with(lines(&[user("a", None, "x")]));
    let other = Lab::with("");
    record::write(&lab.state(), &lab.path, &Cut::default()).unwrap();
    record::write(&lab.state(), &other.path, &Cut::default()).unwrap();
    let folders = || fs::read_dir(lab.state().join("history")).unwrap().count();
    assert_eq!(folders(), 2);
    fs::remove_file(&other.path).unwrap();
    record::write(&lab.state(), &lab.path, &Cut::default()).unwrap();
    assert_eq!(folders(), 1);
}

#[test]
fn a_record_that_was_torn_is_no_record() {
    let lab = Lab::with(lines(&[
        user("a", None, "x"),
        boundary("b", "a"),
        user("c", Some("b"), "x"),
    ]));
    record::write(&lab.state(), &lab.path, &Cut::default()).unwrap();
    let folder = fs::read_dir(lab.state().join("history"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    fs::write(folder.join("cut-000002.json"), "{\"messages\":[{\"ro").unwrap();
    assert_eq!(texts(&lab, Head::AssumeLast), ["x", "Conversation compacted"]);
}

#[test]
fn the_tools_describe_themselves() {
    let specs = tools::specs();
    assert_eq!(
        specs.iter().map(|spec| spec.name).collect::<Vec<_>>(),
        ["history_windows", "history_list", "history_read"]
    );
    for spec in specs {
        assert_eq!(spec.input_schema["additionalProperties"], false, "{}", spec.name);
        for (name, property) in spec.input_schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{}.{name}", spec.name);
        }
    }
}

#[test]
fn a_conversation_can_be_opened_by_others() {
    let lab = Lab::with(lines(&[user("a", None, "x"), call("b", "a", "m", "t")]));
    let conversation = Conversation::open(&lab.path, Head::AssumeLast, None, Duration::ZERO).unwrap();
    assert_eq!(conversation.session_id(), "s");
    assert_eq!(conversation.transcript().seq_of_call("t"), Some(3));
}

//! The five tools, one at a time.

use std::fs;

use notesoup::notes::tools;
use serde_json::{Value, json};

use crate::support::{SESSION, Store, ok, refused};

fn list(value: &Value, key: &str) -> Vec<String> {
    let items = value["notes"].as_array().unwrap();
    items
        .iter()
        .map(|item| item[key].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_note_is_written_read_and_written_again() {
    let store = Store::new();
    let notes = store.notes();
    let created = ok(
        &notes,
        "notes_write",
        json!({ "address": "plans/a", "content": "# Plan\n\nText\n" }),
    );
    assert_eq!(created["address"], "plans/a.md");
    assert_eq!(
        (&created["created"], &created["origin"]),
        (&json!(true), &json!("self"))
    );
    let file = store.file(&format!("{SESSION}/plans/a.md"));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("---\norigin: self\ncreatedAt: 2"), "{text}");
    assert!(
        text.contains("accessCount: 0\nproject: work-11111111\n---\n\n# Plan\n\nText\n"),
        "{text}"
    );

    let read = ok(&notes, "notes_read", json!({ "address": "plans/a.md" }));
    assert_eq!(read["body"]["text"], "# Plan\n\nText\n");
    assert_eq!(read["title"], "Plan");
    assert_eq!(read["version"], created["version"]);
    assert_eq!(read["access_count"], 1);

    let again = ok(
        &notes,
        "notes_write",
        json!({ "address": "plans/a", "content": "new", "origin": "user", "if_version": read["version"] }),
    );
    assert_eq!(again["previous_version"], created["version"]);
    let after = fs::read_to_string(&file).unwrap();
    let created_at = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("createdAt"))
            .unwrap()
            .to_owned()
    };
    assert_eq!(created_at(&after), created_at(&text));
    assert!(after.contains("origin: user\n"));
    assert!(after.ends_with("---\n\nnew"));
    // What was replaced is in the history.
    let history = notes.history("plans/a").unwrap();
    assert_eq!(history.len(), 1);
    assert_eq!(fs::read_to_string(&history[0].file).unwrap(), text);
}

#[test]
fn the_same_content_again_changes_nothing() {
    let store = Store::new();
    let notes = store.notes();
    ok(&notes, "notes_write", json!({ "address": "a", "content": "x" }));
    let file = store.file(&format!("{SESSION}/a.md"));
    let before = (
        fs::read(&file).unwrap(),
        fs::metadata(&file).unwrap().modified().unwrap(),
    );
    let again = ok(&notes, "notes_write", json!({ "address": "a", "content": "x" }));
    assert_eq!(again["changed"], false);
    assert_eq!(
        before,
        (
            fs::read(&file).unwrap(),
            fs::metadata(&file).unwrap().modified().unwrap()
        )
    );
}

#[test]
fn only_our_own_frontmatter_is_taken_off_the_content() {
    let store = Store::new();
    let notes = store.notes();
    let own = "---\norigin: self\ncreatedAt: 2026-11-30T12:00:00.000+00:00\nupdatedAt: x\n---\n\nbody";
    let written = ok(&notes, "notes_write", json!({ "address": "own", "content": own }));
    assert_eq!(written["remarks"].as_array().unwrap().len(), 1);
    assert_eq!(
        ok(&notes, "notes_read", json!({ "address": "own" }))["body"]["text"],
        "body"
    );
    for content in [
        "---\ntitle: mine\n---\nbody",
        "---\n\ntext\n---\n",
        "---",
        "---\ncreatedAt: x\ntags: [a]\n---\n",
    ] {
        let written = ok(&notes, "notes_write", json!({ "address": "other", "content": content }));
        assert_eq!(written["remarks"], json!([]), "{content:?}");
        assert_eq!(
            ok(&notes, "notes_read", json!({ "address": "other" }))["body"]["text"],
            content
        );
    }
}

#[test]
fn edits_are_exact_in_order_and_all_or_nothing() {
    let store = Store::new();
    let notes = store.notes();
    ok(
        &notes,
        "notes_write",
        json!({ "address": "a", "content": "one\ntwo\ntwo\n  three four\n" }),
    );
    let edit = |edits: Value| json!({ "address": "a", "edits": edits });
    let refusal = refused(
        &notes,
        "notes_update",
        edit(json!([{ "oldText": "one", "newText": "1" }, { "oldText": "three  four", "newText": "" }])),
    );
    assert_eq!(refusal.code, "no_match");
    let details = refusal.details.unwrap();
    assert_eq!(
        (&details["edit"], &details["nearest"][0]["line"]),
        (&json!(1), &json!(4))
    );
    let refusal = refused(
        &notes,
        "notes_update",
        edit(json!([{ "oldText": "two", "newText": "2" }])),
    );
    assert_eq!(refusal.code, "ambiguous_edit");
    assert_eq!(refusal.details.unwrap()["lines"], json!([2, 3]));
    assert_eq!(
        ok(&notes, "notes_read", json!({ "address": "a" }))["body"]["text"],
        "one\ntwo\ntwo\n  three four\n"
    );

    let updated = ok(
        &notes,
        "notes_update",
        json!({
            "address": "a",
            "edits": [{ "oldText": "one", "newText": "two" }, { "oldText": "two", "newText": "2" }],
            "replace_all": true,
            "append": "end",
            "rename_to": "",
        }),
    );
    assert_eq!(updated["replacements"], 4);
    assert!(updated["diff"]["text"].as_str().unwrap().contains("+end"));
    assert_eq!(
        ok(&notes, "notes_read", json!({ "address": "a" }))["body"]["text"],
        "2\n2\n2\n  three four\nend"
    );
    ok(&notes, "notes_update", json!({ "address": "a", "append": "more\n" }));
    assert_eq!(
        ok(&notes, "notes_read", json!({ "address": "a" }))["body"]["text"],
        "2\n2\n2\n  three four\nend\nmore\n"
    );

    for (input, code) in [
        (json!({ "address": "a" }), "nothing_to_do"),
        (edit(json!([{ "oldText": "end", "newText": "end" }])), "nothing_to_do"),
        (edit(json!([{ "oldText": "", "newText": "x" }])), "invalid_arguments"),
        (json!({ "address": "a", "appendd": "x" }), "invalid_arguments"),
        (json!({ "address": "a", "origin": "me" }), "invalid_origin"),
        (json!({ "address": "b", "append": "x" }), "not_found"),
        (
            json!({ "address": "a", "append": "x", "rename_to": "b" }),
            "invalid_arguments",
        ),
        (json!({ "address": "a", "rename_to": "a.md" }), "nothing_to_do"),
        (json!({ "address": "@agents/pi/a", "append": "x" }), "invalid_scope"),
        (json!({ "append": "x" }), "invalid_arguments"),
    ] {
        assert_eq!(refused(&notes, "notes_update", input.clone()).code, code, "{input}");
    }
}

#[test]
fn a_crumpled_note_is_out_of_sight_but_not_gone() {
    let store = Store::new();
    let notes = store.notes();
    ok(
        &notes,
        "notes_write",
        json!({ "address": "@project/a", "content": "# A\nneedle" }),
    );
    ok(
        &notes,
        "notes_write",
        json!({ "address": "@project/b", "content": "# B\nneedle" }),
    );
    let crumpled = ok(
        &notes,
        "notes_update",
        json!({ "address": "@project/a", "crumpled": true }),
    );
    let since = crumpled["crumpled_at"].clone();
    assert!(since.is_string());
    let again = ok(
        &notes,
        "notes_update",
        json!({ "address": "@project/a", "crumpled": true, "append": "x" }),
    );
    assert_eq!(again["crumpled_at"], since);

    for (tool, input) in [
        ("notes_list", json!({})),
        ("notes_search", json!({ "query": "NEEDLE" })),
    ] {
        let live = ok(&notes, tool, input.clone());
        assert_eq!(list(&live, "address"), ["@project/b.md"]);
        assert_eq!(live["crumpled_excluded"], 1);
        let mut bin = input;
        bin["wastebasket"] = json!(true);
        assert_eq!(list(&ok(&notes, tool, bin), "address"), ["@project/a.md"]);
    }
    assert!(ok(&notes, "notes_read", json!({ "address": "@project/a" }))["crumpled_at"].is_string());
    let smooth = ok(
        &notes,
        "notes_update",
        json!({ "address": "@project/a", "crumpled": false }),
    );
    assert_eq!(smooth["crumpled_at"], Value::Null);
    // A write makes a note live: what is written on purpose must not be hidden.
    ok(
        &notes,
        "notes_update",
        json!({ "address": "@project/a", "crumpled": true }),
    );
    let written = ok(
        &notes,
        "notes_write",
        json!({ "address": "@project/a", "content": "anew" }),
    );
    assert_eq!(written["remarks"].as_array().unwrap().len(), 1);
    assert_eq!(ok(&notes, "notes_list", json!({}))["total"], 2);
}

#[test]
fn a_rename_replaces_only_a_crumpled_note() {
    let store = Store::new();
    let notes = store.notes();
    ok(&notes, "notes_write", json!({ "address": "a", "content": "A" }));
    ok(&notes, "notes_write", json!({ "address": "@self/x/b", "content": "B" }));
    let rename = json!({ "address": "a", "rename_to": "@self/x/b", "crumpled": false, "edits": [], "append": null });
    assert_eq!(refused(&notes, "notes_update", rename.clone()).code, "already_exists");
    ok(
        &notes,
        "notes_update",
        json!({ "address": "@self/x/b", "crumpled": true }),
    );
    let renamed = ok(&notes, "notes_update", rename);
    assert_eq!(
        (&renamed["address"], &renamed["renamed_from"]),
        (&json!("@self/x/b.md"), &json!("a.md"))
    );
    assert_eq!(
        ok(&notes, "notes_read", json!({ "address": "@agents/claude/x/b" }))["body"]["text"],
        "A"
    );
    assert_eq!(
        refused(&notes, "notes_read", json!({ "address": "a" })).code,
        "not_found"
    );
    // The replaced one is in the history of its address.
    let history = notes.history("@self/x/b").unwrap();
    assert!(
        fs::read_to_string(&history.last().unwrap().file)
            .unwrap()
            .ends_with("\n\nB")
    );
}

#[test]
fn a_version_that_is_not_the_present_one_is_a_conflict_with_the_diff() {
    let store = Store::new();
    let notes = store.notes();
    let first = ok(&notes, "notes_write", json!({ "address": "a", "content": "one\n" }))["version"].clone();
    ok(&notes, "notes_update", json!({ "address": "a", "append": "two\n" }));
    for (tool, input) in [
        (
            "notes_write",
            json!({ "address": "a", "content": "mine", "if_version": first }),
        ),
        (
            "notes_update",
            json!({ "address": "a", "append": "mine", "if_version": first }),
        ),
        (
            "notes_update",
            json!({ "address": "a", "rename_to": "b", "if_version": first }),
        ),
    ] {
        let refusal = refused(&notes, tool, input);
        assert_eq!(refusal.code, "conflict");
        assert!(refusal.message.contains("\n+two\n"), "{}", refusal.message);
    }
    let unknown = refused(
        &notes,
        "notes_write",
        json!({ "address": "a", "content": "mine", "if_version": "000000000000" }),
    );
    assert!(unknown.message.contains("\n+mine"), "{}", unknown.message);
    assert_eq!(
        refused(
            &notes,
            "notes_write",
            json!({ "address": "new", "content": "x", "if_version": first })
        )
        .code,
        "conflict"
    );
    assert_eq!(
        ok(&notes, "notes_read", json!({ "address": "a" }))["body"]["text"],
        "one\ntwo\n"
    );
}

#[test]
fn not_found_names_what_may_have_been_meant() {
    let store = Store::new();
    let notes = store.notes();
    for address in ["@project/decisions", "@project/plans/next", "@human/next", "next-steps"] {
        ok(&notes, "notes_write", json!({ "address": address, "content": "x" }));
    }
    ok(
        &notes,
        "notes_update",
        json!({ "address": "@human/next", "crumpled": true }),
    );
    let details = refused(&notes, "notes_read", json!({ "address": "@project/decision" }))
        .details
        .unwrap();
    assert_eq!(details["near"], json!(["@project/decisions.md"]));
    let details = refused(&notes, "notes_read", json!({ "address": "next" }))
        .details
        .unwrap();
    assert_eq!(details["near"], json!(["next-steps.md"]));
    assert_eq!(details["elsewhere"], json!(["@project/plans/next.md"]));
    assert_eq!(details["crumpled"], json!(["@human/next.md"]));
}

#[test]
fn windows_of_a_read_join_to_the_source() {
    let store = Store::new();
    let notes = store.notes();
    let body = "a\u{0301}👩‍👩‍👧 日本\r\n\"\\\t".repeat(3000);
    ok(&notes, "notes_write", json!({ "address": "a", "content": body }));
    for limit in [1_u32, 777, 50_000] {
        let mut joined = String::new();
        let mut offset = if limit == 1 { -40 } else { 0 };
        loop {
            let read = ok(
                &notes,
                "notes_read",
                json!({ "address": "a", "offset_chars": offset, "limit_chars": limit }),
            );
            let window = &read["body"];
            joined.push_str(window["text"].as_str().unwrap());
            match window["next_offset_chars"].as_i64() {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert!(body.ends_with(&joined) && (limit == 1 || joined == body));
    }
    let total = body.chars().count();
    for (offset, limit, code) in [
        (total as i64 + 1, 10, "invalid_offset"),
        (0, 50_001, "invalid_arguments"),
    ] {
        let input = json!({ "address": "a", "offset_chars": offset, "limit_chars": limit });
        assert_eq!(refused(&notes, "notes_read", input).code, code);
    }
    let past = ok(
        &notes,
        "notes_read",
        json!({ "address": "a", "offset_chars": -10_000_000, "limit_chars": 5 }),
    );
    assert_eq!(past["body"]["offset_chars"], 0);
}

#[test]
fn a_search_gives_lines_and_offsets_that_lead_there() {
    let store = Store::new();
    let notes = store.notes();
    let long = format!("{}ZIEL{}", "ä".repeat(5000), "ö".repeat(5000));
    let body = format!("# Needle 🥣\n\nnothing\nziel one\n{long}\nZiel again\nziel last\n");
    ok(
        &notes,
        "notes_write",
        json!({ "address": "@project/a", "content": body }),
    );
    ok(
        &notes,
        "notes_write",
        json!({ "address": "@project/b", "content": "---\nziel: no\n---\n\nother" }),
    );
    let found = ok(
        &notes,
        "notes_search",
        json!({ "query": "ziel", "pattern": "@project/a*" }),
    );
    let row = &found["notes"][0];
    assert_eq!(row["more_matches"], 1);
    let matches = row["matches"].as_array().unwrap();
    assert_eq!(
        matches.iter().map(|m| m["line"].as_u64().unwrap()).collect::<Vec<_>>(),
        [4, 5, 6]
    );
    for found in matches {
        let at = found["offset_chars"].as_u64().unwrap() as usize;
        let there: String = body.chars().skip(at).take(4).collect();
        assert_eq!(there.to_lowercase(), "ziel");
        assert!(found["text"].as_str().unwrap().chars().count() <= 240);
        assert!(found["text"].as_str().unwrap().to_lowercase().contains("ziel"));
    }
    let either = ok(&notes, "notes_search", json!({ "query": ["NEEDLE", "other"] }));
    assert_eq!(either["total"], 2);
    for query in [json!("a\nb"), json!(""), json!([]), json!(["a", ""])] {
        let refusal = refused(&notes, "notes_search", json!({ "query": query }));
        assert_eq!(refusal.code, "invalid_query", "{query}");
    }
    assert_eq!(refused(&notes, "notes_search", json!({})).code, "invalid_arguments");
    assert_eq!(
        refused(&notes, "notes_list", json!({ "pattern": "@nobody/**" })).code,
        "invalid_pattern"
    );
}

#[test]
fn lists_of_many_notes_stay_within_the_bound_and_count_the_rest() {
    let store = Store::new();
    for n in 0..700 {
        let body = format!(
            "# {}\n{}\n",
            "\"Titel\" 日本語 ".repeat(20),
            "needle \\\" \u{1} 🥣".repeat(30)
        );
        store.put(&format!("{}/{}/{n}.md", store.project(), "lang-".repeat(20)), body);
    }
    let notes = store.notes();
    let listed = ok(&notes, "notes_list", json!({ "limit": 1000 }));
    let shown = listed["notes"].as_array().unwrap().len();
    assert!(shown > 20);
    assert_eq!(listed["more"].as_u64().unwrap() as usize + shown, 700);
    let found = ok(
        &notes,
        "notes_search",
        json!({ "query": "needle", "limit": 200, "max_matches_per_file": 50 }),
    );
    let shown = found["notes"].as_array().unwrap().len();
    assert_eq!(found["more"].as_u64().unwrap() as usize + shown, 700);
}

#[test]
fn other_agents_notes_are_read_and_found_but_not_written() {
    let store = Store::new();
    store.put("agents/pi/lessons.md", "# Lessons\nneedle");
    let notes = store.notes();
    assert_eq!(
        ok(&notes, "notes_read", json!({ "address": "@agents/pi/lessons" }))["title"],
        "Lessons"
    );
    assert_eq!(
        list(&ok(&notes, "notes_search", json!({ "query": "needle" })), "address"),
        ["@agents/pi/lessons.md"]
    );
    assert_eq!(ok(&notes, "notes_list", json!({ "pattern": "@agents/**" }))["total"], 1);
    let refusal = refused(
        &notes,
        "notes_write",
        json!({ "address": "@agents/pi/lessons", "content": "x" }),
    );
    assert_eq!(refusal.code, "invalid_scope");
    ok(
        &notes,
        "notes_write",
        json!({ "address": "@self/mine", "content": "x" }),
    );
    assert_eq!(
        list(
            &ok(&notes, "notes_list", json!({ "pattern": "@agents/claude/*" })),
            "address"
        ),
        ["@self/mine.md"]
    );
}

#[test]
fn schemas_describe_what_is_taken_and_given() {
    let names: Vec<_> = tools::specs().iter().map(|tool| tool.name).collect();
    assert_eq!(
        names,
        [
            "notes_write",
            "notes_update",
            "notes_read",
            "notes_list",
            "notes_search"
        ]
    );
    let store = Store::new();
    let notes = store.notes();
    let calls = [
        json!({ "address": "a", "content": "# A\nneedle\n" }),
        json!({ "address": "a", "edits": [{ "oldText": "needle", "newText": "needle 2" }], "append": "x" }),
        json!({ "address": "a" }),
        json!({ "pattern": "**" }),
        json!({ "query": ["needle"] }),
    ];
    for (tool, input) in tools::specs().into_iter().zip(calls) {
        assert_eq!(tool.input_schema["type"], "object");
        assert_eq!(tool.input_schema["additionalProperties"], false);
        assert!(!tool.input_schema.to_string().contains("$ref"));
        for (name, property) in tool.input_schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{}.{name}", tool.name);
        }
        if let Some(origin) = tool.input_schema["properties"].get("origin") {
            assert_eq!(origin["enum"], json!(["user", "self", "external"]), "{origin}");
        }
        let size = tool.input_schema.to_string().len() + tool.description.len();
        assert!(size < 3000, "{} takes {size} bytes of every request", tool.name);
        jsonschema::validate(&tool.input_schema, &input).unwrap();
        jsonschema::validate(&tool.output_schema, &ok(&notes, tool.name, input)).unwrap();
    }
}

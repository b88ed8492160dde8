//! The notes in the real client: offered, used by the model and by its subagents, refused with a remedy, and there again
//! in the next conversation.

use serde_json::{Value, json};

use crate::spine::{assert_boot, assert_sound};
use crate::support::{Asker, Lab, Reply, Request, both_builds};

const TOOLS: [&str; 5] = ["list", "read", "search", "update", "write"];

/// A call of one of the five.
fn notes(id: &str, tool: &str, input: Value) -> Reply {
    Reply::default().call_with_id(id, &format!("mcp__notesoup__notes_{tool}"), input)
}

/// Which of our tools a request offers.
fn offered(request: &Request) -> Vec<String> {
    let ours = |tool: &String| tool.strip_prefix("mcp__notesoup__notes_").map(str::to_owned);
    let mut found: Vec<String> = request.tools().iter().filter_map(ours).collect();
    found.sort();
    found
}

/// The result of a call as the model read it, and whether it was marked as an error.
#[track_caller]
fn result(request: &Request, id: &str) -> (String, bool) {
    let text = request
        .tool_result(id)
        .unwrap_or_else(|| panic!("no result of {id}\n{}", request.outline()));
    let blocks = request
        .messages()
        .iter()
        .filter_map(|message| message["content"].as_array())
        .flatten();
    let is_error = blocks
        .filter(|block| block["tool_use_id"] == id)
        .any(|block| block["is_error"] == true);
    (text, is_error)
}

both_builds! {
    /// A model writes, updates, reads, lists and searches; a subagent does; refusals come with their remedy; and the next
    /// conversation begins with what was written.
    fn the_life_of_a_note(build) {
        let lab = Lab::on(build)
            .arg("--allowedTools=Agent,mcp__notesoup__notes_write,mcp__notesoup__notes_update,mcp__notesoup__notes_read,mcp__notesoup__notes_list,mcp__notesoup__notes_search")
            .script([
                notes("toolu_write", "write", json!({ "address": "@project/broth.md", "content": "# Broth\n\nsalt: two spoons\nüber 🍲\n" })),
                notes("toolu_update", "update", json!({ "address": "@project/broth.md", "edits": [{ "oldText": "two spoons", "newText": "three spoons" }] })),
                notes("toolu_read", "read", json!({ "address": "@project/broth.md" }))
                    .call_with_id("toolu_list", "mcp__notesoup__notes_list", json!({ "pattern": "@project/**" }))
                    .call_with_id("toolu_search", "mcp__notesoup__notes_search", json!({ "query": "THREE spoons" })),
                notes("toolu_none", "read", json!({ "address": "@human/broth.md" }))
                    .call_with_id("toolu_miss", "mcp__notesoup__notes_update", json!({ "address": "@project/broth.md", "edits": [{ "oldText": "salt: five spoons", "newText": "" }] }))
                    .call_with_id("toolu_scope", "mcp__notesoup__notes_write", json!({ "address": "@agents/somebody/x.md", "content": "x" }))
                    .call_with_id("toolu_extra", "mcp__notesoup__notes_list", json!({ "colour": "red" })),
                Reply::text("Somebody tastes.").call_with_id("toolu_agent", "Agent", json!({
                    "description": "Taste", "prompt": "Taste it.", "subagent_type": "general-purpose", "run_in_background": false,
                })),
                Reply::text("cooked"),
            ])
            .start();
        lab.model.script_subagents([
            notes("toolu_sub_write", "write", json!({ "address": "taste.md", "content": "# Taste\n\nIt wants thyme.\n" })),
            notes("toolu_sub_read", "read", json!({ "address": "@project/broth" })),
            Reply::text("It wants thyme."),
        ]);
        lab.headless("cook").success();

        let first = lab.model.requests()[0].clone();
        assert_eq!(offered(&first), TOOLS, "{:?}", first.tools());
        let last = lab.model.last();
        let ok = |id: &str| {
            let (text, is_error) = result(&last, id);
            assert!(!is_error, "{id}: {text}");
            text
        };
        assert!(ok("toolu_write").contains("@project/broth.md"));
        let update = ok("toolu_update");
        assert!(update.contains("-salt: two spoons") && update.contains("+salt: three spoons"), "{update}");
        assert!(ok("toolu_read").contains("# Broth\n\nsalt: three spoons\nüber 🍲\n"), "{}", ok("toolu_read"));
        assert!(ok("toolu_list").contains("@project/broth.md"));
        assert!(ok("toolu_search").contains("salt: three spoons"));

        let refused = |id: &str| {
            let (text, is_error) = result(&last, id);
            assert!(is_error, "{id}: {text}");
            text
        };
        let none = refused("toolu_none");
        assert!(none.contains("not_found") && none.contains("@project/broth.md"), "the same name elsewhere: {none}");
        let miss = refused("toolu_miss");
        assert!(miss.contains("no_match") && miss.contains("salt: three spoons"), "the nearest line: {miss}");
        let scope = refused("toolu_scope");
        assert!(scope.contains("invalid_scope") && scope.contains("@self/"), "the homes to write in: {scope}");
        assert!(refused("toolu_extra").contains("colour"));

        let subagents = lab.model.requests_of(Asker::Subagent);
        assert_eq!(offered(&subagents[0]), TOOLS);
        let taste = subagents.last().unwrap();
        assert!(!result(taste, "toolu_sub_write").1, "{}", taste.outline());
        assert!(result(taste, "toolu_sub_read").0.contains("salt: three spoons"), "{}", taste.outline());
        let session = lab.transcript().session();
        let own = lab.notes().join("pi/session").join(&session).join("taste.md");
        assert!(std::fs::read_to_string(&own).unwrap().contains("It wants thyme."), "the main session's home");

        // Another conversation in the same project.
        lab.headless("again").success();
        let next = lab.model.last();
        assert_ne!(lab.model.requests()[0].session(), next.session());
        assert_boot(&next, 0);
        let boot = next.texts();
        let boot = boot.split("<notesoup window=").nth(1).and_then(|rest| rest.split("</notesoup>").next()).unwrap();
        assert!(boot.contains("Broth") && boot.contains("@project/broth.md"), "{boot}");
        assert!(!next.contains("taste.md"), "a session's own notes stay with it");
        assert_sound(&lab);
    }
}

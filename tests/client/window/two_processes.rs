//! Several processes on one conversation: each goes on by a branch of its own, in the same file.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::{CLOSE_OUT, WARNING, lab};
use crate::spine::{assert_boot, assert_sound};
use crate::support::{Gate, Lab, Reply, Request, both_builds};

/// The processes; the prompts of each begin with its name and a colon.
const ALL: [&str; 3] = ["left", "right", "third"];

fn is_of(request: &Request, name: &str) -> bool {
    let prompt = format!("{name}: ");
    request.user_texts().iter().any(|text| text.starts_with(&prompt))
}

/// What the model says to one of them: it looks back and writes notes over the warning mark, fills the window, and looks
/// back again in the next one.
fn script(lab: &Lab, name: &'static str, others: [&'static str; 2], gate: &Gate) {
    let id = |what: &str| format!("toolu_{name}_{what}");
    let ours = |tool: &str| format!("mcp__notesoup__{tool}");
    let call = |reply: Reply, what: &str, tool: &str, input: Value| reply.call_with_id(&id(what), &ours(tool), input);
    let note = |address: String| json!({"address": address, "content": format!("# Of {name}\n")});
    let all = json!({"roles": ["user", "assistant", "tool"], "limit": 50});
    let looks_back = call(Reply::default(), "before", "history_list", all.clone());
    let writes = call(Reply::default(), "note", "notes_write", note(format!("{name}.md")));
    let writes = call(writes, "project", "notes_write", note(format!("@project/{name}.md")));
    let looks_again = call(Reply::default(), "after", "history_list", all);
    let looks_again = call(looks_again, "windows", "history_windows", json!({}));
    let looks_again = call(looks_again, "shelf", "notes_list", json!({}));
    let of_another = json!({"tool_use_id": format!("toolu_{}_note", others[0])});
    let looks_again = call(looks_again, "other", "history_read", of_another);
    let mut replies = VecDeque::from([
        looks_back.tokens(30_000).held_by(gate),
        writes.tokens(944_000),
        Reply::text(format!("{name} is full")).tokens(960_000),
        Reply::text(format!("{name} is saved")).tokens(961_000),
        looks_again.tokens(30_000),
        Reply::text(format!("{name} is fresh")).tokens(30_000),
    ]);
    lab.model.rule(move |request| {
        let own = is_of(request, name);
        own.then(|| replies.pop_front()).flatten()
    });
}

both_builds! {
    /// An interactive session and two others on the same conversation work at once, over both marks. Each is warned,
    /// closes out and resets once, has its own next window with its boot, and finds its own branch in the history; the
    /// notes of all are there.
    fn each_has_its_own_branch_and_the_notes_of_all(build) {
        let gate = Gate::new();
        let lab = lab(build).script([Reply::text("grounded").tokens(20_000)]).start();
        let mut left = lab.interactive();
        left.ask("common ground");
        let session = lab.transcript().session();
        for (at, name) in ALL.into_iter().enumerate() {
            script(&lab, name, [ALL[(at + 1) % 3], ALL[(at + 2) % 3]], &gate);
        }
        let mut right = lab.stream(&["--continue"]);
        let mut third = lab.stream(&["--resume", &session]);
        right.send("right: begin");
        lab.model.wait_for_requests(2);
        third.send("third: begin");
        lab.model.wait_for_requests(3);
        left.type_line("left: begin");
        lab.model.wait_for_requests(4);
        gate.release();
        right.wait_for("result");
        third.wait_for("result");
        left.wait_for_screen("left is saved");
        left.wait_idle();
        left.type_line("left: and now");
        right.ask("right: and now");
        third.ask("third: and now");
        left.wait_for_screen("left is fresh");
        right.finish();
        third.finish();
        left.leave();

        assert_eq!(lab.transcripts().len(), 1);
        assert_sound(&lab);
        for name in ALL {
            let requests = lab.model.requests().into_iter().filter(|request| is_of(request, name)).collect::<Vec<_>>();
            let counts = |tag: &str| requests.iter().map(|request| request.count(tag)).collect::<Vec<_>>();
            assert_eq!(counts(WARNING), [0, 0, 1, 1, 0, 0], "{name}");
            assert_eq!(counts(CLOSE_OUT), [0, 0, 0, 1, 0, 0], "{name}");
            let last = requests.last().unwrap();
            assert_boot(last, 1);
            let result = |what: &str| last.tool_result(&format!("toolu_{name}_{what}")).unwrap_or_else(|| panic!("{what}\n{}", last.outline()));
            let after = result("after");
            for own in ["common ground", &format!("{name}: begin"), &format!("{name}.md"), &format!("{name} is full"), &format!("{name} is saved"), &format!("{name}: and now")] {
                assert!(after.contains(own), "{name} misses {own}\n{after}");
            }
            let windows = result("windows");
            assert!(windows.starts_with("2 windows") && windows.contains(&format!("claude:{session}:1 (current)")), "{windows}");
            assert!(result("other").contains("not_on_branch: "), "{}", result("other"));
            for other in ALL {
                assert!(other == name || !after.contains(&format!("{other}: begin")), "{name} sees {other}\n{after}");
                for address in [format!("`{other}.md`"), format!("`@project/{other}.md`")] {
                    assert!(result("shelf").contains(&address), "{name} misses {address}\n{}", result("shelf"));
                }
            }
        }
    }
}

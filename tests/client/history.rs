//! The old conversation in the real client: what the model can look up, and what the transcript of a whole life of
//! cuts, summaries and fresh windows gives.

use std::collections::VecDeque;
use std::fs;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::spine::boots;
use crate::support::{Asker, Build, Lab, Reply, Request, Tty, both_builds};

/// One answer of the model, made from what it is asked with.
type Step = Box<dyn FnOnce(&Request) -> Reply + Send>;

/// A conversation, and what was said in it.
struct Talk {
    lab: Lab,
    steps: Arc<Mutex<VecDeque<Step>>>,
    /// Role and words, in order.
    said: Vec<(&'static str, String)>,
}

impl Talk {
    fn on(build: Build) -> Self {
        // The newest message alone is kept from a cut, so that a short conversation has something to cut.
        let lab = Lab::on(build).option("preserveRecentMessages", json!(1)).start();
        let steps = Arc::new(Mutex::new(VecDeque::<Step>::new()));
        let taken = Arc::clone(&steps);
        lab.model.rule(move |request| {
            let step = (request.asker == Asker::Main).then(|| taken.lock().unwrap().pop_front())??;
            Some(step(request))
        });
        let said = Vec::new();
        Self { lab, steps, said }
    }

    /// The model says a word or two and calls a tool, with parameters made from what it has read so far.
    fn looks(&mut self, id: &'static str, tool: &'static str, input: impl FnOnce(&Request) -> Value + Send + 'static) {
        let words = format!("I look ({id}).");
        self.said.push(("assistant", words.clone()));
        let name = format!("mcp__notesoup__{tool}");
        let step = move |request: &Request| Reply::text(words).call_with_id(id, &name, input(request));
        self.steps.lock().unwrap().push_back(Box::new(step));
    }

    /// The model answers, with words alone or with calls as well.
    fn answers(&mut self, words: &str, calls: impl FnOnce(Reply) -> Reply + Send + 'static) {
        self.said.push(("assistant", words.to_owned()));
        let words = words.to_owned();
        self.steps
            .lock()
            .unwrap()
            .push_back(Box::new(move |_| calls(Reply::text(words))));
    }

    /// A prompt, whose answers `script` says. Gives the request that ended the turn.
    #[track_caller]
    fn ask(&mut self, tty: &mut Tty, prompt: &str, script: impl FnOnce(&mut Self)) -> Request {
        self.said.push(("user", prompt.to_owned()));
        script(self);
        self.answers("ok", |reply| reply);
        tty.ask(prompt);
        assert_eq!(self.steps.lock().unwrap().len(), 0, "{}", self.lab.model.outline());
        let request = self.lab.model.last();
        request.assert_well_formed();
        request
    }

    /// What `notesoup history` says of a transcript.
    #[track_caller]
    fn history(&self, args: &[&str]) -> Value {
        let run = self.lab.helper(&[&["history", "--json"], args].concat(), "");
        let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        assert_eq!(answer["ok"], true, "{}", run.said());
        answer["data"].clone()
    }

    /// Every message and call of a transcript: role, words.
    #[track_caller]
    fn all(&self, transcript: &str) -> Vec<(String, String)> {
        let roles = "user,assistant,tool";
        let list = [
            "--transcript",
            transcript,
            "list",
            "--all",
            "--chars",
            "20000",
            "--role",
            roles,
        ];
        let data = self.history(&list);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let items = data["items"].as_array().unwrap().iter();
        items
            .map(|item| (text(&item["role"]), text(&item["content"])))
            .collect()
    }

    /// Removes what was written down of the cuts; false when there was nothing.
    fn forget_cuts(&self) -> bool {
        let folders = fs::read_dir(self.lab.state().join("history"))
            .into_iter()
            .flatten()
            .flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
        let cuts = files.filter(|file| file.file_name().to_string_lossy().starts_with("cut-"));
        cuts.map(|file| fs::remove_file(file.path()).unwrap()).count() > 0
    }
}

/// The text between two others, behind the last place where the first one stands.
fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let rest = text.rsplit_once(before).map_or("", |(_, rest)| rest);
    rest.split_once(after).map_or("", |(found, _)| found)
}

/// The number behind these words.
fn number(text: &str, before: &str) -> u64 {
    let rest = text.rsplit_once(before).map_or("", |(_, rest)| rest);
    let digits = rest.split(|character: char| !character.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

fn result(request: &Request, id: &str) -> String {
    request
        .tool_result(id)
        .unwrap_or_else(|| format!("no result of {id}: {}", request.outline()))
}

/// The parameters that a folded row says show it.
fn recipe(list: &str) -> Value {
    let after = number(list, "To see them: history_list with after ");
    json!({"after": after, "before": number(list, ", before "), "roles": ["tool", "context"]})
}

/// The lines that head the items of a list, without what they go on with.
fn headings(list: &str) -> Vec<&str> {
    let lines = list.lines().filter(|line| line.starts_with('#'));
    lines.map(|line| line.split(" · ").next().unwrap_or_default()).collect()
}

/// What a window on an event shows of its words.
fn shown(read: &str) -> &str {
    read.split_once("\n\n").map_or("", |(_, words)| words)
}

/// What `seq` prints, as the client hands it to the model.
fn counted(from: u32, to: u32) -> String {
    (from..=to)
        .map(|number| number.to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Reads the call that a cut output names, by its id, in windows of `window` characters.
fn reads_back(talk: &mut Talk, ids: [&'static str; 3], cut: &'static str) {
    let named = move |request: &Request| {
        let note = result(request, cut);
        json!(between(&note, "history_read with tool_use_id \"", "\""))
    };
    talk.looks(
        ids[0],
        "history_read",
        move |request| json!({"tool_use_id": named(request), "limit_chars": 6000}),
    );
    talk.looks(ids[1], "history_read", move |request| {
        let offset = number(&result(request, ids[0]), "go on with offset_chars ");
        json!({"tool_use_id": named(request), "offset_chars": offset, "limit_chars": 6000})
    });
    talk.looks(
        ids[2],
        "history_read",
        move |request| json!({"seq": number(&result(request, cut), "\" or seq "), "offset_chars": -20}),
    );
}

/// Fails unless those windows show the whole output.
#[track_caller]
fn assert_read_back(request: &Request, ids: [&str; 3], output: &str) {
    let [first, second, end] = ids.map(|id| result(request, id));
    let words = format!("{}{}", shown(&first), shown(&second));
    let (_, uncut) = words
        .split_once("\n---\n")
        .unwrap_or_else(|| panic!("{first}\n{second}"));
    assert_eq!(uncut, output);
    assert_eq!(shown(&end), &output[output.len() - 20..], "{end}");
}

both_builds! {
    /// A model looks up what it no longer sees: from its very first call on, by the recipe of a fold and the note of a
    /// cut, after leaving and coming back, after a second cut. At the end the transcript gives every event once.
    fn a_conversation_stays_readable(build) {
        let mut talk = Talk::on(build);
        let mut tty = talk.lab.interactive();
        let request = talk.ask(&mut tty, "the very first words", |talk| {
            talk.looks("toolu_h0", "history_list", |_| json!({}));
        });
        let listed = result(&request, "toolu_h0");
        assert!(listed.contains("the very first words") && listed.contains("I look (toolu_h0)."), "{listed}");

        let bash = |id: &'static str, command: &'static str| {
            move |reply: Reply| reply.call_with_id(id, "Bash", json!({"command": command, "description": "Count"}))
        };
        talk.ask(&mut tty, "count, please", |talk| {
            talk.answers("Twice.", move |reply| {
                bash("toolu_second", "seq 5000 7000")(bash("toolu_first", "seq 1 2500")(reply))
            });
        });
        talk.lab.model.script_subagents([
            Reply::tool("mcp__notesoup__history_list", json!({})),
            Reply::text("It wants thyme."),
        ]);
        talk.ask(&mut tty, "send somebody", |talk| {
            let task = json!({"description": "Taste", "prompt": "Taste it.", "subagent_type": "general-purpose", "run_in_background": false});
            talk.answers("Somebody goes.", |reply| reply.call_with_id("toolu_agent", "Agent", task));
        });
        // Its report is a prompt of its own.
        talk.lab.model.wait_for_request("with the report", |request| {
            request.asker == Asker::Main && request.contains("It wants thyme.")
        });
        tty.wait_idle();
        talk.said.push(("assistant", "ok".to_owned()));
        let subagent = talk.lab.model.requests_of(Asker::Subagent).pop().unwrap();
        let refused = subagent.tool_results().pop().unwrap().1;
        assert!(refused.contains("subagent_refused: "), "{refused}");
        talk.ask(&mut tty, "one", |_| {});

        let request = talk.ask(&mut tty, "look back", |talk| {
            talk.looks("toolu_h1", "history_windows", |_| json!({}));
            talk.looks("toolu_h2", "history_list", |_| json!({"limit": 20}));
            talk.looks("toolu_h3", "history_list", |request| {
                let list = result(request, "toolu_h2");
                // The folded row with the two calls.
                recipe(list.split(". To see them").find(|part| part.contains("Bash 2")).map_or("", |part| {
                    let end = list.find(part).unwrap_or(0) + part.len();
                    list[..].get(..end + list[end..].find("roles").unwrap_or(0)).unwrap_or_default()
                }))
            });
            talk.looks("toolu_h4", "history_list", |_| json!({"query": ["6543", "no such words"], "tool": "Bash"}));
            talk.looks("toolu_h5", "history_read", |request| {
                json!({"seq": number(&result(request, "toolu_h4"), "the rest: history_read seq ")})
            });
            talk.looks("toolu_h6", "history_list", |_| json!({"limit": 2}));
            talk.looks("toolu_h7", "history_list", |request| {
                json!({"limit": 2, "before": number(&result(request, "toolu_h6"), "Older: the same with before ")})
            });
            talk.looks("toolu_h8", "history_list", |request| {
                json!({"limit": 2, "after": number(&result(request, "toolu_h7"), "Newer: the same with after ")})
            });
        });
        let of = |id| result(&request, id);
        assert!(of("toolu_h1").starts_with("1 window, oldest first."), "{}", of("toolu_h1"));
        let expanded = of("toolu_h3");
        assert_eq!(headings(&expanded).iter().filter(|line| line.contains(" Bash (ok)")).count(), 2, "{expanded}");
        assert!(of("toolu_h5").ends_with(&format!("---\n{}", counted(5000, 7000))), "{}", of("toolu_h5"));
        assert_eq!(headings(&of("toolu_h8")), headings(&of("toolu_h6")));
        let (older, newest) = (of("toolu_h7"), of("toolu_h6"));
        assert!(headings(&older).iter().all(|line| !headings(&newest).contains(line)), "{older}\n{newest}");

        tty.command("/compact prune");
        tty.wait_for_screen("Pruned:");
        let ids = ["toolu_a1", "toolu_a2", "toolu_a3"];
        let request = talk.ask(&mut tty, "what was cut", |talk| reads_back(talk, ids, "toolu_first"));
        assert!(!result(&request, "toolu_first").contains("1234"), "{}", request.outline());
        assert_read_back(&request, ids, &counted(1, 2500));
        tty.leave();

        // The first call after coming back.
        let mut tty = talk.lab.interactive_continue();
        let ids = ["toolu_b1", "toolu_b2", "toolu_b3"];
        let request = talk.ask(&mut tty, "and the other", |talk| {
            reads_back(talk, ids, "toolu_second");
            talk.answers("More.", bash("toolu_more", "seq 1 2600"));
        });
        assert_read_back(&request, ids, &counted(5000, 7000));
        talk.ask(&mut tty, "one", |_| {});
        tty.command("/compact prune");
        let ids = ["toolu_c1", "toolu_c2", "toolu_c3", "toolu_d1", "toolu_d2", "toolu_d3"];
        let request = talk.ask(&mut tty, "both of them", |talk| {
            reads_back(talk, [ids[0], ids[1], ids[2]], "toolu_first");
            reads_back(talk, [ids[3], ids[4], ids[5]], "toolu_more");
        });
        assert_read_back(&request, [ids[0], ids[1], ids[2]], &counted(1, 2500));
        assert_read_back(&request, [ids[3], ids[4], ids[5]], &counted(1, 2600));

        tty.command("/compact");
        talk.ask(&mut tty, "one", |_| {});
        talk.said.push(("assistant", "Saved.".to_owned()));
        talk.lab.model.script([Reply::text("Saved.")]);
        tty.ask("/fresh-window");
        let request = talk.ask(&mut tty, "after the reset", |talk| {
            talk.looks("toolu_e1", "history_read", |_| json!({"tool_use_id": "toolu_first", "offset_chars": -20}));
        });
        assert!(!request.contains("count, please"), "{}", request.outline());
        assert!(result(&request, "toolu_e1").ends_with("2499\n2500"));
        let first = talk.lab.transcript();

        let before = std::mem::take(&mut talk.said);
        tty.command("/clear");
        let request = talk.ask(&mut tty, "a new life", |talk| {
            talk.looks("toolu_f1", "history_list", |_| json!({}));
        });
        assert!(!result(&request, "toolu_f1").contains("the very first words"));
        tty.leave();
        assert_everything(&talk, &before, &first.path);
        talk.lab.logs().assert_clean();
    }
}

/// Fails unless the transcript gives each event once, whole and in order, with what was written down of the cuts and
/// without it, and its windows are those of the boots.
#[track_caller]
fn assert_everything(talk: &Talk, said: &[(&'static str, String)], transcript: &std::path::Path) {
    let path = transcript.to_str().unwrap();
    let all = talk.all(path);
    let messages: Vec<(&str, &str)> = all
        .iter()
        .filter(|(role, _)| role != "tool")
        .map(|(role, words)| (role.as_str(), words.as_str()))
        .collect();
    let expected: Vec<(&str, &str)> = said.iter().map(|(role, words)| (*role, words.as_str())).collect();
    // Older builds may write the first prompt behind its answer.
    let by = |all: &[(&str, &str)], role: &str| {
        let own = all.iter().filter(|(own, _)| *own == role);
        own.map(|(_, words)| (*words).to_owned()).collect::<Vec<_>>()
    };
    for role in ["user", "assistant"] {
        assert_eq!(by(&messages, role), by(&expected, role));
    }
    assert_eq!(messages[2..], expected[2..]);
    let outputs = [
        ("seq 1 2500", counted(1, 2500)),
        ("seq 5000 7000", counted(5000, 7000)),
        ("seq 1 2600", counted(1, 2600)),
    ];
    for (command, output) in outputs {
        let of = |words: &str| {
            words.starts_with(&format!("command: {command}\n")) && words.ends_with(&format!("---\n{output}"))
        };
        assert_eq!(all.iter().filter(|(_, words)| of(words)).count(), 1, "{command}");
    }
    let session = transcript.file_stem().unwrap().to_string_lossy().into_owned();
    let mut ids: Vec<String> = talk
        .lab
        .model
        .requests()
        .iter()
        .flat_map(boots)
        .filter(|id| id.contains(&session))
        .collect();
    // A list that the model asked for may show an older boot again.
    let mut seen = std::collections::BTreeSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    let windows = talk.history(&["--transcript", path, "windows"]);
    let began = |window: &Value| window["began"].as_str().unwrap_or_default().to_owned();
    let windows = windows["windows"].as_array().unwrap().clone();
    assert_eq!(
        windows
            .iter()
            .map(|window| window["window_id"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ids
    );
    let kinds = ["start", "prune", "prune", "compaction", "fresh_window"];
    assert_eq!(windows.iter().map(began).collect::<Vec<_>>(), kinds);

    assert!(talk.forget_cuts(), "the cuts were written down");
    assert_eq!(talk.all(path), all, "without what was written down of the cuts");
}

//! Conversations with what was installed, in the real client, in both builds.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Build, Lab, LabBuilder, Reply, both_builds};

const VERSION: &str = env!("CARGO_PKG_VERSION");

const FIVE: [&str; 5] = [
    "mcp__notesoup__notes_list",
    "mcp__notesoup__notes_read",
    "mcp__notesoup__notes_search",
    "mcp__notesoup__notes_update",
    "mcp__notesoup__notes_write",
];

/// A lab whose client has nothing of ours but what `notesoup install` gives it.
fn bare(build: Build) -> LabBuilder {
    let client = build.program().unwrap().display().to_string();
    Lab::on(build)
        .plugins(Vec::<PathBuf>::new())
        .env("NOTESOUP_BIN", "")
        .env("NOTESOUP_CLAUDE", client)
}

fn tools(lab: &Lab) -> Vec<String> {
    let mut tools = lab.model.last().tools();
    tools.retain(|tool| tool.starts_with("mcp__notesoup__"));
    tools.sort();
    tools
}

both_builds! {
    /// The installed plugin, with the program beside it and no variable that names one, boots a window and keeps a note.
    fn an_installed_plugin_runs_until_it_is_uninstalled(build) {
        let lab = bare(build)
            .script([
                Reply::tool("mcp__notesoup__notes_write", json!({"address": "@human/tea.md", "content": "# Tea\n\ngreen"})),
                Reply::text("noted"),
            ])
            .start();
        lab.helper(&["install"], "").success();
        lab.headless("remember that I like green tea").success();
        let request = lab.model.last();
        request.assert_well_formed();
        assert_eq!(request.count("<notesoup window=\"claude:"), 1, "{}", request.outline());
        for tool in FIVE {
            assert!(tools(&lab).contains(&tool.to_owned()), "{tool}: {:?}", tools(&lab));
        }
        assert!(fs::read_to_string(lab.notes().join("human/tea.md")).unwrap().contains("green"));
        lab.logs().assert_clean();

        lab.helper(&["uninstall"], "").success();
        lab.headless("and now?").success();
        assert_eq!(lab.model.last().count("<notesoup window="), 0);
        assert!(tools(&lab).is_empty());
        assert!(lab.notes().join("human/tea.md").exists());
    }

    /// An upgrade while a session runs: it goes on, has the new version after `/reload-plugins`, and so has every new one.
    fn an_upgrade_reaches_open_and_new_sessions(build) {
        let lab = bare(build).start();
        install_older(&lab);
        assert_eq!(known_version(&lab), "0.0.9");
        let mut tty = lab.interactive();
        tty.ask("hello");
        assert_eq!(lab.model.last().count("<notesoup window=\"claude:"), 1);
        assert!(lab.model.last().contains("notesoup:memory: The older skill"), "{}", lab.model.last().outline());

        let said = lab.helper(&["install"], "").success().stdout;
        assert!(said.contains("in place of 0.0.9.1"), "{said}");
        assert_eq!(known_version(&lab), VERSION);
        tty.ask("go on");
        assert!(lab.model.last().has_prompt("go on"));
        tty.command("/reload-plugins");
        tty.ask("go on again");
        let request = lab.model.last();
        assert!(request.contains("notesoup:memory: How to use notes and history well"), "{}", request.outline());
        assert_eq!(request.count("<notesoup window=\"claude:"), 1, "{}", request.outline());
        tty.leave();

        lab.headless("a new one").success();
        let request = lab.model.last();
        assert!(request.contains("notesoup:memory: How to use notes and history well"), "{}", request.outline());
        assert!(!request.contains("The older skill"), "{}", request.outline());
        assert_eq!(request.count("<notesoup window=\"claude:"), 1, "{}", request.outline());
        lab.logs().assert_clean();
        let said = lab.helper(&["install"], "").success().stdout;
        assert!(said.contains("nothing was changed"), "{said}");
    }

    /// Both skills are offered by their names, and load; the paths they give are there.
    fn the_skills_are_offered_and_load(build) {
        let lab = Lab::on(build)
            .script([
                Reply::tool("Skill", json!({"skill": "notesoup:memory"})),
                Reply::tool("Skill", json!({"skill": "notesoup:dream"})),
                Reply::text("read"),
            ])
            .start();
        lab.headless("read both skills").success();
        let first = lab.model.requests().remove(0);
        for offer in ["notesoup:memory: How to use notes and history well", "notesoup:dream: Review and tidy the notes"] {
            assert!(first.contains(offer), "{offer}\n{}", first.outline());
        }
        let last = lab.model.last();
        for (name, skill) in [("memory", "skills/memory/SKILL.md"), ("dream", "skills/dream/SKILL.md")] {
            let text = fs::read_to_string(format!("{}/{skill}", env!("CARGO_MANIFEST_DIR"))).unwrap();
            let body = text.split("\n---\n").nth(1).unwrap().trim();
            let line = body.lines().last().unwrap();
            assert!(last.contains(line), "{name}: {line}");
        }
        let playbook = lab.plugin(0).join("playbooks/dream.md");
        assert!(last.contains(&playbook.display().to_string()), "the dream skill names its playbook");
        assert!(playbook.exists());
    }

    /// A dream has the five notes tools and no others, changes notes by them, and can be taken back.
    fn a_dream_is_confined_to_the_notes(build) {
        let mut lab = bare(build);
        for name in ["tea", "green-tea", "milk", "water", "juice"] {
            lab = lab.note_file(&format!("human/{name}.md"), format!("# {name}\n\nhot\n"));
        }
        let lab = lab
            .script([
                Reply::tool("mcp__notesoup__notes_list", json!({"pattern": "@human/**"})),
                Reply::tool("mcp__notesoup__notes_update", json!({"address": "@human/tea.md", "append": "\ngreen\n"})),
                Reply::tool("mcp__notesoup__notes_update", json!({"address": "@human/green-tea.md", "crumpled": true})),
                Reply::tool("mcp__notesoup__notes_write", json!({"address": "@project/MAP.md", "content": "# Map"})),
                Reply::bash("touch escaped"),
                Reply::tool("mcp__notesoup__history_list", json!({})),
                Reply::text("# Dream report\n\nmerged the teas"),
            ])
            .start();
        let run = lab.helper(&["dream", "--init", "--model", "claude-opus-5-5"], "").success();
        assert!(run.stdout.contains("merged the teas"), "{}", run.said());
        assert!(run.stdout.contains("@project/MAP.md"), "{}", run.said());
        assert!(run.stderr.contains("notes update @human/tea.md"), "{}", run.said());

        let first = lab.model.requests().remove(0);
        let mut tools = first.tools();
        tools.retain(|tool| tool != "DeferredToolPlaceholder");
        tools.sort();
        assert_eq!(tools, FIVE);
        assert!(first.contains("# Playbook: dream"), "{}", first.outline());
        let results: Vec<_> = lab.model.last().tool_results().into_iter().map(|(_, text)| text).collect();
        assert!(results[4].contains("No such tool"), "{results:?}");
        assert!(results[5].contains("No such tool"), "{results:?}");
        assert!(!lab.notes().join("escaped").exists() && !lab.project().join("escaped").exists());

        let tea = lab.notes().join("human/tea.md");
        assert!(fs::read_to_string(&tea).unwrap().ends_with("green\n"));
        assert!(fs::read_to_string(lab.notes().join("human/green-tea.md")).unwrap().contains("crumpledAt"));
        assert!(lab.transcripts().is_empty(), "a dream leaves no conversation behind");

        lab.helper(&["dream", "--undo"], "").success();
        assert_eq!(fs::read_to_string(&tea).unwrap(), "# tea\n\nhot\n");
        assert_eq!(fs::read_to_string(lab.notes().join("human/green-tea.md")).unwrap(), "# green-tea\n\nhot\n");
    }

    /// A checkout added as a marketplace: the plugin loads, and says how to get the program that it does not bring.
    fn a_checkout_without_the_program_says_how_to_get_it(build) {
        let lab = bare(build).start();
        let checkout = lab.root().join("checkout");
        for folder in ["plugin", ".claude-plugin"] {
            copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &checkout.join(folder));
        }
        lab.claude(&["plugin", "marketplace", "add", checkout.to_str().unwrap()]).success();
        lab.claude(&["plugin", "install", "notesoup@notesoup"]).success();
        let mut tty = lab.interactive();
        tty.ask("hello");
        tty.wait_for_screen("the program `notesoup` is not there: build it with `cargo install --path .`");
        tty.wait_for_screen("run `notesoup install`");
        tty.screenshot("no-program");
        tty.leave();
        assert_eq!(lab.model.last().count("<notesoup window="), 0);
        assert!(lab.model.last().has_prompt("hello"), "the session goes on as without the plugin");
        lab.helper(&["install"], "").success();
        lab.headless("hello again").success();
        assert_eq!(lab.model.last().count("<notesoup window="), 1);
    }
}

/// The version that the client has on record for our plugin.
fn known_version(lab: &Lab) -> String {
    let list: Value = serde_json::from_str(&lab.claude(&["plugin", "list", "--json"]).success().stdout).unwrap();
    let ours = list
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["id"] == "notesoup@notesoup")
        .unwrap();
    ours["version"].as_str().unwrap().to_owned()
}

/// Installs what an older version would have: its number in the manifest, and a skill by which the model tells it.
fn install_older(lab: &Lab) {
    lab.helper(&["install"], "").success();
    lab.claude(&["plugin", "marketplace", "remove", "notesoup"]).success();
    let data = lab.root().join("data/notesoup");
    let (current, older) = (data.join("current"), data.join("versions/0.0.9.1"));
    fs::rename(fs::canonicalize(&current).unwrap(), &older).unwrap();
    fs::remove_file(&current).unwrap();
    symlink("versions/0.0.9.1", &current).unwrap();
    for (file, now, then) in [
        (".claude-plugin/plugin.json", VERSION, "0.0.9"),
        (
            "skills/memory/SKILL.md",
            "How to use notes and history well",
            "The older skill",
        ),
    ] {
        let path = older.join("plugin").join(file);
        fs::write(&path, fs::read_to_string(&path).unwrap().replacen(now, then, 1)).unwrap();
    }
    lab.claude(&["plugin", "marketplace", "add", current.to_str().unwrap()])
        .success();
    lab.claude(&["plugin", "install", "notesoup@notesoup"]).success();
}

/// Copies what git knows of a folder: what is built or written beside it by a client is left out.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        if name == "bin" || name == "types" && from.ends_with(".claude-plugin") {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

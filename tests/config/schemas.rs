//! The published schemas: fresh, sound, and of one mind with the checks.

use std::path::Path;

use notesoup::config::DEFAULT_TEXT;
use notesoup::schema::{self, Published};
use notesoup::texts::catalog;
use serde_json::{Value, json};

fn all() -> Vec<Published> {
    schema::all()
}

fn find(name: &str) -> Value {
    schema::find(name).unwrap_or_else(|| panic!("no schema {name}")).schema
}

fn is_valid(schema: &Value, toml: &str) -> bool {
    let value: toml::Table = toml.parse().unwrap();
    jsonschema::validator_for(schema)
        .unwrap()
        .is_valid(&serde_json::to_value(value).unwrap())
}

#[test]
fn the_schemas_on_disk_are_those_that_the_types_give() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let mut on_disk: Vec<String> = std::fs::read_dir(&folder)
        .map(|entries| {
            entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect()
        })
        .unwrap_or_default();
    on_disk.sort();
    let mut made: Vec<String> = all().iter().map(Published::file_name).collect();
    made.sort();
    let remedy = "rewrite them: cargo run -- schema --write";
    assert_eq!(on_disk, made, "{remedy}");
    for published in all() {
        let text = std::fs::read_to_string(folder.join(published.file_name())).unwrap();
        assert!(text == published.text(), "{} is stale; {remedy}", published.file_name());
    }
}

#[test]
fn every_schema_is_one_of_its_draft() {
    for Published { name, schema, .. } in all() {
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        let draft = schema["$schema"].as_str().unwrap_or_default();
        assert_eq!(
            draft.contains("draft-07"),
            name.ends_with("draft-07"),
            "{name}: {draft}"
        );
    }
}

/// Every property of the files that a person writes is documented.
#[test]
fn every_key_of_a_file_has_a_title_and_a_description() {
    fn look(name: &str, path: &str, schema: &Value, bare: &mut Vec<String>) {
        match schema {
            Value::Object(object) => {
                if let Some(Value::Object(properties)) = object.get("properties") {
                    for (key, property) in properties {
                        let has = |word: &str| property.get(word).is_some();
                        let path = format!("{path}.{key}");
                        // A condition of `if` and `then` is no place for documentation.
                        let is_documented = has("description") || has("$ref") || has("allOf");
                        let is_a_condition = path.contains(".if.") || path.contains(".then.");
                        let is_complete = is_documented && has("title");
                        if !is_a_condition && !is_complete {
                            bare.push(format!("{name}: {path}"));
                        }
                    }
                }
                for (key, value) in object {
                    look(name, &format!("{path}.{key}"), value, bare);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| look(name, path, item, bare)),
            _ => {}
        }
    }
    let mut bare = Vec::new();
    for name in ["hooks", "project", "settings", "plugin-options"] {
        look(name, "", &find(name), &mut bare);
    }
    bare.retain(|line| !line.ends_with(".options") && !line.contains("allOf"));
    assert_eq!(bare, Vec::<String>::new());
}

#[test]
fn the_default_table_is_valid_in_both_drafts() {
    for name in ["hooks", "hooks.draft-07"] {
        let schema = find(name);
        let value: toml::Table = DEFAULT_TEXT.parse().unwrap();
        let value = serde_json::to_value(value).unwrap();
        let errors: Vec<_> = jsonschema::validator_for(&schema)
            .unwrap()
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}");
    }
    assert!(DEFAULT_TEXT.starts_with("#:schema ./schemas/hooks."));
}

#[test]
fn a_layer_says_only_what_it_wants_otherwise() {
    for good in [
        "",
        "profile = 'mine'\nlanguage = 'de-AT'\n[profiles.mine.hooks.boot]\nenabled = false\n",
        "[window]\nreset_margin_tokens = 1\n",
        "[hooks.boot]\nenabled = false\n",
        "[hooks.mine]\nevent = 'session.compact'\nrun = 'veto'\norder = 70\nwhen = { trigger = ['auto'] }\noptions = { text = 'veto_compact' }\n",
        "[texts.forced_reset]\nadd = true\npool = ['x', { text = 'y', weight = 2, lang = 'de' }]\n",
    ] {
        assert!(is_valid(&find("hooks"), good), "{good}");
        assert!(is_valid(&find("hooks.draft-07"), good), "{good}");
    }
    for bad in [
        "unheard = 1\n",
        "language = 'deutsch!'\n",
        "[window]\nreset_margin_tokens = 0\n",
        "[hooks.mine]\nevent = 'session.compact'\n",
        "[hooks.Mine]\nevent = 'session.compact'\nrun = 'handoff'\norder = 70\n",
        "[hooks.mine]\nevent = 'session.start'\nrun = 'handoff'\norder = 70\n",
        "[hooks.mine]\nevent = 'session.compact'\nrun = 'handoff'\norder = 70\nwhen = { source = 'x' }\n",
        "[hooks.mine]\nevent = 'session.compact'\nrun = 'veto'\norder = 70\noptions = { txt = 'x' }\n",
        "[hooks.boot]\nwhen = { trigger = 'manual' }\n",
        "[texts.forced_rest]\npool = ['x']\n",
        "[texts.forced_reset]\npool = []\n",
        "[profiles.mine]\nprofile = 'both'\n",
    ] {
        assert!(!is_valid(&find("hooks"), bad), "{bad}");
        assert!(!is_valid(&find("hooks.draft-07"), bad), "{bad}");
    }
}

#[test]
fn a_project_has_numbers_and_switches_alone() {
    let schema = find("project");
    assert!(is_valid(
        &schema,
        "[window]\nreset_margin_tokens = 1\n[prune]\nkeep_head_chars = 5\n"
    ));
    for bad in [
        "profile = 'both'\n",
        "[prune]\nprotected_paths = ['/']\n",
        "[notes]\nhome = '/x'\n",
        "[hooks.boot]\nenabled = false\n",
    ] {
        assert!(!is_valid(&schema, bad), "{bad}");
    }
}

#[test]
fn the_options_of_the_manifest_are_those_of_the_schema() {
    let manifest = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/plugin/.claude-plugin/plugin.json"
    ))
    .unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let mut declared: Vec<_> = manifest["userConfig"].as_object().unwrap().keys().cloned().collect();
    let schema = find("plugin-options");
    let mut described: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    declared.sort();
    described.sort();
    assert_eq!(declared, described);
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&json!({ "profile": "", "resetMarginTokens": "", "keepHeadChars": 5 })));
    assert!(!validator.is_valid(&json!({ "resetMarginTokens": 0 })));
    assert!(!validator.is_valid(&json!({ "resetMarginTokens": "NaN" })));
}

#[test]
fn the_table_has_every_text_of_the_catalogue_with_its_placeholders_above_it() {
    let mut lines = DEFAULT_TEXT.lines().peekable();
    let mut before = "";
    let mut found = Vec::new();
    for line in &mut lines {
        if let Some(name) = line.strip_prefix("[texts.").and_then(|rest| rest.strip_suffix(']')) {
            let text = catalog::find(name).unwrap_or_else(|| panic!("{name} is not in the catalogue"));
            let placeholders: Vec<_> = before.matches('{').collect();
            assert_eq!(placeholders.len(), text.placeholders.len(), "{name}: {before}");
            for name in text.placeholders {
                assert!(before.contains(&format!("{{{name}}}")), "{name} is not in: {before}");
            }
            found.push(name);
        }
        before = line;
    }
    let known: Vec<_> = catalog::ALL.iter().map(|text| text.name).collect();
    assert_eq!(found, known);
}

//! Hundreds of files made from the good one by one slip each: none panics, each slip is named at its place, and the
//! session goes on with what is compiled in.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use notesoup::config::{DEFAULT_TEXT, Document, LayerKind, Problem, key, load};
use notesoup::schema::validate;
use toml::{Table, Value};

use crate::support::{Bench, catalog};

/// One slip: what it is, the file with it, and the key (dotted) that is to be named.
struct Mutation {
    name: String,
    text: String,
    /// The key at fault, or one that it lies in; none where the file is no TOML any more.
    key: Option<String>,
}

fn good() -> Table {
    DEFAULT_TEXT.parse().unwrap()
}

/// Every key whose value is not a table, as a path.
fn leaves(table: &Table, path: &[String], found: &mut Vec<(Vec<String>, Value)>) {
    for (name, value) in table {
        let path = [path, std::slice::from_ref(name)].concat();
        match value {
            Value::Table(inner) if !inner.is_empty() => leaves(inner, &path, found),
            value => found.push((path, value.clone())),
        }
    }
}

fn tables(table: &Table, path: &[String], found: &mut Vec<Vec<String>>) {
    for (name, value) in table {
        if let Value::Table(inner) = value {
            let path = [path, std::slice::from_ref(name)].concat();
            found.push(path.clone());
            tables(inner, &path, found);
        }
    }
}

fn at<'a>(table: &'a mut Table, path: &[String]) -> &'a mut Table {
    path.iter()
        .fold(table, |table, name| table[name].as_table_mut().unwrap())
}

fn dotted(path: &[String]) -> String {
    path.iter().fold(String::new(), |key, part| key::join(&key, part))
}

fn changed(path: &[String], value: Value) -> String {
    let mut table = good();
    let (last, above) = path.split_last().unwrap();
    at(&mut table, above).insert(last.clone(), value);
    toml::to_string(&table).unwrap()
}

/// Values of another kind, or out of every range.
fn misfits(value: &Value) -> Vec<Value> {
    let number = |number: i64| Value::Integer(number);
    match value {
        Value::Integer(_) => vec![
            Value::String("many".to_owned()),
            Value::Float(1.5),
            Value::Float(f64::NAN),
            Value::Boolean(true),
            Value::Array(vec![]),
            number(-1),
        ],
        Value::Boolean(_) => vec![number(1), Value::String("true".to_owned())],
        Value::String(_) => vec![number(1), Value::Boolean(false), Value::Table(Table::new())],
        Value::Array(_) => vec![number(1), Value::Array(vec![number(1)])],
        _ => vec![],
    }
}

fn of_values(mutations: &mut Vec<Mutation>) {
    let mut found = Vec::new();
    leaves(&good(), &[], &mut found);
    for (index, (path, value)) in found.into_iter().enumerate() {
        let is_condition = path.iter().any(|part| part == "when");
        if path.iter().any(|part| part == "options") && !takes_options(&path) {
            continue;
        }
        // Each value gets some of the misfits, in turn; numbers get them all.
        let misfits = misfits(&value);
        let kept = if value.is_integer() && path[0] != "hooks" {
            misfits.len()
        } else {
            1
        };
        for misfit in misfits.iter().cycle().skip(index).take(kept).cloned() {
            // A condition may be a text, a list or a switch.
            if is_condition && (misfit.is_bool() || misfit.is_array()) && misfit.as_array().is_none_or(Vec::is_empty) {
                continue;
            }
            mutations.push(Mutation {
                name: format!("{} = {misfit}", dotted(&path)),
                text: changed(&path, misfit),
                key: Some(dotted(&path)),
            });
        }
    }
}

/// Whether the row's handler is there to say what it takes.
fn takes_options(path: &[String]) -> bool {
    let row = path.iter().take_while(|part| *part != "options");
    let run = row
        .fold(Value::Table(good()), |value, part| value[part].clone())
        .get("run")
        .cloned();
    // A profile's row need not say it again.
    let Some(run) = run else { return true };
    let mut takers = notesoup::handlers::option_schemas().into_iter();
    takers.any(|(name, _)| run.as_str() == Some(name))
}

fn of_names(mutations: &mut Vec<Mutation>) {
    let mut all = Vec::new();
    tables(&good(), &[], &mut all);
    for path in all {
        let is_open = matches!(
            path.last().map(String::as_str),
            Some("hooks" | "profiles" | "texts" | "options" | "tools")
        );
        if !is_open {
            let mut table = good();
            at(&mut table, &path).insert("unheard_of".to_owned(), Value::Integer(1));
            mutations.push(Mutation {
                name: format!("a key more in {}", dotted(&path)),
                text: toml::to_string(&table).unwrap(),
                key: Some(format!("{}.unheard_of", dotted(&path))),
            });
        }
        // The same table under another name.
        let (last, above) = path.split_last().unwrap();
        if above.first().is_some_and(|first| first == "texts" || first == "hooks") && above.len() == 1 {
            let mut table = good();
            let renamed = at(&mut table, above).remove(last).unwrap();
            at(&mut table, above).insert(format!("{last}.X"), renamed);
            mutations.push(Mutation {
                name: format!("{} under a bad name", dotted(&path)),
                text: toml::to_string(&table).unwrap(),
                key: Some(key::join(&dotted(above), &format!("{last}.X"))),
            });
        }
    }
}

fn of_rows(mutations: &mut Vec<Mutation>) {
    let rows = good()["hooks"].as_table().unwrap().clone();
    for (id, row) in &rows {
        let key = dotted(&["hooks".to_owned(), id.clone()]);
        let mut add = |field: &str, value: Value| {
            let path = ["hooks".to_owned(), id.clone(), field.to_owned()];
            mutations.push(Mutation {
                name: format!("{key}.{field} = {value}"),
                text: changed(&path, value),
                key: Some(format!("{key}.{field}")),
            });
        };
        add("event", Value::String("weather.changed".to_owned()));
        add("run", Value::String("nobody".to_owned()));
        let when = |field: &str, value: &str| Value::Table(Table::from_iter([(field.to_owned(), Value::from(value))]));
        add("when", when("colour", "blue"));
        add("when", when("agent", "mian"));
        add("when", when("model", "(unclosed"));
        // Of two rows with one order, the second by name is told.
        let is_live = |row: &Value| row.get("enabled").is_none_or(|enabled| enabled.as_bool() == Some(true));
        let twin = rows
            .iter()
            .find(|(other, twin)| *other < id && is_live(twin) && is_live(row) && twin["event"] == row["event"]);
        if let Some((_, twin)) = twin {
            add("order", twin["order"].clone());
        }
    }
}

fn of_texts(mutations: &mut Vec<Mutation>) {
    for (index, name) in good()["texts"].as_table().unwrap().keys().enumerate() {
        let path = ["texts".to_owned(), name.clone(), "pool".to_owned()];
        let pools = [
            vec![],
            vec![Value::from("")],
            vec![Value::from("{no_such_placeholder}")],
            vec![Value::Table(Table::from_iter([
                ("text".to_owned(), Value::from("x")),
                ("weight".to_owned(), Value::from(0)),
            ]))],
            vec![Value::Table(Table::from_iter([
                ("text".to_owned(), Value::from("x")),
                ("lang".to_owned(), Value::from("xx")),
            ]))],
        ];
        for pool in pools.into_iter().cycle().skip(index).take(2) {
            mutations.push(Mutation {
                name: format!("texts.{name}.pool = {pool:?}"),
                text: changed(&path, Value::Array(pool)),
                key: Some(dotted(&path)),
            });
        }
    }
}

/// Cuts, doublings and foreign bytes in the text itself.
fn of_bytes(mutations: &mut Vec<Mutation>) {
    let mut add = |name: String, text: String| mutations.push(Mutation { name, text, key: None });
    let lines: Vec<&str> = DEFAULT_TEXT.lines().collect();
    for (number, line) in lines.iter().enumerate().step_by(9) {
        let with = |new: &str| {
            let mut lines = lines.clone();
            lines[number] = new;
            lines.join("\n")
        };
        if line.starts_with('[') {
            add(format!("line {number} twice"), with(&format!("{line}\n{line}")));
            add(format!("line {number} not closed"), with(line.trim_end_matches(']')));
        } else if line.contains(" = ") && !line.starts_with('#') {
            add(
                format!("line {number} without a value"),
                with(line.split(" = ").next().unwrap()),
            );
            add(format!("line {number} with a NUL"), with(&format!("{line}\0")));
        }
    }
    for share in 1..20 {
        let cut = DEFAULT_TEXT.floor_char_boundary(DEFAULT_TEXT.len() * share / 20);
        // A cut in a comment or between two lines leaves a good file.
        let text = &DEFAULT_TEXT[..cut];
        if text.parse::<Table>().is_err() {
            add(format!("cut after {share}/20"), text.to_owned());
        }
    }
}

fn all() -> &'static [Mutation] {
    static ALL: OnceLock<Vec<Mutation>> = OnceLock::new();
    ALL.get_or_init(make)
}

fn make() -> Vec<Mutation> {
    let mut mutations = Vec::new();
    of_values(&mut mutations);
    of_names(&mut mutations);
    of_rows(&mut mutations);
    of_texts(&mut mutations);
    of_bytes(&mut mutations);
    // The bytes are few, and stay; of the rest every other one is slip enough.
    let (kept, rest): (Vec<_>, Vec<_>) = mutations.into_iter().partition(|mutation| mutation.key.is_none());
    rest.into_iter().step_by(2).chain(kept).collect()
}

#[test]
fn every_slip_is_named_at_its_place_and_the_session_goes_on() {
    let bench = Bench::new();
    let sound = bench.load().config;
    let mutations = all();
    assert!((200..500).contains(&mutations.len()), "{}", mutations.len());
    let names: BTreeSet<_> = mutations.iter().map(|mutation| &mutation.name).collect();
    assert_eq!(names.len(), mutations.len(), "each is another");
    for Mutation { name, text, key } in mutations {
        bench.write("home/hooks.toml", text);
        let loaded = load(&bench.sources, &catalog());
        assert_eq!(loaded.config, sound, "{name}");
        let problems: Vec<&Problem> = loaded.problems.iter().collect();
        assert!(!problems.is_empty(), "{name} is not told");
        for problem in &problems {
            assert!(problem.place.source.ends_with("home/hooks.toml"), "{name}: {problem}");
            assert!(
                problem.place.line.is_some() && problem.place.column.is_some(),
                "{name}: {problem}"
            );
            assert!(
                problem.help.as_ref().is_some_and(|help| !help.is_empty()),
                "{name}: {problem}"
            );
        }
        let Some(key) = key else { continue };
        let is_named = |problem: &&&Problem| {
            problem
                .key
                .as_deref()
                .is_some_and(|named| named.starts_with(key.as_str()))
        };
        let Some(problem) = problems.iter().find(is_named) else {
            panic!("{name}: {key} is not named in {problems:#?}");
        };
        // The line that is shown is the one where the key, or what holds it, stands.
        let named = problem.key.clone().unwrap();
        let last = key::split(&named).pop().unwrap();
        let excerpt = problem.place.excerpt.clone().unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let line = lines[problem.place.line.unwrap() - 1];
        assert_eq!(line, excerpt, "{name}");
        let is_near = line.contains(&last)
            || line.starts_with(&format!("[{}", key::parent(&named).unwrap_or_default()))
            || key.contains("pool");
        assert!(is_near, "{name}: {problem} shows {line}");
    }
}

/// The schema that editors use and the checks of a session are of one mind about keys, types and ranges.
#[test]
fn whatever_the_published_schema_refuses_a_session_refuses_too() {
    let bench = Bench::new();
    let refused = |text: &str| -> Option<BTreeSet<Option<String>>> {
        let document = Document::parse(Path::new("hooks.toml"), text.to_owned()).ok()?;
        let problems = validate::problems(LayerKind::UserFile, &document);
        Some(problems.into_iter().map(|problem| problem.key).collect())
    };
    let before = refused(DEFAULT_TEXT).unwrap();
    let mut count = 0;
    for Mutation { name, text, .. } in all().iter().step_by(6) {
        if refused(text).is_none_or(|refused| refused.is_subset(&before)) {
            continue;
        }
        count += 1;
        bench.write("home/hooks.toml", text);
        assert!(!load(&bench.sources, &catalog()).problems.is_empty(), "{name}");
    }
    assert!(count >= 20, "{count}");
}

/// The same slips in a project's file change nothing, whatever they are; numbers of two sections are its own.
#[test]
fn no_mutation_of_the_whole_table_is_anything_to_a_project() {
    let bench = Bench::new();
    let sound = bench.load().config;
    for Mutation { name, text, .. } in all().iter().step_by(11) {
        bench.write("project/.claude/notesoup.toml", text);
        let loaded = bench.load();
        assert!(!loaded.problems.is_empty(), "{name}");
        let mut config = loaded.config;
        config.window = sound.window.clone();
        config.prune = sound.prune.clone();
        assert_eq!(config, sound, "{name}");
    }
}

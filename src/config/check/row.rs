//! A row of the table.

use figment::value::{Dict, Value};

use super::layer::Findings;
use super::shape;
use super::{HandlerInfo, PERSON_ONLY};
use crate::config::LayerKind;
use crate::config::key::join;
use crate::config::merge::{combine_row, find};
use crate::config::problem::{Code, listed, shown, suggestion};
use crate::config::table::{COMMON_FIELDS, Condition, Row, compile, fields_of};
use crate::wire::Event;

/// The longest id.
const MAX_ID: usize = 64;

/// Checks a row that a layer gives under `table` (`hooks`, or a profile's), on top of the same row below.
pub(super) fn check(found: &mut Findings<'_>, table: &str, id: &str, value: &Value) {
    let key = join(table, id);
    if !is_id(id) {
        found.name(
            Code::UnknownKey,
            key,
            format!("`{}` is no id for a row", shown(id)),
            format!("use lower-case letters, digits and `-`, {MAX_ID} at most"),
        );
        return;
    }
    let Some(own) = found.as_table(&key, value) else { return };
    let schema = shape::part(shape::schema(), &["hooks", ""]).unwrap_or(&serde_json::Value::Null);
    let mut sound = own.clone();
    for (name, value) in own {
        let before = found.problems.len();
        let key = join(&key, name);
        match name.as_str() {
            "when" => conditions(found, &key, value),
            "options" => {
                found.as_table(&key, value);
            }
            name => match shape::part(schema, &[name]) {
                Some(schema) => found.shape(value, schema, &key),
                None => found.slip(shape::unknown_key(key, name, &shape::names(schema))),
            },
        }
        if found.problems.len() > before {
            sound.remove(name);
        }
    }
    let whole = with_what_is_below(found, &key, id, own);
    let missing: Vec<_> = ["event", "run", "order"]
        .into_iter()
        .filter(|name| !whole.contains_key(*name))
        .collect();
    if !missing.is_empty() {
        let names = and(&missing);
        found.name(
            Code::MissingKey,
            &key,
            format!("there is no row of this id, and a new one needs {names}"),
            match nearest_row(found, id) {
                Some(near) => format!("did you mean `{near}`? Else add {names}"),
                None => format!("add {names}"),
            },
        );
    }
    // The meaning of a row is looked at as far as its shape is right.
    let mut sound = with_what_is_below(found, &key, id, &sound);
    sound.entry("order".to_owned()).or_insert_with(|| Value::from(0));
    if let Ok(row) = Value::from(sound).deserialize::<Row>() {
        rights(found, &key, own, &row);
        meaning(found, &key, &row);
    }
}

fn and(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => format!("`{only}`"),
        [rest @ .., last] => format!("{} and `{last}`", listed(rest.iter().copied())),
    }
}

fn is_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_plain)
}

/// The row as it is with what lies below it. A profile's overlay may also change a row that the layer itself brings.
fn with_what_is_below(found: &Findings<'_>, key: &str, id: &str, own: &Dict) -> Dict {
    let plain = join("hooks", id);
    let row = |dict: &Dict, key: &str| find(dict, key).and_then(Value::as_dict).cloned();
    let mut whole = row(found.below, &plain).unwrap_or_default();
    if key != plain {
        if whole.is_empty() {
            whole = row(&found.layer.dict, &plain).unwrap_or_default();
        }
        if let Some(overlay) = row(found.below, key) {
            whole = combine_row(whole, &overlay);
        }
    }
    combine_row(whole, own)
}

fn nearest_row<'a>(found: &'a Findings<'_>, id: &str) -> Option<&'a str> {
    let rows = found.below.get("hooks").and_then(Value::as_dict)?;
    crate::config::nearest(id, rows.keys().map(String::as_str))
}

fn conditions(found: &mut Findings<'_>, key: &str, value: &Value) {
    let Some(when) = found.as_table(key, value) else { return };
    for (field, value) in when {
        if value.deserialize::<Condition>().is_err() {
            let message = format!("found {}", shape::found(value));
            let help = "give true or false, a regular expression, or a list of exact texts";
            found.value(Code::InvalidValue, join(key, field), message, help);
        }
    }
}

/// Whether the layer may have such a row at all.
fn rights(found: &mut Findings<'_>, key: &str, own: &Dict, row: &Row) {
    if !PERSON_ONLY.contains(&row.run.as_str()) {
        return;
    }
    let said = ["run", "options", "event", "when"]
        .into_iter()
        .find(|name| own.contains_key(*name));
    let Some(said) = said else { return };
    let key = join(key, said);
    if found.layer.kind != LayerKind::UserFile {
        found.value(
            Code::NotAllowedHere,
            key,
            format!(
                "`{}` starts programs, and only your own hooks.toml may say which",
                row.run
            ),
            "put the row into the hooks.toml of your config directory",
        );
    } else if let Some(reason) = found.layer.distrusted.clone() {
        found.value(
            Code::NotAllowedHere,
            key,
            format!("`{}` starts programs, and this file {reason}", row.run),
            "make the file yours alone: `chmod go-w`, and `chown` where it is not yours",
        );
    }
}

pub(super) fn meaning(found: &mut Findings<'_>, key: &str, row: &Row) {
    let event = Event::from_name(&row.event);
    if event.is_none() {
        let known: Vec<_> = Event::ALL.iter().map(|event| event.name()).collect();
        found.value(
            Code::UnknownEvent,
            join(key, "event"),
            format!("there is no event `{}`", shown(&row.event)),
            suggestion(&row.event, known),
        );
    }
    match (found.catalog.find(&row.run), event) {
        (None, _) => {
            let known: Vec<_> = found.catalog.handlers.iter().map(|handler| handler.name).collect();
            found.value(
                Code::UnknownHandler,
                join(key, "run"),
                format!("there is no handler `{}`", shown(&row.run)),
                suggestion(&row.run, known),
            );
        }
        (Some(handler), Some(event)) => {
            let handler = *handler;
            served(found, key, row, event, &handler);
        }
        (Some(_), None) => {}
    }
    if let Some(event) = event {
        fields(found, key, row, event);
    }
}

fn served(found: &mut Findings<'_>, key: &str, row: &Row, event: Event, handler: &HandlerInfo) {
    if !handler.events.contains(&event) {
        // Whichever of the two the layer has said is the one to change.
        let said = if found.layer.has(&join(key, "run")) {
            "run"
        } else {
            "event"
        };
        found.value(
            Code::UnknownHandler,
            join(key, said),
            format!("`{}` does not serve `{}`", row.run, row.event),
            format!("it serves {}", listed(handler.events.iter().map(|event| event.name()))),
        );
        return;
    }
    if let Err(message) = (handler.check_options)(&row.options) {
        let (key, message, help) = option_slip(key, row, handler, &message);
        found.value(Code::InvalidValue, key, message, help);
    }
}

/// The handler's words on its options, with the option's own key.
fn option_slip(key: &str, row: &Row, handler: &HandlerInfo, message: &str) -> (String, String, String) {
    let options = join(key, "options");
    let name = message.split('`').nth(1).unwrap_or_default();
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let known: Vec<_> = rest.split('`').skip(3).step_by(2).collect();
        let help = if known.is_empty() {
            format!("`{}` takes no options", handler.name)
        } else {
            suggestion(name, known)
        };
        return (
            join(&options, name),
            format!("`{}` has no option `{}`", handler.name, shown(name)),
            help,
        );
    }
    if message.starts_with("missing field ") {
        return (
            options,
            format!("`{}` needs the option `{name}`", handler.name),
            format!("add `{name}`"),
        );
    }
    // An option is at fault when without it something else is said, or nothing.
    let is_at_fault = |name: &&String| {
        let mut others = row.options.clone();
        others.remove(name.as_str());
        (handler.check_options)(&others) != Err(message.to_owned())
    };
    let options = match row.options.keys().find(is_at_fault) {
        Some(name) => join(&options, name),
        None => options,
    };
    if let Some((found, wanted)) = message.split_once(", expected ") {
        let found = found.rsplit(": ").next().unwrap_or(found);
        return (options, format!("found {found}"), format!("give {wanted}"));
    }
    let (message, help) = message.split_once("; ").unwrap_or((message, "mend it, or take it out"));
    (options, message.to_owned(), help.to_owned())
}

fn fields(found: &mut Findings<'_>, key: &str, row: &Row, event: Event) {
    let when = join(key, "when");
    for (field, condition) in &row.when {
        let key = join(&when, field);
        let known = || COMMON_FIELDS.iter().chain(fields_of(event)).map(|field| field.name);
        if !known().any(|name| name == field) {
            let message = format!("`{}` has no field `{}`", event.name(), shown(field));
            found.name(
                Code::UnknownField,
                key,
                message,
                suggestion(field, known().collect::<Vec<_>>()),
            );
            continue;
        }
        if field == "agent" {
            agent(found, key, condition);
            continue;
        }
        if let Condition::Matches(pattern) = condition
            && let Err(error) = compile(field, pattern)
        {
            found.value(
                Code::InvalidPattern,
                key,
                format!("the pattern does not compile: {}", reason(&error)),
                "mend the regular expression, or give a list of exact values",
            );
        }
    }
}

fn agent(found: &mut Findings<'_>, key: String, condition: &Condition) {
    let words = match condition {
        Condition::Matches(word) => vec![word.as_str()],
        Condition::AnyOf(words) => words.iter().map(String::as_str).collect(),
        Condition::Is(true) => vec!["true"],
        Condition::Is(false) => vec!["false"],
    };
    if let Some(word) = words.into_iter().find(|word| !matches!(*word, "main" | "sub" | "any")) {
        let message = format!("there is no agent `{}`", shown(word));
        found.value(Code::InvalidValue, key, message, "use `main`, `sub` or `any`");
    }
}

/// The last line of the message is the reason, the others draw the pattern.
pub(super) fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

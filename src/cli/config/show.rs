//! `notesoup config show`.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::layers::Here;
use crate::cli::table::{Column, Kind, fit, render, width, wrapped};
use crate::cli::{Global, fail};
use crate::config::explain::{Below, all};
use crate::config::{LayerKind, Loaded, Origin, key, shown, suggestion};
use crate::paths::tilde;
use crate::texts::catalog;

/// A condition is not squeezed below this width.
const MIN_ROOM: usize = 12;

/// Show the merged config, each value with where it comes from
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup config show              numbers, rows and texts
  notesoup config show window       one section
  notesoup config show hooks        the table
  notesoup config show texts        the texts and their placeholders
  notesoup config show --toml       everything as one hooks.toml
  notesoup config show --json       every key with value, layer, file and line")]
pub struct ShowArgs {
    /// A section: window, prune, boot, hooks, texts, …
    section: Option<String>,
    /// Print every key with its value and origin as JSON
    #[arg(long, conflicts_with = "toml")]
    json: bool,
    /// Print the merged values as TOML
    #[arg(long)]
    toml: bool,
}

/// Prints what holds. Exit code 1 when there is no such section.
pub fn run(args: &ShowArgs, global: &Global) -> ExitCode {
    let here = Here::new(global);
    let loaded = here.load();
    let values = match serde_json::to_value(&loaded.config) {
        Ok(Value::Object(values)) => values,
        _ => Map::new(),
    };
    if let Some(section) = &args.section
        && !values.contains_key(section)
    {
        let known: Vec<_> = values.keys().map(String::as_str).collect();
        return fail(&format!(
            "there is no section `{}`; {}",
            shown(section),
            suggestion(section, known)
        ));
    }
    let mut out = crate::cli::out::stdout();
    if args.toml {
        return match as_toml(&loaded, args.section.as_deref()) {
            Ok(text) => {
                let _ = write!(out, "{text}");
                ExitCode::SUCCESS
            }
            Err(error) => fail(&format!("the config cannot be written as TOML: {error}")),
        };
    }
    let is_meant = |below: &Below| match &args.section {
        Some(section) => key::split(&below.key).first() == Some(section),
        None => true,
    };
    let all: Vec<_> = all(&loaded).into_iter().filter(is_meant).collect();
    if args.json {
        let told: Map<String, Value> = all.iter().map(|below| (below.key.clone(), entry(below))).collect();
        let _ = writeln!(out, "{:#}", Value::Object(told));
        return ExitCode::SUCCESS;
    }
    let parts = [
        numbers(&all),
        rows(&loaded, args.section.as_deref()),
        texts(&loaded, args.section.as_deref()),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let _ = writeln!(out, "{}", parts.join("\n\n"));
    here.say_what_was_read();
    if !loaded.problems.is_empty() {
        let _ = writeln!(
            anstream::stderr(),
            "Not everything stands: `notesoup config check` says what is wrong."
        );
    }
    ExitCode::SUCCESS
}

fn entry(below: &Below) -> Value {
    match &below.origin {
        Some(Origin { layer, place }) => json!({ "value": below.value, "layer": layer, "place": place }),
        None => json!({ "value": below.value, "layer": "default", "place": null }),
    }
}

fn as_toml(loaded: &Loaded, section: Option<&str>) -> Result<String, toml::ser::Error> {
    let mut table = toml::Table::try_from(&loaded.config)?;
    if let Some(section) = section {
        table.retain(|name, _| name == section);
    }
    toml::to_string_pretty(&table)
}

/// Whatever is neither a row, nor a profile, nor a text.
fn numbers(all: &[Below]) -> Option<String> {
    let is_plain = |below: &&Below| {
        let first = key::split(&below.key).into_iter().next().unwrap_or_default();
        !matches!(first.as_str(), "hooks" | "texts" | "profiles")
    };
    let rows: Vec<Vec<String>> = all
        .iter()
        .filter(is_plain)
        .map(|below| vec![below.key.clone(), short(&below.value), origin(below.origin.as_ref())])
        .collect();
    laid_out(&["KEY", "VALUE", "FROM"], rows)
}

fn rows(loaded: &Loaded, section: Option<&str>) -> Option<String> {
    if section.is_some_and(|section| section != "hooks") {
        return None;
    }
    let mut rows: Vec<_> = loaded.config.hooks.iter().collect();
    rows.sort_by(|(_, one), (_, other)| (&one.event, one.order).cmp(&(&other.event, other.order)));
    let cells: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(id, row)| {
            let when = serde_json::to_value(&row.when)
                .map(|when| short(&when))
                .unwrap_or_default();
            let table = key::join("hooks", id);
            let highest = loaded.layers.iter().rev().find(|layer| layer.has(&table));
            vec![
                row.event.clone(),
                row.order.to_string(),
                id.clone(),
                row.run.clone(),
                if row.enabled { "on" } else { "off" }.to_owned(),
                if row.when.is_empty() { String::new() } else { when },
                highest.map(|layer| layer.kind.title().to_owned()).unwrap_or_default(),
            ]
        })
        .collect();
    match width() {
        Some(width) => Some(by_event(&cells, width)),
        None => laid_out(&["EVENT", "ORDER", "ROW", "RUNS", "", "WHEN", "FROM"], cells),
    }
}

/// The rows below the events they answer, so that a terminal has room for what they wait for.
fn by_event(cells: &[Vec<String>], width: usize) -> String {
    let widest = |column: usize| cells.iter().map(|cells| cells[column].width()).max().unwrap_or(0);
    let (id_width, run_width) = (widest(2), widest(3));
    let mut lines = vec![format!("ORDER  {:id_width$}  {:run_width$}       WHEN", "ROW", "RUNS")];
    let mut last = "";
    for cells in cells {
        let [event, order, id, run, on, when, from] = &cells[..] else {
            continue;
        };
        if event != last {
            lines.push(event.clone());
            last = event;
        }
        let head = format!("{order:>5}  {id:id_width$}  {run:run_width$}  {on:<3}  ");
        let when = when.trim_start_matches("{ ").trim_end_matches(" }");
        let from = if from == LayerKind::Defaults.title() {
            String::new()
        } else {
            format!(" ({from})")
        };
        let room = width.saturating_sub(head.width()).max(MIN_ROOM);
        for (index, part) in wrapped(&format!("{when}{from}"), room).iter().enumerate() {
            let before = if index == 0 {
                head.clone()
            } else {
                " ".repeat(head.width())
            };
            lines.push(format!("{before}{part}").trim_end().to_owned());
        }
    }
    lines.join("\n")
}

fn texts(loaded: &Loaded, section: Option<&str>) -> Option<String> {
    if section.is_some_and(|section| section != "texts") {
        return None;
    }
    let cells = catalog::ALL
        .iter()
        .filter_map(|text| {
            let pool = loaded.config.texts.pools().get(text.name)?;
            let placeholders: Vec<_> = text.placeholders.iter().map(|name| format!("{{{name}}}")).collect();
            Some(vec![
                text.name.to_owned(),
                pool.pool.len().to_string(),
                placeholders.join(" "),
                origin(
                    loaded
                        .origin(&format!("{}.pool", key::join("texts", text.name)))
                        .as_ref(),
                ),
            ])
        })
        .collect();
    laid_out(&["TEXT", "VARIANTS", "PLACEHOLDERS", "FROM"], cells)
}

fn laid_out(headings: &[&'static str], rows: Vec<Vec<String>>) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let Some(width) = width() else {
        let lines: Vec<String> = rows.iter().map(|row| row.join("\t")).collect();
        return Some(lines.join("\n"));
    };
    let columns: Vec<Column> = headings
        .iter()
        .map(|heading| Column {
            heading,
            kind: match *heading {
                "ORDER" | "VARIANTS" => Kind::Number,
                _ => Kind::Whole,
            },
        })
        .collect();
    Some(render(&columns, rows, width))
}

/// A value on one line.
pub(super) fn short(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.replace('\n', "⏎"),
        Value::Null => "(not set)".to_owned(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(short).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(object) if object.is_empty() => "{}".to_owned(),
        Value::Object(object) => {
            let items: Vec<_> = object
                .iter()
                .map(|(name, value)| format!("{name} = {}", short(value)))
                .collect();
            format!("{{ {} }}", items.join(", "))
        }
        other => other.to_string(),
    };
    fit(&text, 72)
}

/// Where a value comes from, on one line.
pub(super) fn origin(origin: Option<&Origin>) -> String {
    let Some(Origin { layer, place }) = origin else {
        return "default".to_owned();
    };
    if *layer == LayerKind::Defaults {
        return layer.title().to_owned();
    }
    let mut place = place.clone();
    if place.line.is_some() {
        place.source = tilde(place.source.as_ref());
    }
    format!("{} ({place})", layer.title())
}

#[cfg(test)]
mod tests {
    use super::by_event;

    #[test]
    fn rows_stand_below_their_event_and_nothing_is_broken_in_a_word() {
        let row = |cells: [&str; 7]| cells.map(str::to_owned).to_vec();
        let cells = [
            row([
                "session.compact",
                "10",
                "our-reset",
                "reset",
                "on",
                "{ trigger = [plugin, manual] }",
                "default",
            ]),
            row(["session.compact", "20", "mine", "exec", "off", "", "user's hooks.toml"]),
            row([
                "tool.call",
                "5",
                "notes",
                "notes",
                "on",
                "{ agent = any, tool = notes_(write|read) }",
                "default",
            ]),
        ];
        let expected = "\
ORDER  ROW        RUNS        WHEN
session.compact
   10  our-reset  reset  on   trigger = [plugin,
                              manual]
   20  mine       exec   off  (user's hooks.toml)
tool.call
    5  notes      notes  on   agent = any, tool =
                              notes_(write|read)";
        assert_eq!(by_event(&cells, 50), expected);
    }
}

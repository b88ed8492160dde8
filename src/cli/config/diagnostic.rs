//! Problems for people (the line with the place marked), for scripts (JSON), for code scanning (SARIF) and for GitHub's
//! annotations.

use std::io::{IsTerminal as _, Write};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};

use crate::config::{Problem, Severity};

/// A line longer than this is cut around the place that is meant.
const MAX_EXCERPT: usize = 160;

/// Writes the problems one after the other, each with its line.
pub(super) fn for_people(out: &mut dyn Write, problems: &[Problem]) -> std::io::Result<()> {
    let renderer = if std::io::stdout().is_terminal() {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    for problem in problems {
        writeln!(out, "{}\n", renderer.render(&report(problem)))?;
    }
    Ok(())
}

fn report(problem: &Problem) -> Vec<Group<'_>> {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = match &problem.key {
        Some(key) => format!("{key}: {}", problem.message),
        None => problem.message.clone(),
    };
    let mut group = Group::with_title(level.primary_title(title).id(problem.code.name()));
    let place = &problem.place;
    group = match (&place.excerpt, place.line) {
        (Some(excerpt), Some(line)) => {
            let start = place.column.unwrap_or(1).saturating_sub(1);
            let (shown, start) = around(excerpt, start);
            let length = place.length.unwrap_or(1);
            let span = bytes(&shown, start)..bytes(&shown, start + length);
            group.element(
                Snippet::source(shown)
                    .line_start(line)
                    .path(place.source.as_str())
                    .annotation(AnnotationKind::Primary.span(span)),
            )
        }
        _ => group.element(Level::NOTE.message(format!("in {place}"))),
    };
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    if let Some(consequence) = problem.consequence {
        group = group.element(Level::NOTE.message(consequence.describe()));
    }
    vec![group]
}

/// The part of a long line that has the place in it, and where the place is in that part, in characters.
fn around(line: &str, start: usize) -> (String, usize) {
    if line.chars().count() <= MAX_EXCERPT {
        return (line.to_owned(), start);
    }
    let from = start.saturating_sub(MAX_EXCERPT / 2);
    let head = if from > 0 { "…" } else { "" };
    let middle: String = line.chars().skip(from).take(MAX_EXCERPT).collect();
    let tail = if line.chars().count() > from + MAX_EXCERPT {
        "…"
    } else {
        ""
    };
    (format!("{head}{middle}{tail}"), start - from + head.chars().count())
}

fn bytes(line: &str, chars: usize) -> usize {
    line.char_indices().nth(chars).map_or(line.len(), |(at, _)| at)
}

/// The problems as one JSON document.
pub(super) fn as_json(problems: &[Problem], errors: usize) -> Value {
    json!({
        "ok": errors == 0,
        "errors": errors,
        "warnings": problems.len() - errors,
        "problems": problems,
    })
}

/// The problems in the format of code scanning.
pub(super) fn as_sarif(problems: &[Problem]) -> Value {
    let mut codes: Vec<String> = problems.iter().map(|problem| problem.code.name()).collect();
    codes.sort();
    codes.dedup();
    let rules: Vec<_> = codes.iter().map(|code| json!({ "id": code })).collect();
    let results: Vec<_> = problems.iter().map(sarif_result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "notesoup",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn sarif_result(problem: &Problem) -> Value {
    let place = &problem.place;
    let mut location = json!({ "artifactLocation": { "uri": uri(&place.source) } });
    if let Some(line) = place.line {
        let column = place.column.unwrap_or(1);
        location["region"] = json!({
            "startLine": line,
            "startColumn": column,
            "endColumn": column + place.length.unwrap_or(1),
        });
    }
    json!({
        "ruleId": problem.code.name(),
        "level": match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": { "text": sentence(problem) },
        "locations": [{ "physicalLocation": location }],
    })
}

/// A path as a URI: what is not plain is written in percents.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~') {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

fn sentence(problem: &Problem) -> String {
    let key = problem.key.as_ref().map(|key| format!("{key}: ")).unwrap_or_default();
    let help = problem
        .help
        .as_ref()
        .map(|help| format!("; {help}"))
        .unwrap_or_default();
    format!("{key}{}{help}", problem.message)
}

/// The problems as annotations of a GitHub workflow, one line each.
pub(super) fn for_github(out: &mut dyn Write, problems: &[Problem]) -> std::io::Result<()> {
    for problem in problems {
        let level = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let place = &problem.place;
        let mut fields = format!("file={}", property(&place.source));
        if let Some(line) = place.line {
            fields.push_str(&format!(",line={line}"));
        }
        if let Some(column) = place.column {
            let end = column + place.length.unwrap_or(1);
            fields.push_str(&format!(",col={column},endColumn={end}"));
        }
        let title = property(&problem.code.name().replace('_', " "));
        writeln!(out, "::{level} {fields},title={title}::{}", message(&sentence(problem)))?;
    }
    Ok(())
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

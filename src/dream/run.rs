//! The run itself: `claude -p` with the five notes tools and no others, watched by what it prints.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::Value;

use super::{DreamError, PLAYBOOK, Request, Survey};
use crate::package::client::Client;

/// The tools that a dream has, and no others.
pub const TOOLS: &[&str] = &[
    "mcp__notesoup__notes_list",
    "mcp__notesoup__notes_read",
    "mcp__notesoup__notes_search",
    "mcp__notesoup__notes_update",
    "mcp__notesoup__notes_write",
];

/// Our tools that a dream does not have.
const WITHHELD: &[&str] = &[
    "mcp__notesoup__context_remaining",
    "mcp__notesoup__fresh_window",
    "mcp__notesoup__history_list",
    "mcp__notesoup__history_read",
    "mcp__notesoup__history_windows",
];

/// How many changed notes are named in the prompt.
const NAMED: usize = 100;

/// How often is looked whether somebody wants it stopped.
const STOP_POLL: Duration = Duration::from_millis(100);

/// What happens in a dream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The client has started.
    Started,
    /// The model calls a notes tool.
    Call {
        /// Without the prefix.
        tool: String,
        /// The note's address, the pattern, or what is searched for.
        target: String,
    },
}

/// What the model is asked: the playbook, and what there is.
pub(super) fn prompt(request: &Request, survey: &Survey) -> String {
    let mut prompt = format!("{PLAYBOOK}\n---\n\nToday is {}.\n\n", request.now.strftime("%Y-%m-%d"));
    let homes = match request.project {
        Some(_) => "`@project/`, `@human/`, `@self/` and `@model/`",
        None => "`@human/`, `@self/` and `@model/`",
    };
    let _ = writeln!(
        prompt,
        "Review {homes} by this playbook now. Nobody is there to answer questions: put them into the report."
    );
    if let (Some(last), false) = (survey.last, survey.changed.is_empty()) {
        let _ = writeln!(
            prompt,
            "\nThe last review was on {}. New or changed since, so look at these first:\n",
            last.strftime("%Y-%m-%d")
        );
        for address in survey.changed.iter().take(NAMED) {
            let _ = writeln!(prompt, "- `{address}`");
        }
        if let Some(more @ 1..) = survey.changed.len().checked_sub(NAMED) {
            let _ = writeln!(prompt, "- and {more} more");
        }
    }
    prompt
}

/// The client's arguments. The prompt is not among them: it goes to standard input.
pub fn arguments(request: &Request, others: &[String]) -> Vec<String> {
    let off: serde_json::Map<String, Value> = others.iter().map(|id| (id.clone(), Value::Bool(false))).collect();
    let settings = serde_json::json!({ "enabledPlugins": off });
    let mut args: Vec<String> = [
        "--print",
        "--output-format",
        "stream-json",
        "--verbose",
        "--no-session-persistence",
        "--permission-mode",
        "dontAsk",
        "--setting-sources",
        "user",
        "--strict-mcp-config",
        "--plugin-dir",
    ]
    .map(str::to_owned)
    .into();
    args.push(request.plugin.display().to_string());
    args.extend(["--settings".to_owned(), settings.to_string()]);
    args.extend(["--tools".to_owned(), TOOLS.join(",")]);
    args.extend(["--allowedTools".to_owned(), TOOLS.join(",")]);
    args.extend(["--disallowedTools".to_owned(), WITHHELD.join(",")]);
    if let Some(model) = &request.options.model {
        args.extend(["--model".to_owned(), model.clone()]);
    }
    args
}

/// Runs the client, and returns the report.
pub(super) fn run(
    request: &Request,
    client: &Client,
    prompt: &str,
    progress: &mut dyn FnMut(Progress),
) -> Result<String, DreamError> {
    let failed = |reason: String| DreamError::Client { reason };
    let others: Vec<String> = client
        .plugins()
        .map_err(|err| failed(err.to_string()))?
        .into_iter()
        .filter(|plugin| plugin.enabled && !plugin.id.ends_with("@builtin"))
        .map(|plugin| plugin.id)
        .collect();
    let mut command = Command::new(client.path());
    command
        .args(arguments(request, &others))
        .current_dir(&request.root)
        .env("NOTESOUP_BIN", &request.program)
        .env("NOTESOUP_HOME", &request.root)
        // Set by a client around us, which is no matter of the one we start.
        .env_remove("CLAUDECODE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // With all that it starts it is ended together, and by us alone: Ctrl-C in the terminal does not reach it.
        .process_group(0);
    if let Some(project) = &request.project {
        command.env("NOTESOUP_CONFIG__NOTES__PROJECT", project);
    }
    let mut child = command.spawn().map_err(|err| failed(err.to_string()))?;
    let outcome = watch(request, &mut child, prompt, progress);
    // Whatever came of it, nothing of it may go on. Not waited for yet, so the number is still its own.
    if let Ok(id) = i32::try_from(child.id()) {
        let _ = Pid::from_raw(id).map(|pid| kill_process_group(pid, Signal::KILL));
    }
    let _ = child.kill();
    let _ = child.wait();
    outcome
}

fn watch(
    request: &Request,
    child: &mut Child,
    prompt: &str,
    progress: &mut dyn FnMut(Progress),
) -> Result<String, DreamError> {
    let failed = |reason: &str| DreamError::Client {
        reason: reason.to_owned(),
    };
    let (Some(mut stdin), Some(stdout), Some(mut stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(failed("it has no pipes"));
    };
    let prompt = prompt.to_owned();
    thread::spawn(move || {
        let _ = stdin.write_all(prompt.as_bytes());
    });
    let complaints = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.read_to_end(&mut text);
        String::from_utf8_lossy(&text).trim().to_owned()
    });
    let (lines, heard) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if lines.send(line).is_err() {
                return;
            }
        }
    });

    let minutes = request.options.max_minutes;
    let end = Instant::now() + Duration::from_secs(minutes * 60);
    loop {
        if request.stop.load(Ordering::Relaxed) {
            return Err(DreamError::Stopped);
        }
        let left = end.saturating_duration_since(Instant::now());
        match heard.recv_timeout(left.min(STOP_POLL)) {
            Ok(line) => {
                if let Some(report) = take(&line, progress)? {
                    return Ok(report);
                }
            }
            Err(RecvTimeoutError::Timeout) if left > STOP_POLL => {}
            Err(RecvTimeoutError::Timeout) => return Err(DreamError::TooLong { minutes }),
            Err(RecvTimeoutError::Disconnected) => {
                let said = complaints.join().unwrap_or_default();
                return Err(failed(if said.is_empty() {
                    "it ended without a report"
                } else {
                    &said
                }));
            }
        }
    }
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    subtype: String,
    #[serde(default)]
    tools: Vec<String>,
    message: Option<Message>,
    result: Option<String>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Vec<Value>,
}

/// Takes one line of the client's stream; returns the report when it was the last.
fn take(line: &str, progress: &mut dyn FnMut(Progress)) -> Result<Option<String>, DreamError> {
    // Lines of a kind or shape that is not known are passed over: newer clients add some.
    let Ok(line) = serde_json::from_str::<Line>(line) else {
        return Ok(None);
    };
    match line.kind.as_str() {
        "system" if line.subtype == "init" => {
            confined(&line.tools)?;
            progress(Progress::Started);
        }
        "assistant" => {
            for block in line.message.into_iter().flat_map(|message| message.content) {
                if block["type"] == "tool_use" {
                    progress(call(&block));
                }
            }
        }
        "result" if line.is_error => {
            return Err(DreamError::Client {
                reason: line.result.unwrap_or(line.subtype),
            });
        }
        "result" => return Ok(Some(line.result.unwrap_or_default())),
        _ => {}
    }
    Ok(None)
}

/// A client that offers more than it was asked to is stopped before the model is asked anything; so is one in which our
/// tools are missing, which would only make the model guess.
fn confined(tools: &[String]) -> Result<(), DreamError> {
    let known = |tool: &String| TOOLS.contains(&tool.as_str());
    if tools.iter().all(known) && tools.len() == TOOLS.len() {
        return Ok(());
    }
    let found = if tools.is_empty() {
        "none".to_owned()
    } else {
        tools.join(", ")
    };
    Err(DreamError::NotConfined { found })
}

fn call(block: &Value) -> Progress {
    let tool = block["name"].as_str().unwrap_or_default();
    let input = &block["input"];
    let target = ["address", "pattern", "query"]
        .iter()
        .find_map(|key| match &input[*key] {
            Value::String(text) => Some(text.clone()),
            Value::Array(list) => Some(list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")),
            _ => None,
        });
    Progress::Call {
        tool: tool.strip_prefix("mcp__notesoup__").unwrap_or(tool).to_owned(),
        target: target.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_with_one_tool_more_or_less_is_stopped() {
        let five: Vec<String> = TOOLS.iter().map(|tool| (*tool).to_owned()).collect();
        assert!(confined(&five).is_ok());
        let six = [five.clone(), vec!["Bash".to_owned()]].concat();
        assert!(matches!(confined(&six), Err(DreamError::NotConfined { found }) if found.ends_with("Bash")));
        assert!(confined(&five[..4]).is_err());
        assert!(matches!(confined(&[]), Err(DreamError::NotConfined { found }) if found == "none"));
    }

    #[test]
    fn calls_are_told_by_tool_and_target() {
        let mut heard = Vec::new();
        let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"x"},
            {"type":"tool_use","name":"mcp__notesoup__notes_read","input":{"address":"@human/a.md"}},
            {"type":"tool_use","name":"mcp__notesoup__notes_search","input":{"query":["a","b"]}}]}}"#;
        let report = take(line, &mut |progress| heard.push(progress)).unwrap();
        assert_eq!(report, None);
        let call = |tool: &str, target: &str| Progress::Call {
            tool: tool.to_owned(),
            target: target.to_owned(),
        };
        assert_eq!(heard, [call("notes_read", "@human/a.md"), call("notes_search", "a, b")]);
    }

    #[test]
    fn an_error_of_the_client_is_told_in_its_words() {
        let line = r#"{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key"}"#;
        let told = take(line, &mut |_| {});
        assert!(matches!(told, Err(DreamError::Client { reason }) if reason == "Invalid API key"));
        assert!(matches!(take("not json", &mut |_| {}), Ok(None)));
        assert!(matches!(take(r#"{"type":"new_kind"}"#, &mut |_| {}), Ok(None)));
    }
}

//! The open entries of the model's todo list, read from its own calls.

use std::collections::HashMap;

use serde_json::Value;

use super::{Entry, OPEN_OPENING, shorten};
use crate::prune::{ToolResult, ToolUse};

/// How many entries are listed at most, and how long each may be.
const MOST: usize = 40;
const LINE_CHARS: usize = 200;

/// An open entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Todo {
    /// Its id, where the list has ids.
    pub id: Option<String>,
    /// What is to be done.
    pub text: String,
    /// `pending`, `in_progress`, or another word of the client's.
    pub status: String,
}

impl Todo {
    /// `- [in_progress] write the tests`.
    pub fn to_line(&self) -> String {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let id = self.id.as_ref().map(|id| format!("#{id} ")).unwrap_or_default();
        format!("- [{}] {id}{}", self.status, shorten(&text, LINE_CHARS))
    }

    fn from_line(line: &str) -> Option<Self> {
        let (status, rest) = line.strip_prefix("- [")?.split_once("] ")?;
        let (id, text) = match rest.strip_prefix('#').and_then(|rest| rest.split_once(' ')) {
            Some((id, text)) if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) => (Some(id), text),
            _ => (None, rest),
        };
        Some(Self {
            id: id.map(str::to_owned),
            text: text.to_owned(),
            status: status.to_owned(),
        })
    }

    fn is_open(&self) -> bool {
        !matches!(self.status.as_str(), "completed" | "deleted" | "cancelled")
    }
}

/// The open entries, in the list's order: of a list that is written whole (`TodoWrite`) the newest one, of a list that
/// is kept entry by entry (`TaskCreate`, `TaskUpdate`) what comes of all calls. An earlier reset in this conversation
/// hands its own on.
pub fn open_todos(entries: &[Entry<'_>]) -> Vec<Todo> {
    let answers: HashMap<&str, &ToolResult<'_>> = entries
        .iter()
        .flat_map(|entry| &entry.tool_results)
        .filter(|result| !result.is_error)
        .map(|result| (result.id.as_str(), result))
        .collect();
    let mut list = Vec::new();
    for entry in entries {
        let text = entry.text.as_str();
        if text.starts_with(OPEN_OPENING) {
            list = text.lines().filter_map(Todo::from_line).collect();
        }
        for call in &entry.tool_uses {
            let answer = answers.get(call.id.as_str()).map(|result| result.text.as_str());
            take(&mut list, call, answer);
        }
    }
    list.retain(Todo::is_open);
    list.truncate(MOST);
    list
}

/// `answer` is what the tool answered; none for a call that failed or is under way.
fn take(list: &mut Vec<Todo>, call: &ToolUse<'_>, answer: Option<&str>) {
    let tool = call.tool.as_str();
    if !matches!(tool, "TodoWrite" | "TaskCreate" | "TaskUpdate") {
        return;
    }
    let Ok(input) = serde_json::from_str::<Value>(call.input_json()) else {
        return;
    };
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    match tool {
        "TodoWrite" => {
            if let Some(todos) = input.get("todos").and_then(Value::as_array) {
                *list = todos.iter().filter_map(written).collect();
            }
        }
        "TaskCreate" => {
            if let (Some(subject), Some(answer)) = (text("subject"), answer) {
                list.push(Todo {
                    id: number(answer),
                    text: subject.to_owned(),
                    status: "pending".to_owned(),
                });
            }
        }
        _ => {
            let id = input.get("taskId").map(plain);
            let known = list.iter_mut().find(|todo| todo.id.is_some() && todo.id == id);
            if let (Some(todo), Some(_)) = (known, answer) {
                if let Some(status) = text("status") {
                    status.clone_into(&mut todo.status);
                }
                if let Some(subject) = text("subject") {
                    subject.clone_into(&mut todo.text);
                }
            }
        }
    }
}

fn written(todo: &Value) -> Option<Todo> {
    Some(Todo {
        id: None,
        text: todo.get("content")?.as_str()?.to_owned(),
        status: todo
            .get("status")
            .and_then(Value::as_str)
            .unwrap_or("pending")
            .to_owned(),
    })
}

/// The first number behind a `#`, as in `Task #3 created successfully`.
fn number(text: &str) -> Option<String> {
    text.split('#').skip(1).find_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (!digits.is_empty()).then_some(digits)
    })
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

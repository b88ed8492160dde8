//! A second reader of transcripts, slow and plain: everything in maps, one rule after the other.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

/// What an event is expected to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    pub seq: u64,
    pub ordinal: u32,
    pub role: &'static str,
    pub tool: Option<String>,
    pub status: Option<&'static str>,
    pub text: String,
}

/// What an address is expected to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    Event(u64),
    ResultOf(u64),
    Nothing,
    NotOnBranch,
}

/// What a transcript is expected to show at a head.
#[derive(Debug, Default)]
pub struct Story {
    pub events: Vec<Expected>,
    /// Every address that was given out.
    pub addresses: BTreeMap<u64, At>,
    pub ordinals: Vec<u32>,
}

#[derive(Debug, Clone)]
struct Row {
    value: Value,
    place: usize,
}

impl Row {
    fn str(&self, name: &str) -> Option<&str> {
        self.value[name].as_str()
    }

    fn kind(&self) -> &str {
        self.str("type").unwrap_or("")
    }

    fn is(&self, name: &str) -> bool {
        self.value[name] == true
    }

    fn is_boundary(&self) -> bool {
        self.kind() == "system" && self.str("subtype") == Some("compact_boundary")
    }

    fn message_id(&self) -> Option<&str> {
        (self.kind() == "assistant").then(|| self.value["message"]["id"].as_str())?
    }

    fn blocks(&self) -> Vec<Value> {
        if !matches!(self.kind(), "user" | "assistant") {
            return Vec::new();
        }
        match &self.value["message"]["content"] {
            Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
            Value::Array(blocks) => blocks.clone(),
            _ => Vec::new(),
        }
    }

    /// Calls and results: whether it is a result, the call's id, the block.
    fn tool_blocks(&self) -> Vec<(bool, String, Value)> {
        let part = |block: Value| match block["type"].as_str() {
            Some("tool_use") => Some((false, block["id"].as_str().unwrap_or("").to_owned(), block)),
            Some("tool_result") => Some((true, block["tool_use_id"].as_str().unwrap_or("").to_owned(), block)),
            _ => None,
        };
        self.blocks().into_iter().filter_map(part).collect()
    }

    fn is_visible(&self) -> bool {
        let blank = |text: &str| text.chars().all(|character| " \t\r\n".contains(character));
        match self.kind() {
            "attachment" => {
                let rendered = self.value["rendered"].as_array().cloned().unwrap_or_default();
                let shown = rendered.iter().any(|part| match &part["content"] {
                    Value::String(text) => !blank(text),
                    other => !other.is_null(),
                });
                shown || (self.is_queued_prompt() && !self.value["attachment"]["prompt"].is_null())
            }
            "system" => self.str("content").is_some_and(|text| !blank(text)),
            _ => self.blocks().iter().any(|block| match block["type"].as_str() {
                Some("text") => !blank(block["text"].as_str().unwrap_or("")),
                Some("image" | "document") => true,
                _ => false,
            }),
        }
    }

    fn is_queued_prompt(&self) -> bool {
        let attachment = &self.value["attachment"];
        attachment["type"] == "queued_command" && attachment["commandMode"].as_str().is_none_or(|mode| mode == "prompt")
    }

    fn text(&self) -> String {
        match self.kind() {
            "attachment" => {
                let parts: Vec<String> = self.renderings();
                if parts.is_empty() && self.value["attachment"]["type"] == "queued_command" {
                    return self.value["attachment"]["prompt"].as_str().unwrap_or("").to_owned();
                }
                parts.join("\n")
            }
            "system" => self.str("content").unwrap_or("").to_owned(),
            _ => shown(&self.blocks(), "\n\n"),
        }
    }

    fn renderings(&self) -> Vec<String> {
        let rendered = self.value["rendered"].as_array().cloned().unwrap_or_default();
        rendered
            .iter()
            .map(|part| match &part["content"] {
                Value::String(text) => text.clone(),
                Value::Array(blocks) => shown(blocks, "\n"),
                _ => String::new(),
            })
            .collect()
    }

    /// What the row says, in all forms in which it may have been handed back.
    fn forms(&self) -> Vec<(bool, String)> {
        let by_model = self.kind() == "assistant";
        if self.kind() == "attachment" {
            let mut forms: Vec<(bool, String)> = self.renderings().into_iter().map(|text| (false, text)).collect();
            forms.push((false, self.renderings().join("\n")));
            if self.value["attachment"]["type"] == "queued_command" {
                forms.extend(
                    self.value["attachment"]["prompt"]
                        .as_str()
                        .map(|text| (false, text.to_owned())),
                );
            }
            return forms;
        }
        if self.kind() == "system" {
            return vec![(false, self.str("content").unwrap_or("").to_owned())];
        }
        let texts: Vec<String> = self
            .blocks()
            .iter()
            .filter(|block| block["type"] == "text")
            .map(|block| block["text"].as_str().unwrap_or("").to_owned())
            .collect();
        vec![(by_model, texts.join("\n"))]
    }

    fn marker(&self) -> Option<u32> {
        let text = match self.kind() {
            "attachment" => self.renderings().join("\n"),
            "user" => self.text(),
            _ => return None,
        };
        let is_hook = self.value["attachment"]["type"] == "hook_additional_context";
        let bare = text.trim_start().trim_start_matches("<system-reminder>").trim_start();
        if !is_hook && !bare.starts_with("<notesoup window=") {
            return None;
        }
        let (_, rest) = text.rsplit_once("<notesoup window=\"claude:")?;
        let (id, _) = rest.split_once("\">")?;
        id.rsplit_once(':')?.1.parse().ok()
    }
}

fn shown(blocks: &[Value], separator: &str) -> String {
    let parts: Vec<String> = blocks
        .iter()
        .filter_map(|block| match block["type"].as_str() {
            Some("text") => Some(block["text"].as_str().unwrap_or("").to_owned()),
            Some(kind @ ("image" | "document")) => {
                let source = &block["source"];
                let data = source["data"].as_str().unwrap_or("");
                let bytes = data.len() / 4 * 3 - data.chars().filter(|character| *character == '=').count();
                Some(format!(
                    "[{kind}: {}, {bytes} bytes]",
                    source["media_type"].as_str().unwrap_or("")
                ))
            }
            Some("tool_reference") => Some(format!(
                "[tool_reference: {}]",
                block["tool_name"].as_str().unwrap_or("")
            )),
            _ => None,
        })
        .collect();
    parts.join(separator)
}

struct Reader {
    /// All versions, in the order of the file.
    rows: Vec<Row>,
    versions: HashMap<String, Vec<usize>>,
    /// The address of a row's words.
    seq: HashMap<String, u64>,
    /// The address of each call and result of the first version of a row.
    block_seq: HashMap<String, Vec<(bool, String, u64)>>,
    last_seq: u64,
}

/// Reads it all; the code of the refusal when it is refused.
pub fn read(bytes: &[u8], head: &str, cuts: &[Vec<(Vec<String>, Vec<String>)>]) -> Result<Story, &'static str> {
    let reader = Reader::new(bytes)?;
    let Some(versions) = reader.versions.get(head) else {
        return Err("head_not_on_disk");
    };
    if reader.rows[versions[0]].is("isSidechain") {
        return Err("subagent_refused");
    }
    let windows = reader.branch(head)?;
    reader.check(&windows)?;
    Ok(reader.story(&windows, cuts))
}

/// A window: its boundary, and its rows.
#[derive(Debug, Default)]
struct Window {
    boundary: Option<usize>,
    rows: HashSet<String>,
}

impl Reader {
    fn new(bytes: &[u8]) -> Result<Self, &'static str> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        let mut reader = Self {
            rows: Vec::new(),
            versions: HashMap::new(),
            seq: HashMap::new(),
            block_seq: HashMap::new(),
            last_seq: 0,
        };
        let mut messages = HashMap::<String, u64>::new();
        for line in text.split_inclusive('\n') {
            for object in serde_json::Deserializer::from_str(line).into_iter::<Value>() {
                match object {
                    Ok(value) if value["uuid"].is_string() => reader.add(value, &mut messages),
                    Ok(_) => {}
                    Err(_) if line.ends_with('\n') => return Err("malformed_row"),
                    Err(_) => break,
                }
            }
        }
        Ok(reader)
    }

    fn take(&mut self) -> u64 {
        self.last_seq += 1;
        self.last_seq
    }

    fn add(&mut self, value: Value, messages: &mut HashMap<String, u64>) {
        let place = self.rows.len();
        let row = Row { value, place };
        let uuid = row.str("uuid").unwrap().to_owned();
        self.rows.push(row.clone());
        let versions = self.versions.entry(uuid.clone()).or_default();
        versions.push(place);
        if versions.len() > 1 {
            return;
        }
        match row.kind() {
            "assistant" => {
                let id = row.message_id().map_or_else(|| format!("of {uuid}"), str::to_owned);
                let known = messages.get(&id).copied();
                let seq = known.unwrap_or_else(|| self.take());
                messages.insert(id, seq);
                self.seq.insert(uuid.clone(), seq);
            }
            "user" | "attachment" | "system" => {
                let seq = self.take();
                self.seq.insert(uuid.clone(), seq);
            }
            _ => {}
        }
        let blocks = row.tool_blocks();
        let numbered = blocks
            .into_iter()
            .map(|(result, id, _)| (result, id, self.take()))
            .collect();
        self.block_seq.insert(uuid, numbered);
    }

    fn newest(&self, uuid: &str) -> &Row {
        &self.rows[*self.versions[uuid].last().unwrap()]
    }

    fn first(&self, uuid: &str) -> usize {
        self.versions[uuid][0]
    }

    fn before(&self, uuid: &str, limit: usize) -> &Row {
        let versions = &self.versions[uuid];
        let found = versions.iter().rev().find(|place| **place < limit).or(versions.first());
        &self.rows[*found.unwrap()]
    }

    /// The windows of the branch, oldest first.
    fn branch(&self, head: &str) -> Result<Vec<Window>, &'static str> {
        let mut windows: Vec<Window> = Vec::new();
        let mut taken: HashSet<String> = HashSet::new();
        let mut starts = vec![head.to_owned()];
        let mut limit = usize::MAX;
        loop {
            let mut window = Window::default();
            let mut followed: Vec<(String, usize)> = Vec::new();
            for start in &starts {
                let mut at = Some(start.clone());
                while let Some(uuid) = at.take() {
                    if taken.contains(&uuid) {
                        break;
                    }
                    let row = self.before(&uuid, limit);
                    if row.is_boundary() {
                        if window.boundary.is_none() {
                            window.boundary = Some(row.place);
                            taken.insert(uuid.clone());
                            window.rows.insert(uuid);
                        }
                        break;
                    }
                    taken.insert(uuid.clone());
                    window.rows.insert(uuid.clone());
                    followed.push((uuid.clone(), row.place));
                    match row.str("parentUuid") {
                        Some(parent) if parent == uuid => {}
                        Some(parent) if !self.versions.contains_key(parent) => return Err("missing_ancestor"),
                        Some(parent) => at = Some(parent.to_owned()),
                        None => {}
                    }
                }
            }
            if followed.is_empty() && window.boundary.is_none() {
                break;
            }
            let boundary = window.boundary;
            windows.push(window);
            let Some(boundary) = boundary else {
                break;
            };
            starts.clear();
            let row = &self.rows[boundary];
            if let Some(parent) = row.str("logicalParentUuid") {
                if !self.versions.contains_key(parent) {
                    return Err("missing_ancestor");
                }
                starts.push(parent.to_owned());
            }
            starts.extend(self.kept_by(boundary));
            for (uuid, place) in followed {
                let older = self.before(&uuid, boundary).place;
                if older < boundary && older != place {
                    taken.remove(&uuid);
                    windows.last_mut().unwrap().rows.remove(&uuid);
                    starts.push(uuid);
                }
            }
            limit = boundary;
        }
        windows.reverse();
        self.join_responses(&mut windows);
        Ok(windows)
    }

    fn kept_by(&self, boundary: usize) -> Vec<String> {
        let metadata = &self.rows[boundary].value["compactMetadata"];
        let mut kept = Vec::new();
        kept.extend(metadata["preservedSegment"]["tailUuid"].as_str().map(str::to_owned));
        let uuids = metadata["preservedMessages"]["uuids"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        kept.extend(uuids.iter().rev().filter_map(|uuid| uuid.as_str().map(str::to_owned)));
        kept.extend(metadata["preservedSegment"]["headUuid"].as_str().map(str::to_owned));
        kept.retain(|uuid| self.versions.contains_key(uuid));
        kept
    }

    fn join_responses(&self, windows: &mut [Window]) {
        let all: Vec<&String> = {
            let mut all: Vec<&String> = self.versions.keys().collect();
            all.sort_by_key(|uuid| self.first(uuid));
            all
        };
        let window_of = |windows: &[Window], uuid: &str| windows.iter().position(|window| window.rows.contains(uuid));
        for uuid in &all {
            let Some(window) = window_of(windows, uuid) else {
                continue;
            };
            let Some(message) = self.rows[self.first(uuid)].message_id() else {
                continue;
            };
            let parts: Vec<&&String> = all
                .iter()
                .filter(|part| {
                    let row = &self.rows[self.first(part)];
                    row.message_id() == Some(message) && !row.is("isSidechain")
                })
                .collect();
            let mut calls = HashSet::new();
            for part in &parts {
                if window_of(windows, part).is_none() {
                    windows[window].rows.insert((**part).clone());
                }
                let blocks = self.newest(part).tool_blocks();
                calls.extend(blocks.into_iter().filter(|(result, ..)| !result).map(|(_, id, _)| id));
            }
            for row in &all {
                let hangs_off = self.newest(row).str("parentUuid").map(str::to_owned);
                let off_part = hangs_off.is_some_and(|parent| parts.iter().any(|part| ***part == parent));
                let answers = self.versions[*row].iter().any(|place| {
                    let blocks = self.rows[*place].tool_blocks();
                    blocks.iter().any(|(result, id, _)| *result && calls.contains(id))
                });
                if off_part
                    && answers
                    && !self.rows[self.first(row)].is("isSidechain")
                    && window_of(windows, row).is_none()
                {
                    windows[window].rows.insert((*row).clone());
                }
            }
        }
    }

    fn check(&self, windows: &[Window]) -> Result<(), &'static str> {
        for uuid in windows.iter().flat_map(|window| &window.rows) {
            let row = self.newest(uuid);
            if !matches!(row.kind(), "user" | "assistant" | "attachment" | "system" | "progress") {
                return Err("unknown_row");
            }
            let known = ["text", "thinking", "tool_use", "tool_result", "image", "document"];
            if row
                .blocks()
                .iter()
                .any(|block| !known.contains(&block["type"].as_str().unwrap_or("")))
            {
                return Err("unknown_row");
            }
        }
        Ok(())
    }

    fn ordinals(&self, windows: &[Window]) -> Vec<u32> {
        let mut next = 0;
        let mut all = Vec::new();
        for window in windows {
            next += u32::from(window.boundary.is_some());
            let named = window
                .rows
                .iter()
                .flat_map(|uuid| &self.versions[uuid])
                .filter_map(|place| self.rows[*place].marker())
                .max();
            next = next.max(named.unwrap_or(0));
            all.push(next);
        }
        all
    }

    /// The copies behind boundaries: the row each stands for; and rows whose words are ours.
    fn copies(
        &self,
        windows: &[Window],
        cuts: &[Vec<(Vec<String>, Vec<String>)>],
    ) -> (HashMap<String, String>, HashSet<String>) {
        let (mut copies, mut ours) = (HashMap::new(), HashSet::new());
        for (index, window) in windows.iter().enumerate() {
            let Some(boundary) = window.boundary else {
                continue;
            };
            let run = self.run(window, boundary);
            let fits = |cut: &&Vec<(Vec<String>, Vec<String>)>| {
                !cut.is_empty()
                    && run.len() >= cut.len()
                    && run.iter().zip(cut.iter()).all(|(uuid, (rows, calls))| {
                        let ids: Vec<String> = self
                            .newest(uuid)
                            .tool_blocks()
                            .into_iter()
                            .map(|(_, id, _)| id)
                            .collect();
                        ids == *calls
                            && rows
                                .iter()
                                .all(|of| self.versions.contains_key(of) && self.first(of) < self.first(uuid))
                    })
            };
            if let Some(cut) = cuts.iter().rev().find(fits) {
                for (uuid, (rows, _)) in run.iter().zip(cut) {
                    if !self.newest(uuid).is_visible() {
                        continue;
                    }
                    let earlier = |of: &String| windows[..index].iter().any(|window| window.rows.contains(of));
                    match rows
                        .iter()
                        .find(|of| earlier(of) && self.rows[self.first(of)].is_visible())
                    {
                        Some(of) => {
                            copies.insert(uuid.clone(), of.clone());
                        }
                        None if rows.is_empty() => {
                            ours.insert(uuid.clone());
                        }
                        None => {}
                    }
                }
                continue;
            }
            if index == 0 {
                continue;
            }
            let mut kept: HashSet<String> = self.kept_by(boundary).into_iter().collect();
            kept.extend(
                windows[index - 1]
                    .boundary
                    .into_iter()
                    .flat_map(|boundary| self.kept_by(boundary)),
            );
            let window_of = |uuid: &String| windows.iter().position(|window| window.rows.contains(uuid));
            let mut before: Vec<String> = windows[index - 1].rows.iter().cloned().collect();
            before.extend(
                kept.into_iter()
                    .filter(|uuid| window_of(uuid).is_some_and(|at| at != index - 1)),
            );
            before.retain(|uuid| self.newest(uuid).is_visible());
            before.sort_by_cached_key(|uuid| (window_of(uuid), self.first(uuid)));
            let mut forms: Vec<_> = before.iter().map(|of| self.newest(of).forms()).collect();
            for uuid in run.iter().rev().filter(|uuid| self.newest(uuid).is_visible()) {
                let said = self.newest(uuid).forms().remove(0);
                if let Some(at) = forms.iter().rposition(|of| of.contains(&said)) {
                    copies.insert(uuid.clone(), before[at].clone());
                    forms.truncate(at);
                }
            }
            if let Some(first) = run.first().filter(|first| !copies.contains_key(*first)) {
                let row = self.newest(first);
                let results = row.tool_blocks().iter().any(|(is_result, ..)| *is_result);
                if row.kind() == "user" && row.is_visible() && !results {
                    ours.insert(first.clone());
                }
            }
        }
        (copies, ours)
    }

    fn run(&self, window: &Window, boundary: usize) -> Vec<String> {
        let mut rows: Vec<&String> = window.rows.iter().collect();
        rows.sort_by_key(|uuid| self.first(uuid));
        let mut end = self.rows[boundary].str("uuid").unwrap().to_owned();
        let mut run = Vec::new();
        for uuid in rows {
            let row = self.newest(uuid);
            if row.str("parentUuid") != Some(&end) || *uuid == end {
                continue;
            }
            let client = row.is("isMeta")
                || row.is("isCompactSummary")
                || row.value["origin"]["kind"].is_string()
                || row.value.get("promptSource").is_some()
                || row.value.get("permissionMode").is_some();
            if !matches!(row.kind(), "user" | "assistant") || client {
                break;
            }
            run.push(uuid.clone());
            end.clone_from(uuid);
        }
        run
    }

    fn role(&self, row: &Row, is_ours: bool) -> &'static str {
        let origin = row.value["origin"]["kind"].as_str();
        let results = row.tool_blocks().iter().any(|(result, ..)| *result);
        if row.is("isMeta") || row.is("isCompactSummary") || results || is_ours {
            return "context";
        }
        let first = row.blocks().iter().find_map(|block| {
            let text = block["text"].as_str().unwrap_or("").trim_start().to_owned();
            (block["type"] == "image" || !text.is_empty()).then_some(text)
        });
        let echo = [
            "<command-",
            "<local-command-",
            "<bash-",
            "<task-notification>",
            "<system-reminder>",
            "<notesoup window=",
        ];
        let is_echo = echo
            .iter()
            .any(|start| first.as_deref().unwrap_or("").starts_with(start));
        match origin {
            Some("human") => "user",
            Some(_) => "context",
            None if is_echo || row.str("rowSource") == Some("hook") => "context",
            None => "user",
        }
    }

    fn story(&self, windows: &[Window], cuts: &[Vec<(Vec<String>, Vec<String>)>]) -> Story {
        let ordinals = self.ordinals(windows);
        let (copies, ours) = self.copies(windows, cuts);
        let window_of: HashMap<&String, usize> = windows
            .iter()
            .enumerate()
            .flat_map(|(at, window)| window.rows.iter().map(move |uuid| (uuid, at)))
            .collect();
        let mut rows: Vec<&String> = window_of.keys().copied().collect();
        rows.sort_by_key(|uuid| self.first(uuid));

        // By id: the oldest call and the oldest result on the branch.
        type Place = (usize, usize, usize);
        let mut calls = HashMap::<String, (Place, String, u64, Value)>::new();
        let mut results = HashMap::<String, (Place, String, u64, Value)>::new();
        for uuid in &rows {
            let row = self.newest(uuid);
            for (at, (is_result, id, block)) in row.tool_blocks().into_iter().enumerate() {
                let numbered = self.block_seq[*uuid]
                    .iter()
                    .find(|(result, own, _)| *result == is_result && *own == id);
                let Some((_, _, seq)) = numbered else {
                    continue;
                };
                let place = (window_of[uuid], self.first(uuid), at);
                let found = (place, (*uuid).clone(), *seq, block);
                let all = if is_result { &mut results } else { &mut calls };
                if all.get(&id).is_none_or(|(older, ..)| place < *older) {
                    all.insert(id, found);
                }
            }
        }

        let mut events: Vec<Expected> = Vec::new();
        let mut said = HashSet::new();
        for uuid in &rows {
            let row = self.newest(uuid);
            let ordinal = ordinals[window_of[uuid]];
            if copies.contains_key(*uuid) {
                continue;
            }
            let mut text = row.text();
            if row.kind() == "assistant" {
                let message = row.message_id().map_or_else(|| (*uuid).clone(), str::to_owned);
                if !said.insert(message.clone()) {
                    continue;
                }
                let parts: Vec<&Row> = rows
                    .iter()
                    .filter(|part| {
                        let own = self
                            .newest(part)
                            .message_id()
                            .map_or_else(|| (**part).clone(), str::to_owned);
                        own == message && !copies.contains_key(**part)
                    })
                    .map(|part| self.newest(part))
                    .collect();
                if !parts.iter().any(|part| part.is_visible()) {
                    continue;
                }
                let texts: Vec<String> = parts
                    .iter()
                    .map(|part| part.text())
                    .filter(|text| !text.is_empty())
                    .collect();
                text = texts.join("\n\n");
            } else if !row.is_visible() {
                continue;
            }
            events.push(Expected {
                seq: self.seq[*uuid],
                ordinal,
                role: match row.kind() {
                    "assistant" => "assistant",
                    "attachment" if row.is_queued_prompt() => "user",
                    "user" => self.role(row, ours.contains(*uuid)),
                    _ => "context",
                },
                tool: None,
                status: None,
                text,
            });
        }
        for (id, (_, uuid, seq, block)) in &calls {
            let mut lines = Vec::new();
            for (name, value) in block["input"].as_object().into_iter().flatten() {
                lines.push(format!(
                    "{name}: {}",
                    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
                ));
            }
            let mut text = lines.join("\n");
            let result = results.get(id);
            if let Some((.., result)) = result {
                text.push_str("\n---\n");
                text.push_str(&result_text(result));
            }
            events.push(Expected {
                seq: *seq,
                ordinal: ordinals[window_of[uuid]],
                role: "tool",
                tool: block["name"].as_str().map(str::to_owned),
                status: Some(result.map_or("unfinished", |(.., result)| status(result))),
                text,
            });
        }
        for (id, (_, uuid, seq, block)) in &results {
            if !calls.contains_key(id) {
                events.push(Expected {
                    seq: *seq,
                    ordinal: ordinals[window_of[uuid]],
                    role: "tool",
                    tool: None,
                    status: Some(status(block)),
                    text: result_text(block),
                });
            }
        }
        events.sort_by_key(|event| event.seq);

        let is_event = |seq: u64| events.iter().any(|event| event.seq == seq);
        let mut addresses = BTreeMap::new();
        let call_at = |id: &str, is_result: bool| match (calls.get(id), results.get(id)) {
            (Some((_, _, seq, _)), _) if is_result => At::ResultOf(*seq),
            (Some((_, _, seq, _)), _) | (None, Some((_, _, seq, _))) => At::Event(*seq),
            (None, None) => At::Nothing,
        };
        for (uuid, seq) in &self.seq {
            let on_branch = window_of.contains_key(uuid);
            let at = if is_event(*seq) {
                At::Event(*seq)
            } else if let Some(mut of) = copies.get(uuid) {
                while let Some(earlier) = copies.get(of) {
                    of = earlier;
                }
                let seq = self.seq[of];
                if is_event(seq) { At::Event(seq) } else { At::Nothing }
            } else if !on_branch {
                At::NotOnBranch
            } else {
                let result = self.newest(uuid).tool_blocks().into_iter().find(|(result, ..)| *result);
                match result.map(|(_, id, _)| call_at(&id, true)) {
                    Some(At::Event(seq)) => At::ResultOf(seq),
                    Some(at) => at,
                    None => At::Nothing,
                }
            };
            // Of the rows of one response, the first speaks for all.
            let first = self
                .seq
                .iter()
                .filter(|(_, own)| *own == seq)
                .all(|(other, _)| self.first(uuid) <= self.first(other));
            if first {
                addresses.insert(*seq, at);
            }
        }
        for (uuid, blocks) in &self.block_seq {
            for (is_result, id, seq) in blocks {
                let at = if is_event(*seq) {
                    At::Event(*seq)
                } else if window_of.contains_key(uuid) {
                    call_at(id, *is_result)
                } else {
                    At::NotOnBranch
                };
                addresses.insert(*seq, at);
            }
        }
        Story {
            events,
            addresses,
            ordinals,
        }
    }
}

fn result_text(block: &Value) -> String {
    match &block["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => shown(parts, "\n"),
        _ => String::new(),
    }
}

fn status(block: &Value) -> &'static str {
    if block["is_error"] == true { "error" } else { "ok" }
}

//! A note's file: frontmatter lines, kept as they were found, and the body, byte for byte.
//!
//! The frontmatter is lines, not YAML: only a line of a key that is ours is ever changed, in the spelling and with the
//! line end it has.

use jiff::Timestamp;

use crate::notes::time;

/// The most bytes that a serialized note may have.
pub const MAX_NOTE_BYTES: usize = 1_000_000;

/// The keys of the frontmatter that are ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Who the content is from: `user`, `self` or `external`.
    Origin,
    /// When the note was first written.
    CreatedAt,
    /// When body or origin last changed.
    UpdatedAt,
    /// When it was last read, by programs that keep that in the file.
    LastAccessed,
    /// How often it was read, by programs that keep that in the file.
    AccessCount,
    /// Since when it is in the wastebasket.
    CrumpledAt,
    /// The project of a session note.
    Project,
}

impl Key {
    const ALL: [Self; 7] = [
        Self::Origin,
        Self::CreatedAt,
        Self::UpdatedAt,
        Self::LastAccessed,
        Self::AccessCount,
        Self::CrumpledAt,
        Self::Project,
    ];

    /// The spelling of today and the older one.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Origin => ("origin", "origin"),
            Self::CreatedAt => ("createdAt", "created_at"),
            Self::UpdatedAt => ("updatedAt", "updated_at"),
            Self::LastAccessed => ("lastAccessed", "last_accessed"),
            Self::AccessCount => ("accessCount", "access_count"),
            Self::CrumpledAt => ("crumpledAt", "crumpled_at"),
            Self::Project => ("project", "project"),
        }
    }

    fn of_line(line: &str) -> Option<Self> {
        let (name, _) = key_line(line)?;
        Self::ALL.into_iter().find(|key| {
            let (new, old) = key.names();
            name == new || name == old
        })
    }
}

/// A note as it stands in its file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Note {
    bom: bool,
    header: Option<Header>,
    /// What the note says.
    pub body: String,
}

/// Lines keep their line ends.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Header {
    open: String,
    lines: Vec<String>,
    close: String,
    /// The empty line behind the frontmatter, if there is one.
    blank: String,
}

impl Note {
    /// Reads a file's text. Nothing is refused: what is no frontmatter is body.
    pub fn parse(text: &str) -> Self {
        let (bom, rest) = match text.strip_prefix('\u{feff}') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (header, body) = match Header::split(rest) {
            Some((header, body)) => (Some(header), body),
            None => (None, rest),
        };
        Self {
            bom,
            header,
            body: body.to_owned(),
        }
    }

    /// A new note, with all its frontmatter.
    pub fn new(body: String, origin: &str, now: Timestamp, project: Option<&str>) -> Self {
        let mut note = Self {
            body,
            ..Self::default()
        };
        note.add_header(Some(origin), now, now, project);
        note
    }

    /// Whether the file has frontmatter.
    pub fn has_header(&self) -> bool {
        self.header.is_some()
    }

    /// Gives a note without frontmatter one.
    pub fn add_header(&mut self, origin: Option<&str>, created: Timestamp, updated: Timestamp, project: Option<&str>) {
        let line_end = if self.body.contains("\r\n") { "\r\n" } else { "\n" };
        let mut header = Header {
            open: format!("---{line_end}"),
            lines: Vec::new(),
            close: format!("---{line_end}"),
            blank: line_end.to_owned(),
        };
        if let Some(origin) = origin {
            header.set(Key::Origin, origin);
        }
        header.set(Key::CreatedAt, &time::format(created));
        header.set(Key::UpdatedAt, &time::format(updated));
        header.set(Key::LastAccessed, &time::format(created));
        header.set(Key::AccessCount, "0");
        if let Some(project) = project {
            header.set(Key::Project, project);
        }
        self.header = Some(header);
    }

    /// The value of a key, without quotes; `None` when it is missing or empty.
    pub fn get(&self, key: Key) -> Option<&str> {
        self.header.as_ref()?.get(key)
    }

    /// The value of a key as an instant; `None` as well when it is none.
    pub fn instant(&self, key: Key) -> Option<Timestamp> {
        self.get(key).and_then(time::parse)
    }

    /// Sets a key in its line, or adds the line. A note without frontmatter is left alone ([`Note::add_header`] first).
    pub fn set(&mut self, key: Key, value: &str) {
        if let Some(header) = &mut self.header {
            header.set(key, value);
        }
    }

    /// Notes that the body or the origin changed now; frontmatter of somebody who keeps no such dates stays as it is.
    pub fn touch(&mut self, now: Timestamp) {
        if self.get(Key::UpdatedAt).is_some() || self.get(Key::CreatedAt).is_some() {
            self.set(Key::UpdatedAt, &time::format(now));
        }
    }

    /// Takes a key's lines out.
    pub fn remove(&mut self, key: Key) {
        if let Some(header) = &mut self.header {
            while let Some((start, end)) = header.find(key) {
                header.lines.drain(start..end);
            }
        }
    }

    /// Whether the note is in the wastebasket.
    pub fn is_crumpled(&self) -> bool {
        self.get(Key::CrumpledAt)
            .is_some_and(|value| !matches!(value, "null" | "~" | "false"))
    }

    /// The value of a frontmatter key that is not ours, without quotes.
    pub fn foreign(&self, name: &str) -> Option<&str> {
        let lines = &self.header.as_ref()?.lines;
        lines.iter().find_map(|line| match key_line(line) {
            Some((found, value)) if found == name => Some(unquote(value)).filter(|value| !value.is_empty()),
            _ => None,
        })
    }

    /// The names of keys of ours that stand there more than once, in whatever spelling.
    pub fn doubled(&self) -> Vec<&'static str> {
        let lines = self
            .header
            .as_ref()
            .map(|header| header.lines.as_slice())
            .unwrap_or_default();
        let count = |key: &Key| lines.iter().filter(|line| Key::of_line(line) == Some(*key)).count();
        Key::ALL
            .iter()
            .filter(|key| count(key) > 1)
            .map(|key| key.names().0)
            .collect()
    }

    /// Whether a line, without its line end, stands in the frontmatter.
    pub fn has_line(&self, line: &str) -> bool {
        let header = self.header.as_ref();
        header.is_some_and(|header| header.lines.iter().any(|own| own.trim_end() == line.trim_end()))
    }

    /// Takes our own frontmatter off a text that was handed in as a body, and gives what is behind it. `None` when
    /// the text does not begin with it: every line must be a key of ours or be in `existing` already, so that nothing
    /// is lost.
    pub fn strip_own_header<'a>(text: &'a str, existing: Option<&Self>) -> Option<&'a str> {
        let (header, body) = Header::split(text)?;
        let dated = |key| header.find(key).is_some();
        if !dated(Key::CreatedAt) && !dated(Key::UpdatedAt) {
            return None;
        }
        let nothing_lost = header.lines.iter().all(|line| {
            line.trim().is_empty() || Key::of_line(line).is_some() || existing.is_some_and(|note| note.has_line(line))
        });
        nothing_lost.then_some(body)
    }

    /// The file's text. Reading it again gives this note's body, whatever the body begins with: `false` as the
    /// second value says that it would not, so that a header must be added.
    pub fn to_text(&self) -> (String, bool) {
        let mut text = String::new();
        if self.bom {
            text.push('\u{feff}');
        }
        if let Some(header) = &self.header {
            header.write(&self.body, &mut text);
        }
        text.push_str(&self.body);
        let faithful = self.header.is_some() || {
            let again = Self::parse(&text);
            again.header.is_none() && again.body == self.body
        };
        (text, faithful)
    }

    /// A short hash of what the note says and of its frontmatter, without the traces of reading that some programs
    /// leave in the file.
    pub fn version(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for line in self.header.iter().flat_map(|header| &header.lines) {
            if !matches!(Key::of_line(line), Some(Key::LastAccessed | Key::AccessCount)) {
                hasher.update(line.trim_end().as_bytes());
                hasher.update(b"\n");
            }
        }
        hasher.update(b"\0");
        hasher.update(self.body.as_bytes());
        hasher.finalize().to_hex().chars().take(12).collect()
    }
}

impl Header {
    fn split(text: &str) -> Option<(Self, &str)> {
        let mut lines = text.split_inclusive('\n');
        let open = lines.next().filter(|line| is_fence(line) && line.ends_with('\n'))?;
        let mut length = open.len();
        let mut inner = Vec::new();
        let close = loop {
            let line = lines.next()?;
            length += line.len();
            if is_fence(line) {
                break line;
            }
            inner.push(line);
        };
        if !is_frontmatter(&inner) {
            return None;
        }
        let mut body = text.get(length..)?;
        let mut blank = "";
        for candidate in ["\n", "\r\n"] {
            if let Some(rest) = body.strip_prefix(candidate) {
                (blank, body) = (candidate, rest);
                break;
            }
        }
        let header = Self {
            open: open.to_owned(),
            lines: inner.into_iter().map(str::to_owned).collect(),
            close: close.to_owned(),
            blank: blank.to_owned(),
        };
        Some((header, body))
    }

    fn write(&self, body: &str, text: &mut String) {
        text.push_str(&self.open);
        for line in &self.lines {
            text.push_str(line);
        }
        text.push_str(&self.close);
        if !self.close.ends_with('\n') && !body.is_empty() {
            text.push_str(self.line_end());
        }
        text.push_str(&self.blank);
        // A body's own first empty line must not be taken for the one that sets it off.
        if self.blank.is_empty() && (body.starts_with('\n') || body.starts_with("\r\n")) {
            text.push_str(self.line_end());
        }
    }

    fn line_end(&self) -> &'static str {
        if self.open.ends_with("\r\n") { "\r\n" } else { "\n" }
    }

    /// Where a key's line is, up to the end of its indented continuation.
    fn find(&self, key: Key) -> Option<(usize, usize)> {
        let (new, old) = key.names();
        let at = |name: &str| {
            let is_it = |line: &String| key_line(line).is_some_and(|(found, _)| found == name);
            self.lines.iter().position(is_it)
        };
        let start = at(new).or_else(|| at(old))?;
        let behind = self.lines.get(start + 1..).unwrap_or_default();
        let indented = |line: &&String| line.starts_with([' ', '\t']) && !line.trim().is_empty();
        Some((start, start + 1 + behind.iter().take_while(indented).count()))
    }

    fn get(&self, key: Key) -> Option<&str> {
        let (start, _) = self.find(key)?;
        let (_, value) = key_line(self.lines.get(start)?)?;
        Some(unquote(value)).filter(|value| !value.is_empty())
    }

    fn set(&mut self, key: Key, value: &str) {
        let (new, old) = key.names();
        let end = self.line_end();
        let Some((start, stop)) = self.find(key) else {
            let name = if self.is_old_style() { old } else { new };
            self.lines.push(format!("{name}: {value}{end}"));
            return;
        };
        let name = self
            .lines
            .get(start)
            .and_then(|line| key_line(line))
            .map_or(new, |(name, _)| name);
        let line = format!("{name}: {value}{end}");
        self.lines.splice(start..stop, [line]);
    }

    /// Whether the frontmatter was written with the older spelling.
    fn is_old_style(&self) -> bool {
        let has = |pick: fn((&'static str, &'static str)) -> &'static str| {
            let key = |key: &Key| key.names().0 != key.names().1;
            Key::ALL.iter().filter(|k| key(k)).any(|key| {
                let name = pick(key.names());
                self.lines
                    .iter()
                    .any(|line| key_line(line).is_some_and(|(found, _)| found == name))
            })
        };
        has(|names| names.1) && !has(|names| names.0)
    }
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

/// Name and value of a `key: value` line that is not indented.
fn key_line(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_end();
    let (name, value) = line.split_once(':')?;
    let name = name.trim_end();
    let starts_well = name
        .chars()
        .next()
        .is_some_and(|c| !c.is_whitespace() && !"#-?[{&*!|>%@`".contains(c));
    let value_apart = value.is_empty() || value.starts_with([' ', '\t']);
    (starts_well && value_apart).then(|| (unquote(name), value.trim()))
}

/// Whether lines between two `---` are frontmatter and not text between two rules.
fn is_frontmatter(lines: &[&str]) -> bool {
    let ours = |line: &&str| matches!(Key::of_line(line), Some(key) if key != Key::Project);
    if lines.iter().any(ours) {
        return true;
    }
    let mut keys = 0;
    for line in lines {
        let key = key_line(line).is_some_and(|(name, _)| !name.contains(char::is_whitespace));
        keys += usize::from(key);
        let line = line.trim_end();
        if !key && !line.is_empty() && !line.starts_with([' ', '\t', '#', '-', '}', ']']) {
            return false;
        }
    }
    keys > 0
}

fn unquote(value: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    value.split(" #").next().unwrap_or(value).trim_end()
}

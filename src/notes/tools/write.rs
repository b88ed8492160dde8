//! `notes_write`: a whole note, new or in place of the old one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Reply;
use super::bounds::{Diff, size};
use crate::notes::address::{Address, quoted};
use crate::notes::home::{Home, Homes};
use crate::notes::note::{Key, Note};
use crate::notes::store::{self, Change, Loaded, Location};
use crate::notes::{time, versions};
use crate::outcome::Refusal;

pub const DESCRIPTION: &str = "Write a whole note: create it, or replace the body of the one at that address. Use it for \
    what must outlive this context window: decisions with their reasons, the state of the work, what you learned. Addresses: \
    `plans/next.md` (this conversation), `@project/…` (all who work on this project), `@human/…` (the person), `@self/…` \
    (you as agent), `@model/…` (your model). To change a part of a note use notes_update.";

/// The parameters of `notes_write`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Where the note goes, e.g. `checkpoint.md` or `@project/decisions.md`; `.md` is added when missing.
    pub address: String,
    /// The whole body, Markdown. Begin with a heading: it is the title in lists.
    pub content: String,
    /// Who the content is from: `user` (the person said so), `self` (your own conclusion) or `external` (a file, a page).
    /// Without it the note keeps what it has; a new one is `self`.
    #[serde(default)]
    #[schemars(with = "Origin")]
    pub origin: Option<String>,
    /// The version you last saw of this note. If the note has changed since, nothing is written.
    pub if_version: Option<String>,
}

/// Who a note's content is from. Only its schema is used: another value must be refused as `invalid_origin`.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "it stands for the values in the schema")]
#[schemars(inline)]
pub enum Origin {
    User,
    #[serde(rename = "self")]
    Own,
    External,
}

/// What `notes_write` gives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The note's address.
    pub address: String,
    /// Whether there was no note before.
    pub created: bool,
    /// Whether the file was changed.
    pub changed: bool,
    /// The version now; hand it to `if_version` to be sure that nobody was quicker.
    pub version: String,
    /// The version that was replaced.
    pub previous_version: Option<String>,
    /// The file's size.
    pub bytes: usize,
    /// Who the content is from.
    pub origin: Option<String>,
    /// When the body or origin last changed.
    pub updated_at: Option<String>,
    /// What else happened that you should know of.
    pub remarks: Vec<String>,
}

pub fn run(homes: &Homes, input: Input) -> Result<Reply<Output>, Refusal> {
    let address = Address::parse(homes, &input.address)?;
    check_writable(homes, &address)?;
    check_origin(input.origin.as_deref())?;
    let location = store::locate(homes, &address)?;
    let data = store::change(homes, &location, |current| {
        check_version(
            homes,
            &location,
            current,
            input.if_version.as_deref(),
            Some(&input.content),
        )?;
        compose(homes, &address, &location, current, &input)
    })?;
    let verb = match (data.created, data.changed) {
        (true, _) => "Created",
        (false, true) => "Replaced",
        (false, false) => "Unchanged:",
    };
    let mut text = format!(
        "{verb} `{}` (version {}, {}).",
        data.address,
        data.version,
        size(data.bytes as u64)
    );
    if let Some(previous) = &data.previous_version
        && data.changed
    {
        text.push_str(&format!(" Version {previous} is kept in the history."));
    }
    for remark in &data.remarks {
        text.push_str(&format!("\n{remark}"));
    }
    Ok(Reply { data, text })
}

fn compose(
    homes: &Homes,
    address: &Address,
    location: &Location,
    current: Option<&Loaded>,
    input: &Input,
) -> Result<(Change, Output), Refusal> {
    let now = time::now();
    let mut remarks = Vec::new();
    let stripped = Note::strip_own_header(&input.content, current.map(|loaded| &loaded.note));
    if stripped.is_some() {
        remarks.push("The frontmatter at the start of the content was taken off: the store keeps its own.".to_owned());
    }
    let body = stripped.unwrap_or(&input.content).to_owned();
    let (note, change) = match current {
        None => {
            let project = match address.home() {
                Home::Session => homes.project().ok().map(|project| project.key.as_str()),
                _ => None,
            };
            let note = Note::new(body, input.origin.as_deref().unwrap_or("self"), now, project);
            let bytes = note.to_text().0.into_bytes();
            (note, Change::Replace(bytes, "write"))
        }
        Some(loaded) => {
            check_utf8(location, loaded)?;
            let mut note = loaded.note.clone();
            if note.is_crumpled() {
                note.remove(Key::CrumpledAt);
                remarks.push("It was in the wastebasket and is live again.".to_owned());
            }
            // A file from elsewhere that is now wholly ours says so.
            let origin = match note.has_header() || note.body == body {
                true => input.origin.as_deref(),
                false => Some(input.origin.as_deref().unwrap_or("self")),
            };
            revise(&mut note, loaded, body, origin);
            let bytes = finish(&mut note, loaded);
            let change = if bytes == loaded.raw {
                Change::Nothing
            } else {
                Change::Replace(bytes, "write")
            };
            (note, change)
        }
    };
    let (bytes, changed) = match &change {
        Change::Nothing => (current.map_or(0, |loaded| loaded.raw.len()), false),
        Change::Replace(bytes, _) => (bytes.len(), true),
    };
    let output = Output {
        address: location.shown.clone(),
        created: current.is_none(),
        changed,
        version: note.version(),
        previous_version: current.map(|loaded| loaded.note.version()),
        bytes,
        origin: note.get(Key::Origin).map(str::to_owned),
        updated_at: note.get(Key::UpdatedAt).map(str::to_owned),
        remarks,
    };
    Ok((change, output))
}

/// Gives a note a new body and origin; `updatedAt` moves only when one of them changes.
pub fn revise(note: &mut Note, loaded: &Loaded, body: String, origin: Option<&str>) {
    let new_origin = origin.filter(|origin| note.get(Key::Origin) != Some(origin));
    if note.body == body && new_origin.is_none() {
        return;
    }
    note.body = body;
    if let Some(origin) = new_origin {
        ensure_header(note, loaded);
        note.set(Key::Origin, origin);
    }
    note.touch(time::now());
}

/// Frontmatter for a note that has none, where something must be said in it.
pub fn ensure_header(note: &mut Note, loaded: &Loaded) {
    if !note.has_header() {
        let written = loaded.modified.and_then(time::of_file).unwrap_or_else(time::now);
        note.add_header(None, written, written, None);
    }
}

/// The bytes of a changed note. A body without frontmatter that would be read back as some gets one.
pub fn finish(note: &mut Note, loaded: &Loaded) -> Vec<u8> {
    let (text, faithful) = note.to_text();
    if faithful {
        return text.into_bytes();
    }
    ensure_header(note, loaded);
    note.touch(time::now());
    note.to_text().0.into_bytes()
}

/// Other agents' and models' notes are read only.
pub fn check_writable(homes: &Homes, address: &Address) -> Result<(), Refusal> {
    if homes.writable(address.home()) {
        return Ok(());
    }
    let message = format!(
        "`{}` belongs to somebody else, so it can be read but not written. Writable are paths without `@`, `@project/…`, \
         `@self/…`, `@model/…` and `@human/…`.",
        homes.render(address)
    );
    Err(Refusal::new("invalid_scope", message))
}

pub fn check_origin(origin: Option<&str>) -> Result<(), Refusal> {
    match origin {
        None | Some("user" | "self" | "external") => Ok(()),
        Some(other) => {
            let message = format!("{} is no origin; it is `user`, `self` or `external`.", quoted(other));
            Err(Refusal::new("invalid_origin", message))
        }
    }
}

/// A file that is not UTF-8 cannot be edited without damage.
pub fn check_utf8(location: &Location, loaded: &Loaded) -> Result<(), Refusal> {
    if loaded.is_utf8 {
        return Ok(());
    }
    let message = format!(
        "`{}` is not UTF-8 text, so it is shown but never edited: bytes would be lost. Write to another address.",
        location.shown
    );
    Err(Refusal::new("io_error", message))
}

/// Refuses when the note is not the version that the caller saw. The diff is from that version if the history still
/// has it, else to what the caller wanted to write.
pub fn check_version(
    homes: &Homes,
    location: &Location,
    current: Option<&Loaded>,
    expected: Option<&str>,
    proposed: Option<&str>,
) -> Result<(), Refusal> {
    let Some(expected) = expected else {
        return Ok(());
    };
    let version = current.map(|loaded| loaded.note.version());
    if version.as_deref() == Some(expected) {
        return Ok(());
    }
    let shown = &location.shown;
    let asked = quoted(expected);
    let Some(loaded) = current else {
        let message = format!(
            "There is no note at `{shown}` any more, so it is not at version {asked}. Nothing was written. Look where it went \
             (notes_search), or write without if_version."
        );
        return Err(Refusal::new("conflict", message).with_details(json!({ "version": null, "diff": null })));
    };
    let seen = versions::list(homes.root(), &location.key)
        .unwrap_or_default()
        .into_iter()
        .rev()
        .find_map(|version| {
            let text = String::from_utf8(std::fs::read(version.file).ok()?).ok()?;
            Some(Note::parse(&text)).filter(|note| note.version() == expected)
        });
    const ROOM: usize = 20 * 1024;
    let now = &loaded.note.body;
    let (diff, of) = match (&seen, proposed) {
        (Some(seen), _) => (
            Diff::of(&seen.body, now, ROOM),
            "from the version you saw to the present one",
        ),
        (None, Some(proposed)) => (
            Diff::of(now, proposed, ROOM),
            "from the present version to what you wanted to write",
        ),
        (None, None) => (
            Diff::of("", "", ROOM),
            "not available: the version you saw is no longer in the history",
        ),
    };
    let version = version.unwrap_or_default();
    let mut message = format!(
        "`{shown}` has changed: it is at version {version}, not {asked}. Nothing was written. Read it again, then repeat your \
         change with if_version {version}. Diff {of}:\n{}",
        diff.text
    );
    if diff.omitted_chars > 0 {
        message.push_str(&format!(
            "({} more characters of the diff left out)\n",
            diff.omitted_chars
        ));
    }
    // The diff is in the message already: once in 32 KiB is enough.
    let details = json!({ "version": version, "diff_of": of, "diff_omitted_chars": diff.omitted_chars });
    Err(Refusal::new("conflict", message).with_details(details))
}

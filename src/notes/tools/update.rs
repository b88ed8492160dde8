//! `notes_update`: edits, an addition, the origin, the wastebasket, or another address.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reply;
use super::bounds::{Diff, size};
use super::edits::{self, Edit};
use super::near;
use super::write::{Origin, check_origin, check_utf8, check_version, check_writable, ensure_header, finish, revise};
use crate::notes::address::Address;
use crate::notes::home::Homes;
use crate::notes::note::Key;
use crate::notes::store::{self, Change, Loaded, Location};
use crate::notes::{counts, time};
use crate::outcome::Refusal;
use crate::outcome::room::{Room, json_bytes};

pub const DESCRIPTION: &str = "Change a part of a note: exact replacements (`edits`), text at the end (`append`), its origin; \
    put it in the wastebasket (`crumpled: true`) or take it out (`false`); or give it another address (`rename_to`, alone). \
    Use it to keep notes true: correct what has changed, tick off what is done, crumple what is obsolete. All of a call is \
    done or nothing; the answer shows the diff.";

/// The parameters of `notes_update`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The note.
    pub address: String,
    /// Exact replacements, done in order on the body. Each oldText must occur exactly once, unless `replace_all`.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// Text to put at the end of the body, on a line of its own; after the edits.
    pub append: Option<String>,
    /// Who the content is from: `user`, `self` or `external`.
    #[serde(default)]
    #[schemars(with = "Origin")]
    pub origin: Option<String>,
    /// `true` puts the note in the wastebasket (out of lists, searches and new windows, still readable by its address),
    /// `false` takes it out again.
    pub crumpled: Option<bool>,
    /// Replace every occurrence of each oldText.
    #[serde(default)]
    pub replace_all: bool,
    /// The new address; only alone. It may replace only a note in the wastebasket.
    pub rename_to: Option<String>,
    /// The version you last saw. If the note has changed since, nothing is done.
    pub if_version: Option<String>,
}

/// What `notes_update` gives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The note's address, after a rename the new one.
    pub address: String,
    /// The old address, after a rename.
    pub renamed_from: Option<String>,
    /// Whether the file was changed or moved.
    pub changed: bool,
    /// The version now.
    pub version: String,
    /// The version before.
    pub previous_version: String,
    /// How many places the edits replaced.
    pub replacements: usize,
    /// The file's size.
    pub bytes: usize,
    /// Who the content is from.
    pub origin: Option<String>,
    /// When the body or origin last changed.
    pub updated_at: Option<String>,
    /// Since when the note is in the wastebasket; null when it is not.
    pub crumpled_at: Option<String>,
    /// What changed in the body, as a unified diff. When it is cut, the update was applied all the same.
    pub diff: Option<Diff>,
    /// What else happened that you should know of.
    pub remarks: Vec<String>,
}

pub fn run(homes: &Homes, mut input: Input) -> Result<Reply<Output>, Refusal> {
    let address = Address::parse(homes, &input.address)?;
    check_origin(input.origin.as_deref())?;
    input
        .edits
        .retain(|edit| !(edit.old_text.is_empty() && edit.new_text.is_empty()));
    let location = store::locate(homes, &address)?;
    if let Some(target) = &input.rename_to {
        // `false` is how a model leaves a switch alone.
        let alone = input.edits.is_empty()
            && input.append.is_none()
            && input.origin.is_none()
            && input.crumpled != Some(true)
            && !input.replace_all;
        if !alone {
            let message =
                "rename_to goes alone: rename first, then change the note at its new address. Nothing was done.";
            return Err(Refusal::new("invalid_arguments", message));
        }
        let target = Address::parse(homes, target)?;
        return rename(homes, &address, &location, &target, input.if_version.as_deref());
    }
    check_writable(homes, &address)?;
    if input.edits.is_empty() && input.append.is_none() && input.origin.is_none() && input.crumpled.is_none() {
        let message = "This update asks for nothing: give edits, append, origin, crumpled or rename_to.";
        return Err(Refusal::new("nothing_to_do", message));
    }
    let (output, bodies) = store::change(homes, &location, |current| {
        let Some(loaded) = current else {
            check_version(homes, &location, None, input.if_version.as_deref(), None)
                .and_then(|()| Err(near::not_found(homes, &address, &location)))?
        };
        compose(homes, &location, loaded, &input)
    })?;
    Ok(render(output, bodies))
}

type Bodies = Option<(String, String)>;

fn compose(
    homes: &Homes,
    location: &Location,
    loaded: &Loaded,
    input: &Input,
) -> Result<(Change, (Output, Bodies)), Refusal> {
    let expected = input.if_version.as_deref();
    let before = &loaded.note.body;
    // What the caller wanted to make of it, for the diff of a conflict.
    let wanted = changed_body(location, before, input).ok().map(|(body, _)| body);
    check_version(homes, location, Some(loaded), expected, wanted.as_deref())?;
    check_utf8(location, loaded)?;
    let (body, replacements) = changed_body(location, before, input)?;
    let mut note = loaded.note.clone();
    let mut remarks = Vec::new();
    revise(&mut note, loaded, body, input.origin.as_deref());
    let mut by = "update";
    match (input.crumpled, note.is_crumpled()) {
        (Some(true), false) => {
            ensure_header(&mut note, loaded);
            note.set(Key::CrumpledAt, &time::format(time::now()));
            by = "crumple";
        }
        (Some(false), true) => {
            note.remove(Key::CrumpledAt);
            by = "smooth";
        }
        (Some(true), true) => remarks.push("It was in the wastebasket already.".to_owned()),
        (Some(false), false) => remarks.push("It was not in the wastebasket.".to_owned()),
        (None, true) => remarks.push("The note is in the wastebasket; `crumpled: false` takes it out.".to_owned()),
        (None, false) => {}
    }
    let bytes = finish(&mut note, loaded);
    let changed = bytes != loaded.raw;
    if !changed && input.crumpled.is_none() && input.origin.is_none() {
        let message = format!("These edits leave `{}` as it is. Nothing was done.", location.shown);
        return Err(Refusal::new("nothing_to_do", message));
    }
    let output = Output {
        address: location.shown.clone(),
        renamed_from: None,
        changed,
        version: note.version(),
        previous_version: loaded.note.version(),
        replacements,
        bytes: bytes.len(),
        origin: note.get(Key::Origin).map(str::to_owned),
        updated_at: note.get(Key::UpdatedAt).map(str::to_owned),
        crumpled_at: note.get(Key::CrumpledAt).map(str::to_owned),
        diff: None,
        remarks,
    };
    let bodies = (note.body != *before).then(|| (before.clone(), note.body.clone()));
    let change = if changed {
        Change::Replace(bytes, by)
    } else {
        Change::Nothing
    };
    Ok((change, (output, bodies)))
}

fn changed_body(location: &Location, before: &str, input: &Input) -> Result<(String, usize), Refusal> {
    let (mut body, replaced) = edits::apply(&location.shown, before, &input.edits, input.replace_all)?;
    if let Some(append) = &input.append {
        if !body.is_empty() && !body.ends_with('\n') {
            body.push_str(if body.contains("\r\n") { "\r\n" } else { "\n" });
        }
        body.push_str(append);
    }
    Ok((body, replaced))
}

fn render(mut output: Output, bodies: Bodies) -> Reply<Output> {
    let verb = if output.changed { "Updated" } else { "Unchanged:" };
    let mut text = format!(
        "{verb} `{}` (version {}, {}).",
        output.address,
        output.version,
        size(output.bytes as u64)
    );
    if output.changed {
        text.push_str(&format!(" Version {} is kept in the history.", output.previous_version));
    }
    if output.changed && output.crumpled_at.is_some() && output.remarks.is_empty() {
        text.push_str(" It is in the wastebasket now.");
    }
    for remark in &output.remarks {
        text.push_str(&format!("\n{remark}"));
    }
    if let Some((before, after)) = bodies {
        let mut room = Room::all();
        room.take(json_bytes(&output) + 256, text.len() + 256);
        let diff = Diff::of(&before, &after, room.left());
        text.push_str(&format!("\n\n{}", diff.text));
        if diff.omitted_chars > 0 {
            text.push_str(&format!(
                "\n(The update was applied. The diff is cut: {} more characters; notes_read shows the note.)",
                diff.omitted_chars
            ));
        }
        output.diff = Some(diff);
    }
    Reply { data: output, text }
}

fn rename(
    homes: &Homes,
    address: &Address,
    from: &Location,
    target: &Address,
    expected: Option<&str>,
) -> Result<Reply<Output>, Refusal> {
    check_writable(homes, address)?;
    check_writable(homes, target)?;
    let to = store::locate(homes, target)?;
    if to.key == from.key {
        let message = format!("`{}` is the note's address already. Nothing was done.", from.shown);
        return Err(Refusal::new("nothing_to_do", message));
    }
    let check = || -> Result<(Loaded, Option<Loaded>), Refusal> {
        let Some(loaded) = store::load(from)? else {
            return Err(near::not_found(homes, address, from));
        };
        check_version(homes, from, Some(&loaded), expected, None)?;
        let taken = store::load(&to)?;
        if taken
            .as_ref()
            .is_some_and(|taken| !taken.note.is_crumpled() && !taken.is_same_file(&loaded))
        {
            return Err(store::already_exists(&to.shown));
        }
        Ok((loaded, taken))
    };
    // Nothing is made on disk, not even a lock, for what will be refused.
    check()?;
    let guard = store::take_lock(homes, &[from, &to])?;
    let (loaded, taken) = check()?;
    store::rename(homes, from, &to, taken.as_ref())?;
    counts::rename(homes, from, &to);
    drop(guard);
    let version = loaded.note.version();
    let mut remarks = Vec::new();
    if taken.is_some() {
        remarks.push("It replaced a note from the wastebasket, which is kept in the history.".to_owned());
    }
    if loaded.note.is_crumpled() {
        remarks.push("The note is in the wastebasket; `crumpled: false` takes it out.".to_owned());
    }
    let mut text = format!("Renamed `{}` to `{}` (version {version}).", from.shown, to.shown);
    for remark in &remarks {
        text.push_str(&format!("\n{remark}"));
    }
    let data = Output {
        address: to.shown.clone(),
        renamed_from: Some(from.shown.clone()),
        changed: true,
        previous_version: version.clone(),
        version,
        replacements: 0,
        bytes: loaded.raw.len(),
        origin: loaded.note.get(Key::Origin).map(str::to_owned),
        updated_at: loaded.note.get(Key::UpdatedAt).map(str::to_owned),
        crumpled_at: loaded.note.get(Key::CrumpledAt).map(str::to_owned),
        diff: None,
        remarks,
    };
    Ok(Reply { data, text })
}

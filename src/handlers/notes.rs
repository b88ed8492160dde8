//! `notes`: the five tools on the notes, for the main conversation and its subagents alike.

use super::{Call, Failure};
use crate::notes::{Identity, Notes};

/// The store of this session: a subagent's calls use the main session's identity.
///
/// # Errors
/// When there is no home folder to keep notes in.
pub(super) fn open(call: &Call<'_>) -> Result<Notes, Failure> {
    let facts = call.facts;
    let root = call
        .world
        .notes_root(&call.config.notes, &facts.settings.project_env)
        .ok_or_else(|| Failure("there is no home folder to keep notes in; set NOTESOUP_HOME".to_owned()))?;
    Ok(Notes::open(Identity {
        root,
        session_id: facts.session_id.clone().unwrap_or_default(),
        cwd: facts.cwd.clone().unwrap_or_default().into(),
        agent: String::new(),
        model: facts.model.clone(),
        project: call.config.notes.project.clone(),
        state_dir: call.world.state_dir.clone(),
    }))
}

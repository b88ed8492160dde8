//! `prune-preview`: the command that shows what `/compact prune` would cut, or `/compact prune 120k` where a size stands
//! behind it. It changes nothing, and the model does not see it.

use serde::Deserialize;

use super::{Call, Failure, Handler, Registrations, no_options, steps};
use crate::prune::{self, PreviewInput, parse_target};
use crate::wire::{Answer, CommandSpec, Event};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "prune-preview",
    events: &[Event::CommandRun],
    wakes: &[],
    check_options: no_options,
    registers,
    run,
};

/// The client breaks each line at its own width, below a heading of its own: a line that was broken here would be broken
/// twice.
const UNBROKEN: usize = usize::MAX;

fn registers(registrations: &mut Registrations) {
    registrations.commands.push(CommandSpec {
        name: "prune-preview".to_owned(),
        description: "Show what /compact prune would cut, without changing anything".to_owned(),
        argument_hint: Some("[120k]".to_owned()),
        immediate: false,
    });
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Command {
    args: String,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let Command { args } = call.input().unwrap_or_default();
    let typed = args.trim();
    let target = parse_target(&typed.to_lowercase());
    let lines = if typed.is_empty() || target.is_some() {
        lines_of(call, target)?
    } else {
        vec![format!(
            "`{typed}` is no size to cut down to; type /prune-preview alone, or with a size such as /prune-preview 120k"
        )]
    };
    Ok(Some(Answer::Lines { lines }))
}

/// The preview's lines, or the one that says why there is none.
pub(super) fn lines_of(call: &Call<'_>, target: Option<u64>) -> Result<Vec<String>, Failure> {
    let Some(transcript) = steps::transcript_path(call.facts) else {
        return Ok(vec![
            "there is nothing to preview yet: the client has named no transcript; send a prompt first".to_owned(),
        ]);
    };
    let addresses = super::prune::addresses(call);
    let report = prune::preview(&PreviewInput {
        transcript,
        head: None,
        options: &call.config.prune,
        cwd: call.facts.cwd.as_deref(),
        tokens: steps::tokens(call.facts),
        target,
        seq: &|id| addresses.of(id),
    });
    Ok(match report {
        Ok(report) if call.facts.headless => prune::lines(&report, UNBROKEN),
        Ok(report) => folded(prune::lines(&report, UNBROKEN)),
        Err(error) => vec![format!("there is nothing to preview: {error}")],
    })
}

/// A line for each section: on the screen the client puts a blank line and our name between two lines, and a preview is to
/// be seen at one glance.
fn folded(lines: Vec<String>) -> Vec<String> {
    let mut sections: Vec<String> = Vec::new();
    let mut has_item = false;
    for line in lines {
        match (line.strip_prefix("  "), sections.last_mut()) {
            (Some(item), Some(section)) if has_item => section.push_str(&format!(" · {}", item.trim_start())),
            (Some(item), Some(section)) => {
                has_item = true;
                section.truncate(section.trim_end_matches('.').len());
                section.push_str(&format!(": {}", item.trim_start()));
            }
            _ => {
                has_item = false;
                sections.push(line);
            }
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn a_section_is_one_line() {
        let lines = [
            "Cut.",
            "Out of reach.",
            "     43k protected",
            "  17k fixed",
            "By tool",
            "  Bash: 1",
            "Rest",
        ];
        let folded = folded(lines.map(str::to_owned).to_vec());
        assert_eq!(
            folded,
            [
                "Cut.",
                "Out of reach: 43k protected · 17k fixed",
                "By tool: Bash: 1",
                "Rest"
            ]
        );
    }
}

//! `context-remaining`: the tool by which the model asks how much room is left.

use serde_json::json;

use super::{Call, Failure, Handler, Registrations, no_options, steps};
use crate::window::reset_point::Unit;
use crate::wire::{Answer, Event, ToolSpec};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "context-remaining",
    events: &[Event::ToolCall],
    wakes: &[],
    check_options: no_options,
    registers,
    run,
};

fn registers(registrations: &mut Registrations) {
    registrations.tools.push(ToolSpec {
        name: "context_remaining".to_owned(),
        description:
            "Says how many tokens this context window holds, and how many are left until the warning and until the \
                      reset. Use it before you begin something long, to decide whether to save your notes first."
                .to_owned(),
        input_schema: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
    });
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let marks = steps::derivation(call.config, call.facts).marks;
    let fill = call
        .facts
        .usage
        .as_ref()
        .zip(marks)
        .and_then(|(usage, marks)| marks.fill(usage));
    let unit = marks.map_or(Unit::Tokens, |marks| marks.unit);
    let number = |value: Option<f64>| match unit {
        Unit::Tokens => value.map(|value| json!(value.round() as u64)),
        Unit::Percent => value.map(|value| json!(value)),
    };
    let until = |mark: Option<f64>| number(mark.zip(fill).map(|(mark, fill)| (mark - fill).max(0.0)));
    let watched = steps::watch(call.config, call.facts, &call.state.machine);
    // Figures of marks that nothing would follow are not promised.
    let is_possible = watched.reset_at.is_some() || watched.warn_at.is_some();
    let data = json!({
        if unit == Unit::Tokens { "tokens" } else { "percent" }: number(fill),
        "until_warning": until(marks.and_then(|marks| marks.warn_at).filter(|_| is_possible)),
        "until_reset": until(marks.map(|marks| marks.reset_at).filter(|_| is_possible)),
    });
    Ok(Some(Answer::Tool {
        text: data.to_string(),
        is_error: false,
    }))
}

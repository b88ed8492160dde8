//! The client reads the module's source before it loads it. Three ways to spell a call are forbidden, since behind them
//! it cannot see what the module does; each must fail the gate.

use std::fs;

use crate::support::{Lab, both_builds};

both_builds! {
    /// A noun of `$` bound to a variable.
    fn a_noun_bound_to_a_variable_is_refused(build) {
        refused(build, "const ui = $.ui\n  ui.log('x')");
    }

    /// A noun of `$` passed as an argument.
    fn a_noun_passed_as_an_argument_is_refused(build) {
        refused(build, "takeNoun($.ui)");
    }

    /// A noun of `$` read as a value.
    fn a_noun_read_as_a_value_is_refused(build) {
        refused(build, "if ($.ui) return");
    }

    /// The line without the forbidden shape passes, so that it is the shape that fails the others.
    fn the_same_place_with_a_plain_call_passes(build) {
        let (said, code) = validated(build, "$.ui.log('x')");
        assert_eq!(code, Some(0), "{said}");
    }
}

#[track_caller]
fn refused(build: crate::support::Build, statement: &str) {
    let (said, code) = validated(build, statement);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("$.ui is used as a value"),
        "the shape is what it refuses: {said}"
    );
}

/// What the client says of the courier with one more function in it.
fn validated(build: crate::support::Build, statement: &str) -> (String, Option<i32>) {
    let lab = Lab::on(build).start();
    let plugin = lab.plugin(0);
    let module = plugin.join("hooks/register.ts");
    let source = fs::read_to_string(&module).unwrap();
    let hook = "  on('session.start', async ($, e, next) => {\n";
    assert!(source.contains(hook), "the module hooks session.start");
    let changed = source.replacen(hook, &format!("{hook}    added($)\n"), 1)
        + &format!(
            "\nfunction added($: EngineInterface): void {{\n  {statement}\n}}\n\nfunction takeNoun(ui: unknown): void {{\n  void ui\n}}\n"
        );
    fs::write(&module, changed).unwrap();
    let run = lab.claude(&["plugin", "validate", plugin.to_str().unwrap(), "--strict"]);
    (run.said(), run.code)
}

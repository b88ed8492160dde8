//! The courier's gate: the plugin passes what each build of the client checks, and what the client forbids is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod scanner;
mod typescript;

use support::{Build, Lab, both_builds};

both_builds! {
    /// The manifest and the module are as the client wants them, warnings included.
    fn the_plugin_is_valid(build) {
        let lab = Lab::on(build).start();
        let plugin = lab.plugin(0);
        let plugin = plugin.to_str().unwrap();
        lab.claude(&["plugin", "validate", plugin, "--strict"]).success();
        if build == Build::NEWEST {
            lab.claude(&["plugin", "validate", plugin, "--strict", "--profile", "directory"]).success();
        }
    }

    /// The module's own tests: every event, answer and effect, and every way in which the program fails.
    fn the_courier_passes_its_tests(build) {
        let lab = Lab::on(build).start();
        let run = lab.claude(&["plugin", "test", lab.plugin(0).to_str().unwrap()]).success();
        assert!(run.said().contains("0 fail"), "{}", run.said());
    }

    /// The module fits the declarations that this build writes beside a plugin.
    fn the_courier_fits_the_declarations(build) {
        let Some(compiler) = typescript::compiler() else {
            return;
        };
        let lab = Lab::on(build).start();
        let tty = lab.interactive();
        let plugin = lab.plugin(0);
        typescript::wait_for_declarations(&plugin);
        tty.leave();
        compiler.check(&plugin);
    }
}

//! What the client's own tools say of the plugin.

use std::process::Command;

use crate::support::{Build, Lab, both_builds, checkout_plugin, left_out, typescript};

both_builds! {
    /// It is valid, strictly, and on the newer build also for a directory of plugins.
    fn it_validates(build) {
        let lab = Lab::on(build).start();
        let plugin = lab.plugin(0);
        let plugin = plugin.to_str().unwrap();
        lab.claude(&["plugin", "validate", plugin, "--strict"]).success();
        if build == Build::NEWEST {
            lab.claude(&["plugin", "validate", plugin, "--strict", "--profile", "directory"]).success();
        }
    }

    /// The courier's own tests pass.
    fn its_tests_pass(build) {
        let lab = Lab::on(build).start();
        let plugin = lab.plugin(0);
        let test = || lab.claude(&["plugin", "test", plugin.to_str().unwrap()]);
        let mut run = test();
        // The client gives each of them five seconds, which a busy machine may take by itself.
        if run.code != Some(0) && run.said().contains("timed out after") {
            run = test();
        }
        assert!(run.success().said().contains("0 fail"));
    }

    /// The courier typechecks against the declarations that the build writes when it loads it.
    fn it_typechecks(build) {
        let compiler = match typescript() {
            Ok(compiler) => compiler,
            Err(why) => return left_out(&format!("no TypeScript here ({why})")),
        };
        let lab = Lab::on(build).start();
        let mut tty = lab.interactive();
        tty.ask("hello");
        tty.leave();
        let plugin = lab.plugin(0);
        assert!(plugin.join(".claude-plugin/types/claude-code/index.d.ts").is_file());
        let output = Command::new("node").arg(compiler).args(["--noEmit", "-p"]).arg(&plugin).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(!checkout_plugin().join(".claude-plugin/types").exists(), "declarations belong in the copy");
    }
}

//! Install and uninstall with the real client, in both builds.

use std::fs;
use std::path::PathBuf;

use crate::bench::{Bench, tree};
use crate::support::Build;

/// The builds that are here; the others are told to be left out.
fn builds() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for build in Build::ALL {
        build.run(|build| found.push(build.program().unwrap()));
    }
    found
}

#[test]
fn install_enables_the_plugin_a_second_one_changes_nothing_and_uninstall_is_the_mirror() {
    for build in builds() {
        let bench = Bench::new(Some(&build));
        let note = bench.home().join(".agents/notes/human/tea.md");
        fs::create_dir_all(note.parent().unwrap()).unwrap();
        fs::write(&note, "green").unwrap();

        let said = bench.run(&["install"]).ok();
        assert!(
            said.stdout.contains("passes `claude plugin validate --strict`"),
            "{}",
            said.stdout
        );
        let closing: Vec<_> = said.stdout.split("\n\n").last().unwrap().lines().collect();
        assert_eq!(closing.len(), 3, "{closing:?}");
        let ours = bench.installed();
        assert_eq!(ours.len(), 1, "{ours:?}");
        assert_eq!(ours[0]["enabled"], true);
        assert_eq!(ours[0]["scope"], "user");
        assert_eq!(
            ours[0]["readFromFolder"],
            bench.data().join("current/plugin").to_str().unwrap()
        );

        let settings = bench.home().join(".claude");
        let (files, known) = (tree(&bench.data()), tree(&settings));
        let said = bench.run(&["install"]).ok();
        assert!(said.stdout.contains("nothing was changed"), "{}", said.stdout);
        assert!(files == tree(&bench.data()));
        assert!(known == tree(&settings));

        bench.client(&["plugin", "disable", "notesoup@notesoup"]).ok();
        let said = bench.run(&["install"]).ok();
        assert!(
            said.stdout.contains("notesoup@notesoup enabled (user)"),
            "{}",
            said.stdout
        );

        let said = bench.run(&["uninstall"]).ok();
        assert!(said.stdout.contains("your notes in ~/.agents/notes"), "{}", said.stdout);
        assert!(!bench.data().exists());
        assert!(bench.installed().is_empty());
        assert!(bench.marketplaces().is_empty());
        assert_eq!(fs::read_to_string(&note).unwrap(), "green");
        let settings = fs::read_to_string(bench.home().join(".claude/settings.json")).unwrap();
        assert!(!settings.contains("notesoup"), "{settings}");
    }
}

#[test]
fn a_project_has_a_scope_of_its_own() {
    for build in builds() {
        let bench = Bench::new(Some(&build));
        bench.run(&["install", "--scope", "project"]).ok();
        bench.run(&["install"]).ok();
        let scopes: Vec<_> = bench
            .installed()
            .iter()
            .map(|entry| entry["scope"].to_string())
            .collect();
        assert_eq!(scopes, ["\"project\"", "\"user\""]);
        assert!(bench.project().join(".claude/settings.json").exists());

        let said = bench.run(&["uninstall"]).ok();
        assert!(
            said.stdout.contains("still used in the project scope"),
            "{}",
            said.stdout
        );
        assert!(bench.data().join("current").exists());
        bench.run(&["uninstall", "--scope", "project"]).ok();
        assert!(!bench.data().exists());
        assert!(bench.installed().is_empty());
    }
}

#[test]
fn the_checkout_is_a_marketplace_and_install_takes_over_from_it() {
    for build in builds() {
        let bench = Bench::new(Some(&build));
        let checkout = env!("CARGO_MANIFEST_DIR");
        bench.client(&["plugin", "validate", "--strict", checkout]).ok();
        bench.client(&["plugin", "marketplace", "add", checkout]).ok();
        bench.client(&["plugin", "install", "notesoup@notesoup"]).ok();
        let said = bench.run(&["install"]).ok();
        assert!(
            said.stdout.contains(&format!("it pointed at {checkout}")),
            "{}",
            said.stdout
        );
        let ours = bench.installed();
        assert_eq!(ours.len(), 1);
        assert_eq!(
            ours[0]["readFromFolder"],
            bench.data().join("current/plugin").to_str().unwrap()
        );
    }
}

//! Install and uninstall with the real client, in both builds. Each step of the journey costs runs of the client, so
//! that it is one.

use std::fs;

use crate::bench::{Bench, tree};
use crate::support::both_builds;

both_builds! {
    /// From a checkout added by hand to an installation, through every state and both scopes, and back to nothing.
    fn from_a_checkout_to_an_installation_and_back_to_nothing(build) {
        let bench = Bench::new(Some(&build.program().unwrap()));
        let note = bench.home().join(".agents/notes/human/tea.md");
        fs::create_dir_all(note.parent().unwrap()).unwrap();
        fs::write(&note, "green").unwrap();

        // The checkout is a marketplace.
        let checkout = env!("CARGO_MANIFEST_DIR");
        bench.client(&["plugin", "marketplace", "add", checkout]).ok();
        bench.client(&["plugin", "install", "notesoup@notesoup"]).ok();

        // Install takes over from it, and says so.
        let said = bench.run(&["install"]).ok();
        assert!(said.stdout.contains("passes `claude plugin validate --strict`"), "{}", said.stdout);
        assert!(said.stdout.contains(&format!("it pointed at {checkout}")), "{}", said.stdout);
        let closing: Vec<_> = said.stdout.split("\n\n").last().unwrap().lines().collect();
        assert_eq!(closing.len(), 3, "{closing:?}");
        let ours = bench.installed();
        assert_eq!(ours.len(), 1, "{ours:?}");
        assert_eq!(ours[0]["enabled"], true);
        assert_eq!(ours[0]["scope"], "user");
        assert_eq!(ours[0]["readFromFolder"], bench.data().join("current/plugin").to_str().unwrap());

        // A second one changes nothing.
        let settings = bench.home().join(".claude");
        let (files, known) = (tree(&bench.data()), tree(&settings));
        let said = bench.run(&["install"]).ok();
        assert!(said.stdout.contains("nothing was changed"), "{}", said.stdout);
        assert!(files == tree(&bench.data()));
        assert!(known == tree(&settings));

        // What was switched off is switched on.
        bench.client(&["plugin", "disable", "notesoup@notesoup"]).ok();
        let said = bench.run(&["install"]).ok();
        assert!(said.stdout.contains("notesoup@notesoup enabled (user)"), "{}", said.stdout);

        // A project has a scope of its own, and keeps the files while it is there.
        bench.run(&["install", "--scope", "project"]).ok();
        let mut scopes: Vec<_> = bench.installed().iter().map(|entry| entry["scope"].to_string()).collect();
        scopes.sort();
        assert_eq!(scopes, ["\"project\"", "\"user\""]);
        assert!(bench.project().join(".claude/settings.json").exists());
        let said = bench.run(&["uninstall"]).ok();
        assert!(said.stdout.contains("still used in the project scope"), "{}", said.stdout);
        assert!(bench.data().join("current").exists());

        // Uninstall is the mirror: nothing is left but the notes.
        let said = bench.run(&["uninstall", "--scope", "project"]).ok();
        assert!(said.stdout.contains("your notes in ~/.agents/notes"), "{}", said.stdout);
        assert!(!bench.data().exists());
        assert!(bench.installed().is_empty());
        assert!(bench.marketplaces().is_empty());
        assert_eq!(fs::read_to_string(&note).unwrap(), "green");
        let settings = fs::read_to_string(bench.home().join(".claude/settings.json")).unwrap();
        assert!(!settings.contains("notesoup"), "{settings}");
    }

    /// The marketplace file of the checkout has nothing to complain of.
    fn the_checkout_is_a_sound_marketplace(build) {
        let bench = Bench::new(Some(&build.program().unwrap()));
        bench.client(&["plugin", "validate", "--strict", env!("CARGO_MANIFEST_DIR")]).ok();
    }
}

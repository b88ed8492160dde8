use serde_json::json;

use super::*;

/// What a case is made of; `with` changes one thing.
#[derive(Clone)]
struct Case {
    usage: Value,
    merged: Value,
    env: Vec<(&'static str, &'static str)>,
    options: WindowOptions,
    model: Option<&'static str>,
}

fn case(usage: Value) -> Case {
    Case {
        usage,
        merged: json!({}),
        env: Vec::new(),
        options: WindowOptions::default(),
        model: Some("claude-opus-5-5"),
    }
}

impl Case {
    fn env(mut self, name: &'static str, value: &'static str) -> Self {
        self.env.push((name, value));
        self
    }

    fn merged(mut self, merged: Value) -> Self {
        self.merged = merged;
        self
    }

    fn usage(&self) -> wire::Usage {
        serde_json::from_value(self.usage.clone()).unwrap()
    }

    fn derive(&self) -> Derivation {
        let settings = wire::Settings {
            merged: self.merged.as_object().cloned().unwrap(),
            ..wire::Settings::default()
        };
        let environment = Environment::from_lookup(|name| {
            self.env
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, v)| (*v).to_owned())
        });
        derive(Some(&self.usage()), &settings, &environment, &self.options, self.model)
    }

    fn point(&self) -> f64 {
        self.derive().marks.unwrap().point
    }
}

/// The client's figures as it reports them: `context` with a `breakdown`.
fn reported(window: u64, raw: u64, threshold: Option<u64>) -> Value {
    let mut breakdown = json!({ "rawMaxTokens": raw, "isAutoCompactEnabled": threshold.is_some() });
    if let Some(threshold) = threshold {
        breakdown["autoCompactThreshold"] = json!(threshold);
    }
    json!({ "tokens": 1000, "window": window, "percent": 1, "breakdown": breakdown })
}

/// The same session on a build that gives the window alone.
fn bare(window: u64) -> Value {
    json!({ "tokens": 1000, "window": window, "percent": 1 })
}

/// Every set-up of the first table: the point as reported, and the same point computed without the report.
#[test]
fn reported_and_computed_points_agree_with_the_client() {
    let window = "CLAUDE_CODE_AUTO_COMPACT_WINDOW";
    let model = |tokens: u64| json!({ "claude-opus-5-5": { "autoCompactWindow": tokens } });
    type Row = (&'static str, u64, u64, u64, Vec<(&'static str, &'static str)>, Value);
    let rows: Vec<Row> = vec![
        ("1M model", 1_000_000, 1_000_000, 967_000, vec![], json!({})),
        ("200K model", 200_000, 200_000, 167_000, vec![], json!({})),
        (
            "variable 400000",
            1_000_000,
            400_000,
            367_000,
            vec![(window, "400000")],
            json!({}),
        ),
        (
            "plain 300000",
            1_000_000,
            300_000,
            267_000,
            vec![],
            json!({ "autoCompactWindow": 300_000 }),
        ),
        (
            "variable 400000, plain 300000",
            1_000_000,
            400_000,
            367_000,
            vec![(window, "400000")],
            json!({ "autoCompactWindow": 300_000 }),
        ),
        (
            "plain 300000, model 250000",
            1_000_000,
            250_000,
            217_000,
            vec![],
            json!({ "autoCompactWindow": 300_000, "modelSettings": model(250_000) }),
        ),
        (
            "variable 50000",
            1_000_000,
            100_000,
            67_000,
            vec![(window, "50000")],
            json!({}),
        ),
        (
            "output 8000",
            200_000,
            200_000,
            179_000,
            vec![("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "8000")],
            json!({}),
        ),
        (
            "plain 250000, model 300000",
            1_000_000,
            300_000,
            267_000,
            vec![],
            json!({ "autoCompactWindow": 250_000, "modelSettings": model(300_000) }),
        ),
        (
            "plain 50000",
            1_000_000,
            1_000_000,
            967_000,
            vec![],
            json!({ "autoCompactWindow": 50_000 }),
        ),
        (
            "variable 300000, plain 400000",
            1_000_000,
            300_000,
            267_000,
            vec![(window, "300000")],
            json!({ "autoCompactWindow": 400_000 }),
        ),
        (
            "configured above the model",
            200_000,
            200_000,
            167_000,
            vec![(window, "400000")],
            json!({ "autoCompactWindow": 500_000 }),
        ),
        (
            "model setting under 100000",
            1_000_000,
            300_000,
            267_000,
            vec![],
            json!({ "autoCompactWindow": 300_000, "modelSettings": model(50_000) }),
        ),
    ];
    for (name, model_window, raw, point, env, merged) in rows {
        let with_report = Case {
            env: env.clone(),
            merged: merged.clone(),
            ..case(reported(model_window, raw, Some(point)))
        };
        let derivation = with_report.derive();
        assert_eq!(derivation.source, Some(Source::BreakdownThreshold), "{name}");
        assert_eq!(derivation.marks.unwrap().point, point as f64, "{name}");
        let computed = Case {
            env,
            merged,
            ..case(bare(model_window))
        };
        let derivation = computed.derive();
        assert_eq!(derivation.source, Some(Source::Computed), "{name}");
        assert_eq!(derivation.marks.unwrap().point, point as f64, "{name}, computed");
        assert_eq!(derivation.figures.effective_window, Some(raw), "{name}, computed");
    }
}

/// The second table: where the client was seen to fire, between "no at" and "fired at".
#[test]
fn the_point_lies_where_the_client_was_seen_to_fire() {
    let percent = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE";
    let window = "CLAUDE_CODE_AUTO_COMPACT_WINDOW";
    let million = || case(reported(1_000_000, 1_000_000, Some(967_000)));
    let smaller = || case(reported(1_000_000, 400_000, Some(367_000))).env(window, "400000");
    let rows = [
        (million(), 966_000.0, 968_000.0, 967_000.0),
        (smaller(), 364_000.0, 370_000.0, 367_000.0),
        (million().env(percent, "50"), 487_000.0, 491_000.0, 490_000.0),
        (smaller().env(percent, "50"), 188_000.0, 195_000.0, 190_000.0),
        // This model never compacts by itself before its end; our reset is the only one.
        (
            case(reported(200_000, 200_000, Some(167_000))),
            0.0,
            196_000.0,
            167_000.0,
        ),
    ];
    for (case, not_at, fired_at, point) in rows {
        assert_eq!(case.point(), point);
        assert!(not_at < point && point < fired_at);
        // The same without the report.
        let bare = Case {
            usage: bare(case.usage["window"].as_u64().unwrap()),
            ..case
        };
        assert_eq!(bare.point(), point);
    }
}

#[test]
fn a_percent_only_lowers_the_point() {
    let percent = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE";
    let million = || case(reported(1_000_000, 1_000_000, Some(967_000)));
    assert_eq!(million().env(percent, "100").point(), 967_000.0);
    assert_eq!(million().env(percent, "99").point(), 967_000.0);
    assert_eq!(million().env(percent, "25.5").point(), 249_900.0);
    for ignored in ["", "0", "101", "half"] {
        assert_eq!(million().env(percent, ignored).point(), 967_000.0, "{ignored}");
    }
}

#[test]
fn without_any_window_a_percent_works_from_the_threshold() {
    let usage = json!({ "breakdown": { "autoCompactThreshold": 967_000 } });
    let case = case(usage).env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "50");
    assert_eq!(case.point(), 490_000.0);
}

#[test]
fn automatic_compaction_switched_off_leaves_only_the_output_reserve() {
    let off = case(reported(1_000_000, 1_000_000, None)).derive();
    assert_eq!(off.source, Some(Source::AutoCompactOff));
    assert_eq!(off.marks.unwrap().point, 980_000.0);

    let by_setting = case(bare(1_000_000))
        .merged(json!({ "autoCompactEnabled": false }))
        .derive();
    assert_eq!(by_setting.marks.unwrap().point, 980_000.0);

    for (value, point) in [("1", 980_000.0), ("true", 980_000.0), ("0", 967_000.0), ("", 967_000.0)] {
        let by_variable = case(bare(1_000_000)).env("DISABLE_AUTO_COMPACT", value);
        assert_eq!(by_variable.point(), point, "{value:?}");
    }

    // What the breakdown says stands over settings and variables.
    let on = case(reported(1_000_000, 1_000_000, Some(967_000)))
        .merged(json!({ "autoCompactEnabled": false }))
        .env("DISABLE_AUTO_COMPACT", "1");
    assert_eq!(on.point(), 967_000.0);

    // A threshold is not believed while automatic compaction is off.
    let mut usage = reported(1_000_000, 1_000_000, Some(967_000));
    usage["breakdown"]["isAutoCompactEnabled"] = json!(false);
    assert_eq!(case(usage).point(), 980_000.0);

    let smaller = case(reported(1_000_000, 1_000_000, None))
        .env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "400000")
        .env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "8000");
    assert_eq!(smaller.point(), 392_000.0);
}

#[test]
fn compaction_switched_off_means_no_marks_and_one_line() {
    for value in ["1", "true"] {
        let derivation = case(reported(1_000_000, 1_000_000, None))
            .env("DISABLE_COMPACT", value)
            .derive();
        assert_eq!(derivation.marks, None);
        assert_eq!(derivation.none, Some(NoMarks::CompactDisabled));
        assert_eq!(derivation.notices.len(), 1);
    }
    let derivation = case(reported(1_000_000, 1_000_000, Some(967_000)))
        .env("DISABLE_COMPACT", "0")
        .derive();
    assert!(derivation.marks.is_some());
}

/// Values that are not what a positive number's type says.
fn broken() -> Vec<Value> {
    vec![
        json!(null),
        json!("967000"),
        json!(true),
        json!([967_000]),
        json!({}),
        json!(0),
        json!(-5),
        json!(1e300),
    ]
}

#[test]
fn a_broken_threshold_drops_to_the_next_source() {
    for bad in broken() {
        let mut usage = reported(1_000_000, 1_000_000, Some(967_000));
        usage["breakdown"]["autoCompactThreshold"] = bad.clone();
        usage["autoCompactThreshold"] = json!(900_000);
        let derivation = case(usage.clone()).derive();
        assert_eq!(derivation.source, Some(Source::ContextThreshold), "{bad}");
        assert_eq!(derivation.marks.unwrap().point, 900_000.0, "{bad}");

        usage["autoCompactThreshold"] = bad.clone();
        let derivation = case(usage).derive();
        assert_eq!(derivation.source, Some(Source::Computed), "{bad}");
        assert_eq!(derivation.marks.unwrap().point, 967_000.0, "{bad}");
    }
}

#[test]
fn a_broken_window_drops_to_what_the_client_measures_against_then_to_percent() {
    for bad in broken() {
        let usage = json!({ "window": bad, "percent": 40, "breakdown": { "rawMaxTokens": 400_000 } });
        let derivation = case(usage).derive();
        assert_eq!(derivation.source, Some(Source::Computed), "{bad}");
        assert_eq!(derivation.marks.unwrap().point, 367_000.0, "{bad}");

        let usage = json!({ "window": bad, "percent": 40, "breakdown": { "rawMaxTokens": bad } });
        let derivation = case(usage).derive();
        assert_eq!(derivation.source, Some(Source::Percent), "{bad}");
        let marks = derivation.marks.unwrap();
        assert_eq!((marks.unit, marks.point), (Unit::Percent, 83.5), "{bad}");
        assert!((marks.reset_at - (83.5 - 4.096)).abs() < 1e-9);
        assert!((marks.warn_at.unwrap() - (83.5 - 4.096 - 8.192)).abs() < 1e-9);

        for percent in [json!(null), json!("40"), json!(-1), json!([])] {
            let usage = json!({ "tokens": 7, "window": bad, "percent": percent });
            let derivation = case(usage).derive();
            assert_eq!((derivation.marks, derivation.source), (None, None), "{bad} {percent}");
            assert_eq!(derivation.none, Some(NoMarks::Unresolvable), "{bad} {percent}");
            assert_eq!(derivation.notices.len(), 1);
        }
    }
}

#[test]
fn a_broken_breakdown_field_takes_no_other_with_it() {
    for bad in broken() {
        let mut usage = reported(1_000_000, 400_000, Some(367_000));
        usage["breakdown"]["isAutoCompactEnabled"] = bad.clone();
        if bad == json!(true) {
            continue;
        }
        assert_eq!(case(usage.clone()).point(), 367_000.0, "{bad}");
        let off = case(usage).merged(json!({ "autoCompactEnabled": false }));
        assert_eq!(off.point(), 380_000.0, "{bad}");

        let mut usage = reported(1_000_000, 400_000, Some(367_000));
        usage["breakdown"]["rawMaxTokens"] = bad.clone();
        let half = case(usage).env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "20");
        assert_eq!(half.point(), 196_000.0, "{bad}");
    }
}

#[test]
fn broken_settings_and_variables_are_passed_over() {
    for bad in broken() {
        if bad.as_f64().is_some_and(|number| number >= 1e15) {
            continue;
        }
        let merged = json!({
            "autoCompactWindow": bad, "autoCompactEnabled": bad, "modelSettings": bad, "notesoup": bad,
        });
        assert_eq!(case(bare(1_000_000)).merged(merged).point(), 967_000.0, "{bad}");
        let merged = json!({
            "autoCompactWindow": 300_000, "modelSettings": { "claude-opus-5-5": { "autoCompactWindow": bad } },
        });
        assert_eq!(case(bare(1_000_000)).merged(merged).point(), 267_000.0, "{bad}");
    }
    for bad in ["", "many", "-4", "0", "4e5", "400000x"] {
        let case = case(bare(1_000_000))
            .env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", bad)
            .env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", bad);
        assert_eq!(case.point(), 967_000.0, "{bad}");
    }
    let no_model = Case {
        model: None,
        ..case(bare(1_000_000))
    };
    assert_eq!(no_model.point(), 967_000.0);
}

#[test]
fn no_usage_is_a_reason_of_its_own() {
    let derivation = derive(
        None,
        &wire::Settings::default(),
        &Environment::default(),
        &WindowOptions::default(),
        None,
    );
    assert_eq!(derivation.none, Some(NoMarks::NoUsage));
    assert_eq!(derivation.notices.len(), 1);
}

#[test]
fn right_after_a_compaction_the_marks_stand_and_the_fill_is_unknown() {
    let usage = json!({ "window": 1_000_000, "breakdown": { "autoCompactThreshold": 967_000 } });
    let case = case(usage);
    let derivation = case.derive();
    assert!(derivation.notices.is_empty());
    assert_eq!(derivation.marks.unwrap().fill(&case.usage()), None);
}

#[test]
fn the_fill_is_read_in_the_marks_unit() {
    let fill = |usage: Value| {
        let case = case(usage);
        case.derive().marks.unwrap().fill(&case.usage())
    };
    assert_eq!(
        fill(json!({ "tokens": 5, "window": 200_000, "percent": 50 })),
        Some(5.0)
    );
    assert_eq!(
        fill(json!({ "tokens": "x", "window": 200_000, "percent": 50 })),
        Some(100_000.0)
    );
    assert_eq!(fill(json!({ "tokens": -1, "window": 200_000 })), None);
    assert_eq!(fill(json!({ "tokens": 5, "percent": 50 })), Some(50.0));
}

#[test]
fn the_marks_lie_margin_and_runway_below_the_point() {
    let marks = case(reported(1_000_000, 1_000_000, Some(967_000)))
        .derive()
        .marks
        .unwrap();
    assert_eq!(
        marks,
        Marks {
            unit: Unit::Tokens,
            point: 967_000.0,
            reset_at: 958_808.0,
            warn_at: Some(942_424.0),
        }
    );
}

#[test]
fn margins_that_are_none_keep_the_default_and_get_one_line_each() {
    let mut bad = case(reported(1_000_000, 1_000_000, Some(967_000))).merged(json!({
        "notesoup": { "resetMarginTokens": "lots", "warningRunwayTokens": -1 },
    }));
    let derivation = bad.derive();
    assert_eq!(derivation.marks.unwrap().reset_at, 958_808.0);
    assert_eq!(derivation.notices.len(), 2);
    assert!(derivation.notices[0].text.contains("resetMarginTokens"));
    bad.options.reset_margin_tokens = 0;
    assert_eq!(bad.derive().marks.unwrap().reset_at, 958_808.0);
}

#[test]
fn a_margin_without_room_means_no_reset_and_a_runway_without_room_no_warning() {
    let mut case = case(reported(200_000, 200_000, Some(167_000)));
    case.options.warning_runway_tokens = 500_000;
    let derivation = case.derive();
    assert_eq!(derivation.marks.unwrap().warn_at, None);
    assert_eq!(derivation.notices.len(), 1);
    case.options.reset_margin_tokens = 167_000;
    let derivation = case.derive();
    assert_eq!(derivation.none, Some(NoMarks::NoRoom));
    assert_eq!(derivation.notices.len(), 1);
}

#[test]
fn a_window_smaller_than_its_reserves_has_no_point() {
    assert_eq!(case(bare(20_000)).derive().none, Some(NoMarks::Unresolvable));
}

#[test]
fn a_model_without_a_table_entry_takes_the_plain_setting() {
    let merged = json!({
        "autoCompactWindow": 300_000, "modelSettings": { "another": { "autoCompactWindow": 250_000 } },
    });
    assert_eq!(case(bare(1_000_000)).merged(merged).point(), 267_000.0);
}

#[test]
fn the_derivation_explains_itself_step_by_step() {
    let derivation = case(reported(1_000_000, 400_000, Some(367_000)))
        .env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "400000")
        .env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "50")
        .derive();
    insta::assert_snapshot!(derivation.to_text(), @r"
    window.reset_point
      source: the client's threshold (context.breakdown.autoCompactThreshold)
      - the model's window is 1000000 tokens, the client measures against 400000
      - CLAUDE_CODE_AUTO_COMPACT_WINDOW configures a window of 400000 tokens
      - the effective window is 400000 tokens, 20000 of them kept free for a response
      - the client reports that it compacts at 367000 tokens
      - CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=50: 380000 x 50 % = 190000; the smaller counts: 190000
      - reset at 190000 - the margin of 8192 tokens = 181808 tokens
      - warn at 181808 - the runway of 16384 tokens = 165424 tokens
      point: 190000 tokens
      warn at: 165424 tokens
      reset at: 181808 tokens
    ");
    let json = derivation.to_json();
    assert_eq!(json["source"], "breakdown_threshold");
    assert_eq!(json["marks"]["reset_at"], 181_808.0);
    assert_eq!(json["figures"]["percent_point"], 190_000);
}

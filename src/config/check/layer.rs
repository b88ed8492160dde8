//! One layer, on top of those below it.

use figment::value::{Dict, Value};

use super::shape::{self, Slip};
use super::{Catalog, row, text};
use crate::config::key::join;
use crate::config::layer::Layer;
use crate::config::problem::{Code, Problem, shown, suggestion};

/// Checks one layer on top of the values below it.
pub(in crate::config) fn alone(layer: &Layer, below: &Dict, catalog: &Catalog<'_>) -> Vec<Problem> {
    let mut found = Findings {
        layer,
        below,
        catalog,
        problems: Vec::new(),
    };
    if found.is_of_another_version() {
        // What another version means by its keys, this one does not know.
        return found.problems;
    }
    found.table("", &layer.dict, true);
    if !found.problems.is_empty() {
        // A layer above may bring the profile; where the file is refused anyway, its slip is told with the others.
        found.profile_is_known();
    }
    let mut problems = found.problems;
    problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    problems
}

/// What is wrong, as it comes to light.
pub(super) struct Findings<'a> {
    pub layer: &'a Layer,
    pub below: &'a Dict,
    pub catalog: &'a Catalog<'a>,
    pub problems: Vec<Problem>,
}

impl Findings<'_> {
    /// A word about the value of a key.
    pub fn value(&mut self, code: Code, key: impl Into<String>, message: impl Into<String>, help: impl Into<String>) {
        let key = key.into();
        let problem = Problem::new(code, self.layer.place_of(&key), message).help(help);
        self.problems.push(problem.key(self.layer.key_in_file(&key)));
    }

    /// A word about the name of a key.
    pub fn name(&mut self, code: Code, key: impl Into<String>, message: impl Into<String>, help: impl Into<String>) {
        let key = key.into();
        let problem = Problem::new(code, self.layer.place_of_key(&key), message).help(help);
        self.problems.push(problem.key(self.layer.key_in_file(&key)));
    }

    /// What the schema says of a value.
    pub fn shape(&mut self, value: &Value, schema: &serde_json::Value, key: &str) {
        let mut slips = Vec::new();
        shape::walk(value, schema, key, &mut slips);
        for slip in slips {
            self.slip(slip);
        }
    }

    pub fn slip(&mut self, slip: Slip) {
        let Slip {
            key,
            code,
            message,
            help,
        } = slip;
        if code == Code::UnknownKey {
            self.name(code, key, message, help);
        } else {
            self.value(code, key, message, help);
        }
    }

    /// A value that should be a table.
    pub fn as_table<'v>(&mut self, key: &str, value: &'v Value) -> Option<&'v Dict> {
        if let Value::Dict(_, dict) = value {
            return Some(dict);
        }
        self.value(
            Code::InvalidValue,
            key,
            format!("found {}", shape::found(value)),
            "give a table",
        );
        None
    }

    fn profile_is_known(&mut self) {
        let Some(name) = self.layer.value("profile").and_then(Value::as_str) else {
            return;
        };
        let profiles = |dict: &Dict| {
            dict.get("profiles")
                .and_then(Value::as_dict)
                .cloned()
                .unwrap_or_default()
        };
        let known: Vec<String> = [profiles(self.below), profiles(&self.layer.dict)]
            .into_iter()
            .flat_map(Dict::into_keys)
            .collect();
        if known.iter().any(|known| known == name) {
            return;
        }
        let help = suggestion(name, known.iter().map(String::as_str).collect::<Vec<_>>());
        let message = format!("there is no profile `{}`", shown(name));
        self.value(Code::UnknownProfile, "profile", message, help);
    }

    fn is_of_another_version(&mut self) -> bool {
        let key = "schema_version";
        let Some(version) = self.layer.value(key) else {
            return false;
        };
        if version.to_i128() == Some(1) {
            return false;
        }
        let help = match version.to_i128() {
            Some(2..) => "update notesoup, or set it to 1",
            _ => "set it to 1",
        };
        let message = format!("this program reads version 1, found {}", shape::found(version));
        self.value(Code::InvalidValue, key, message, help);
        true
    }

    /// A table of the file's shape: the file itself, or a profile's overlay.
    fn table(&mut self, prefix: &str, table: &Dict, is_file: bool) {
        let schema = shape::schema();
        for (name, value) in table {
            let key = join(prefix, name);
            match name.as_str() {
                "schema_version" if is_file => {}
                "profile" if is_file => {
                    if let Some(schema) = shape::part(schema, &["profile"]) {
                        self.shape(value, schema, &key);
                    }
                }
                "profiles" if is_file => self.profiles(&key, value),
                "hooks" => {
                    if let Some(rows) = self.as_table(&key, value) {
                        for (id, value) in rows {
                            row::check(self, &key, id, value);
                        }
                    }
                }
                "texts" => {
                    if let Some(texts) = self.as_table(&key, value) {
                        for (name, value) in texts {
                            text::check(self, &key, name, value);
                        }
                    }
                }
                "schema_version" | "profile" | "profiles" => self.unknown(key, name, is_file),
                section => match shape::part(schema, &[section]) {
                    Some(schema) => self.shape(value, schema, &key),
                    None => self.unknown(key, name, is_file),
                },
            }
        }
    }

    fn unknown(&mut self, key: String, name: &str, is_file: bool) {
        let mut known = shape::names(shape::schema());
        if !is_file {
            known.retain(|name| !matches!(*name, "schema_version" | "profile" | "profiles"));
        }
        self.slip(shape::unknown_key(key, name, &known));
    }

    fn profiles(&mut self, key: &str, value: &Value) {
        let Some(profiles) = self.as_table(key, value) else {
            return;
        };
        for (name, value) in profiles {
            let key = join(key, name);
            if let Some(overlay) = self.as_table(&key, value) {
                self.table(&key, overlay, false);
            }
        }
    }
}

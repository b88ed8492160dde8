//! The merge of the layers: tables key by key, everything else replaced.
//!
//! Two rules go beyond that: the options of a row belong to its handler, so that a layer which names another handler
//! drops the options below it; and a pool with `add = true` joins the variants below it.

use figment::value::{Dict, Map as FigmentMap, Value};
use figment::{Figment, Metadata, Profile, Provider};

use super::key;
use super::layer::Layer;
use super::{Config, LayerKind};
use crate::texts::Variant;

/// The config that the layers make, lowest first.
pub(super) fn merge(layers: &[Layer]) -> Result<Config, figment::Error> {
    let mut figment = Figment::new();
    for (layer, dict) in layers.iter().zip(values_that_count(layers)) {
        figment = figment.merge(Values { kind: layer.kind, dict });
    }
    let mut config: Config = figment.extract()?;
    add_to_pools(&mut config, layers);
    Ok(config)
}

struct Values {
    kind: LayerKind,
    dict: Dict,
}

impl Provider for Values {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.kind.title())
    }

    fn data(&self) -> Result<FigmentMap<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.dict.clone()))
    }
}

/// Each layer's values without the options that a higher layer's other handler has no use for.
fn values_that_count(layers: &[Layer]) -> Vec<Dict> {
    let mut dicts: Vec<Dict> = layers.iter().map(|layer| layer.dict.clone()).collect();
    for at in 1..dicts.len() {
        let (below, rest) = dicts.split_at_mut(at);
        let Some(rows) = rest.first().and_then(|dict| dict.get("hooks")).and_then(Value::as_dict) else {
            continue;
        };
        for (id, row) in rows {
            let Some(run) = row.as_dict().and_then(|row| row.get("run")) else {
                continue;
            };
            let run_below = below
                .iter()
                .rev()
                .find_map(|dict| row_of(dict, id)?.get("run"))
                .cloned();
            if run_below.is_some_and(|below| below != *run) {
                for dict in below.iter_mut() {
                    if let Some(Value::Dict(_, rows)) = dict.get_mut("hooks")
                        && let Some(Value::Dict(_, row)) = rows.get_mut(id)
                    {
                        row.remove("options");
                    }
                }
            }
        }
    }
    dicts
}

fn row_of<'a>(dict: &'a Dict, id: &str) -> Option<&'a Dict> {
    dict.get("hooks")?.as_dict()?.get(id)?.as_dict()
}

/// A row over the one below it, by the same rules.
pub(super) fn combine_row(mut below: Dict, above: &Dict) -> Dict {
    if above
        .get("run")
        .is_some_and(|run| below.get("run").is_some_and(|below| below != run))
    {
        below.remove("options");
    }
    combine(below, above)
}

/// One layer's values over those below it, by the same rules (pools aside).
pub(super) fn lay_over(below: Dict, above: &Dict) -> Dict {
    let mut merged = combine(below.clone(), above);
    let (Some(rows), Some(Value::Dict(_, merged_rows))) =
        (above.get("hooks").and_then(Value::as_dict), merged.get_mut("hooks"))
    else {
        return merged;
    };
    for (id, row) in rows {
        if let (Some(row), Some(below)) = (row.as_dict(), row_of(&below, id)) {
            merged_rows.insert(id.clone(), combine_row(below.clone(), row).into());
        }
    }
    merged
}

/// Gives a pool with `add = true` the variants of the layers below.
fn add_to_pools(config: &mut Config, layers: &[Layer]) {
    let mut pools = std::mem::take(&mut config.texts).into_pools();
    for (name, pool) in pools.iter_mut().filter(|(_, pool)| pool.add) {
        let table = key::join("texts", name);
        let mut variants: Vec<Variant> = Vec::new();
        for layer in layers {
            let own = layer.value(&format!("{table}.pool"));
            let Some(own) = own.and_then(|value| value.deserialize::<Vec<Variant>>().ok()) else {
                continue;
            };
            let adds = layer.value(&format!("{table}.add")).and_then(Value::to_bool);
            if adds != Some(true) {
                variants.clear();
            }
            variants.extend(own);
        }
        pool.pool = variants;
    }
    config.texts = pools.into();
}

/// Lays one table over another: tables key by key, everything else replaced.
pub(super) fn combine(mut below: Dict, above: &Dict) -> Dict {
    for (key, value) in above {
        let merged = match (below.remove(key), value) {
            (Some(Value::Dict(_, below)), Value::Dict(_, above)) => combine(below, above).into(),
            (_, value) => value.clone(),
        };
        below.insert(key.clone(), merged);
    }
    below
}

/// What `dict` says otherwise than `base`.
pub(super) fn difference(dict: &Dict, base: &Dict) -> Dict {
    let mut own = Dict::new();
    for (key, value) in dict {
        match (value, base.get(key)) {
            (Value::Dict(_, inner), Some(Value::Dict(_, base))) => {
                let inner = difference(inner, base);
                if !inner.is_empty() {
                    own.insert(key.clone(), inner.into());
                }
            }
            (value, base) if base != Some(value) => {
                own.insert(key.clone(), value.clone());
            }
            _ => {}
        }
    }
    own
}

/// The value of a dotted key; an index is a part of its own.
pub(super) fn find<'a>(dict: &'a Dict, key: &str) -> Option<&'a Value> {
    let mut parts = key::split(key).into_iter();
    let mut value = dict.get(&parts.next()?)?;
    for part in parts {
        value = match value {
            Value::Dict(_, inner) => inner.get(&part)?,
            Value::Array(_, items) => items.get(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// Sets the value of a path, making the tables on its way.
pub(super) fn insert(dict: &mut Dict, path: &[String], value: Value) {
    let Some((last, tables)) = path.split_last() else {
        return;
    };
    let mut dict = dict;
    for table in tables {
        let inner = dict.entry(table.clone()).or_insert_with(|| Dict::new().into());
        if !matches!(inner, Value::Dict(..)) {
            *inner = Dict::new().into();
        }
        let Value::Dict(_, inner) = inner else { return };
        dict = inner;
    }
    dict.insert(last.clone(), value);
}

/// Takes a dotted key out, and every table that is empty then. True when it was there.
pub(super) fn remove(dict: &mut Dict, key: &str) -> bool {
    fn remove_path(dict: &mut Dict, path: &[String]) -> bool {
        match path {
            [] => false,
            [last] => dict.remove(last).is_some(),
            [first, rest @ ..] => {
                let Some(Value::Dict(_, inner)) = dict.get_mut(first) else {
                    return false;
                };
                let was_there = remove_path(inner, rest);
                if inner.is_empty() {
                    dict.remove(first);
                }
                was_there
            }
        }
    }
    remove_path(dict, &key::split(key))
}

/// The dotted keys of all values that are not tables, and of empty tables.
pub(super) fn leaves(dict: &Dict, prefix: &str) -> Vec<String> {
    let mut keys = Vec::new();
    for (name, value) in dict {
        let path = key::join(prefix, name);
        match value {
            Value::Dict(_, inner) if !inner.is_empty() => keys.extend(leaves(inner, &path)),
            _ => keys.push(path),
        }
    }
    keys
}

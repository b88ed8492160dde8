//! The sentences that a model or a person reads: pools in the config, chosen from and filled in here.

pub mod catalog;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng as _};
use regex::Regex;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};

/// Every text by name. The names and their placeholders are in [`catalog`].
///
/// Most events need no text, and the texts are most of the config: those of a kept config are read when the first one
/// is asked for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Pools")]
pub struct Texts {
    pools: OnceCell<Pools>,
    /// What the pools are read from, and where in it they are; nothing when they are there already.
    unread: (Rc<String>, Range<usize>),
    /// The session that they are chosen for.
    scene: Option<Scene>,
}

/// The variants of each text, by its name.
pub type Pools = BTreeMap<String, Pool>;

impl From<Pools> for Texts {
    fn from(pools: Pools) -> Self {
        Self {
            pools: OnceCell::from(pools),
            unread: Default::default(),
            scene: None,
        }
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.pools() == other.pools()
    }
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.pools().serialize(serializer)
    }
}

impl JsonSchema for Texts {
    fn schema_name() -> Cow<'static, str> {
        "Texts".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Pools::json_schema(generator);
        schema.insert("description".to_owned(), "Every text by name.".into());
        schema
    }
}

/// The variants of one text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// The variants, one at least; of several, one is chosen at random.
    pub pool: Vec<Variant>,
    /// True: the variants are added to those of the layers below instead of standing in their place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub add: bool,
}

/// One variant of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Variant {
    /// The text alone.
    Plain(String),
    /// The text with how often it is to be chosen and for whom.
    Weighted(Weighted),
}

/// A variant with a weight or a language.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weighted {
    /// The text.
    pub text: String,
    /// How often it is chosen, relative to the others; 1 where it is not given, 0 never.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: u32,
    /// The language of the text, e.g. `de`; only chosen when `language` is the same, or a kind of it (`de-AT`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    /// In which sessions it is chosen; where it holds, before the variants without `when`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
}

/// In which sessions a variant is chosen; all that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub struct When {
    /// A regular expression over the model's whole name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), extend("examples" = [".*haiku.*"]))]
    pub model: Option<String>,
    /// True: in a -p or SDK run alone; false: where a person sits before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headless: Option<bool>,
}

/// What [`When`] looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scene {
    /// The session's model; empty where it is not known.
    pub model: String,
    /// True in a -p or SDK run.
    pub headless: bool,
}

impl When {
    /// Whether it holds here. A pattern that does not compile never does; the layer's check has named it.
    fn holds(&self, scene: &Scene) -> bool {
        let is_model = |pattern: &String| compile(pattern).is_ok_and(|pattern| pattern.is_match(&scene.model));
        self.model.as_ref().is_none_or(is_model) && self.headless.is_none_or(|headless| headless == scene.headless)
    }
}

/// A pattern of `when.model`: over the whole name.
///
/// # Errors
/// When it is not a regular expression, or one too large.
pub fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    Regex::new(&format!("(?s)^(?:{pattern})$"))
}

fn one() -> u32 {
    1
}

fn is_one(weight: &u32) -> bool {
    *weight == 1
}

impl Variant {
    /// The text, without the line breaks that a multi-line string begins and ends with.
    pub fn text(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Weighted(Weighted { text, .. }) => text.trim_matches('\n'),
        }
    }

    /// How often it is chosen, relative to the others.
    pub fn weight(&self) -> u32 {
        match self {
            Self::Plain(_) => 1,
            Self::Weighted(Weighted { weight, .. }) => *weight,
        }
    }

    /// Its language, where it has one.
    pub fn lang(&self) -> Option<&str> {
        match self {
            Self::Plain(_) => None,
            Self::Weighted(Weighted { lang, .. }) => lang.as_deref(),
        }
    }

    /// In which sessions it is chosen, where it says so.
    pub fn when(&self) -> Option<&When> {
        match self {
            Self::Plain(_) => None,
            Self::Weighted(Weighted { when, .. }) => when.as_ref(),
        }
    }

    fn speaks(&self, language: Option<&str>) -> bool {
        let (Some(lang), Some(language)) = (self.lang(), language) else {
            return false;
        };
        let is_same = |language: &str| lang.eq_ignore_ascii_case(language);
        is_same(language) || language.split_once('-').is_some_and(|(primary, _)| is_same(primary))
    }
}

/// What fills the placeholders of a text.
pub type Values<'a> = [(&'a str, &'a str)];

impl Texts {
    /// Texts out of the JSON that stands there, which is read when the first one is asked for. What is none gives no
    /// text.
    pub fn read_later(kept: Rc<String>, place: Range<usize>) -> Self {
        Self {
            pools: OnceCell::new(),
            unread: (kept, place),
            scene: None,
        }
    }

    /// The variants of each text.
    pub fn pools(&self) -> &Pools {
        self.pools.get_or_init(|| {
            let (kept, place) = &self.unread;
            let json = kept.get(place.clone()).unwrap_or_default();
            serde_json::from_str(json).unwrap_or_default()
        })
    }

    /// The same, taken out.
    pub fn into_pools(self) -> Pools {
        self.pools();
        self.pools.into_inner().unwrap_or_default()
    }

    /// The text of this name with its placeholders filled in. Of several variants, chance chooses by weight, and the
    /// same values meet the same chance: the sentence of one occasion stays the same when it is asked for again.
    ///
    /// A name that no layer gives is an empty text, never a fault: a missing sentence must not stop a session.
    pub fn fill(&self, name: &str, language: Option<&str>, values: &Values<'_>) -> String {
        let candidates = self.candidates(name, language);
        let variant = match candidates.as_slice() {
            [] => return String::new(),
            [only] => only,
            several => {
                let mut rng = ChaCha8Rng::from_seed(seed_of(name, values));
                match several.choose_weighted(&mut rng, |variant| variant.weight()) {
                    Ok(chosen) => chosen,
                    Err(_) => return String::new(),
                }
            }
        };
        fill(variant.text(), values)
    }

    /// A variant of the text, chosen at random by weight: its index among the candidates, to be kept by the caller.
    pub fn choose(&self, name: &str, language: Option<&str>, rng: &mut impl Rng) -> usize {
        let candidates: Vec<_> = self.candidates(name, language).into_iter().enumerate().collect();
        candidates
            .choose_weighted(rng, |(_, variant)| variant.weight())
            .map_or(0, |(index, _)| *index)
    }

    /// The variant that was chosen, filled in. An index beyond the pool (the pool shrank) wraps around.
    pub fn fill_choice(&self, name: &str, language: Option<&str>, choice: usize, values: &Values<'_>) -> String {
        let candidates = self.candidates(name, language);
        let Some(at) = choice.checked_rem(candidates.len()) else {
            return String::new();
        };
        candidates
            .get(at)
            .map(|variant| fill(variant.text(), values))
            .unwrap_or_default()
    }

    /// Says for which session texts are chosen from now on. Without one, variants with `when` are for none.
    pub fn suit(&mut self, scene: Scene) {
        self.scene = Some(scene);
    }

    /// Whether the text has no variant that could be chosen for the language in every session.
    pub fn is_silent(&self, name: &str, language: Option<&str>) -> bool {
        let Some(pool) = self.pools().get(name) else {
            return true;
        };
        let mut everywhere = pool
            .pool
            .iter()
            .filter(|variant| variant.when().is_none() && variant.weight() > 0);
        !everywhere.any(|variant| variant.lang().is_none() || variant.speaks(language))
    }

    /// Variants in the language, or those without one when the pool has none in it; of these the ones for this session
    /// before those for any.
    fn candidates(&self, name: &str, language: Option<&str>) -> Vec<&Variant> {
        let Some(pool) = self.pools().get(name) else {
            return Vec::new();
        };
        let is_here = |when: &When| self.scene.as_ref().is_some_and(|scene| when.holds(scene));
        let alive: Vec<_> = pool
            .pool
            .iter()
            .filter(|variant| variant.weight() > 0 && variant.when().is_none_or(is_here))
            .collect();
        let is_spoken = alive.iter().any(|variant| variant.speaks(language));
        let mut candidates = alive;
        candidates.retain(|variant| {
            if is_spoken {
                variant.speaks(language)
            } else {
                variant.lang().is_none()
            }
        });
        if candidates.iter().any(|variant| variant.when().is_some()) {
            candidates.retain(|variant| variant.when().is_some());
        }
        candidates
    }
}

fn seed_of(name: &str, values: &Values<'_>) -> [u8; 32] {
    let mut hash = blake3::Hasher::new();
    for part in std::iter::once(name).chain(values.iter().flat_map(|(name, value)| [*name, *value])) {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    *hash.finalize().as_bytes()
}

/// Puts values in the place of `{name}`; `{{` stands for a brace. A placeholder without a value stays as it is, so
/// that a slip is seen and nothing is lost.
pub fn fill(text: &str, values: &Values<'_>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(behind) = rest.strip_prefix("{{") {
            filled.push('{');
            rest = behind;
            continue;
        }
        let value = rest.find('}').and_then(|end| {
            let name = &rest[1..end];
            values
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (end, *value))
        });
        match value {
            Some((end, value)) => {
                filled.push_str(value);
                rest = &rest[end + 1..];
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// The names of the placeholders that a text uses.
pub fn placeholders(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('{') {
            rest = behind;
            continue;
        }
        let Some(end) = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_')) else {
            break;
        };
        if end > 0 && rest[end..].starts_with('}') {
            names.push(&rest[..end]);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_doubled_braces_are_braces() {
        assert_eq!(fill("{a} and {{b} {c}", &[("a", "1"), ("b", "2")]), "1 and {b} {c}");
        assert_eq!(placeholders("{a} {{b} {c_d} {E} {"), ["a", "c_d"]);
    }

    #[test]
    fn a_value_with_a_placeholder_in_it_is_not_filled_again() {
        assert_eq!(fill("{a}{b}", &[("a", "{b}"), ("b", "x")]), "{b}x");
    }

    #[test]
    fn the_language_is_preferred_and_a_weight_of_zero_is_never_chosen() {
        let texts: Texts =
            toml::from_str("[x]\npool = ['plain', {text='nie', weight=0, lang='de'}, {text='deutsch', lang='de'}]")
                .unwrap();
        assert_eq!(texts.fill("x", Some("de"), &[]), "deutsch");
        assert_eq!(texts.fill("x", Some("fr"), &[]), "plain");
        assert_eq!(texts.fill("missing", None, &[]), "");
        assert_eq!(texts.fill("x", Some("de-AT"), &[]), "deutsch");
        assert_eq!(texts.choose("x", None, &mut rand::rng()), 0);
    }

    #[test]
    fn a_variant_for_some_sessions_is_chosen_there_and_nowhere_else() {
        let texts: Texts = toml::from_str(
            "[x]\npool = ['plain', {text='small', when={model='.*haiku.*'}}, {text='klein', lang='de', when={model='haiku'}}, \
             {text='alone', when={headless=true, model='opus'}}]\n[y]\npool = [{text='a', when={headless=true}}]",
        )
        .unwrap();
        let said = |model: &str, headless: bool, language: Option<&str>| {
            let mut texts = texts.clone();
            let model = model.to_owned();
            texts.suit(Scene { model, headless });
            texts.fill("x", language, &[])
        };
        assert_eq!(said("claude-haiku-5", false, None), "small");
        assert_eq!(said("claude-haiku-5", false, Some("de")), "small");
        assert_eq!(said("haiku", false, Some("de")), "klein");
        assert_eq!(said("opus", false, None), "plain");
        assert_eq!(said("opus", true, None), "alone");
        assert_eq!(said("", true, None), "plain");
        assert!(!texts.is_silent("x", None) && texts.is_silent("y", None));
    }

    #[test]
    fn one_occasion_has_one_sentence_and_many_have_all_of_them() {
        let texts: Texts = toml::from_str("[x]\npool = ['a {n}', {text='b {n}', weight=3}, 'c {n}']").unwrap();
        let said = |n: usize| {
            let n = n.to_string();
            let values = [("n", n.as_str())];
            assert_eq!(texts.fill("x", None, &values), texts.fill("x", None, &values));
            texts.fill("x", None, &values).chars().next().unwrap()
        };
        let all: Vec<char> = (0..200).map(said).collect();
        let count = |wanted: char| all.iter().filter(|found| **found == wanted).count();
        assert!(
            count('a') > 10 && count('c') > 10 && count('b') > count('a') + count('c') / 2,
            "{all:?}"
        );
    }
}

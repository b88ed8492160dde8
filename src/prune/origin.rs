//! Who sent what a row of the user's side holds.

use serde_json::value::RawValue;

use super::text::Text;

/// Kinds of `origin` that are the person's own gesture, at the terminal or from elsewhere. A kind that a later build
/// adds is taken for somebody else's: words inside a frame are still there, but nobody's words become the person's.
const OF_THE_PERSON: &[&str] = &[
    "human",
    "composer",
    "bridge",
    "sdk",
    "slack-ping",
    "auto-continuation",
    "unclassified",
];

/// Who sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// The row does not say: a person, as far as is known.
    Unnamed,
    /// The person.
    Person,
    /// A background task, another session, a plugin, a schedule.
    Other,
}

/// The sender that a row's `origin` names.
pub fn sender(origin: Option<&RawValue>) -> Sender {
    #[derive(serde::Deserialize)]
    struct Origin<'a> {
        #[serde(borrow)]
        kind: Text<'a>,
        #[serde(default, rename = "asUser")]
        as_user: bool,
    }
    let origin = origin.and_then(|origin| serde_json::from_str::<Origin<'_>>(origin.get()).ok());
    match origin {
        None => Sender::Unnamed,
        // A plugin may hand in the person's own words; the model reads them bare.
        Some(origin) if origin.as_user || OF_THE_PERSON.contains(&origin.kind.as_str()) => Sender::Person,
        Some(_) => Sender::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_be_the_persons_is() {
        for (origin, wanted) in [
            (r#"{"kind":"human"}"#, Sender::Person),
            (r#"{"kind":"bridge"}"#, Sender::Person),
            (r#"{"kind":"plugin","name":"x","asUser":true}"#, Sender::Person),
            (r#"{"kind":"plugin","name":"x"}"#, Sender::Other),
            (r#"{"kind":"task-notification","producer":"p"}"#, Sender::Other),
            (r#"{"kind":"of a later build"}"#, Sender::Other),
            ("null", Sender::Unnamed),
            ("7", Sender::Unnamed),
        ] {
            let raw: Box<RawValue> = serde_json::from_str(origin).unwrap();
            assert_eq!(sender(Some(&raw)), wanted, "{origin}");
        }
        assert_eq!(sender(None), Sender::Unnamed);
    }
}

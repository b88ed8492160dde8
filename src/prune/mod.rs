//! stub
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
/// stub
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PruneOptions {
    /// x
    pub preserve_recent_messages: usize,
    /// x
    pub keep_head_chars: usize,
}

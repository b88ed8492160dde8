//! stub
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
/// stub
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WindowOptions {
    /// x
    pub reset_margin_tokens: u64,
    /// x
    pub warning_runway_tokens: u64,
}

//! Where a value came from.

use serde::{Deserialize, Serialize};

use super::LayerKind;
use super::problem::Place;

/// The layer that a value came from, and its place there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Which layer.
    pub layer: LayerKind,
    /// File, line and column, or source and key where the value came through the client.
    pub place: Place,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.layer.title(), self.place)
    }
}

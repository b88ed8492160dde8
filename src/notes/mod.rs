//! The notes store: plain Markdown files that outlive a context window.

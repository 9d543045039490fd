//! The two kinds of scans.

/// Whether a rank's own operands are part of its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Inclusive,
    Exclusive,
}

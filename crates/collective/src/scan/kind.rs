//! The two kinds of scans.

/// A scan's result has the rank's own operands in it, or only those of the ranks below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanKind {
    Inclusive,
    Exclusive,
}

//! The reasons for which a thread enters a critical section.

/// The reason for which a thread enters a critical section. A two-level priority lock treats the two
/// differently (Amer et al., TOPC 2019, section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// The thread issues an operation.
    Main,
    /// The thread waits for an operation.
    Progress,
}

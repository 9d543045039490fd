//! Why a thread enters a section.

/// Why a section is entered. A two-level priority lock treats the two differently (Amer et al., TOPC 2019,
/// section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// To issue an operation.
    Main,
    /// To wait for one.
    Progress,
}

//! The one table of environment variables that change how Heddle works.

/// An environment variable that Heddle reads.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The variable.
    pub(crate) name: &'static str,
    /// What may be given.
    pub(crate) values: &'static str,
    /// What it does.
    pub(crate) meaning: &'static str,
}

/// Every setting, in the order in which `heddle info` shows them.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: "HEDDLE_MODEL",
        values: "global-mutex | per-vni-mutex",
        meaning: "the thread-safety model",
    },
    Setting {
        name: "HEDDLE_VNIS",
        values: "a number from 1",
        meaning: "communication paths (virtual network interfaces) in each process",
    },
];

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
        values: "per-vni-mutex (default) | global-mutex",
        meaning: "the thread-safety model",
    },
    Setting {
        name: "HEDDLE_VNIS",
        values: "1 to 64; default one a core, at least 2 and at most 16",
        meaning: "communication paths (virtual network interfaces) in each process",
    },
    Setting {
        name: "HEDDLE_SINGLE_COPY",
        values: "on (default) | off",
        meaning: "whether large messages may be copied straight from one process's memory to another's",
    },
];

#[cfg(test)]
mod tests {
    use std::fs;

    use super::SETTINGS;

    /// What the library reads, by its source: every quoted name in the engine's settings.
    #[test]
    fn the_table_holds_exactly_what_the_library_reads() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/src/settings.rs");
        let source = fs::read_to_string(source).expect("the engine's settings");
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let mut read: Vec<&str> = code.split('"').filter(|text| text.starts_with("HEDDLE_")).collect();
        let mut listed: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
        read.sort_unstable();
        read.dedup();
        listed.sort_unstable();
        assert_eq!(read, listed);
    }
}

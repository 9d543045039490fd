//! The one table of environment variables that change how Heddle works.

use heddle_model::{Model, NAMED, PARTS};

/// An environment variable that Heddle reads, or an info key.
#[derive(Debug)]
pub(crate) struct Setting<Text = String> {
    /// The variable.
    pub(crate) name: &'static str,
    /// What may be given.
    pub(crate) values: Text,
    /// What it does.
    pub(crate) meaning: &'static str,
}

/// Every setting, in the order in which `heddle info` shows them.
pub(crate) fn settings() -> Vec<Setting> {
    let setting = |name, values: &str, meaning| Setting { name, values: values.to_owned(), meaning };
    let mut all = vec![
        setting("HEDDLE_MODEL", "a name from below", "the thread-safety model"),
        setting(
            "HEDDLE_VNIS",
            "1 to 64; default two a core, at least 4 and at most 16",
            "communication paths (virtual network interfaces) in each process",
        ),
        setting(
            "HEDDLE_SINGLE_COPY",
            "on (default), off",
            "whether large messages may be copied straight from one process's memory to another's",
        ),
        setting(
            "HEDDLE_STATS",
            "on, off (default); 1, 0",
            "whether each process prints in the end what it has counted",
        ),
        setting(
            "HEDDLE_OFFLOAD_CORES",
            "any (default), or a list such as 0,2-3",
            "the cores on which the threads of execution offload run, one after the other",
        ),
    ];
    let default = Model::default();
    all.extend(PARTS.iter().map(|part| Setting {
        name: part.variable,
        values: format!("{}; default that of the model, {}", (part.allowed)(), (part.get)(&default)),
        meaning: part.meaning,
    }));
    all
}

/// The info keys of communicators that have an effect, where they are made.
pub(crate) const HINTS: [Setting<&str>; 3] = [
    Setting {
        name: "heddle_vni",
        values: "a number below HEDDLE_VNIS; default",
        meaning: "the communication path that all messages of the communicator take",
    },
    Setting {
        name: "mpi_assert_no_any_tag",
        values: "true, false",
        meaning: "messages are spread over the communication paths by tag; MPI_ANY_TAG is refused",
    },
    Setting {
        name: "mpi_assert_no_any_source",
        values: "true, false",
        meaning: "messages are spread by the sender's rank; MPI_ANY_SOURCE is refused",
    },
];

/// Every model that has a name, the default first, with what it is.
pub(crate) fn models() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMED.iter().map(|named| (named.name, named.meaning))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn source(path: &str) -> String {
        let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn quoted(path: &str) -> Vec<String> {
        let source = source(path);
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        code.split('"').filter(|text| text.starts_with("HEDDLE_")).map(str::to_owned).collect()
    }

    fn names() -> Vec<String> {
        let mut names: Vec<String> = settings().iter().map(|setting| setting.name.to_owned()).collect();
        names.sort_unstable();
        names
    }

    /// What the library reads, by its source: every quoted name in the engine's settings, and the parts of the model.
    #[test]
    fn the_table_holds_exactly_what_the_library_reads() {
        let mut read = quoted("crates/engine/src/settings.rs");
        read.extend(quoted("crates/model/src/choice/part.rs"));
        read.sort_unstable();
        read.dedup();
        assert_eq!(read, names());
    }

    #[test]
    fn the_hints_are_those_of_the_engine_and_in_the_readme() {
        let engine = source("crates/engine/src/comm/mapping.rs");
        let readme = source("README.md");
        for Setting { name, .. } in &HINTS {
            assert!(engine.contains(&format!("&str = \"{name}\";")), "{name}");
            assert!(readme.contains(&format!("| `{name}` |")), "{name}");
        }
    }

    /// The README's table has a row for each variable, which begins with its name.
    #[test]
    fn the_readme_has_the_same_variables() {
        let readme = source("README.md");
        let rows = readme.lines().filter_map(|line| line.strip_prefix("| `HEDDLE_"));
        let mut listed: Vec<String> =
            rows.filter_map(|row| row.split('`').next()).map(|rest| format!("HEDDLE_{rest}")).collect();
        listed.sort_unstable();
        assert_eq!(listed, names());
    }
}

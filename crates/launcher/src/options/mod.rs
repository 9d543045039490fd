//! The options of `mpiexec`: those of the standard, and those that scripts for other launchers carry.
//!
//! `table.rs` has a row for each: what it takes and means, who else has it, and its text in the help. The
//! command line is read by it, and the help is made from it. `option.rs` says what a row is made of.

mod option;
mod table;

pub use option::{Inherit, LaunchOption, OptionEffect, OptionScope, Takes};
pub use table::TABLE;

use std::fmt::Write;

/// The option of that name, without dashes.
pub fn find(name: &str) -> Option<&'static LaunchOption> {
    TABLE.iter().find(|option| option.names.contains(&name))
}

/// The known name that is most like a mistyped one, if one is like it at all.
pub fn nearest(name: &str) -> Option<&'static str> {
    let names = TABLE.iter().flat_map(|option| option.names).copied();
    let rated = names.map(|known| (strsim::damerau_levenshtein(name, known), known));
    let near = rated.filter(|(distance, known)| *distance <= 1 + known.len() / 5 && *distance < known.len());
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// How many spellings of an option the help shows.
const SPELLINGS: usize = 3;

/// The options that the help explains, for a block or for the whole job.
pub fn explained(scope: OptionScope) -> String {
    let mut text = String::new();
    for option in TABLE.iter().filter(|option| !option.help.is_empty() && option.means.scope() == scope) {
        let spellings = option.names.iter().take(SPELLINGS).map(|name| option.spelt(name));
        let spelt = spellings.collect::<Vec<_>>().join(", ");
        let mut lines = option.help.lines();
        if spelt.len() < 21 {
            let _ = writeln!(text, "  {spelt:<20}  {}", lines.next().unwrap_or_default());
        } else {
            let _ = writeln!(text, "  {spelt}");
        }
        for line in lines {
            let _ = writeln!(text, "{:24}{line}", "");
        }
    }
    text
}

/// All options with their spellings, by what becomes of them.
pub fn listed() -> String {
    let mut text = String::from(
        "s: named by the MPI standard; in h: MPICH's Hydra, i: Intel MPI, o: Open MPI, r: srun; -: here alone\n",
    );
    let titles =
        ["Done:", "So here without the option:", "Ignored, since they have no effect here:", "Refused:"];
    for (group, title) in titles.into_iter().enumerate() {
        let _ = write!(text, "\n{title}\n");
        for option in TABLE.iter().filter(|option| option.means.group() == group) {
            let spelt = option.names.iter().map(|name| option.spelt(name)).collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "  {:<5} {spelt}", option.of);
            if let OptionEffect::Refused(why) = option.means {
                let _ = writeln!(text, "        {why}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_has_one_meaning() {
        let mut names: Vec<&str> = TABLE.iter().flat_map(|option| option.names).copied().collect();
        names.sort_unstable();
        for pair in names.windows(2) {
            assert_ne!(pair[0], pair[1], "a name stands in two rows");
        }
        assert!(TABLE.iter().all(|option| option.of.chars().all(|library| "shior-".contains(library))));
    }

    #[test]
    fn a_mistyped_name_is_recognised() {
        for (typed, meant) in [
            ("binf-to", "bind-to"),
            ("oversubscrib", "oversubscribe"),
            ("hostfil", "hostfile"),
            ("pnn", "ppn"),
        ] {
            assert_eq!(nearest(typed), Some(meant));
        }
        for strange in ["frobnicate", "zz", "q1"] {
            assert_eq!(nearest(strange), None, "{strange}");
        }
    }

    #[test]
    fn lines_of_the_help_are_short() {
        for line in
            [explained(OptionScope::Block), explained(OptionScope::Job)].iter().flat_map(|text| text.lines())
        {
            assert!(line.len() <= 120, "{line}");
        }
    }
}

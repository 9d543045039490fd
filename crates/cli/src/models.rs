//! `heddle models`: the thread-safety models by name, and combinations of their parts for tests.

use clap::Args;
use heddle_model::{NAMED, pairwise};
use std::fmt::Write;

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Only the names, one a line.
    #[arg(long, conflicts_with = "pairwise")]
    names: bool,
    /// Instead, combinations of the parts as environment variables, one combination a line: a small set that
    /// contains every two values that make sense together.
    #[arg(long)]
    pairwise: bool,
    /// Chooses other combinations with the same property.
    #[arg(long, default_value_t = 1, requires = "pairwise")]
    seed: u64,
}

/// The text that the command prints.
pub(crate) fn text(args: &ModelsArgs) -> String {
    let mut text = String::new();
    if args.pairwise {
        for combination in pairwise(args.seed) {
            let words: Vec<String> =
                combination.iter().map(|(name, value)| format!("{name}={value}")).collect();
            text += &words.join(" ");
            text.push('\n');
        }
        return text;
    }
    for model in NAMED {
        // Writing to a String never fails.
        let _ = match args.names {
            true => writeln!(text, "{}", model.name),
            false => writeln!(text, "{:18} {}", model.name, model.meaning),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_a_line_for_each() {
        let args = ModelsArgs { names: true, pairwise: false, seed: 1 };
        let names = text(&args);
        assert_eq!(names.lines().count(), NAMED.len());
        assert!(names.lines().all(|line| !line.contains(' ')));
        let combinations = text(&ModelsArgs { pairwise: true, names: false, seed: 2 });
        assert!(combinations.lines().all(|line| line.split(' ').all(|word| word.starts_with("HEDDLE_"))));
    }
}

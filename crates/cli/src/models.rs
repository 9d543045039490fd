//! `heddle models`: the thread-safety models by name, and combinations of their parts for tests.

use clap::{Args, ValueEnum};
use heddle_model::{Named, OWN, Origin, PUBLISHED, named_models, pairwise};
use std::fmt::Write;

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Only the names, one a line.
    #[arg(long, conflicts_with = "pairwise")]
    names: bool,
    /// Only the models in Heddle's form, or only those in a paper's.
    #[arg(long, value_enum, conflicts_with = "pairwise")]
    form: Option<Form>,
    /// Instead, combinations of the parts as environment variables, one combination a line: a small set that
    /// contains every two values that make sense together.
    #[arg(long)]
    pairwise: bool,
    /// Chooses other combinations with the same property.
    #[arg(long, default_value_t = 1, requires = "pairwise")]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Heddle,
    Paper,
}

impl Form {
    fn of(model: &Named) -> Form {
        match model.origin {
            Origin::Heddle => Form::Heddle,
            Origin::Paper { .. } => Form::Paper,
        }
    }
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
    if args.names {
        let wanted = named_models().filter(|model| args.form.is_none_or(|form| form == Form::of(model)));
        return wanted.map(|model| format!("{}\n", model.name)).collect();
    }
    if args.form != Some(Form::Paper) {
        text += "Heddle's models:\n";
        OWN.iter().for_each(|model| describe(&mut text, model));
    }
    if args.form != Some(Form::Heddle) {
        text += "\nThe papers' models, in the papers' form:\n";
        PUBLISHED.iter().for_each(|model| describe(&mut text, model));
    }
    text
}

/// Adds a model: its name and meaning, and for a paper's model the source and the departure from it.
fn describe(text: &mut String, model: &Named) {
    // Writing to a String never fails.
    let _ = writeln!(text, "{:30} {}", model.name, model.meaning);
    if let Origin::Paper { source, departure } = model.origin {
        let _ = writeln!(text, "{:32} {source}", "");
        if let Some(departure) = departure {
            let _ = writeln!(text, "{:32} departs from it: {departure}", "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_a_line_for_each() {
        let args = |names, pairwise, form| ModelsArgs { names, pairwise, seed: 2, form };
        let names = text(&args(true, false, None));
        assert_eq!(names.lines().count(), OWN.len() + PUBLISHED.len());
        assert!(names.lines().all(|line| !line.contains(' ')));
        assert_eq!(text(&args(true, false, Some(Form::Heddle))).lines().count(), OWN.len());
        for model in named_models() {
            let described = text(&args(false, false, Some(Form::of(model))));
            assert!(described.contains(model.name) && described.contains(model.meaning), "{}", model.name);
        }
        let combinations = text(&args(false, true, None));
        assert!(combinations.lines().all(|line| line.split(' ').all(|word| word.starts_with("HEDDLE_"))));
    }
}

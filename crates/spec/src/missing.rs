//! The README's list of what is missing.

use crate::function_table::Functions;
use std::fmt::Write;

/// A Markdown table: for each chapter how many functions are built, and which are not.
pub fn missing_table(functions: &Functions) -> String {
    let mut out = String::from("| chapter | built | missing |\n|---|---|---|\n");
    for chapter in &functions.chapters {
        let all = chapter.functions.len();
        let missing: Vec<String> =
            chapter.functions.iter().filter(|f| !f.built).map(|f| format!("`MPI_{}`", f.name)).collect();
        let built = all - missing.len();
        let missing = match missing.len() {
            0 => "nothing".into(),
            n if n == all => "all".into(),
            _ => missing.join(", "),
        };
        writeln!(out, "| {} | {built} of {all} | {missing} |", chapter.title)
            .expect("a String takes everything");
    }
    out
}

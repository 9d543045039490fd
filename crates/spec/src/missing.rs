//! Tables of the functions that are missing, in Markdown.

use crate::function_table::Functions;
use std::fmt::Write;

/// The number of built functions of each chapter of the standard, with the complete chapters in
/// one row; for the README.
pub fn summary(functions: &Functions) -> String {
    let mut out = String::from("| chapter | functions built |\n|---|---|\n");
    let mut complete = Vec::new();
    for chapter in &functions.chapters {
        let all = chapter.functions.len();
        let built = chapter.functions.iter().filter(|f| f.built).count();
        if built == all {
            complete.push(chapter.title.as_str());
        } else {
            writeln!(out, "| {} | {built} of {all} |", chapter.title).expect("a String takes everything");
        }
    }
    writeln!(out, "| {} | all |", complete.join("; ")).expect("a String takes everything");
    out
}

/// The same, and the names of the functions that are not built; for the reference page.
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

//! `heddle bench rma-locks` from the outside: what it writes, and that a seed repeats it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn simulate(out: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.args(["bench", "rma-locks", "--processes", "16,64", "--acquisitions", "400", "--out"]).arg(out);
    command.args([
        "mutual-exclusion",
        "counter-distance",
        "locality",
        "readers",
        "reader-writer",
        "hash-table",
    ]);
    command.output().expect("heddle starts")
}

#[test]
fn figures_and_statements_are_written_and_repeat() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = simulate(folder.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("| RMA-RW |") && said.contains("| 5.2.4 |") && said.contains("Fig. 6"), "{said}");
    let read = || -> Value {
        let text = fs::read_to_string(folder.path().join("results.json")).expect("results.json");
        serde_json::from_str(&text).expect("valid JSON")
    };
    let results = read();
    assert!(results["statements"].as_array().is_some_and(|statements| !statements.is_empty()));
    assert!(fs::read_to_string(folder.path().join("table.md")).is_ok_and(|page| said.starts_with(&page)));
    simulate(folder.path());
    assert_eq!(read()["rows"], results["rows"]);
}

//! `heddle bench locks` from the outside: what it writes, and what it says to wrong options.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn locks(arguments: &[&str], out: &Path) -> Output {
    command(arguments, out).output().expect("heddle starts")
}

fn command(arguments: &[&str], out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.args(["bench", "locks"]).args(arguments).arg("--out").arg(out);
    command
}

/// As little as can be measured.
const LEAST: [&str; 6] = ["--rounds", "2", "--iterations", "2000", "--seconds", "0.01"];

#[test]
fn results_table_and_picture_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [&LEAST[..], &["--threads", "1,2", "--locks", "mutex,mcs"]].concat();
    let output = locks(&arguments, folder.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("targets: "));
    let results = fs::read_to_string(folder.path().join("results.json")).expect("results.json");
    let results: Value = serde_json::from_str(&results).expect("valid JSON");
    assert_eq!(results["complete"], true);
    let names: Vec<&str> =
        results["locks"].as_array().expect("locks").iter().flat_map(|l| l["name"].as_str()).collect();
    assert_eq!(names, ["mutex", "mcs", "pthread", "parking_lot", "std"]);
    // Four experiments with 1 and 2 threads, one with 1, two with 2; five locks, two rounds.
    assert_eq!(results["measurements"].as_array().map(Vec::len), Some((4 * 2 + 1 + 2) * 5 * 2));
    assert!(results["targets"].as_array().is_some_and(|targets| !targets.is_empty()));
    let table = fs::read_to_string(folder.path().join("table.md")).expect("table.md");
    assert!(table.contains("| mcs |") && table.contains("uncontended: mutex against parking_lot"), "{table}");
    let picture = fs::read_to_string(folder.path().join("picture.svg")).expect("picture.svg");
    assert!(picture.contains("fifo: rate (1/s)"));
}

#[test]
fn an_interruption_keeps_what_was_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let endless = ["empty", "--threads", "1", "--locks", "mutex", "--no-peers", "--iterations", "64"];
    let mut command = command(&[&endless[..], &["--rounds", "1000000000"]].concat(), folder.path());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("heddle starts");
    let said = BufReader::new(child.stderr.take().expect("stderr")).lines().map_while(Result::ok);
    let mut rounds = said.skip_while(|line| !line.starts_with("round 2 of "));
    assert!(rounds.next().is_some());
    // The shell's own kill: a bare machine has no program of that name.
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("sh starts").success());
    // It ends while somebody reads what it says.
    rounds.for_each(drop);
    assert_eq!(child.wait().expect("heddle ends").code(), Some(130));
    let results = fs::read_to_string(folder.path().join("results.json")).expect("results.json");
    let results: Value = serde_json::from_str(&results).expect("valid JSON");
    assert_eq!(results["complete"], false);
    assert!(results["measurements"].as_array().is_some_and(|list| !list.is_empty()));
    let table = fs::read_to_string(folder.path().join("table.md")).expect("table.md");
    assert!(table.contains("Interrupted: not every cell was measured."), "{table}");
}

#[test]
fn an_unknown_lock_is_refused_with_the_known_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = locks(&["--locks", "mutexx"], &folder.path().join("none"));
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("mutexx") && said.contains("biased-mutex"), "{said}");
    assert!(!folder.path().join("none").exists());
}

#[test]
fn nothing_to_measure_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = locks(&["uncontended", "--threads", "2"], &folder.path().join("none"));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--threads"));
}

#[test]
fn the_list_names_every_lock_with_its_family() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = locks(&["--list"], folder.path());
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    let families: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    for family in ["mutex", "queue", "two-level", "combining", "peer", "reference"] {
        assert!(families.contains(&family), "{list}");
    }
}

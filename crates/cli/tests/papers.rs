//! `heddle papers` against an installation made of shell scripts: what it launches, the page, and wrong
//! names.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A compiler that makes an empty program of anything.
const MPICC: &str = r#"#!/bin/sh
while [ "$1" != -o ]; do shift; done
: > "$2"
"#;

/// A launcher that measures the neighbors' message rate: a model that collects garbage is twice as fast as
/// one that counts, and with derived objects a little slower.
const NEIGHBORS: &str = r#"#!/bin/sh
echo "$HEDDLE_MODEL $*" >> "$(dirname "$0")/calls"
while [ $# -gt 0 ]; do
    case $1 in
    -n) ranks=$2 ;;
    --threads) threads=$2 ;;
    --op) op=$2 ;;
    esac
    shift
done
rate=100
case $HEDDLE_MODEL in *collect) rate=200 ;; esac
[ "$op" = predefined ] || rate=$((rate - 1))
echo '{"bench":"neighbor","version":"Fake 1","level":"multiple","provided":"multiple","ranks":'$ranks',"pinned":false,"size":0,"threads":'$threads',"comms":"shared","window":12,"op":"'$op'","seconds":0.1,"value":'$rate',"unit":"msg/s","reps":[1],"share":{"min":1,"mean":1,"max":1},"more":{"jain":1},"wrong_bytes":0,"probe_ns":[]}'
"#;

fn installation() -> TempDir {
    let prefix = tempfile::tempdir().expect("a folder for the installation");
    let bin = prefix.path().join("bin");
    fs::create_dir(&bin).expect("bin");
    for (name, text) in [("mpicc", MPICC), ("mpiexec", NEIGHBORS)] {
        let path = bin.join(name);
        fs::write(&path, text).expect("script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    }
    prefix
}

fn papers(prefix: &Path, arguments: &[&str]) -> Output {
    command(prefix, arguments).output().expect("heddle starts")
}

fn command(prefix: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.args(["papers", "--quick", "--no-peers", "--prefix"]).arg(prefix);
    command.arg("--sources").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench"));
    command.arg("--peers-dir").arg(prefix.join("peers")).arg("--out").arg(prefix.join("out"));
    command.args(arguments);
    command
}

#[test]
fn a_paper_s_statements_stand_beside_the_figures() {
    let prefix = installation();
    let output = papers(prefix.path(), &["lifetime", "fig4", "--threads", "1,2", "--rounds", "6"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let out = prefix.path().join("out");
    let page = fs::read_to_string(out.join("page.md")).expect("page.md");
    assert!(page.contains("| garbage collection | 200"), "{page}");
    assert!(page.contains("2 threads: 2.00 of naive, 2.00 of suppression"), "{page}");
    assert!(
        page.contains("6 rounds, in each 1 repetition of 0.1 s") && page.contains("built from "),
        "{page}"
    );
    assert!(page.contains("Disturbed: in ") || page.contains("Undisturbed: in none of "), "{page}");
    assert!(
        page.contains("| Fig. 5: rate over naive, predefined objects; threads, or processes | 1 | 2 |"),
        "{page}"
    );
    assert!(page.contains("| Heddle's per-object | 100"), "{page}");
    let text = fs::read_to_string(out.join("lifetime-fig4.json")).expect("lifetime-fig4.json");
    let results: Value = serde_json::from_str(&text).expect("valid JSON");
    assert_eq!(results["complete"], true);
    assert_eq!(results["lengths"]["rounds"], 6);
    assert!(results["commit"].as_str().is_some_and(|commit| !commit.is_empty()));
    assert_eq!(results["statements"].as_array().map(Vec::len), Some(5));
    // No cache misses were counted.
    assert_eq!(results["statements"][4]["verdict"], "not-measured");
    assert!(fs::read_to_string(out.join("lifetime-fig4.svg")).is_ok_and(|svg| svg.contains("suppression")));
    let calls = fs::read_to_string(prefix.path().join("bin/calls")).expect("calls");
    assert!(
        calls.contains("cluster2010-suppress --bind-to none -n 3 ") && calls.contains("--misses"),
        "{calls}"
    );
}

#[test]
fn simulated_locks_need_no_launch() {
    let prefix = installation();
    let output = papers(prefix.path(), &["rma-locks", "fig3", "--seconds", "0.01"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!prefix.path().join("bin/calls").exists());
    let page = fs::read_to_string(prefix.path().join("out/page.md")).expect("page.md");
    assert!(page.contains("| Fig. 3: SOB, acquisitions a second; processes | 8 | 16 | 32 |"), "{page}");
    assert!(page.contains("| 5.1 | LB: the latency of RMA-MCS is lower than any other's |"), "{page}");
    let svg = fs::read_to_string(prefix.path().join("out/rma-locks-fig3.svg")).expect("the picture");
    assert!(svg.contains("foMPI-Spin") && svg.contains("D-MCS") && svg.contains("RMA-MCS"));
}

#[test]
fn the_network_s_locks_have_no_machine() {
    let prefix = installation();
    let output = papers(prefix.path(), &["rma-locks", "fig3", "--machine", "2x44"]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("leave --machine out"), "{said}");
}

/// Neither a launch nor a simulation: the queues are measured in the program's own process.
#[test]
fn an_interruption_ends_what_is_measured_in_the_process() {
    let prefix = installation();
    let endless = ["combining", "queue", "--threads", "1", "--rounds", "1000000000", "--seconds", "0.01"];
    let mut command = command(prefix.path(), &endless);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("heddle starts");
    let said = BufReader::new(child.stderr.take().expect("stderr")).lines().map_while(Result::ok);
    let mut rounds = said.skip_while(|line| !line.starts_with("round 2 of "));
    assert!(rounds.next().is_some_and(|line| line.ends_with(" measurements")));
    // The shell's own kill: a bare machine has no program of that name.
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("sh starts").success());
    // It ends while somebody reads what it says.
    rounds.for_each(drop);
    assert_eq!(child.wait().expect("heddle ends").code(), Some(130));
    let text = fs::read_to_string(prefix.path().join("out/combining-queue.json")).expect("the record");
    let results: Value = serde_json::from_str(&text).expect("valid JSON");
    assert_eq!(results["complete"], false);
    assert!(results["measurements"].as_array().is_some_and(|list| !list.is_empty()));
}

#[test]
fn wrong_names_are_answered_with_the_right_ones() {
    let prefix = installation();
    let output = papers(prefix.path(), &["granularity", "fig9"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("fig9") && error.contains("table1, fig3"), "{error}");
    let output = papers(prefix.path(), &["granularit"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("lifetime"));
}

#[test]
fn the_list_has_every_paper_s_statements() {
    let prefix = installation();
    let output = papers(prefix.path(), &["--list"]);
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    for paper in ["granularity table1", "lifetime fig4", "contention fig7 fig2", "combining graph500"] {
        assert!(list.contains(paper), "{list}");
    }
    assert!(!prefix.path().join("out").exists());
}

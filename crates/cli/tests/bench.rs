//! `heddle bench` against an installation made of shell scripts: what it records, and what it leaves behind
//! when launches fail, hang or are interrupted.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A compiler that makes an empty program of anything.
const MPICC: &str = r#"#!/bin/sh
while [ "$1" != -o ]; do shift; done
: > "$2"
"#;

/// A launcher that prints a result and notes how it was called.
const GOOD: &str = r#"
echo "$*" >> "$(dirname "$0")/calls"
echo "noise before"
echo '{"bench":"latency","version":"Fake 1","level":"single","provided":"single","ranks":2,"pinned":true,"size":8,"threads":1,"comms":"shared","window":1,"op":"isend","seconds":0.1,"value":0.5,"unit":"us","reps":[0.5],"share":{"min":1,"mean":1,"max":1},"wrong_bytes":0,"probe_ns":[100.0,110.0]}'
"#;

/// A prefix whose launcher is the given script.
fn installation(launcher: &str) -> TempDir {
    let prefix = tempfile::tempdir().expect("a folder for the installation");
    let bin = prefix.path().join("bin");
    fs::create_dir(&bin).expect("bin");
    for (name, text) in [("mpicc", MPICC), ("mpiexec", &format!("#!/bin/sh\n{launcher}"))] {
        let path = bin.join(name);
        fs::write(&path, text).expect("script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    }
    prefix
}

fn bench(prefix: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command
        .args(["bench", "--quick", "--no-peers", "--prefix"])
        .arg(prefix)
        .arg("--sources")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench"))
        .arg("--peers-dir")
        .arg(prefix.join("peers"))
        .arg("--out")
        .arg(prefix.join("out"))
        .args(arguments);
    if !arguments.contains(&"--rounds") {
        command.args(["--rounds", "1"]);
    }
    command
}

fn run(prefix: &Path, arguments: &[&str]) -> Output {
    bench(prefix, arguments).output().expect("heddle starts")
}

fn results(prefix: &Path) -> Value {
    let text = fs::read_to_string(prefix.join("out/results.json")).expect("results.json");
    serde_json::from_str(&text).expect("valid JSON")
}

/// Processes whose command line holds `mark`.
fn running(mark: &str) -> usize {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let commands = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    commands.filter(|command| String::from_utf8_lossy(command).contains(mark)).count()
}

#[test]
fn results_table_and_picture_are_written() {
    let prefix = installation(GOOD);
    let output = run(prefix.path(), &["latency"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = results(prefix.path());
    assert_eq!(results["complete"], true);
    assert_eq!(results["measurements"].as_array().map(Vec::len), Some(4));
    assert_eq!(results["summary"][0]["figures"]["heddle"]["median"], 0.5);
    let table = fs::read_to_string(prefix.path().join("out/table.md")).expect("table.md");
    assert!(table.contains("| single | isend | shared | nothing | 2 | 1 | 8 | 0.500"), "{table}");
    let picture = fs::read_to_string(prefix.path().join("out/picture.svg")).expect("picture.svg");
    assert!(picture.contains("latency, SINGLE"));
    let calls = fs::read_to_string(prefix.path().join("bin/calls")).expect("calls");
    assert!(calls.starts_with("--bind-to none -n 2 "), "{calls}");
    assert!(calls.contains(" latency --threads 1 --comms shared --level multiple "), "{calls}");
}

#[test]
fn the_overview_is_measured_and_drawn_into_its_file() {
    let prefix = installation(GOOD);
    let file = prefix.path().join("figures.svg");
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.args(["bench", "--no-peers", "--rounds", "1", "--prefix"]).arg(prefix.path());
    command.arg("--sources").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench"));
    command.arg("--peers-dir").arg(prefix.path().join("peers")).arg("--out").arg(prefix.path().join("out"));
    let multiple = GOOD.replace(r#""level":"single""#, r#""level":"multiple""#);
    fs::write(prefix.path().join("bin/mpiexec"), format!("#!/bin/sh\n{multiple}")).expect("script");
    let output = command.arg("--overview").arg(&file).output().expect("heddle starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let calls = fs::read_to_string(prefix.path().join("bin/calls")).expect("calls");
    assert_eq!(calls.lines().count(), 21, "{calls}");
    assert!(calls.lines().all(|call| call.contains(" --level multiple ")), "{calls}");
    let picture = fs::read_to_string(file).expect("figures.svg");
    assert!(
        picture.contains("latency (µs), one thread") && picture.contains("medians of 1 rounds"),
        "{picture}"
    );
}

/// A launcher that measures two threads, faster under a model, and notes under which it was called.
const TWO_THREADS: &str = r#"
echo "$HEDDLE_MODEL,$HEDDLE_VNIS $*" >> "$(dirname "$0")/calls"
value=100; [ -z "$HEDDLE_MODEL" ] || value=200
echo '{"bench":"dup","version":"Fake 1","level":"multiple","provided":"multiple","ranks":2,"pinned":false,"size":0,"threads":2,"comms":"per-thread","window":1,"op":"dup","seconds":0.1,"value":'$value',"unit":"us","reps":[1],"share":{"min":1,"mean":1,"max":1},"more":{"jain":0.75,"heddle_locks":2.5,"longest_us":null},"wrong_bytes":0,"probe_ns":[]}'
"#;

#[test]
fn models_take_part_in_the_same_rounds_with_further_figures() {
    let prefix = installation(TWO_THREADS);
    let models = "lockq-mcs,csync+VNIS=4";
    let output =
        run(prefix.path(), &["dup", "--rounds", "2", "--models", models, "--pvars", "heddle_locks,x"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let calls = fs::read_to_string(prefix.path().join("bin/calls")).expect("calls");
    let order: Vec<&str> = calls.lines().filter_map(|line| line.split(' ').next()).collect();
    let first = [",", "lockq-mcs,", "csync,4"];
    let second = ["lockq-mcs,", "csync,4", ","];
    assert_eq!(order, [first, first, second, second].concat());
    assert!(calls.lines().all(|call| call.contains(" --pvars heddle_locks,x ")), "{calls}");
    let results = results(prefix.path());
    let figures = &results["summary"][0]["figures"];
    assert_eq!(figures["heddle"]["median"], 100.0);
    assert_eq!(figures["heddle:csync+VNIS=4"]["median"], 200.0);
    assert_eq!(figures["heddle:lockq-mcs"]["more"]["heddle_locks"], 2.5);
    let table = fs::read_to_string(prefix.path().join("out/table.md")).expect("table.md");
    assert!(
        table.contains("| dup | per-thread | nothing | 2 | 2 | 0 | heddle_locks | 2.50 | 2.50 | 2.50 |"),
        "{table}"
    );
}

/// A launcher that counts: a call takes 40 instructions at every level, of which switching collection takes
/// 10.
const COUNTING: &str = r#"
for word; do case $word in --callgrind-out-file=*) file=${word#*=} ;; esac; done
echo "version Fake 1"
for case in nothing isend; do
    echo "case $case 100 100"
    total=4000; [ $case = isend ] || total=1000
    printf 'desc: Trigger: Client Request: %s\ntotals: %s\n' "$case" "$total" >"$file.$case"
done
"#;

#[test]
fn instructions_are_counted_and_tabulated() {
    let prefix = installation(COUNTING);
    let bin = prefix.path().join("bin");
    fs::write(bin.join("valgrind"), "").expect("valgrind");
    fs::set_permissions(bin.join("valgrind"), fs::Permissions::from_mode(0o755)).expect("executable");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.args(["bench", "instructions", "--no-peers", "--models", "csync"]).env("PATH", path);
    command.arg("--prefix").arg(prefix.path()).arg("--out").arg(prefix.path().join("out"));
    command.arg("--sources").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench"));
    let output = command.output().expect("heddle starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = results(prefix.path());
    assert_eq!(results["libraries"][0]["version"], "Fake 1");
    assert_eq!(results["libraries"][1]["name"], "heddle:csync");
    assert_eq!(results["libraries"][0]["counts"][1]["level"], "multiple");
    assert_eq!(results["libraries"][0]["counts"][1]["instructions"], 30.0);
    let table = fs::read_to_string(prefix.path().join("out/table.md")).expect("table.md");
    assert!(table.contains("| alone_isend | single | 30 | 30 | - |"), "{table}");
}

/// A launcher whose figure of a collective operation depends on its algorithm, and under a table on its
/// rules.
const TUNED: &str = r#"
echo "$* $HEDDLE_COLLECTIVES" >> "$(dirname "$0")/calls"
while [ "$1" != --op ]; do [ "$1" != -n ] || ranks=$2; shift; done
op=$2
value=2
case "$op$HEDDLE_BCAST_ALGORITHM$HEDDLE_SCAN_ALGORITHM" in bcast_turnsbinomial | scanblackboard) value=1 ;; esac
# The quickest of the first run was lucky for scan.
[ -z "$HEDDLE_COLLECTIVES" ] || [ "$op" != bcast_turns ] || ! grep -q "^bcast .* binomial" "$HEDDLE_COLLECTIVES" || value=1
for size in 8 64; do
echo '{"bench":"collective","version":"Fake 1","level":"single","provided":"single","ranks":'$ranks',"pinned":false,"size":'$size',"threads":1,"comms":"per-thread","window":1,"op":"'$op'","seconds":0.1,"value":'$value',"unit":"us","reps":[1],"share":{"min":1,"mean":1,"max":1},"wrong_bytes":0,"probe_ns":[100.0]}'
done
"#;

#[test]
fn the_quickest_algorithms_are_written_as_a_table_once_they_are_confirmed() {
    let prefix = installation(TUNED);
    let table = prefix.path().join("my.table");
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.args(["bench", "collective", "--rounds", "3", "--sizes", "8,64", "--ranks", "2,6", "--prefix"]);
    command
        .arg(prefix.path())
        .arg("--sources")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench"));
    command.arg("--peers-dir").arg(prefix.path().join("peers")).arg("--out").arg(prefix.path().join("out"));
    let output = command.arg("--tune").arg(&table).output().expect("heddle starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(&table).expect("the table");
    let rules: Vec<Vec<&str>> = text
        .lines()
        .filter_map(|line| line.split('#').next())
        .map(|rule| rule.split_whitespace().collect())
        .filter(|rule: &Vec<&str>| !rule.is_empty())
        .collect();
    assert_eq!(rules, [["bcast", "2", "..", "binomial"], ["bcast", "3..", "..", "binomial"]], "{text}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("quicker than without a table: 4 of 38 sizes"), "{said}");
    let calls = fs::read_to_string(prefix.path().join("bin/calls")).expect("calls");
    let with_table = calls.lines().filter(|call| call.ends_with("candidates.table")).count();
    // Both operations in which something was quicker, twice three rounds each.
    assert_eq!(with_table, 12, "{calls}");
}

#[test]
fn a_table_that_cannot_be_written_and_other_subjects_are_refused_before_anything_runs() {
    let prefix = installation(TUNED);
    for (arguments, what) in [
        (vec!["collective", "--tune", "/nowhere/my.table"], "/nowhere/my.table"),
        (vec!["latency", "--tune", "/nowhere/my.table"], "--tune measures the subject collective alone"),
        (vec!["collective", "--ranks", "2"], "--tune"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
        let output = command.arg("bench").args(&arguments).arg("--prefix").arg(prefix.path()).output();
        let output = output.expect("heddle starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(what), "{said}");
    }
    assert!(!prefix.path().join("bin/calls").exists());
}

#[test]
fn a_variant_that_cannot_be_read_is_refused() {
    let prefix = installation(GOOD);
    let output = run(prefix.path(), &["dup", "--models", "vnis=4"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("--models") && said.contains("vnis=4"), "{said}");
}

#[test]
fn unmet_targets_fail_only_when_asked() {
    let prefix = installation(GOOD);
    assert_eq!(run(prefix.path(), &["latency", "--check"]).status.code(), Some(1));
}

#[test]
fn a_failing_launch_is_recorded_with_what_it_said() {
    let prefix = installation("echo 'no room on the loom' >&2\nexit 7\n");
    assert!(run(prefix.path(), &["idle", "startup"]).status.success());
    let results = results(prefix.path());
    let how = results["failures"][0]["how"].as_str().expect("a failure");
    assert!(how.contains('7') && how.contains("no room on the loom"), "{how}");
}

#[test]
fn a_hanging_launch_is_ended_with_all_its_processes() {
    // A rank in a session of its own, deaf to SIGTERM, as real launchers make them.
    let mark = "86398.25";
    let prefix = installation(&format!("trap '' TERM\nsetsid sleep {mark} &\nsleep {mark}\nwait\n"));
    assert!(run(prefix.path(), &["startup", "--timeout", "1"]).status.success());
    let results = results(prefix.path());
    assert_eq!(results["failures"][0]["how"], "took too long and was ended");
    assert_eq!(running(mark), 0);
}

/// Starts a run whose first launch has printed a result and then hangs.
fn hanging_run(prefix: &Path) -> Child {
    let child = bench(prefix, &["latency"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let child = child.expect("heddle starts");
    // Opening the fifo waits until the launcher writes to it.
    let fifo = fs::File::open(prefix.join("fifo")).expect("fifo");
    let mut line = String::new();
    BufReader::new(fifo).read_line(&mut line).expect("the launcher's sign");
    child
}

#[test]
fn an_interruption_keeps_what_was_measured() {
    let mark = "86397.75";
    let prefix =
        installation(&format!("{GOOD}\necho up > \"$(dirname \"$0\")/../fifo\"\nexec sleep {mark}\n"));
    let made = Command::new("mkfifo").arg(prefix.path().join("fifo")).status().expect("mkfifo starts");
    assert!(made.success());
    let mut child = hanging_run(prefix.path());
    // The shell's own kill: a bare machine has no program of that name.
    let stopped =
        Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().expect("sh starts");
    assert!(stopped.success());
    assert_eq!(child.wait().expect("heddle ends").code(), Some(130));
    let results = results(prefix.path());
    assert_eq!(results["complete"], false);
    assert_eq!(results["measurements"].as_array().map(Vec::len), Some(1));
    assert_eq!(running(mark), 0);
}

#[test]
fn without_heddle_it_says_what_to_do() {
    let empty = tempfile::tempdir().expect("a folder");
    let output = run(empty.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("--prefix") && said.contains("make"), "{said}");
    assert!(!empty.path().join("out").exists());
}

#[test]
fn the_lab_has_cases_for_the_cores_of_its_machine() {
    let prefix = installation(GOOD);
    let list = |arguments: &[&str]| {
        let output = run(prefix.path(), &[&["--list", "--machine", "2x44"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // `bench` asks for the cases of --quick.
    let quick = list(&[]);
    assert!(quick.contains("mtbench stall ") && !quick.contains("mtbench startup "), "{quick}");
    assert!(!quick.contains("--beside-") && !quick.contains("-n 32 "), "{quick}");
    let mut usual = Command::new(env!("CARGO_BIN_EXE_heddle"));
    usual.args(["bench", "--machine", "2x44", "--list", "self", "stall"]);
    let listed = String::from_utf8(usual.output().expect("heddle starts").stdout).expect("a list");
    assert_eq!(listed.matches("mtbench self --threads 88 ").count(), 1, "{listed}");
    assert!(
        listed.contains("mtbench stall "),
        "a subject without cases of the lab has its usual ones: {listed}"
    );
}

#[test]
fn a_machine_that_nobody_knows_and_lengths_for_the_lab_alone_are_refused() {
    let prefix = installation(GOOD);
    let refused = |arguments: &[&str], what: &str| {
        let output = run(prefix.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(what), "{said}");
    };
    refused(&["latency", "--machine", "haswell"], "no machine is called \"haswell\"");
    refused(&["latency", "--seconds", "0.001"], "too short for a real machine");
    refused(&["latency", "--host-core", "0"], "--machine");
    refused(
        &["startup", "--machine", "2x44"],
        "left out: startup multiple 16 ranks: launchers run in real time",
    );
    assert!(!prefix.path().join("bin/calls").exists());
}

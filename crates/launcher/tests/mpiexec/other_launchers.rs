//! What scripts for other launchers carry: options that have a meaning here.

use std::fs;

use crate::harness::{Running, mpiexec};

/// What a rank prints of its place, its environment and its input.
const ALLOWED: &str = "grep Cpus_allowed_list /proc/self/status";

#[test]
fn options_without_an_effect_are_accepted() {
    for line in [
        "--oversubscribe -np 2",
        "--allow-run-as-root --use-hwthread-cpus -c 2",
        "-disable-hostname-propagation -genvall -n 2",
        "--map-by :OVERSUBSCRIBE --bind-to none -n 2",
        "-N 2",
        "-ppn 2 -n 2",
        "--quiet --mca btl self --prefix /opt -n 2",
    ] {
        let words: Vec<&str> = line.split(' ').chain(["echo", "here"]).collect();
        let report = mpiexec(&words);
        report.went_well();
        assert_eq!(report.out, "here\nhere\n", "{line}");
    }
    mpiexec(&["--mca", "btl", "self", "true"]).failed(0, &["--mca btl self", "is ignored"]);
    mpiexec(&["-tv", "true"]).failed(2, &["-tv is not possible", "debugger"]);
}

#[test]
fn variables_that_are_inherited() {
    let script = "echo ${ONE-none} ${TWO-none} ${THREE-none} $HEDDLE_RANK";
    let run = |options: &[&str]| {
        let words = [options, &["sh", "-c", script]].concat();
        let report =
            Running::start_with(&words, &[], |command| command.env("ONE", "1").env("TWO", "2")).finish();
        report.went_well();
        report.out
    };
    assert_eq!(run(&[]), "1 2 none 0\n");
    assert_eq!(run(&["-genvnone"]), "none none none 0\n");
    assert_eq!(run(&["-genvlist", "TWO", "-env", "THREE", "3"]), "none 2 3 0\n");
    assert_eq!(run(&["-genvnone", "-envall"]), "none none none 0\n", "all is what a block begins with");
    assert_eq!(run(&["-genvnone", "-x", "ONE", "-x", "THREE=a=b"]), "1 none a=b 0\n");
}

#[test]
fn output_in_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let script = "echo out $HEDDLE_RANK; echo err $HEDDLE_RANK >&2";
    let run = |options: &[&str]| {
        let report = mpiexec(&[options, &["-n", "2", "sh", "-c", script]].concat());
        assert_eq!(report.code(), 0, "{report:?}");
        report
    };
    let report = run(&["-outfile-pattern", &path("a/%r.txt")]);
    assert_eq!((report.out.as_str(), report.err.lines().count()), ("", 2));
    let copied = run(&["--output-filename", &path("b")]);
    assert_eq!((copied.sorted(), copied.err.lines().count()), (vec!["out 0", "out 1"], 2), "it is copied");
    assert_eq!(run(&["--output", &format!("file={}:nocopy", path("c"))]).out, "");
    let one = run(&["--output", &format!("merge,dir={}", path("e"))]);
    assert_eq!((one.out.lines().count(), one.err.as_str()), (4, ""));
    for (name, text) in [
        ("a/1.txt", "out 1\n"),
        ("b/rank.0/stdout", "out 0\n"),
        ("b/rank.1/stderr", "err 1\n"),
        ("c.rank.1.err", "err 1\n"),
        ("e/rank.1/stdout", "out 1\nerr 1\n"),
    ] {
        assert_eq!(fs::read_to_string(path(name)).expect(name), text, "{name}");
    }
    let merged = run(&["--merge-stderr-to-stdout"]);
    assert_eq!((merged.sorted(), merged.err.as_str()), (vec!["err 0", "err 1", "out 0", "out 1"], ""));
    let both = run(&["-outfile-pattern", &path("d%r"), "--output", "merge"]);
    assert_eq!(both.out, "");
    assert_eq!(fs::read_to_string(path("d0")).expect("both streams"), "out 0\nerr 0\n");
    mpiexec(&["-outfile-pattern", "/proc/nowhere/%r", "true"]).failed(1, &["rank 0", "/proc/nowhere/0"]);
    fs::create_dir_all(path("f/rank.0")).expect("a folder");
    std::os::unix::fs::symlink("/dev/full", path("f/rank.0/stdout")).expect("a link");
    let full = run(&["--output-filename", &path("f")]);
    assert_eq!(full.sorted(), ["out 0", "out 1"], "what a full disk does not take is passed on");
    assert!(full.err.contains("f/rank.0/stdout does not get the rest of the output: No space"), "{full:?}");
}

#[test]
fn labels_with_the_time() {
    let report = mpiexec(&["--timestamp-output", "--tag-output", "echo", "x"]);
    let (time, rest) = report.out.split_once(' ').expect("a time");
    assert!(time.starts_with("20") && time.ends_with('Z') && rest == "[0] x\n", "{}", report.out);
}

#[test]
fn who_reads_the_input() {
    let run = |options: &[&str]| {
        let words = [options, &["-n", "2", "sh", "-c", "echo $HEDDLE_RANK $(cat)"]].concat();
        let report = Running::start_with(&words, b"text", |command| command).finish();
        report.went_well();
        report.sorted().join(", ")
    };
    assert_eq!(run(&[]), "0 text, 1");
    assert_eq!(run(&["-stdin", "1"]), "0, 1 text");
    assert_eq!(run(&["-s", "all"]), "0 text, 1 text");
    assert_eq!(run(&["--stdin=none"]), "0, 1");
    mpiexec(&["-stdin", "2", "-n", "2", "true"]).failed(1, &["rank 2", "2 ranks"]);
}

#[test]
fn a_time_limit() {
    let report = mpiexec(&["--timeout", "0.3", "-n", "2", "@rank", "init", "park"]);
    assert_eq!(report.code(), 124, "{report:?}");
    let said = report.said();
    assert_eq!(said.len(), 3, "{report:?}");
    assert!(said[0].contains("0.3 s, its time limit"), "{}", said[0]);
    for (rank, line) in said[1..].iter().enumerate() {
        assert!(line.contains(&format!("rank {rank} ")) && line.contains("processor time"), "{line}");
    }
    let sleeping =
        Running::start_with(&["sleep", "3600"], &[], |command| command.env("MPIEXEC_TIMEOUT", "0.1"))
            .finish();
    assert!(sleeping.code() == 124 && sleeping.said()[1].contains("has not called MPI_Init"), "{sleeping:?}");
    let wrong =
        Running::start_with(&["true"], &[], |command| command.env("MPIEXEC_TIMEOUT", "soon")).finish();
    wrong.failed(1, &["MPIEXEC_TIMEOUT", "\"soon\"", "a number of seconds"]);
}

#[test]
fn bound_ranks_have_places_of_their_own() {
    let free = mpiexec(&["-n", "1", "sh", "-c", ALLOWED]);
    let one = mpiexec(&["--bind-to", "share", "-n", "1", "sh", "-c", ALLOWED]);
    assert_eq!(one.code(), 0, "{one:?}");
    assert_eq!(one.out, free.out, "one rank has all cores");
    for unit in ["share", "core"] {
        let two = mpiexec(&["--bind-to", unit, "-n", "2", "sh", "-c", ALLOWED]);
        assert_eq!(two.code(), 0);
        let lines = two.sorted();
        if two.err.is_empty() {
            assert_ne!(lines[0], lines[1], "two ranks are on the same cores");
        } else {
            two.failed(0, &["not bound to cores"]);
            assert_eq!(lines[0], lines[1]);
        }
    }
    let first: usize = {
        let list = free.out.split_whitespace().last().expect("a list");
        list.split(['-', ',']).next().expect("a number").parse().expect("a number")
    };
    let chosen = mpiexec(&[
        "--bind-to",
        &format!("user:{first}"),
        "--report-bindings",
        "-n",
        "2",
        "sh",
        "-c",
        ALLOWED,
    ]);
    if chosen.said().iter().all(|line| line.contains("not bound") || line.contains("bound to nothing")) {
        return;
    }
    assert_eq!(chosen.out, format!("Cpus_allowed_list:\t{first}\n").repeat(2));
    assert_eq!(
        chosen.said().iter().filter(|line| line.contains("[") && line.contains('B')).count(),
        2,
        "{chosen:?}"
    );
    let foreign = mpiexec(&["--cpu-set", "65535", "-n", "1", "sh", "-c", ALLOWED]);
    foreign.failed(0, &["not bound to cores"]);
}

#[test]
fn the_map_of_ranks() {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    let report = mpiexec(&["-print-rank-map", "-n", "3", "true"]);
    report.failed(0, &[&format!("({}:0,1,2)", host.trim())]);
}

//! Options, blocks, the environment, the working directory, binding.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::harness::{Running, mpiexec};

#[test]
fn ranks_know_who_they_are() {
    let report = mpiexec(&["-n", "2", "@rank", "init", "who", "finalize", ":", "@rank", "who"]);
    report.went_well();
    let expected = ["rank 0 of 3 app Some(0)", "rank 1 of 3 app Some(0)", "rank 2 of 3 app Some(1)"];
    assert_eq!(report.sorted(), expected);
}

#[test]
fn ranks_agree() {
    let report = mpiexec(&["-n", "3", "@rank", "0@agree=4:10", "1@agree=4:11", "2@agree=4:12", "agree=4:99"]);
    report.went_well();
    let lines = report.sorted();
    assert_eq!(lines.len(), 6);
    assert!(lines.iter().all(|line| *line == lines[0]), "{lines:?}");
    assert!(["agreed 10", "agreed 11", "agreed 12"].contains(&lines[0]), "{lines:?}");
}

#[test]
fn programs_without_mpi_run() {
    let report = mpiexec(&["-n", "3", "echo", "hello"]);
    report.went_well();
    assert_eq!(report.out, "hello\nhello\nhello\n");
}

#[test]
fn environment_of_block_job_and_launcher() {
    let script = "echo $HEDDLE_RANK $ONE $ALL $OUTER";
    let arguments =
        ["-genv", "ALL", "all", "-env", "ONE", "one", "sh", "-c", script, ":", "sh", "-c", script];
    let report = Running::start_with(&arguments, &[], |command| command.env("OUTER", "outer")).finish();
    report.went_well();
    assert_eq!(report.sorted(), ["0 one all outer", "1 all outer"]);
}

#[test]
fn working_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().canonicalize().expect("a real path");
    let path = path.to_str().expect("UTF-8");
    let report = mpiexec(&["-wdir", path, "pwd"]);
    report.went_well();
    assert_eq!(report.out, format!("{path}\n"));
    let missing = format!("{path}/missing");
    mpiexec(&["-wdir", &missing, "pwd"]).failed(126, &["rank 0", &missing, "-wdir"]);
}

#[test]
fn options_that_the_standard_names() {
    let folder = tempfile::tempdir().expect("a directory");
    let program = folder.path().join("only-here");
    std::fs::write(
        &program,
        "#!/bin/sh\necho $HEDDLE_SIZE $HEDDLE_INITIAL_ERRHANDLER $HEDDLE_MEMORY_ALLOC_KINDS\n",
    )
    .expect("a file");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("its mode");
    let path = format!("/nowhere:{}", folder.path().to_str().expect("UTF-8"));
    let handler = ["-initial-errhandler", "mpi_errors_return", "-memory-alloc-kinds", "system,mpi"];
    let options = ["-n", "5", "-soft", "1:7:2", "-arch", std::env::consts::ARCH, "-path", &path];
    let report = mpiexec(&[&options[..], &handler[..], &["only-here"]].concat());
    report.went_well();
    assert_eq!(report.out, "5 mpi_errors_return system,mpi\n".repeat(5));
    mpiexec(&["-path", "/nowhere", "only-here"]).failed(127, &["only-here", "-path"]);
    mpiexec(&["-arch", "pdp11", "true"]).failed(2, &["-arch", "\"pdp11\"", std::env::consts::ARCH]);
    mpiexec(&["-n", "2", "-soft", "3", "true"]).failed(2, &["-soft", "\"3\""]);
}

#[test]
fn a_command_line_in_a_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("job");
    let path_text = path.to_str().expect("a path in UTF-8");
    std::fs::write(&path, "# two blocks\n-n 2 echo 'one  block'\necho \\\n  another\n").expect("a file");
    let report = mpiexec(&["-l", "-configfile", path_text]);
    report.went_well();
    assert_eq!(report.sorted(), ["[0] one  block", "[1] one  block", "[2] another"]);
    for (wrong, word) in [
        (&["-configfile", path_text, "echo"][..], "takes the place"),
        (&["-n", "2", "-configfile", path_text], "takes the place"),
        (&["-configfile", "/nowhere/job"], "reading /nowhere/job"),
    ] {
        mpiexec(wrong).failed(2, &[word]);
    }
    std::fs::write(&path, format!("-configfile {path_text}")).expect("a file");
    mpiexec(&["-configfile", path_text]).failed(2, &["takes the place"]);
}

#[test]
fn questions_and_mistakes() {
    let help = mpiexec(&["--help"]);
    help.went_well();
    assert!(help.out.contains("--bind-to WHAT"), "{}", help.out);
    let all = mpiexec(&["--help", "all"]);
    all.went_well();
    assert!(all.out.contains("-oversubscribe") && all.out.contains("-mca NAME VALUE"), "{}", all.out);
    assert!(mpiexec(&["--version"]).out.starts_with("mpiexec (Heddle) "));
    mpiexec(&["-bogus", "2", "true"]).failed(2, &["unknown option -bogus"]);
    mpiexec(&["--bimd-to", "2", "true"]).failed(2, &["unknown option --bimd-to; is --bind-to meant?"]);
    mpiexec(&["-n", "none", "true"]).failed(2, &["-n", "\"none\"", "1 to"]);
    mpiexec(&[]).failed(2, &["no program"]);
}

#[test]
fn this_machine_alone_needs_no_other_launcher() {
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    for hosts in ["localhost", own.trim(), "localhost:1,127.0.0.1:4"] {
        let report = mpiexec(&["--hosts", hosts, "-n", "2", "echo", "here"]);
        report.went_well();
        assert_eq!(report.out, "here\nhere\n", "{hosts}");
    }
}

#[test]
fn other_machines_need_another_launcher() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path();
    let file = path.join("machines");
    let file = file.to_str().expect("UTF-8");
    let start = |arguments: &[&str]| {
        Running::start_with(arguments, &[], |command| command.env("PATH", path).env("HEDDLE_RANK", "0"))
            .finish()
    };
    start(&["-f", file, "true"]).failed(1, &[file, "cannot be read"]);
    std::fs::write(file, "first:2\nsecond:2\nthird:x\n").expect("a file");
    start(&["-f", file, "true"]).failed(1, &[file, "line 3", "\"x\""]);
    std::fs::write(file, "first:2\nsecond:2\n").expect("a file");
    start(&["-f", file, "true"]).failed(1, &["prterun", "mpiexec.hydra", "PyPI", "openmpi-bin", "mpich"]);
    start(&["--hosts", "first,", "true"]).failed(2, &["--hosts", "name is missing"]);
    let launcher = path.join("mpiexec.hydra");
    std::fs::write(&launcher, "#!/bin/sh\necho \"$HEDDLE_RANK $*\"\nexit 7\n").expect("a script");
    std::fs::set_permissions(&launcher, Permissions::from_mode(0o755)).expect("a mode");
    let report = start(&["-f", file, "-n", "3", "-l", "-env", "A", "1", "program", "x"]);
    report.failed(7, &[launcher.to_str().expect("UTF-8"), "starts the ranks"]);
    assert_eq!(report.out, " -hosts first:2,second:1 -l -n 3 -env A 1 program x\n");
    let report = start(&["-f", file, "--bind-to", "core", "-n", "1", "true"]);
    assert_eq!(report.out, " -hosts first:1 -bind-to core -n 1 true\n");
    start(&["-f", file, "--bind-to", "share", "true"]).failed(1, &["--bind-to", "mpiexec.hydra"]);
}

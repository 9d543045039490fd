//! Ranks that fail: one message, the right exit status, and nobody left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use crate::harness::{Report, Running, eventually, mpiexec};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};

#[test]
fn a_rank_that_is_killed() {
    let running = Running::start(&["-n", "3", "@rank", "init", "park"]);
    let pids = running.wait_for(3, "@rank init park");
    kill(pids[1], Signal::SIGKILL).expect("killing a rank");
    let pid = format!("pid {} on ", pids[1]);
    running.finish().failed(137, &["rank ", &pid, "signal 9", "SIGKILL", "ended"]);
}

#[test]
fn a_rank_that_touches_wrong_memory() {
    mpiexec(&["-n", "2", "@rank", "init", "1@raise=11", "park"])
        .failed(139, &["rank 1", "signal 11", "SIGSEGV", "memory"]);
}

#[test]
fn a_rank_that_exits_without_finalize() {
    mpiexec(&["-n", "2", "@rank", "init", "0@exit=3", "park"])
        .failed(3, &["rank 0", "code 3", "without MPI_Finalize"]);
    mpiexec(&["-n", "2", "@rank", "init", "1@exit=0", "park"])
        .failed(1, &["rank 1", "code 0", "without MPI_Finalize"]);
}

#[test]
fn a_rank_that_exits_without_mpi() {
    mpiexec(&["-n", "2", "@rank", "1@exit=4", "init", "park"]).failed(4, &["rank 1", "code 4"]);
    mpiexec(&["-n", "4", "false"]).failed(1, &["code 1"]);
}

#[test]
fn a_rank_that_exits_well_while_others_are_in_mpi() {
    let says = ["rank 1 ", "code 0", "never called MPI_Init", "rank 0 has called it", "the job is ended"];
    mpiexec(&["-n", "3", "@rank", "1@exit=0", "init", "park"]).failed(1, &says);
    // The others may call MPI_Init when it is long gone.
    mpiexec(&["-n", "2", "@rank", "1@exit=0", "await-ends=1", "init", "park"]).failed(1, &says);
}

#[test]
fn a_job_in_which_no_rank_calls_mpi_init_is_fine() {
    let report = mpiexec(&["-n", "2", "@rank", "1@exit=0", "await-ends=1", "who"]);
    assert_eq!((report.code(), report.err.as_str()), (0, ""));
    assert_eq!(report.out, "rank 0 of 2 app Some(0)\n");
}

#[test]
fn a_rank_that_exits_in_a_session() {
    mpiexec(&["-n", "2", "@rank", "session", "1@exit=0", "park"])
        .failed(1, &["rank 1", "code 0", "after MPI_Session_init without MPI_Session_finalize"]);
    mpiexec(&["-n", "2", "@rank", "session", "leave", "0@session", "0@exit=3", "park"])
        .failed(3, &["rank 0", "code 3", "without MPI_Session_finalize"]);
}

#[test]
fn sessions_need_not_concern_all_ranks() {
    // One rank is in no session, and one leaves while the others are in theirs.
    let report =
        mpiexec(&["-n", "4", "@rank", "1@exit=0", "session", "2@leave", "2@exit=0", "await-ends=2", "leave"]);
    assert_eq!((report.code(), report.err.as_str()), (0, ""));
    // A rank that has left its sessions is missed by those that have called MPI_Init.
    let says = ["rank 1 ", "code 0", "never called MPI_Init", "rank 0 has called it"];
    mpiexec(&["-n", "2", "@rank", "session", "1@leave", "1@exit=0", "init", "park"]).failed(1, &says);
}

#[test]
fn a_rank_that_aborts() {
    mpiexec(&["-n", "2", "@rank", "init", "1@abort=42:the data are wrong", "1@exit=42", "park"])
        .failed(42, &["rank 1", "MPI_Abort with code 42: the data are wrong"]);
    // Status 0 would hide it.
    mpiexec(&["-n", "2", "@rank", "init", "1@abort=0", "1@exit=0", "park"])
        .failed(1, &["MPI_Abort with code 0"]);
}

#[test]
fn a_rank_that_aborts_and_does_not_end() {
    mpiexec(&["-n", "2", "@rank", "init", "1@abort=5", "park"])
        .failed(5, &["rank 1", "MPI_Abort with code 5"]);
}

#[test]
fn a_code_after_finalize_does_not_end_the_job() {
    let steps = ["init", "finalize", "1@exit=6", "2@exit=7", "outlive=1", "outlive=2", "who"];
    let report = mpiexec(&[&["-n", "3", "@rank"][..], &steps].concat());
    report.failed(7, &["rank 2", "code 7 after MPI_Finalize", "1 more"]);
    assert_eq!(report.out, "rank 0 of 3 app Some(0)\n");
}

#[test]
fn ranks_that_will_not_end_are_killed() {
    mpiexec(&["-n", "3", "@rank", "ignore-term", "init", "0@exit=3", "park"]).failed(3, &["rank 0"]);
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_no_signal() {
    let limit = || setrlimit(Resource::RLIMIT_FSIZE, 10240, 10240).map_err(Into::into);
    let running = Running::start_with(&["-n", "2", "true"], &[], |command| {
        // SAFETY: the closure makes a system call only.
        unsafe { command.pre_exec(limit) }
    });
    running.finish().failed(1, &["the job's memory file", "10240 bytes", "ulimit -f unlimited"]);
}

#[test]
fn many_ranks_that_fail_at_once_give_one_message() {
    mpiexec(&["-n", "8", "@rank", "init", "exit=3"]).failed(3, &["code 3"]);
}

#[test]
fn last_words_come_before_the_verdict() {
    let report = mpiexec(&["-n", "2", "sh", "-c", "seq 1000 >&2; exit 3"]);
    let lines: Vec<&str> = report.err.lines().collect();
    let verdict = lines.iter().position(|line| line.starts_with("mpiexec: ")).expect("a verdict");
    assert!(verdict >= 1000, "the verdict is line {verdict}");
    assert_eq!(report.code(), 3);
}

#[test]
fn programs_that_do_not_exist() {
    mpiexec(&["-n", "2", "no-such-program-anywhere"])
        .failed(127, &["rank 0", "no-such-program-anywhere", "not found in PATH"]);
    mpiexec(&["-n", "2", "./no-such-program"]).failed(127, &["./no-such-program", "not found"]);
    // Those that have been started are ended.
    mpiexec(&["-n", "2", "sleep", "1000", ":", "no-such-program"]).failed(127, &["rank 2"]);
}

#[test]
fn programs_that_cannot_be_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str, mode: u32| {
        let path = directory.path().join(name);
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        path.to_str().expect("UTF-8").to_owned()
    };
    let plain = write("plain", "text", 0o644);
    mpiexec(&[&plain]).failed(126, &[&plain, "executable"]);
    let orphan = write("orphan", "#!/no/such/interpreter\n", 0o755);
    mpiexec(&[&orphan]).failed(126, &[&orphan, "interpreter"]);
    let here = directory.path().to_str().expect("UTF-8");
    mpiexec(&[here]).failed(126, &[here, "directory"]);
    write("hidden", "#!/bin/sh\n", 0o755);
    mpiexec(&["-wdir", here, "hidden"]).failed(127, &["hidden", "./"]);
}

#[test]
fn nothing_is_left_in_shared_memory() {
    mpiexec(&["-n", "2", "@rank", "init", "1@raise=9", "park"]).failed(137, &["rank 1"]);
    let names = || -> Vec<String> {
        let entries = fs::read_dir("/dev/shm").expect("/dev/shm");
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
    };
    // The folders of `heddle lab`, which may run at the same time, are not mpiexec's.
    let is_left = |name: &String| name.contains("heddle") && !name.starts_with("heddle-lab.");
    eventually("an empty /dev/shm", || !names().iter().any(is_left));
}

/// Runs a job with at most that many open files.
fn with_open_files(limit: u64) -> Report {
    let limit = move || setrlimit(Resource::RLIMIT_NOFILE, limit, limit).map_err(Into::into);
    let running = Running::start_with(&["-n", "2", "true"], &[], |command| {
        // SAFETY: the closure makes a system call only.
        unsafe { command.pre_exec(limit) }
    });
    running.finish()
}

#[test]
fn few_open_files_are_enough_or_named() {
    for limit in [5, 8, 12] {
        with_open_files(limit).failed(1, &["open files", "ulimit -n"]);
    }
    with_open_files(30).went_well();
}

/// A filter of system calls that refuses `waitid`.
fn refuse_waitid() -> std::io::Result<()> {
    use nix::libc::*;
    let load_number = sock_filter { code: (BPF_LD | BPF_W | BPF_ABS) as u16, jt: 0, jf: 0, k: 0 };
    let is_waitid =
        sock_filter { code: (BPF_JMP | BPF_JEQ | BPF_K) as u16, jt: 0, jf: 1, k: SYS_waitid as u32 };
    let answer = |k| sock_filter { code: (BPF_RET | BPF_K) as u16, jt: 0, jf: 0, k };
    let mut program =
        [load_number, is_waitid, answer(SECCOMP_RET_ERRNO | EPERM as u32), answer(SECCOMP_RET_ALLOW)];
    let filter = sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the call takes numbers only.
    if unsafe { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the program outlives the call.
    match unsafe { prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &raw const filter) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[test]
fn a_system_that_refuses_waitid_kills_no_rank() {
    let run = |arguments: &[&str]| {
        let running = Running::start_with(arguments, &[], |command| {
            // SAFETY: the closure makes system calls only.
            unsafe { command.pre_exec(refuse_waitid) }
        });
        running.finish()
    };
    run(&["-n", "2", "sh", "-c", "sleep 0.3; exit 0"]).went_well();
    run(&["-n", "2", "sh", "-c", "exit 4"]).failed(4, &["code 4"]);
}

/// Hides `/proc` from a process and its children.
fn hide_proc() -> std::io::Result<()> {
    use nix::libc::*;
    let (none, null) = (c"none".as_ptr(), std::ptr::null());
    // SAFETY: the call takes a number.
    if unsafe { unshare(CLONE_NEWNS) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the texts are C strings, and there is no data.
    if unsafe { mount(none, c"/".as_ptr(), null, MS_REC | MS_PRIVATE, null.cast()) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the texts are C strings, and there is no data.
    match unsafe { mount(none, c"/proc".as_ptr(), c"tmpfs".as_ptr(), 0, null.cast()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[test]
fn a_machine_without_proc_is_named() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: only root can hide /proc");
        return;
    }
    let running = Running::start_with(&["-n", "1", "true"], &[], |command| {
        // SAFETY: the closure makes system calls only.
        unsafe { command.pre_exec(hide_proc) }
    });
    running.finish().failed(1, &["no /proc"]);
}

//! Signals to the launcher, and its own violent end.

use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;

use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::Pid;

use crate::harness::{Running, eventually};

fn is_stopped(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('T'))
}

const OBEDIENT: &[&str] = &["-n", "3", "@rank", "init", "park"];

#[test]
fn signals_end_the_job() {
    for ending in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let running = Running::start(OBEDIENT);
        running.wait_for(3, "@rank init park");
        running.signal(ending);
        let report = running.finish();
        assert_eq!(report.status.signal(), Some(ending as i32), "{report:?}");
        report.failed(128 + ending as i32, &["ended by", ending.as_str()]);
    }
}

#[test]
fn ranks_may_end_well_after_a_signal() {
    let script = "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.1; done";
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let running =
        Running::start_with(&["-n", "2", "sh", "-c", script], &[], |command| command.stdout(writer));
    let mut ready = [0; 12];
    std::io::Read::read_exact(&mut reader, &mut ready).expect("two lines");
    assert_eq!(&ready, b"ready\nready\n");
    running.signal(Signal::SIGTERM);
    let rest = std::io::read_to_string(reader).expect("text");
    let report = running.finish();
    assert_eq!((report.code(), report.said(), rest.as_str()), (0, Vec::new(), "saved\nsaved\n"));
}

#[test]
fn stopped_ranks_end_with_the_first_signal() {
    let running = Running::start(OBEDIENT);
    for pid in running.wait_for(3, "@rank init park") {
        nix::sys::signal::kill(pid, Signal::SIGSTOP).expect("stopping a rank");
        // Until it has stopped, it may see another signal first.
        eventually("a stopped rank", || is_stopped(pid));
    }
    running.signal(Signal::SIGTERM);
    running.finish().failed(128 + Signal::SIGTERM as i32, &["ended by SIGTERM"]);
}

#[test]
fn the_second_signal_kills() {
    let running = Running::start(&["-n", "2", "@rank", "ignore-term", "init", "park"]);
    running.wait_for(2, "@rank ignore-term");
    running.signal(Signal::SIGINT);
    running.signal(Signal::SIGTERM);
    running.signal(Signal::SIGINT);
    let report = running.finish();
    assert!(report.status.signal().is_some(), "{report:?}");
}

#[test]
fn an_interrupted_job_does_not_wait_for_a_reader() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let running = Running::start_with(&["-n", "2", "yes"], &[], |command| command.stdout(writer));
    running.wait_for(2, "yes");
    running.signal(Signal::SIGINT);
    let report = running.finish();
    drop(reader);
    report.failed(128 + Signal::SIGINT as i32, &["ended by SIGINT"]);
}

#[test]
fn a_stopped_job_goes_on() {
    let running = Running::start(OBEDIENT);
    let ranks = running.wait_for(3, "@rank init park");
    let all = || ranks.iter().copied().chain([running.pid()]);
    // Again, since nothing orders what reaches the ranks but the signals themselves.
    for _ in 0..3 {
        running.signal(Signal::SIGTSTP);
        eventually("stopped processes", || all().all(is_stopped));
        running.signal(Signal::SIGCONT);
        eventually("processes that go on", || !all().any(is_stopped));
    }
    running.signal(Signal::SIGTERM);
    running.finish().failed(128 + Signal::SIGTERM as i32, &["ended by SIGTERM"]);
}

#[test]
fn other_signals_are_passed_on() {
    let script = "trap 'echo told; exit 0' USR1; echo ready; while :; do sleep 0.1; done";
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let running =
        Running::start_with(&["-n", "1", "sh", "-c", script], &[], |command| command.stdout(writer));
    let mut ready = [0; 6];
    std::io::Read::read_exact(&mut reader, &mut ready).expect("a line");
    running.signal(Signal::SIGUSR1);
    assert_eq!(std::io::read_to_string(reader).expect("text"), "told\n");
    assert_eq!(running.finish().code(), 0);
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let script = "echo ready; while [ ! -e $GO ]; do sleep 0.1; done; echo done";
    let directory = tempfile::tempdir().expect("a directory");
    let go = directory.path().join("go");
    let running = Running::start_with(&["-n", "1", "sh", "-c", script], &[], |command| {
        let nohup = || {
            // SAFETY: ignoring a signal runs no code of ours.
            unsafe { signal(Signal::SIGHUP, SigHandler::SigIgn) }?;
            Ok(())
        };
        // SAFETY: the closure makes one system call.
        unsafe { command.env("GO", &go).stdout(writer).pre_exec(nohup) }
    });
    let mut ready = [0; 6];
    std::io::Read::read_exact(&mut reader, &mut ready).expect("a line");
    running.signal(Signal::SIGHUP);
    std::fs::write(&go, "").expect("a file");
    running.finish().went_well();
    assert_eq!(std::io::read_to_string(reader).expect("text"), "done\n");
}

#[test]
fn a_killed_launcher_takes_everything_along() {
    let script = "setsid sleep 1000 & timeout 1001 sleep 1001 & (sleep 1002; :) & @rank init park; :";
    let running = Running::start(&["-n", "2", "sh", "-c", script]);
    // Each rank's program, and a child of it in the rank's group, in another group, and in another session.
    running.wait_for(2, "@rank init park");
    running.wait_for(2, "sleep 1000");
    running.wait_for(2, "sleep 1002");
    running.signal(Signal::SIGKILL);
    let report = running.finish();
    report.failed(137, &["launcher (pid ", "2 ranks"]);
}

//! The session of the ranks, and the terminal of the one in which `mpiexec` was started.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use nix::pty::{OpenptyResult, openpty};
use nix::unistd::{getsid, setsid};

use crate::harness::{Running, mpiexec};

#[test]
fn the_ranks_have_a_session_of_their_own() {
    // Field 6 of the file, by the shell's own means.
    let report =
        mpiexec(&["-n", "3", "sh", "-c", "read -r _ _ _ _ _ session _ < /proc/$$/stat; echo $session"]);
    let sessions = report.sorted();
    assert_eq!(sessions.len(), 3, "{report:?}");
    assert!(sessions.iter().all(|session| *session == sessions[0]), "one for all ranks: {sessions:?}");
    assert_ne!(sessions[0], getsid(None).expect("a session").to_string());
}

#[test]
fn a_niceness_is_that_of_the_session_too() {
    if !std::path::Path::new("/proc/self/autogroup").exists() {
        return;
    }
    let script = "read -r group < /proc/$$/autogroup && echo ${group#* }";
    // SAFETY: takes a number and writes nothing of ours.
    let by = |more| unsafe { nix::libc::nice(more) };
    let nice = move || {
        by(3);
        Ok(())
    };
    let wanted = format!("nice {}\n", (by(0) + 3).min(19));
    let running = Running::start_with(&["-n", "1", "sh", "-c", script], &[], |command| {
        // SAFETY: the closure makes one system call.
        unsafe { command.pre_exec(nice) }
    });
    let report = running.finish();
    assert_eq!((report.code(), report.out.as_str()), (0, &*wanted), "{report:?}");
}

#[test]
fn rank_0_reads_what_is_typed() {
    let OpenptyResult { master, slave } = openpty(None, None).expect("a terminal");
    let take_terminal = || {
        setsid()?;
        // SAFETY: takes a descriptor and a number, and writes nothing of ours.
        unsafe { nix::libc::ioctl(0, nix::libc::TIOCSCTTY, 0) };
        Ok(())
    };
    let script = "echo ready; read line; echo \"$HEDDLE_RANK read $line\"";
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let running = Running::start_with(&["-n", "2", "sh", "-c", script], &[], |command| {
        // SAFETY: the closure makes two system calls.
        unsafe { command.stdin(Stdio::from(slave)).stdout(writer).pre_exec(take_terminal) }
    });
    let mut lines = BufReader::new(reader).lines().map(|line| line.expect("text"));
    let mut said: Vec<String> = lines.by_ref().take(3).collect();
    File::from(master).write_all(b"hello\n").expect("typing");
    said.extend(lines);
    said.sort_unstable();
    assert_eq!(said, ["0 read hello", "1 read ", "ready", "ready"]);
    running.finish().went_well();
}

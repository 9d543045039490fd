//! The processes of a job, found in `/proc`.
//!
//! A rank may start others, and they may leave its process group (`timeout` does, daemons do). All of them
//! inherit `HEDDLE_JOB_ID`, so the environment tells whose they are; a process that dropped its environment
//! is still found by its group. Process groups are named by their leader's id, which stays taken as long as
//! the launcher has not reaped the leader.

use std::fs;
use std::path::Path;

use heddle_bootstrap::builtin::env;
use nix::unistd::Pid;

/// One running process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) group: Pid,
    /// The name the kernel has for it (at most 15 bytes).
    pub(crate) name: String,
    /// When it started, in clock ticks since boot; with the id it names a process for ever.
    pub(crate) started: u64,
}

/// The process `pid` if it is alive: not gone, and not waiting to be reaped.
pub(crate) fn alive(pid: Pid) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(pid, &String::from_utf8_lossy(&stat))
}

/// Reads a line of `/proc/*/stat`; nothing for a dead process.
fn parse_stat(pid: Pid, stat: &str) -> Option<Process> {
    // The name may hold blanks and parentheses; the last parenthesis ends it.
    let (head, tail) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let mut fields = tail.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    let group = Pid::from_raw(fields.nth(1)?.parse().ok()?);
    // The fields so far were number 3 and 5; the start time is number 22.
    let started = fields.nth(16)?.parse().ok()?;
    Some(Process { pid, group, name, started })
}

/// Returns true if the process has `name=value` in its environment, as far as this user may look.
pub(crate) fn has_variable(pid: Pid, name: &str, value: &str) -> bool {
    let wanted = format!("{name}={value}");
    let environment = fs::read(Path::new("/proc").join(pid.to_string()).join("environ"));
    environment.is_ok_and(|bytes| bytes.split(|&byte| byte == 0).any(|entry| entry == wanted.as_bytes()))
}

/// Returns true if anybody alive belongs to a rank of the job `id`, whose process group is `group`.
pub(crate) fn has_any_of_rank(id: &str, rank: u32, group: Pid) -> bool {
    let of_rank =
        |process: &Process| process.group == group || has_variable(process.pid, env::RANK, &rank.to_string());
    of_job(id, &[group]).iter().any(of_rank)
}

/// Everybody alive who belongs to the job `id` or to one of the process `groups`.
pub(crate) fn of_job(id: &str, groups: &[Pid]) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own = Pid::this();
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .map(Pid::from_raw)
        .filter(|&pid| pid != own)
        .filter_map(alive)
        .filter(|process| groups.contains(&process.group) || has_variable(process.pid, env::JOB_ID, id))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let fields = "S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 8141 9 10";
        let process = parse_stat(Pid::from_raw(9), &format!("9 (a) b (c) {fields}")).expect("alive");
        assert_eq!((process.name.as_str(), process.group.as_raw(), process.started), ("a) b (c", 7, 8141));
        assert_eq!(parse_stat(Pid::from_raw(9), "9 (x) Z 1 7 7 0"), None);
    }

    #[test]
    fn this_process_is_alive() {
        let own = alive(Pid::this()).expect("it is running");
        assert_eq!(own.group, nix::unistd::getpgrp());
        assert!(own.started > 0);
        assert!(has_variable(Pid::this(), "PATH", &std::env::var("PATH").expect("a path")));
    }
}

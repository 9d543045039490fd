//! Processes that are not on the machine: launchers and their helpers. They run in real time, so the
//! machine stands still while they have something to do; what they have done by then does not depend on how
//! fast they were.

use std::collections::HashSet;
use std::fs;

/// A task of such a process: its number, whether it sleeps, how often it has run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Task {
    number: i32,
    sleeps: bool,
    runs: u64,
}

/// The descendants of this process that are not on the machine.
#[derive(Debug, Default)]
pub(super) struct Outside {
    processes: Vec<i32>,
    seen: Vec<Task>,
    /// Those seen are all, and they slept.
    was_still: bool,
}

impl Outside {
    /// Whether all of them sleep, and have slept since a moment in which all did. `inside` are the
    /// processes on the machine.
    pub(super) fn is_still(&mut self, inside: &HashSet<i32>) -> bool {
        let tasks = tasks_of(&self.processes);
        if self.was_still && tasks == self.seen {
            return true;
        }
        self.processes = descendants(inside);
        self.seen = tasks_of(&self.processes);
        let all_sleep = self.seen.iter().all(|task| task.sleeps);
        // Nobody has run between two looks at all of them.
        let again = if all_sleep { descendants(inside) } else { Vec::new() };
        self.was_still = all_sleep && again == self.processes && tasks_of(&again) == self.seen;
        self.was_still
    }

    /// Something has begun a process: those known may not be all.
    pub(super) fn forget(&mut self) {
        self.was_still = false;
    }
}

/// Whether the process is gone, or only waits for its parent to notice.
pub(super) fn is_gone(process: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    matches!(state_and_parent(&stat), None | Some(('Z' | 'X', _)))
}

/// Kills all that this process has begun and that still runs.
pub(super) fn kill_descendants() {
    for process in descendants(&HashSet::new()) {
        // A process that is gone meanwhile needs no kill.
        let _ =
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), nix::sys::signal::Signal::SIGKILL);
    }
}

/// Of a line of `/proc/PID/stat`: what follows the name, which may hold blanks.
fn state_and_parent(stat: &str) -> Option<(char, i32)> {
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn descendants(inside: &HashSet<i32>) -> Vec<i32> {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut all: Vec<(i32, i32)> = numbers
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|number: i32| {
            let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
            let (state, parent) = state_and_parent(&stat)?;
            (state != 'Z').then_some((number, parent))
        })
        .collect();
    all.sort_unstable();
    let me = std::process::id().cast_signed();
    let mut family = HashSet::from([me]);
    loop {
        let before = family.len();
        family.extend(
            all.iter()
                .filter(|(_, parent)| family.contains(parent))
                .map(|(number, _)| *number)
                .collect::<Vec<_>>(),
        );
        if family.len() == before {
            break;
        }
    }
    let is_outside = |number: &i32| *number != me && family.contains(number) && !inside.contains(number);
    all.iter().map(|(number, _)| *number).filter(is_outside).collect()
}

fn tasks_of(processes: &[i32]) -> Vec<Task> {
    let tasks = processes
        .iter()
        .flat_map(|process| fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten());
    let mut found: Vec<Task> = tasks
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            let (state, _) = state_and_parent(&stat)?;
            // The third number is how often it has been put on a processor.
            let times = fs::read_to_string(entry.path().join("schedstat")).unwrap_or_default();
            let runs = times.split_ascii_whitespace().nth(2).and_then(|runs| runs.parse().ok()).unwrap_or(0);
            Some(Task { number, sleeps: matches!(state, 'S' | 'T' | 't' | 'Z' | 'X' | 'I'), runs })
        })
        .collect();
    found.sort_unstable_by_key(|task| task.number);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_blanks_and_brackets() {
        assert_eq!(state_and_parent("7 (a b) c) S 3 4"), Some(('S', 3)));
        assert_eq!(state_and_parent("7"), None);
    }
}

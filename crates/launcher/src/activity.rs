//! The activity of a process, as the kernel sees it: said of the ranks of a job that its time limit ends.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nix::unistd::Pid;

/// The threads of a process in words: how many run, where the others sleep, how much processor time they
/// took. `None` if it is gone.
pub(crate) fn of(pid: Pid) -> Option<String> {
    let folder = format!("/proc/{pid}/task");
    let (mut running, mut ticks) = (0, 0);
    let mut sleeping: BTreeMap<String, usize> = BTreeMap::new();
    for thread in fs::read_dir(folder).ok()?.filter_map(Result::ok) {
        let Some((state, time)) = state(&thread.path()) else { continue };
        ticks += time;
        match state {
            'R' => running += 1,
            'T' | 't' => *sleeping.entry("stopped".to_owned()).or_default() += 1,
            _ => *sleeping.entry(place(&thread.path())).or_default() += 1,
        }
    }
    let second = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok()??.max(1) as u64;
    let mut parts = Vec::new();
    if running > 0 {
        parts.push(format!("{} running", threads(running)));
    }
    parts.extend(sleeping.into_iter().map(|(place, number)| format!("{} {place}", threads(number))));
    parts.push(format!("{}.{:02} s of processor time", ticks / second, ticks % second * 100 / second));
    Some(parts.join(", "))
}

fn threads(number: usize) -> String {
    if number == 1 { "1 thread".to_owned() } else { format!("{number} threads") }
}

/// A thread's state, and its processor time in ticks.
fn state(thread: &Path) -> Option<(char, u64)> {
    let stat = fs::read_to_string(thread.join("stat")).ok()?;
    // Fields 3 on follow the name, which a parenthesis ends; the times are numbers 14 and 15.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let time = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some((fields.first()?.chars().next()?, time(11)? + time(12)?))
}

/// Where in the kernel a thread sleeps, if that may be seen.
fn place(thread: &Path) -> String {
    let place = fs::read_to_string(thread.join("wchan")).unwrap_or_default();
    if place.is_empty() || place == "0" { "asleep".to_owned() } else { format!("asleep in {place}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs() {
        let text = of(Pid::this()).expect("it is there");
        assert!(text.contains("running") && text.ends_with("s of processor time"), "{text}");
        assert_eq!(of(Pid::from_raw(i32::MAX)), None);
    }
}

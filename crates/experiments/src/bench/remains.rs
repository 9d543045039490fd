//! Remains of a launch: processes that left its process group, and files of shared memory.
//!
//! Launchers put ranks into sessions of their own, so that killing the launcher's group does not reach them.
//! Every launch therefore carries a mark in its environment, which its processes inherit; only marked ones
//! are killed. Ranks whose launcher was killed become children of this program, so that they are waited for
//! and their processor time counts as the run's own. Some libraries leave files in `/dev/shm` even after a
//! good run, which would fill the memory over many launches: files that appeared during the launch under such
//! a library's name and that no process maps are removed.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

const VARIABLE: &str = "HEDDLE_BENCH_RUN";
const SHARED_MEMORY: &str = "/dev/shm";
/// The prefixes of the files of libraries that leave some behind.
const LEFT_BY: [&str; 2] = ["mpich_shm_", "heddle-bench-probe-"];

/// The traces of one launch.
#[derive(Debug)]
pub(crate) struct Remains {
    mark: String,
    files_before: HashSet<PathBuf>,
}

impl Remains {
    /// Starts to watch, before the launch.
    pub(crate) fn watch(number: u64) -> Self {
        // If the kernel does not support this, init adopts orphans as usual.
        let _ = set_child_subreaper(true);
        // Always of the same length: a program's stack begins below its environment, and the lab prints the
        // same digits only if all memory is where it was.
        let mark = format!("{:010}-{number:06}", process::id());
        Self { mark, files_before: shared_files().collect() }
    }

    /// The environment variable that holds the mark.
    pub(crate) fn variable(&self) -> &'static str {
        VARIABLE
    }

    /// Its value for this launch.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Waits for orphans that have ended; called after the launcher itself was waited for.
    pub(crate) fn reap(&self) {
        while !matches!(waitpid(None, Some(WaitPidFlag::WNOHANG)), Ok(WaitStatus::StillAlive) | Err(_)) {}
    }

    /// Kills every process that carries the mark.
    pub(crate) fn kill(&self) {
        let wanted = format!("{VARIABLE}={}", self.mark);
        for (pid, folder) in processes() {
            let environment = fs::read(folder.join("environ")).unwrap_or_default();
            if environment.split(|&byte| byte == 0).any(|entry| entry == wanted.as_bytes()) {
                // It may have ended meanwhile.
                let _ = kill(pid, Signal::SIGKILL);
            }
        }
    }

    /// Removes the files that the launch left in shared memory.
    pub(crate) fn remove(&self) {
        let new: Vec<PathBuf> = shared_files().filter(|file| !self.files_before.contains(file)).collect();
        if new.is_empty() {
            return;
        }
        let maps: String =
            processes().filter_map(|(_, folder)| fs::read_to_string(folder.join("maps")).ok()).collect();
        for file in new.iter().filter(|file| !maps.contains(&*file.to_string_lossy())) {
            // Another process may have removed it.
            let _ = fs::remove_file(file);
        }
    }
}

fn shared_files() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(SHARED_MEMORY).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        LEFT_BY.iter().any(|beginning| name.starts_with(beginning))
    })
}

fn processes() -> impl Iterator<Item = (Pid, PathBuf)> {
    let entries = fs::read_dir(Path::new("/proc")).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let number: i32 = entry.file_name().to_str()?.parse().ok()?;
        Some((Pid::from_raw(number), entry.path()))
    })
}

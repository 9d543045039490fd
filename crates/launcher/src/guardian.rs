//! The process that ends the job if the launcher cannot: when it was killed by a signal nobody can handle.
//!
//! The guardian is this same program under another name, in a session of its own, so that neither a
//! terminal's signals nor a kill by the launcher's name reach it. It reads from a pipe that only
//! the launcher holds open:
//!
//! | read | means |
//! |---|---|
//! | a positive number | a rank has started; the number is its process group |
//! | a negative number | that group is over; its number may come to mean somebody else |
//! | 0 | the job is over |
//! | the end of the pipe | the launcher is gone: kill what is left |
//!
//! A rank announces itself, before its program runs, so there is no moment in which it is unknown. Direct
//! children also ask the kernel to be killed with the launcher; the guardian is for what those have started.

use std::io::{self, PipeWriter, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::prctl;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getppid, setsid};

use crate::processes;

/// The name (`argv[0]`) that makes this program a guardian.
pub(crate) const NAME: &str = "heddle-guardian";

/// How long the guardian looks for survivors of its kills.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// How often it looks.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The launcher's end of the guardian. Dropped, it leaves the ranks that there are to the guardian, and waits
/// until that is gone.
#[derive(Debug)]
pub(crate) struct Guardian {
    child: Child,
    /// There until it is dropped.
    pipe: Option<PipeWriter>,
}

impl Guardian {
    /// Starts the guardian of the job `id`.
    pub(crate) fn start(id: &str) -> io::Result<Self> {
        let (reader, pipe) = io::pipe()?;
        let child = Command::new("/proc/self/exe")
            .arg0(NAME)
            .args([id, &getppid().to_string()])
            .env_clear()
            .current_dir("/")
            .stdin(reader)
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Self { child, pipe: Some(pipe) })
    }

    /// The pipe's end for a starting rank: see [`announce`].
    pub(crate) fn pipe(&self) -> io::Result<PipeWriter> {
        self.pipe.as_ref().ok_or(io::ErrorKind::BrokenPipe)?.try_clone()
    }

    /// Says that `group` has ended.
    pub(crate) fn forget(&mut self, group: Pid) {
        self.tell(-group.as_raw());
    }

    /// Says that the job is over, and waits until the guardian is gone.
    pub(crate) fn dismiss(mut self) {
        self.tell(0);
    }

    fn tell(&mut self, number: i32) {
        // A guardian that was killed cannot be told, and needs not.
        let _ = self.pipe.as_mut().map(|pipe| pipe.write_all(&number.to_ne_bytes()));
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        self.pipe = None;
        let _ = self.child.wait();
    }
}

/// Announces `group` from a process that is about to become a rank. Async-signal-safe.
pub(crate) fn announce(guardian: &PipeWriter, group: Pid) -> nix::Result<()> {
    // One write of four bytes to a pipe is never torn.
    nix::unistd::write(guardian, &group.as_raw().to_ne_bytes()).map(|_| ())
}

/// The life of a guardian; `arguments` are the job's id and the process id by which the user
/// knows the launcher: the front's.
pub(crate) fn main(mut arguments: impl Iterator<Item = String>) {
    let id = arguments.next().unwrap_or_default();
    let launcher = arguments.next().unwrap_or_default();
    let _ = setsid();
    let _ = prctl::set_name(c"heddle-guardian");
    let mut groups: Vec<Pid> = Vec::new();
    let mut input = io::stdin().lock();
    let mut number = [0; 4];
    while input.read_exact(&mut number).is_ok() {
        match i32::from_ne_bytes(number) {
            0 => return,
            group if group > 0 => groups.push(Pid::from_raw(group)),
            group => groups.retain(|known| known.as_raw() != -group),
        }
    }
    if groups.is_empty() || id.is_empty() {
        return;
    }
    // A standard error that nobody reads any more is no reason to leave ranks behind.
    let _ = writeln!(
        io::stderr(),
        "mpiexec: the launcher (pid {launcher}) is gone; its {} ranks have been killed",
        groups.len()
    );
    kill_all(&id, &groups);
}

/// Kills the groups and everybody else of the job, until nobody is left.
pub(crate) fn kill_all(id: &str, groups: &[Pid]) {
    for &group in groups {
        let _ = killpg(group, Signal::SIGKILL);
    }
    let deadline = Instant::now() + LAST_LOOK;
    loop {
        let left = processes::of_job(id, groups);
        for process in &left {
            let _ = kill(process.pid, Signal::SIGKILL);
        }
        if left.is_empty() || Instant::now() > deadline {
            return;
        }
        // A killed process takes a moment to go, and a parent may have had time for one more child. /proc
        // has no events to wait for.
        std::thread::sleep(LOOK_AGAIN);
    }
}

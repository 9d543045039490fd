//! Starts `mpiexec`, waits for it with a deadline, and looks for what it may have left.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigHandler, Signal, kill, signal};
use nix::unistd::Pid;

/// A job that runs longer than this hangs.
const DEADLINE: Duration = Duration::from_secs(60);
/// The variable by which everything started by a test is found again.
const MARK: &str = "HEDDLE_LAUNCHER_TEST";

/// The program that plays a rank.
pub(crate) fn rank_program() -> String {
    let mut path = std::env::current_exe().expect("the path of this test");
    path.pop();
    path.pop();
    let path = path.join("examples/rank");
    assert!(path.is_file(), "{} is missing: build it with 'cargo build --examples'", path.display());
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// The tests may have been started with signals ignored, as a shell's background jobs are;
/// `mpiexec` would go on doing so.
fn heed_signals() -> io::Result<()> {
    for ending in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // SAFETY: the default action runs no code of ours.
        unsafe { signal(ending, SigHandler::SigDfl) }?;
    }
    Ok(())
}

/// Runs `mpiexec` with `arguments` to its end. `@rank` in an argument stands for the
/// program that plays a rank.
pub(crate) fn mpiexec(arguments: &[&str]) -> Report {
    Running::start(arguments).finish()
}

/// A running `mpiexec`.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    mark: String,
    readers: Option<[JoinHandle<Vec<u8>>; 2]>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Report {
    /// The exit status, as a shell would show it.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().or(self.status.signal().map(|signal| 128 + signal)).expect("an end")
    }

    /// What the launcher itself has said.
    pub(crate) fn said(&self) -> Vec<&str> {
        self.err.lines().filter(|line| line.starts_with("mpiexec: ")).collect()
    }

    /// The lines of standard output, sorted.
    pub(crate) fn sorted(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.out.lines().collect();
        lines.sort_unstable();
        lines
    }

    /// Fails unless the job ended with `code` and one message of the launcher that holds all of `words`.
    pub(crate) fn failed(&self, code: i32, words: &[&str]) {
        let said = self.said();
        assert_eq!(said.len(), 1, "one message is expected: {self:?}");
        for word in words {
            assert!(said[0].contains(word), "{word:?} is expected in {:?}", said[0]);
        }
        assert_eq!(self.code(), code, "{self:?}");
    }

    /// Fails unless the job ended well and silently.
    pub(crate) fn went_well(&self) {
        assert_eq!((self.code(), self.err.as_str()), (0, ""), "{self:?}");
    }
}

impl Running {
    /// Starts `mpiexec` with an empty standard input.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[], |command| command)
    }

    /// Starts `mpiexec` with `input`, after `adjust` has had a say.
    pub(crate) fn start_with(
        arguments: &[&str],
        input: &[u8],
        adjust: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Self {
        let rank = rank_program();
        let arguments = arguments.iter().map(|argument| argument.replace("@rank", &rank));
        let mark = format!("{}-{:?}-{:?}", std::process::id(), thread::current().id(), Instant::now());
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpiexec"));
        command.args(arguments).env(MARK, &mark);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // SAFETY: the closure makes system calls only.
        unsafe { command.pre_exec(heed_signals) };
        let mut child = adjust(&mut command).spawn().expect("starting mpiexec");
        if let Some(mut stdin) = child.stdin.take() {
            let input = input.to_vec();
            // A job need not read its input.
            thread::spawn(move || stdin.write_all(&input));
        }
        let out = child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        let err = child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        let readers = [out, err].map(|pipe| {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                if let Some(mut pipe) = pipe {
                    pipe.read_to_end(&mut bytes).expect("reading the output");
                }
                bytes
            })
        });
        Self { child, mark, readers: Some(readers) }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("mpiexec is there");
    }

    /// Waits until the job has `count` processes besides the launcher whose command line begins with `words`.
    pub(crate) fn wait_for(&self, count: usize, words: &str) -> Vec<Pid> {
        let words = words.replace("@rank", &rank_program());
        let mut found = Vec::new();
        eventually(&format!("{count} processes with {words:?}"), || {
            found = self.processes().into_iter().filter(|(_, line)| line.starts_with(&words)).collect();
            found.len() == count
        });
        found.into_iter().map(|(pid, _)| pid).collect()
    }

    /// The job's processes, with their command lines.
    fn processes(&self) -> Vec<(Pid, String)> {
        let mut all = marked(&self.mark);
        all.retain(|(pid, _)| *pid != self.pid());
        all
    }

    /// Waits for the end, and fails if anything of the job is left then.
    pub(crate) fn finish(mut self) -> Report {
        let deadline = Instant::now() + DEADLINE;
        let status = loop {
            match self.child.try_wait().expect("waiting for mpiexec") {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    panic!("mpiexec hangs; its processes: {:?}", self.processes());
                }
                None => pause(),
            }
        };
        if status.signal().is_some() {
            // The launcher has not waited for its ranks, and the guardian needs a moment.
            eventually("the end of a killed launcher's job", || {
                marked(&self.mark).is_empty() && guardians_of(self.pid()).is_empty()
            });
        }
        assert_eq!(marked(&self.mark), [], "processes are left");
        assert_eq!(guardians_of(self.pid()), [], "a guardian is left");
        let readers = self.readers.take().expect("readers that nobody has joined");
        let [out, err] =
            readers.map(|reader| String::from_utf8_lossy(&reader.join().expect("a reader")).into_owned());
        Report { status, out, err }
    }
}

impl Drop for Running {
    /// A test that fails leaves nothing behind: the guardian sees to it.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `happened`, and fails after the deadline.
pub(crate) fn eventually(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !happened() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        pause();
    }
}

/// Between two looks at what has no event to wait for.
fn pause() {
    thread::sleep(Duration::from_millis(10));
}

fn marked(mark: &str) -> Vec<(Pid, String)> {
    let wanted = format!("{MARK}={mark}");
    all_processes()
        .filter(|(_, path)| {
            let environment = fs::read(path.join("environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|entry| entry == wanted.as_bytes())
        })
        .map(|(pid, path)| (pid, command_line(&path)))
        .collect()
}

fn guardians_of(launcher: Pid) -> Vec<Pid> {
    let ending = format!(" {launcher}");
    all_processes()
        .filter(|(_, path)| {
            let line = command_line(path);
            line.starts_with("heddle-guardian ") && line.ends_with(&ending)
        })
        .map(|(pid, _)| pid)
        .collect()
}

fn all_processes() -> impl Iterator<Item = (Pid, PathBuf)> {
    fs::read_dir("/proc").expect("/proc").filter_map(|entry| {
        let entry = entry.ok()?;
        Some((Pid::from_raw(entry.file_name().to_str()?.parse().ok()?), entry.path()))
    })
}

fn command_line(path: &std::path::Path) -> String {
    let bytes = fs::read(path.join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').replace('\0', " ")
}

//! One rank: how its process is started, and how its end is seen.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use heddle_bootstrap::builtin::env;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl;
use nix::sys::resource::{Resource, rlim_t, setrlimit};
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getppid, setpgid};

use crate::guardian::{self, Guardian};
use crate::job_line::Block;
use crate::output::Stream;
use crate::processes::Process;
use crate::redirect::Redirect;

/// What all ranks of a job have in common when they are started.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) size: u32,
    pub(crate) job_id: String,
    /// The job's memory, under the number that ranks inherit. It stays open as long as the job runs, for
    /// ranks that come by the path.
    pub(crate) memory: Arc<OwnedFd>,
    /// The signal mask the launcher was started with.
    pub(crate) mask: SigSet,
    /// The limit on open files the launcher was started with, if it has raised its own.
    pub(crate) open_files: Option<(rlim_t, rlim_t)>,
    /// Where the ranks' output goes, if not to the launcher.
    pub(crate) redirect: Redirect,
}

/// Where a rank reads from.
#[derive(Debug)]
pub(crate) enum Input {
    /// Nothing: the end of the file at once.
    Nothing,
    /// The launcher's own standard input.
    Inherited,
    /// A pipe that the front fills.
    Pipe(PipeReader),
    /// A file of its own.
    File(File),
}

/// A rank's process.
#[derive(Debug)]
pub(crate) struct Rank {
    pub(crate) rank: u32,
    /// The program, as the command line names it.
    pub(crate) program: String,
    child: Child,
    /// What it writes to standard output and standard error, until the end of each.
    pub(crate) streams: [Option<Stream>; 2],
    pub(crate) ended: Option<Ended>,
    /// The MPI process, if it is not the process that was started but a descendant.
    pub(crate) wrapped: Option<Process>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

/// Why a rank has no process.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("the program {program} was not found{hint}")]
    NotFound { program: String, hint: String },
    #[error("the program {program} cannot be run: {why}")]
    NotRunnable { program: String, why: String },
    #[error("there is no directory {0} to start in (-wdir)")]
    Directory(PathBuf),
    #[error("its output cannot go to {path}: {source}", path = path.display())]
    Output { path: PathBuf, source: io::Error },
    #[error("too many open files to start {program}: raise the limit (ulimit -n), or start fewer ranks")]
    TooManyFiles { program: String },
    #[error("the system refuses to start {program}: {source}")]
    System { program: String, source: io::Error },
}

impl StartError {
    /// The exit status a shell would give.
    pub(crate) fn status(&self) -> i32 {
        match self {
            Self::NotFound { .. } => 127,
            Self::NotRunnable { .. } | Self::Directory(_) => 126,
            Self::TooManyFiles { .. } | Self::System { .. } | Self::Output { .. } => 1,
        }
    }
}

impl Rank {
    /// Starts `rank` with the program of `block`, which is number `appnum` on the command line.
    pub(crate) fn start(
        common: &Common,
        (appnum, block): (usize, &Block),
        rank: u32,
        input: Input,
        place: Option<CpuSet>,
        guardian: &Guardian,
    ) -> Result<Self, StartError> {
        let program = block.program.to_string_lossy().into_owned();
        if let Some(directory) = &block.directory
            && !directory.is_dir()
        {
            return Err(StartError::Directory(directory.clone()));
        }
        let system = |source| system_error(program.clone(), source);
        let (stdout, stdout_end) = io::pipe().map_err(system)?;
        let (stderr, stderr_end) = io::pipe().map_err(system)?;
        let mut files =
            common.redirect.files(rank).map_err(|(path, source)| StartError::Output { path, source })?;
        let copies = if common.redirect.copies { std::mem::take(&mut files) } else { [None, None] };
        let [to_file, err_to_file] = files.map(|file| file.map(|(_, file)| OwnedFd::from(file)));
        let out_end = to_file.map_or_else(|| stdout_end.try_clone().map(OwnedFd::from), Ok);
        let out_end: OwnedFd = out_end.map_err(system)?;
        let err_end = match err_to_file {
            Some(file) => file,
            None if common.redirect.merges => out_end.try_clone().map_err(system)?,
            None => stderr_end.into(),
        };
        drop(stdout_end);
        let memory = common.memory.as_raw_fd();
        let mut command = Command::new(block.located_program());
        if let Some(names) = &block.inherited {
            command.env_clear().envs(inherited(names));
        }
        command.args(&block.arguments).envs(block.environment.iter().map(|(name, value)| (name, value)));
        command
            .env(env::RANK, rank.to_string())
            .env(env::SIZE, common.size.to_string())
            .env(env::APPNUM, appnum.to_string())
            .env(env::JOB_FD, memory.to_string())
            .env(env::JOB_PATH, format!("/proc/{}/fd/{memory}", std::process::id()))
            .env(env::JOB_ID, &common.job_id)
            .stdin(match input {
                Input::Nothing => Stdio::null(),
                Input::Inherited => Stdio::inherit(),
                Input::Pipe(pipe) => pipe.into(),
                Input::File(file) => file.into(),
            })
            .stdout(out_end)
            .stderr(err_end);
        if let Some(directory) = &block.directory {
            command.current_dir(directory);
        }
        let become_rank = become_rank(common, place, guardian.pipe().map_err(system)?);
        // SAFETY: the closure makes only system calls; it neither allocates nor takes a lock.
        unsafe { command.pre_exec(become_rank) };
        let child = command.spawn().map_err(|error| explain(block, error))?;
        let [out_copy, err_copy] = copies;
        let streams = [Stream::new(rank, stdout, out_copy), Stream::new(rank, stderr, err_copy)].map(Some);
        Ok(Self { rank, program, child, streams, ended: None, wrapped: None })
    }

    /// The process that was started, which leads the rank's process group.
    pub(crate) fn group(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Returns true if the process is running.
    pub(crate) fn is_running(&self) -> bool {
        self.ended.is_none()
    }

    /// Sends a signal to everybody in the rank's process group.
    pub(crate) fn signal(&self, signal: Signal) {
        // The leader has not been reaped, so the group's number is still ours; nobody may be left in it.
        let _ = killpg(self.group(), signal);
    }

    /// Looks whether the process has ended; true when it is seen for the first time. The process stays a
    /// zombie, so that its group's number is not given to another, until [`reap`](Self::reap).
    pub(crate) fn has_just_ended(&mut self) -> bool {
        if self.ended.is_some() {
            return false;
        }
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        self.ended = match waitid(Id::Pid(self.group()), flags) {
            Ok(WaitStatus::Exited(_, code)) => Some(Ended::Code(code)),
            Ok(WaitStatus::Signaled(_, signal, _)) => Some(Ended::Signal(signal as i32)),
            Ok(_) => None,
            // Either a signal without a name (a real-time one): the group goes first, since this look reaps.
            // Or the system refuses the call, as a filter of system calls may: then the rank may be running.
            Err(error) => {
                if error == Errno::EINVAL {
                    self.signal(Signal::SIGKILL);
                }
                let status = self.child.try_wait().ok().flatten();
                status.map(|status| {
                    use std::os::unix::process::ExitStatusExt;
                    status.signal().map_or(Ended::Code(status.code().unwrap_or(1)), Ended::Signal)
                })
            }
        };
        self.ended.is_some()
    }

    /// Kills what is left of the rank's group and lets the process go.
    pub(crate) fn reap(&mut self, guardian: &mut Guardian) {
        self.signal(Signal::SIGKILL);
        guardian.forget(self.group());
        // The process has ended or has just been killed.
        let _ = self.child.wait();
    }
}

/// The variables of the launcher that a rank inherits if it does not inherit all: those of Heddle, and these.
fn inherited(names: &[OsString]) -> impl Iterator<Item = (OsString, OsString)> {
    let is_ours = |name: &OsString| name.to_string_lossy().starts_with("HEDDLE_");
    std::env::vars_os().filter(move |(name, _)| is_ours(name) || names.contains(name))
}

/// What the new process does before it runs the program.
fn become_rank(
    common: &Common,
    place: Option<CpuSet>,
    guardian: PipeWriter,
) -> impl FnMut() -> io::Result<()> + Send + Sync + 'static {
    let launcher = Pid::this();
    let memory = Arc::clone(&common.memory);
    let mask = common.mask;
    let open_files = common.open_files;
    move || {
        let own = Pid::this();
        setpgid(own, own)?;
        guardian::announce(&guardian, own)?;
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        if getppid() != launcher {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        fcntl(memory.as_fd(), FcntlArg::F_SETFD(FdFlag::empty()))?;
        if let Some((soft, hard)) = open_files {
            setrlimit(Resource::RLIMIT_NOFILE, soft, hard)?;
        }
        if let Some(place) = &place {
            // A processor that has gone away since is no reason not to run.
            let _ = sched_setaffinity(Pid::from_raw(0), place);
        }
        mask.thread_set_mask()?;
        Ok(())
    }
}

/// Says in words why a program did not start.
fn explain(block: &Block, error: io::Error) -> StartError {
    let program = block.program.to_string_lossy().into_owned();
    let path = block.directory.as_deref().unwrap_or(Path::new("")).join(&block.program);
    match error.kind() {
        io::ErrorKind::NotFound if program.contains('/') && path.is_file() => StartError::NotRunnable {
            program,
            why: "the interpreter or loader it names (first line '#!...') does not exist".to_owned(),
        },
        io::ErrorKind::NotFound => {
            let hint = if program.contains('/') {
                ""
            } else if block.path.is_some() {
                " in the directories of -path, nor in PATH"
            } else if path.is_file() {
                " in PATH; one of that name is in the working directory: write it with ./ before the name"
            } else {
                " in PATH"
            };
            StartError::NotFound { program, hint: hint.to_owned() }
        }
        io::ErrorKind::PermissionDenied => {
            let why = if path.is_dir() { "it is a directory" } else { "no permission; is it executable?" };
            StartError::NotRunnable { program, why: why.to_owned() }
        }
        _ if error.raw_os_error() == Some(nix::libc::ENOEXEC) => StartError::NotRunnable {
            program,
            why: "it is neither a program for this machine nor a script".to_owned(),
        },
        _ => system_error(program, error),
    }
}

fn system_error(program: String, source: io::Error) -> StartError {
    if source.raw_os_error() == Some(nix::libc::EMFILE) {
        return StartError::TooManyFiles { program };
    }
    StartError::System { program, source }
}

//! From a command line to running ranks.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use heddle_bootstrap::{BootstrapError, JobControl};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

use crate::binding;
use crate::command_line::{Binding, JobLine};
use crate::guardian::Guardian;
use crate::output::{Sink, Source};
use crate::rank::{Common, Input};
use crate::signals::Signals;
use crate::supervisor::{Sinks, Supervisor};

/// The lowest number for the descriptor of the job's memory: above those that scripts use for themselves.
const MEMORY_FD: i32 = 48;
/// Open files of the launcher besides those of its ranks.
const OWN_FILES: rlim_t = 64;
/// Open files of the launcher for one rank: two pipes, and both ends of one while it starts.
const RANK_FILES: rlim_t = 3;

/// Why there is no job.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    #[error("the job has {0} ranks; at most 65536 are possible")]
    TooMany(u64),
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    #[error("{what}: {source}")]
    System { what: &'static str, source: io::Error },
    #[error(
        "mpiexec may have {limit} open files here, and needs about {needed} for {ranks} ranks: raise the limit \
         (ulimit -n {needed}, or the hard limit, ulimit -Hn)"
    )]
    OpenFiles { limit: rlim_t, needed: rlim_t, ranks: u32 },
    #[error(
        "there is no /proc here, where mpiexec finds itself and the processes of a job: mount it \
         (mount -t proc proc /proc)"
    )]
    NoProc,
}

fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> LaunchError {
    move |error| LaunchError::System { what, source: error.into() }
}

/// Starts all ranks, rank 0 with `input`, or with the launcher's own if there is none. A rank that cannot be
/// started is a failure of the job, which the supervisor then ends.
pub(crate) fn start(line: &JobLine, input: Option<PipeReader>) -> Result<Supervisor, LaunchError> {
    let ranks = line.blocks.iter().map(|block| u64::from(block.ranks)).sum();
    let size = u32::try_from(ranks).map_err(|_| LaunchError::TooMany(ranks))?;
    start_job(line, size, input).map_err(|error| match error {
        LaunchError::System { source, .. }
        | LaunchError::Bootstrap(BootstrapError::System { source, .. })
            if source.raw_os_error() == Some(nix::libc::EMFILE) =>
        {
            let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft);
            LaunchError::OpenFiles { limit, needed: needed_files(size), ranks: size }
        }
        error => error,
    })
}

fn start_job(line: &JobLine, size: u32, input: Option<PipeReader>) -> Result<Supervisor, LaunchError> {
    if !Path::new("/proc/self").exists() {
        return Err(LaunchError::NoProc);
    }
    let signals = Signals::take().map_err(system("taking over signals"))?;
    let open_files = allow_open_files(size);
    let job = JobControl::create(size)?;
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let job_id = format!("{}-{}", std::process::id(), since_epoch.as_nanos());
    let guardian = Guardian::start(&job_id).map_err(system("starting the guardian"))?;
    let wake = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
        .map_err(system("making an eventfd"))?;
    let wake = Arc::new(wake);
    let mut sinks = open_sinks(line.labels, &wake).map_err(system("opening the output"))?;
    let memory = high_descriptor(&job).map_err(system("duplicating the job's descriptor"))?;
    let mut first_input = input.map_or(Input::Inherited, Input::Pipe);
    let mut places = match line.binding {
        Binding::None => Vec::new(),
        Binding::Core => binding::places(size).unwrap_or_else(|why| {
            let note = format!("mpiexec: --bind-to core has no effect: {why}\n");
            sinks.err().put(Source::Launcher, note.as_bytes());
            Vec::new()
        }),
    }
    .into_iter();
    let common = Common { size, job_id, memory: Arc::new(memory), mask: signals.original_mask, open_files };
    let mut supervisor = Supervisor::new(job, common, signals, guardian, (sinks, wake));
    let everybody = line.blocks.iter().enumerate().flat_map(|block| (0..block.1.ranks).map(move |_| block));
    for program in everybody {
        let input = std::mem::replace(&mut first_input, Input::Nothing);
        if !supervisor.start_rank(program, input, places.next()) {
            break;
        }
    }
    Ok(supervisor)
}

fn open_sinks(labels: bool, wake: &Arc<EventFd>) -> io::Result<Sinks> {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let out = Sink::new(stdout.as_fd(), labels, Arc::clone(wake))?;
    // One file behind both needs one writer, or lines of the two would be mixed.
    let same = match (nix::sys::stat::fstat(stdout.as_fd()), nix::sys::stat::fstat(stderr.as_fd())) {
        (Ok(one), Ok(other)) => (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino),
        _ => false,
    };
    let err = if same { None } else { Some(Sink::new(stderr.as_fd(), labels, Arc::clone(wake))?) };
    Ok(Sinks::new(out, err))
}

/// The job's memory under a number that is unlikely to be in a script's way, if the limit on open files lets
/// it have such a number.
fn high_descriptor(job: &JobControl) -> nix::Result<OwnedFd> {
    let fd = match fcntl(job.fd(), FcntlArg::F_DUPFD_CLOEXEC(MEMORY_FD)) {
        Err(Errno::EINVAL) => fcntl(job.fd(), FcntlArg::F_DUPFD_CLOEXEC(0))?,
        result => result?,
    };
    // SAFETY: the kernel has just given this descriptor to us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The open files that the launcher of that many ranks needs.
fn needed_files(ranks: u32) -> rlim_t {
    rlim_t::from(ranks) * RANK_FILES + OWN_FILES
}

/// Raises the launcher's limit on open files if the job needs it, and returns the limits
/// that the ranks are to have.
fn allow_open_files(ranks: u32) -> Option<(rlim_t, rlim_t)> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    let needed = needed_files(ranks);
    if soft >= needed {
        return None;
    }
    // If the hard limit is too low as well, starting a rank will say so.
    setrlimit(Resource::RLIMIT_NOFILE, needed.min(hard), hard).ok()?;
    Some((soft, hard))
}

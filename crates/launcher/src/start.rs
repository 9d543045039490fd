//! From a command line to running ranks.

use std::fs::File;
use std::io::{self, PipeReader, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use heddle_bootstrap::{BootstrapError, JobControl};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

use crate::command_line;
use crate::guardian::Guardian;
use crate::job_line::JobLine;
use crate::output::{Labels, Sink, Source};
use crate::placement;
use crate::rank::{Common, Input};
use crate::redirect::InputTo;
use crate::signals::{ENDING, Signals};
use crate::supervisor::{Sinks, Supervisor};

/// The lowest number for the descriptor of the job's memory: above those that scripts use for themselves.
const MEMORY_FD: i32 = 48;
/// The variable that holds the time limit of jobs in seconds, as MPICH's and Open MPI's launchers have it.
const TIME_LIMIT: &str = "MPIEXEC_TIMEOUT";
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
    #[error("the input goes to rank {rank}, and the job has {size} ranks")]
    NoReader { rank: u32, size: u32 },
    #[error(transparent)]
    TimeLimit(command_line::UsageError),
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
    let mut inputs = Inputs::new(line.input, input, size, &signals)?;
    let mut say = |text: String| sinks.err().put(Source::Launcher, format!("mpiexec: {text}\n").as_bytes());
    line.notes.iter().cloned().for_each(&mut say);
    if line.shows_map {
        let ranks: Vec<String> = (0..size).map(|rank| rank.to_string()).collect();
        say(format!("({}:{})", heddle_bootstrap::host(), ranks.join(",")));
    }
    let places = places(line, size, &mut say);
    let mut places = places.iter().map(|place| placement::set(place));
    let common = Common {
        size,
        job_id,
        memory: Arc::new(memory),
        mask: signals.original_mask,
        open_files,
        redirect: line.redirect.clone(),
    };
    let mut supervisor = Supervisor::new(job, common, signals, guardian, (sinks, wake));
    if let Some(limit) = time_limit(line)? {
        supervisor.end_after(limit);
    }
    let everybody = line.blocks.iter().enumerate().flat_map(|block| (0..block.1.ranks).map(move |_| block));
    for (rank, program) in (0..).zip(everybody) {
        let input = inputs.of(rank).map_err(system("opening the input for a rank"))?;
        if !supervisor.start_rank(program, input, places.next()) {
            break;
        }
    }
    Ok(supervisor)
}

/// The ranks' places, none if the kernel places them; says where they are, if that is wanted.
fn places(line: &JobLine, size: u32, say: &mut impl FnMut(String)) -> placement::Places {
    let chosen = placement::choose(&line.placement, size as usize).unwrap_or_else(|why| {
        say(format!("ranks are not bound to cores: {why}"));
        None
    });
    if line.placement.is_reported {
        match &chosen {
            None => say("the kernel places the ranks: they are bound to nothing".to_owned()),
            Some((machine, places)) => {
                for (rank, place) in places.iter().enumerate() {
                    say(format!("rank {rank}: {}", placement::picture(machine, place)));
                }
            }
        }
    }
    chosen.map_or_else(Vec::new, |(_, places)| places)
}

/// The job's time limit, from an option, or from the variable that other launchers have for it.
fn time_limit(line: &JobLine) -> Result<Option<Duration>, LaunchError> {
    match (line.time_limit, std::env::var_os(TIME_LIMIT)) {
        (Some(limit), _) => Ok(Some(limit)),
        (None, Some(value)) if !value.is_empty() => {
            Ok(Some(command_line::seconds(TIME_LIMIT, &value).map_err(LaunchError::TimeLimit)?))
        }
        (None, _) => Ok(None),
    }
}

/// The launcher's input, for those who read it.
struct Inputs {
    to: InputTo,
    /// What the reader gets, until it has it.
    first: Option<Input>,
    /// All of it, for all ranks.
    copied: Option<File>,
}

impl Inputs {
    fn new(
        to: InputTo,
        input: Option<PipeReader>,
        size: u32,
        signals: &Signals,
    ) -> Result<Self, LaunchError> {
        if let InputTo::Rank(rank) = to
            && rank >= size
        {
            return Err(LaunchError::NoReader { rank, size });
        }
        if to == InputTo::All {
            let copied = copy_of(input, signals).map_err(system("reading the input for all ranks"))?;
            return Ok(Self { to, first: None, copied: Some(copied) });
        }
        Ok(Self { to, first: Some(input.map_or(Input::Inherited, Input::Pipe)), copied: None })
    }

    fn of(&mut self, rank: u32) -> io::Result<Input> {
        let own = match (&self.copied, self.to) {
            // A second descriptor of the same file would share its place in the file.
            (Some(copied), _) => {
                Some(Input::File(File::open(format!("/proc/self/fd/{}", copied.as_raw_fd()))?))
            }
            (None, InputTo::Rank(reader)) if reader == rank => self.first.take(),
            _ => None,
        };
        Ok(own.unwrap_or(Input::Nothing))
    }
}

/// The launcher's input up to its end, in a file of memory. A signal to end is an end here.
fn copy_of(input: Option<PipeReader>, signals: &Signals) -> io::Result<File> {
    let mut copy = File::from(memfd_create("heddle-input", MFdFlags::MFD_CLOEXEC)?);
    let stdin = io::stdin();
    let source = input.as_ref().map_or(stdin.as_fd(), AsFd::as_fd);
    let mut piece = [0; 1 << 16];
    loop {
        let mut fds =
            [PollFd::new(source, PollFlags::POLLIN), PollFd::new(signals.fd.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::NONE)?;
        while let Some(signal) = signals.next() {
            if ENDING.contains(&signal) {
                return Err(io::Error::other(format!("ended by {signal}")));
            }
        }
        if fds[0].any().unwrap_or(true) {
            match nix::unistd::read(source, &mut piece)? {
                0 => return Ok(copy),
                read => copy.write_all(&piece[..read])?,
            }
        }
    }
}

fn open_sinks(labels: Labels, wake: &Arc<EventFd>) -> io::Result<Sinks> {
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

//! A rank's side of the job.

use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use heddle_platform::atomic::Ordering;

use crate::builtin::env::Contract;
use crate::control::{AGREEMENTS, Control, MAGIC, RankState, VERSION, control_len};
use crate::descriptor::{close_on_exec, duplicate};
use crate::{BootstrapError, Mapping, MemoryFile};

/// The memory that this rank shares with its launcher and with the other ranks.
#[derive(Debug)]
pub struct Job {
    file: Arc<MemoryFile>,
    control: Control,
    rank: u32,
    /// The number of the rank's slot in the control block.
    slot: u32,
    /// Present if a rank of this machine has made the memory.
    made_here: Option<MadeHere>,
}

/// The memory that the lowest rank of a machine has made, since no launcher of ours has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MadeHere {
    /// The number of the rank's slot, and how many there are.
    pub(crate) slot: u32,
    pub(crate) slots: u32,
    /// The number of ranks that open it, for the rank that has made it; 0 for the others.
    pub(crate) expects: u32,
    /// Waits until all ranks of the job have come here, if they run on several machines.
    pub(crate) meet: fn(),
    /// Tells the launcher that the rank needs neither it nor the other ranks any more.
    pub(crate) finish: fn(),
    /// Does both when the process ends.
    pub(crate) finish_at_exit: fn(),
    /// Takes that back.
    pub(crate) go_on: fn(),
}

impl Job {
    /// How many agreements ([`agree`](Self::agree)) there are.
    pub const AGREEMENTS: usize = AGREEMENTS;

    /// Finds the job's memory by the inherited descriptor or else by the path.
    pub(crate) fn open(contract: &Contract) -> Result<Self, BootstrapError> {
        let by_fd = duplicate(contract.job_fd).and_then(|fd| Self::check(fd, contract.size));
        let file = match by_fd {
            Ok(file) => {
                close_on_exec(contract.job_fd);
                file
            }
            Err(by_fd) => open_path(contract)
                .and_then(|file| Self::check(file, contract.size))
                .map_err(|by_path| BootstrapError::Unreachable { rank: contract.rank, by_fd, by_path })?,
        };
        let (rank, control) = (contract.rank, control_of(&file, contract.size)?);
        let file = held(file, contract.job_path.clone())?;
        Ok(Self { file, control, rank, slot: rank, made_here: None })
    }

    /// Takes the memory that a rank of this machine has made, to which `path` leads if another process has
    /// made it. This process is `rank`.
    pub(crate) fn made_here(
        (file, path): (File, Option<PathBuf>),
        rank: u32,
        made_here: MadeHere,
    ) -> Result<Self, BootstrapError> {
        let MadeHere { slot, slots, .. } = made_here;
        let file = Self::check(file, slots).map_err(|why| BootstrapError::Hidden { rank, why })?;
        let control = control_of(&file, slots)?;
        control.join();
        let file = held(file, path)?;
        Ok(Self { file, control, rank, slot, made_here: Some(made_here) })
    }

    /// Returns `file` if it is the memory of a job of that size; otherwise returns the reason why it is not.
    fn check(file: File, size: u32) -> Result<File, String> {
        let len = file.metadata().map_err(|error| error.to_string())?.len();
        if len < control_len(size) as u64 {
            return Err(format!("not the memory of a job of {size} ranks: only {len} bytes long"));
        }
        let mut head = [0; 16];
        file.read_exact_at(&mut head, 0).map_err(|error| error.to_string())?;
        let word = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if head[..8] != MAGIC.to_ne_bytes() {
            return Err("not the memory of a Heddle job".to_owned());
        }
        if word(8) != VERSION {
            return Err(format!(
                "made by another release of mpiexec (layout {}, this library has {VERSION}): use the mpiexec \
                 that came with the library",
                word(8)
            ));
        }
        if word(12) != size {
            return Err(format!("a job of {} ranks, but this rank was told of {size}", word(12)));
        }
        Ok(file)
    }

    /// Says that this process is the rank, and that it needs all others: to be called as `MPI_Init` begins.
    /// From then on the end of the process without [`set_finalised`](Self::set_finalised) ends the job.
    /// Repeating it is harmless.
    ///
    /// # Errors
    /// [`BootstrapError::Taken`] when another process was this rank before.
    pub fn set_initialised(&self) -> Result<(), BootstrapError> {
        self.claim()?;
        self.control.set_initialised(self.slot);
        Ok(())
    }

    /// Says that this process is the rank, and that others may need it: to be called as `MPI_Session_init`
    /// begins, unless the process is [initialised](Self::set_initialised), and at the end of an
    /// `MPI_Finalize` that leaves sessions.
    ///
    /// # Errors
    /// [`BootstrapError::Taken`] when another process was this rank before.
    pub fn set_in_sessions(&self) -> Result<(), BootstrapError> {
        self.claim()?;
        self.control.set_in_sessions(self.slot);
        Ok(())
    }

    fn claim(&self) -> Result<(), BootstrapError> {
        let claimed = self.control.claim(self.slot, std::process::id());
        claimed.map_err(|pid| BootstrapError::Taken { rank: self.rank, pid })?;
        if let Some(MadeHere { go_on, .. }) = self.made_here {
            go_on();
        }
        Ok(())
    }

    /// Says that the rank no longer needs the other ranks: to be called at the end of `MPI_Finalize`, and at
    /// the end of the last session after it.
    pub fn set_finalised(&self) {
        self.control.set_finalised(self.slot);
    }

    /// Says the same of a rank that has ended its last session and has never called `MPI_Init`.
    pub fn set_left(&self) {
        self.control.set_left(self.slot);
    }

    /// Waits until all ranks of a job on several machines have come here, or [exit](Self::finish_at_exit):
    /// what they have sent each other over the network may still be on its way, and goes with a process that
    /// ends. To be called before [`finish`](Self::finish).
    pub fn meet(&self) {
        if let Some(MadeHere { meet, .. }) = self.made_here {
            meet();
        }
    }

    /// Tells the launcher that the rank needs neither it nor the other ranks any more. A rank that has made
    /// the memory first waits for the others to open it, since its descriptor leads there.
    pub fn finish(&self) {
        let Some(MadeHere { expects, finish, .. }) = self.made_here else { return };
        self.control.await_joined(expects);
        finish();
    }

    /// Does the same when the process ends, unless it has sessions then, after it has
    /// [met](Self::meet) the others: a later session may need addresses from the launcher.
    pub fn finish_at_exit(&self) {
        let Some(MadeHere { expects, finish_at_exit, .. }) = self.made_here else { return };
        self.control.await_joined(expects);
        finish_at_exit();
    }

    /// Says that the rank wants the whole job to end: to be called by `MPI_Abort` before it ends the
    /// process. The launcher shows `message` (its first 232 bytes) and takes `code` as its exit
    /// status. The first call is kept.
    pub fn set_aborted(&self, code: i32, message: &str) {
        self.control.set_aborted(self.slot, code, message);
    }

    /// Reaches the same value in all ranks without waiting: the first proposal for `index` wins,
    /// and every rank gets the winner's value. The winner's writes to shared memory before its call
    /// are visible after this one.
    ///
    /// # Panics
    /// When `index` is not below [`AGREEMENTS`](Self::AGREEMENTS), or `proposal` is `u64::MAX`.
    #[must_use]
    pub fn agree(&self, index: usize, proposal: u64) -> u64 {
        self.control.agree(index, proposal)
    }

    /// The MPI process of `rank` in a job of our launcher, as soon as it has called
    /// [`set_initialised`](Self::set_initialised) or [`set_in_sessions`](Self::set_in_sessions). Always
    /// `None` if it is in another namespace of processes (another container), where its number means another
    /// process.
    ///
    /// # Panics
    /// When there is no such rank.
    #[must_use]
    pub fn pid_of(&self, rank: u32) -> Option<u32> {
        self.control.pid(rank)
    }

    /// How far `rank` has come in a job of our launcher.
    ///
    /// # Panics
    /// When there is no such rank.
    #[must_use]
    pub fn state_of(&self, rank: u32) -> RankState {
        self.control.state(rank)
    }

    /// The job's memory file. It may be made longer, never shorter.
    #[must_use]
    pub fn memory_file(&self) -> &Arc<MemoryFile> {
        &self.file
    }

    /// Where the transport's part of [`memory_file`](Self::memory_file) begins: a multiple of the page size.
    #[must_use]
    pub fn transport_offset(&self) -> u64 {
        control_len(self.control.size()) as u64
    }

    /// The process id of the launcher, or of the rank that has made the memory.
    #[must_use]
    pub fn launcher_pid(&self) -> u32 {
        self.control.header().launcher.load(Ordering::Relaxed)
    }
}

fn held(file: File, path: Option<PathBuf>) -> Result<Arc<MemoryFile>, BootstrapError> {
    let held = MemoryFile::new(file, path);
    held.map(Arc::new)
        .map_err(|source| BootstrapError::System { what: "looking at the job's memory", source })
}

fn control_of(file: &File, size: u32) -> Result<Control, BootstrapError> {
    let mapping = Mapping::shared(file.as_fd(), 0, control_len(size))
        .map_err(|source| BootstrapError::System { what: "mapping the job's control block", source })?;
    Ok(Control::new(mapping, size))
}

fn open_path(contract: &Contract) -> Result<File, String> {
    let path = contract.job_path.as_ref().ok_or("not set")?;
    OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .map_err(|error| format!("{}: {error}", path.display()))
}

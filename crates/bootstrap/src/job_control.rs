//! The launcher's side of the job.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use heddle_platform::atomic::Ordering;

use crate::control::{Control, MAGIC, MAX_SIZE, RankEntry, VERSION, control_len};
use crate::mapping::{lengthen, reserve};
use crate::{BootstrapError, Mapping};

/// The name under which `/proc/*/maps` shows the memory of a job.
const NAME: &CStr = c"heddle-job";

/// The memory of a job, as its launcher sees it. It goes away with the last process that has it open.
#[derive(Debug)]
pub struct JobControl {
    file: File,
    control: Control,
}

impl JobControl {
    /// Makes the memory of a job of `size` ranks.
    ///
    /// # Errors
    /// [`BootstrapError::Size`], or the system's error.
    pub fn create(size: u32) -> Result<Self, BootstrapError> {
        if !(1..=MAX_SIZE).contains(&size) {
            return Err(BootstrapError::Size { size, max: MAX_SIZE });
        }
        let system = |what| move |source| BootstrapError::System { what, source };
        let file = anonymous_file().map_err(system("making the job's memory file"))?;
        lengthen(file.as_fd(), control_len(size) as u64).map_err(system("sizing the job's memory file"))?;
        forbid_shrinking(&file).map_err(system("sealing the job's memory file"))?;
        let mapping = Mapping::shared(file.as_fd(), 0, control_len(size))
            .map_err(system("mapping the job's control block"))?;
        reserve(mapping.as_ptr(), mapping.len())
            .map_err(system("getting memory for the job's control block"))?;
        let control = Control::new(mapping, size);
        let header = control.header();
        // Relaxed: no rank exists yet, and starting one orders everything before it.
        header.magic.store(MAGIC, Ordering::Relaxed);
        header.version.store(VERSION, Ordering::Relaxed);
        header.size.store(size, Ordering::Relaxed);
        header.launcher.store(std::process::id(), Ordering::Relaxed);
        Ok(Self { file, control })
    }

    /// What `rank`'s slot says now.
    ///
    /// # Panics
    /// When there is no such rank.
    #[must_use]
    pub fn entry(&self, rank: u32) -> RankEntry {
        self.control.entry(rank)
    }

    /// How many ranks the job has.
    pub(crate) fn size(&self) -> u32 {
        self.control.size()
    }

    /// The file itself, for a rank that has made it.
    pub(crate) fn into_file(self) -> File {
        self.file
    }

    /// The descriptor that ranks are to inherit; it is closed on exec unless the launcher says otherwise.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn anonymous_file() -> io::Result<File> {
    // SAFETY: the name is a C string; the call touches nothing else.
    let fd = unsafe { libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given this descriptor to us.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// A file that shrinks under a mapping kills its reader by `SIGBUS`; with the seal no process can shrink it.
fn forbid_shrinking(file: &File) -> io::Result<()> {
    // SAFETY: the call only adds a seal to a file of ours.
    let status = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RankState;
    use crate::builtin::env::Contract;
    use crate::job::{Job, MadeHere};
    use heddle_platform::atomic::AtomicU32;

    fn contract(control: &JobControl, rank: u32, size: u32) -> Contract {
        Contract { rank, size, appnum: None, job_fd: control.fd().as_raw_fd(), job_path: None }
    }

    #[test]
    fn a_rank_goes_through_its_states() {
        let control = JobControl::create(3).expect("a job");
        let job = Job::open(&contract(&control, 2, 3)).expect("the same job");
        assert_eq!(control.entry(2).state, RankState::Absent);
        assert_eq!(job.pid_of(2), None);
        job.set_initialised().expect("the rank is free");
        job.set_initialised().expect("the same process may repeat it");
        assert_eq!(control.entry(2).state, RankState::Initialised);
        assert_eq!(job.pid_of(2), Some(std::process::id()));
        assert_eq!(job.launcher_pid(), std::process::id());
        job.set_finalised();
        assert_eq!(control.entry(2).state, RankState::Finalised);
        assert_eq!(control.entry(1).state, RankState::Absent);
    }

    #[test]
    fn a_rank_comes_and_goes_by_sessions() {
        let control = JobControl::create(2).expect("a job");
        let job = Job::open(&contract(&control, 1, 2)).expect("the same job");
        for _ in 0..2 {
            job.set_in_sessions().expect("the rank is free, or this process's");
            assert_eq!(control.entry(1).state, RankState::InSessions);
            assert_eq!(control.entry(1).pid, Some(std::process::id()));
            job.set_left();
            assert_eq!(control.entry(1).state, RankState::Left);
        }
        job.set_initialised().expect("this process's rank");
        assert_eq!(control.entry(1).state, RankState::Initialised);
    }

    /// The descriptor of rank 0 leads the others to the memory, so it stays until they have opened that.
    #[test]
    fn the_rank_that_made_the_memory_ends_when_all_have_opened_it() {
        static FINISHED: AtomicU32 = AtomicU32::new(0);
        let finish = || _ = FINISHED.fetch_add(1, Ordering::Relaxed);
        let file = JobControl::create(2).expect("a job").into_file();
        let other = file.try_clone().expect("a descriptor");
        let made_here = |slot, expects| {
            let meet = || panic!("nobody meets here");
            MadeHere { slot, slots: 2, expects, meet, finish, finish_at_exit: finish, go_on: || () }
        };
        let first = Job::made_here((file, None), 1_000_000, made_here(0, 2)).expect("the job");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                first.set_finalised();
                first.finish();
            });
            while first.state_of(0) != RankState::Finalised {
                std::thread::yield_now();
            }
            (0..100).for_each(|_| std::thread::yield_now());
            assert_eq!(FINISHED.load(Ordering::Relaxed), 0);
            let second = Job::made_here((other, None), 1_000_001, made_here(1, 0)).expect("the same job");
            second.set_initialised().expect("its own slot");
        });
        assert_eq!(FINISHED.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn the_first_abort_is_kept() {
        let control = JobControl::create(1).expect("a job");
        let job = Job::open(&contract(&control, 0, 1)).expect("the same job");
        let long = "é".repeat(200);
        job.set_aborted(7, &long);
        job.set_aborted(8, "later");
        job.set_finalised();
        let entry = control.entry(0);
        assert_eq!((entry.state, entry.abort_code), (RankState::Aborted, 7));
        assert_eq!(entry.abort_message, "é".repeat(116));
    }

    #[test]
    fn the_first_proposal_wins() {
        let control = JobControl::create(2).expect("a job");
        let jobs = [0, 1].map(|rank| Job::open(&contract(&control, rank, 2)).expect("the same job"));
        assert_eq!(jobs[1].agree(5, 0), 0);
        assert_eq!(jobs[0].agree(5, 9), 0);
        assert_eq!(jobs[0].agree(Job::AGREEMENTS - 1, u64::MAX - 1), u64::MAX - 1);
        assert_eq!(jobs[1].agree(Job::AGREEMENTS - 1, 3), u64::MAX - 1);
    }

    #[test]
    fn the_transport_may_grow_the_file_but_nobody_shrinks_it() {
        let control = JobControl::create(2).expect("a job");
        let job = Job::open(&contract(&control, 0, 2)).expect("the same job");
        let copy = job.memory_file().with(|fd| fd.try_clone_to_owned()).expect("a descriptor");
        let (file, offset) = (File::from(copy), job.transport_offset());
        file.set_len(offset + 4096).expect("growing");
        let mapping = job.memory_file().with(|fd| Mapping::shared(fd, offset, 4096));
        let mapping = mapping.expect("mapping behind the control block");
        assert_eq!(mapping.len(), 4096);
        file.set_len(offset).expect_err("shrinking is sealed");
    }

    #[test]
    fn another_file_or_another_size_is_refused() {
        let control = JobControl::create(2).expect("a job");
        let error = Job::open(&contract(&control, 0, 1)).expect_err("HEDDLE_SIZE is wrong");
        assert!(error.to_string().contains("a job of 2 ranks"), "{error}");
        let null = File::open("/dev/null").expect("the null device");
        let other = Contract { rank: 0, size: 2, appnum: None, job_fd: null.as_raw_fd(), job_path: None };
        let error = Job::open(&other).expect_err("not a job");
        assert!(error.to_string().contains("HEDDLE_JOB_FD"), "{error}");
        let path = format!("/proc/self/fd/{}", control.fd().as_raw_fd());
        Job::open(&Contract { job_path: Some(path.into()), ..other }).expect("the path leads to the job");
    }

    #[test]
    fn a_job_has_a_rank() {
        JobControl::create(0).expect_err("no ranks");
        JobControl::create(MAX_SIZE + 1).expect_err("too many ranks");
    }
}

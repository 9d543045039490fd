//! For tests: the ranks of a job, played by threads of one process.
//!
//! Each rank has all that a process has: its world, its domain, its VNIs and communicators. What the ranks
//! share is what processes share, the job's memory. So the protocols of the library run as they do between
//! processes, in a test program that a debugger, a sanitizer or Miri sees whole.
//!
//! ```
//! heddle_ranks::Ranks::new(2).run(|rank| {
//!     let world = heddle_comm::CommRef::world().expect("between MPI_Init and MPI_Finalize");
//!     assert_eq!((world.rank(), world.size()), (rank, 2));
//! });
//! ```

#![cfg(feature = "played")]

use heddle_bootstrap::JobControl;
use heddle_model::Model;
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::per_process;
use heddle_process::init;
use heddle_settings::Settings;
use heddle_spec::constants as mpi;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::exit;
use std::sync::mpsc;
use std::time::Duration;

/// The numbers of the processes that are played: each run has others, since what a process is made of stays.
static NEXT: AtomicU32 = AtomicU32::new(1);

/// How long a run waits for the end of the next rank.
const PATIENCE: Duration = Duration::from_secs(300);

/// Ends the program and says why, past the test harness, which would keep that until the test's end.
fn give_up(who: &str, why: &str) -> ! {
    let _ = writeln!(io::stderr(), "{who}: {why}");
    exit(101)
}

/// A job to run.
#[derive(Debug)]
pub struct Ranks {
    size: u32,
    settings: Settings,
}

impl Ranks {
    /// A job of that many ranks with the default settings, or those of the environment.
    ///
    /// # Panics
    /// If the environment has wrong ones.
    #[must_use]
    pub fn new(size: u32) -> Self {
        Self { size, settings: Settings::chosen().expect("right settings in the environment") }
    }

    /// The same job with other settings.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// The same job under another model.
    ///
    /// # Panics
    /// If there is no such model.
    #[must_use]
    pub fn under(self, model: &str) -> Self {
        let model = Model::named(model).expect("a model");
        self.with(|settings| settings.model = model)
    }

    /// Calls `rank` with the number of each rank, in a thread that plays its process between `MPI_Init` and
    /// `MPI_Finalize`, at `MPI_THREAD_MULTIPLE`. A thread that a rank starts has to
    /// [`join`](PlayedRank::join) it.
    ///
    /// A panic ends the program, as no other rank may go on. So does a wait of five minutes for the next
    /// rank's end.
    ///
    /// # Panics
    /// If there is no memory for the job.
    pub fn run(&self, rank: impl Fn(usize) + Sync) {
        let job = JobControl::create(self.size).expect("the memory of a job");
        let first = NEXT.fetch_add(self.size, Ordering::Relaxed);
        let (tell, told) = mpsc::channel();
        std::thread::scope(|scope| {
            for number in 0..self.size {
                let (job, rank, tell) = (&job, &rank, tell.clone());
                scope.spawn(move || {
                    per_process::play(first + number);
                    let done = catch_unwind(AssertUnwindSafe(|| {
                        let world = job.world_of(number).expect("a place in the job");
                        init::initialize_in(world, self.settings.clone(), mpi::MPI_THREAD_MULTIPLE)
                            .expect("a start");
                        rank(number as usize);
                        init::finalize().expect("an end");
                    }));
                    if let Err(why) = done {
                        let text = why.downcast_ref::<String>().map(String::as_str);
                        give_up(
                            &format!("rank {number}"),
                            text.or(why.downcast_ref().copied()).unwrap_or("it panicked"),
                        );
                    }
                    let _ = tell.send(());
                });
            }
            for _ in 0..self.size {
                if told.recv_timeout(PATIENCE).is_err() {
                    give_up("ranks", "some wait in vain");
                }
            }
        });
    }
}

/// The process of a thread, for threads that it starts.
#[derive(Debug, Clone, Copy)]
pub struct PlayedRank(u32);

impl PlayedRank {
    /// The calling thread's.
    #[must_use]
    pub fn here() -> Self {
        Self(per_process::played())
    }

    /// Makes the calling thread one of its threads.
    pub fn join(self) {
        per_process::play(self.0);
    }
}

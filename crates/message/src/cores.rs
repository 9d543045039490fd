//! How the processes of a machine share its cores.
//!
//! Each says on which cores it may run, and how many of its threads call MPI. Those that may run on the
//! same cores share these; a process that its launcher has bound to cores of its own has them for itself.
//! Sets that overlap in part are taken for different ones.

use heddle_model::counters::{each_thread_has_core, share_cores};
use heddle_platform::atomic::{AtomicU8, Ordering};
use heddle_platform::background::allowed_cores;
use heddle_platform::thread;
use heddle_transport::Fabric;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The cores of this process.
#[derive(Debug)]
pub(crate) struct Cores {
    count: u32,
    /// The name that all processes with these cores give them.
    digest: u64,
    /// Says whether each of these processes may have one: `UNKNOWN`, `YES` or `NO`.
    is_one_each: AtomicU8,
}

const UNKNOWN: u8 = 0;
const YES: u8 = 1;
const NO: u8 = 2;

impl Cores {
    /// Says to the other processes which cores this one has, and from now on how many threads.
    pub(crate) fn share(fabric: &Fabric) -> Cores {
        let cores = allowed_cores();
        let mut hasher = DefaultHasher::new();
        cores.hash(&mut hasher);
        // 0 stands in the line of a process that has not said anything.
        let (digest, count) = (hasher.finish() | 1, cores.len() as u32);
        // As if all had as many threads, at least.
        let least = count / fabric.local_ranks().len().max(1) as u32;
        let shared = fabric.clone();
        share_cores(move |threads| count.saturating_sub(shared.share_cores(digest, threads)).max(least));
        // Says it now.
        each_thread_has_core();
        let cores = Cores { count, digest, is_one_each: AtomicU8::new(UNKNOWN) };
        cores.look(fabric);
        cores
    }

    /// Returns true if each process that may run on these cores may have one of its own.
    #[inline(always)]
    pub(crate) fn are_one_each(&self, fabric: &Fabric) -> bool {
        // Relaxed: a hint.
        match self.is_one_each.load(Ordering::Relaxed) {
            YES => true,
            NO => false,
            _ => self.look(fabric),
        }
    }

    /// Until all processes have said which cores they have, those that have not count.
    #[cold]
    fn look(&self, fabric: &Fabric) -> bool {
        let (processes, have_all_said) = fabric.processes_on(self.digest);
        thread::set_processes_per_core(processes.div_ceil(self.count.max(1)));
        let has = processes <= self.count;
        if has || have_all_said {
            self.is_one_each.store(if has { YES } else { NO }, Ordering::Relaxed);
        }
        has
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_bootstrap::JobControl;

    fn fabrics() -> [Fabric; 2] {
        let job = JobControl::create(2).expect("the memory of a job");
        [0, 1].map(|rank| {
            let world = job.world_of(rank).expect("the job is there");
            Fabric::attach(&world, 1).expect("a segment")
        })
    }

    fn one_core(digest: u64) -> Cores {
        Cores { count: 1, digest, is_one_each: AtomicU8::new(UNKNOWN) }
    }

    /// One test, since the number of processes per core is that of the whole process.
    #[test]
    fn processes_that_are_bound_to_a_core_have_one_each_unless_it_is_the_same() {
        let [mine, other] = fabrics();
        let cores = one_core(3);
        mine.share_cores(3, 1);
        assert!(!cores.are_one_each(&mine), "the other one may be bound to the same");
        assert_eq!(thread::processes_per_core(), 2);
        other.share_cores(5, 4);
        assert!(cores.are_one_each(&mine));
        assert_eq!(thread::processes_per_core(), 1);

        let [mine, other] = fabrics();
        let cores = one_core(3);
        mine.share_cores(3, 1);
        other.share_cores(3, 1);
        assert!(!cores.are_one_each(&mine));
        assert_eq!(thread::processes_per_core(), 2);
        assert_eq!(cores.is_one_each.load(Ordering::Relaxed), NO, "nobody has to ask again");
        assert!(Cores { count: 2, ..one_core(3) }.are_one_each(&mine));
    }
}

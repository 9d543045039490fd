//! Jobs of launchers that are not Heddle's own, whatever their protocol is ([`Connection`]).
//!
//! Over the connection to its launcher, ranks exchange words by name, wait for each other, and say that they
//! end. There is no launcher of ours that could make the memory of a machine's ranks, so each rank makes
//! some, and that of the lowest rank of the machine is taken; it lies behind a descriptor of that rank, which
//! the others open through `/proc`. Like the memory that `mpiexec` makes, it has no name, and goes away with
//! the last process that has it open.
//!
//! ```text
//!   the lowest rank of a machine   another rank of the machine
//!   makes memory                   makes memory
//!   puts host, machine, process, descriptor: both do, and their addresses in the network
//!   ---------------------- fence: all ranks of the job ----------------------
//!   get the words of the ranks that may be on the same machine
//!   keeps its memory               gives up its own, opens that of the lowest rank, counts itself in
//!   ...                            ...
//!   ends: waits until all have counted themselves in, since the descriptor ends with it
//! ```
//!
//! Ranks on several machines meet once more before they leave (`meet`): when they finalize MPI, or when they
//! exit if one of them has had sessions.
//!
//! The launcher says which ranks may be on the same machine; if it says nothing, all may be. Addresses are
//! fetched when a rank first sends to another.
//!
//! The launcher supervises: it ends the job when a process dies, or when a rank says over the connection that
//! it aborts. If its process on a machine dies, the ranks there end themselves (`orphan.rs`). All ranks have
//! to initialise MPI, since the fence waits for them.

mod connection;
mod orphan;
mod place;

use crate::job::MadeHere;
use crate::{BootstrapError, Job, JobControl, LocalRanks, World};
pub(crate) use connection::Connection;
pub use connection::{end_job, end_without_launcher, finish_alone};
use connection::{finish, finish_at_exit, go_on, hold, meet, ranks_meet, with_launcher};
pub(crate) use orphan::{THREAD as LAUNCHER_THREAD, launcher_has_ended};
use place::Place;

/// The name of the word that says where a rank runs.
fn place_name(rank: u32) -> String {
    format!("heddle-{rank}")
}

/// The name of a word that a rank leaves for the others.
fn word_name(rank: u32, index: usize) -> String {
    format!("heddle-{rank}-{index}")
}

/// A process as its launcher describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExternalJoining {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    /// The number of the program on the launcher's command line.
    pub(crate) appnum: Option<u32>,
    /// The ranks that may be on the same machine, in ascending order; `None` if the launcher does not say.
    pub(crate) beside: Option<Vec<u32>>,
}

impl ExternalJoining {
    /// Takes the connection over which the launcher has said this.
    pub(crate) fn over(self, connection: impl Connection + 'static) -> ExternalJoining {
        hold(connection);
        self
    }

    pub(crate) fn spans_machines(&self) -> Option<bool> {
        self.beside.as_ref().map(|beside| beside.len() < self.size as usize)
    }

    pub(crate) fn publish(&self, index: usize, word: &str) -> Result<(), BootstrapError> {
        with_launcher(|launcher| launcher.put(&word_name(self.rank, index), word))
    }

    pub(crate) fn join(self) -> Result<World, BootstrapError> {
        let ExternalJoining { rank, size, appnum, beside } = self;
        let beside = beside.unwrap_or_else(|| (0..size).collect());
        let slot = beside.iter().take_while(|&&other| other < rank).count() as u32;
        let slots = beside.len() as u32;
        let made = JobControl::create(slots)?;
        let here = Place::of(&made);
        let places = with_launcher(|launcher| {
            launcher.put(&place_name(rank), &here.to_string())?;
            launcher.fence()?;
            let others = beside.into_iter().filter(|&other| other != rank);
            others
                .map(|other| Ok((other, Place::parse(&launcher.get(other, &place_name(other))?)?)))
                .collect()
        });
        let mut places: Vec<(u32, Place)> = places?;
        places.retain(|(_, place)| place.is_beside(&here));
        let (lower, higher): (Vec<u32>, Vec<u32>) =
            places.iter().map(|(other, _)| *other).partition(|&other| other < rank);
        let local = LocalRanks::of([lower, vec![rank], higher].concat());
        let (file, expects) = match places.first() {
            Some((lowest, place)) if *lowest < rank => {
                let (file, path) = place.open(rank)?;
                ((file, Some(path)), 0)
            }
            _ => ((made.into_file(), None), local.len() as u32),
        };
        if local.len() < size as usize {
            ranks_meet();
        }
        let made_here = MadeHere { slot, slots, expects, meet, finish, finish_at_exit, go_on };
        let job = Job::made_here(file, rank, made_here)?;
        Ok(World { rank, size, appnum, job: Some(job), local })
    }
}

/// The word that a rank has left for the others.
pub(crate) fn word_of(rank: u32, index: usize) -> Result<String, BootstrapError> {
    with_launcher(|launcher| launcher.get(rank, &word_name(rank, index)))
}

/// The node of each of these ranks, as the launcher numbers its nodes; `None` if it does not say.
pub(crate) fn nodes_of(ranks: &[u32]) -> Option<Vec<u32>> {
    with_launcher(|launcher| Ok(launcher.nodes_of(ranks))).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};

    /// A connection that reports what is asked for, to ranks on one machine each.
    #[derive(Debug)]
    struct Reporting(Sender<String>);

    impl Reporting {
        fn report(&self, what: String) -> Result<(), BootstrapError> {
            self.0.send(what).expect("the test listens");
            Ok(())
        }
    }

    impl Connection for Reporting {
        fn put(&mut self, name: &str, _word: &str) -> Result<(), BootstrapError> {
            self.report(format!("put {name}"))
        }

        fn get(&mut self, rank: u32, name: &str) -> Result<String, BootstrapError> {
            self.report(format!("get {name} of {rank}"))?;
            Ok("elsewhere/1-2/3/4".to_owned())
        }

        fn nodes_of(&mut self, ranks: &[u32]) -> Option<Vec<u32>> {
            Some(ranks.to_vec())
        }

        fn fence(&mut self) -> Result<(), BootstrapError> {
            self.report("fence".to_owned())
        }

        fn finish(self: Box<Self>) -> Result<(), BootstrapError> {
            self.report("finish".to_owned())
        }

        fn abort(&mut self, status: i32) -> Result<(), BootstrapError> {
            self.report(format!("abort {status}"))
        }

        fn watch(&mut self) -> Result<(), BootstrapError> {
            self.report("watch".to_owned())
        }
    }

    #[test]
    fn ranks_of_two_machines_exchange_words_and_meet_at_the_end() {
        let (to, reports) = channel();
        let joining = ExternalJoining { rank: 0, size: 2, appnum: None, beside: None }.over(Reporting(to));
        assert_eq!(joining.spans_machines(), None);
        joining.publish(5, "word").expect("it is put");
        let world = joining.join().expect("a world");
        assert!(world.spans_machines());
        word_of(1, 5).expect("a word");
        assert_eq!(nodes_of(&[1, 0]), Some(vec![1, 0]));
        end_job(3);
        let job = world.job().expect("memory");
        job.meet();
        job.meet();
        job.finish();
        job.finish();
        assert!(word_of(1, 5).is_err(), "the process has left its launcher");
        assert_eq!(nodes_of(&[0]), None);
        let asked: Vec<String> = reports.iter().collect();
        let expected = [
            "put heddle-0-5",
            "put heddle-0",
            "fence",
            "get heddle-1 of 1",
            "get heddle-1-5 of 1",
            "abort 3",
            "fence",
            "finish",
        ];
        assert_eq!(asked, expected);
    }
}

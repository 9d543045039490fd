//! The paper's benchmarks of locks (section 5): LB, ECSB, SOB, WCSB and WARB.

use crate::lock::{Kind, Lock};
use crate::network::{MICROSECOND, NANOSECOND, Network, Time};
use crate::process::Process;
use crate::random::Random;
use crate::simulation::{Simulation, Stuck};
use heddle_rma_locks::{Rank, Rma};
use std::cell::RefCell;
use std::rc::Rc;

/// Processes start at random within this time: if all began at once, queues would be in the order of ranks, which
/// is as near as can be.
const START: Time = 100 * MICROSECOND;

/// What the processes do with the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Benchmark {
    /// LB and ECSB: nothing. LB is its latency, ECSB its throughput.
    Empty,
    /// SOB: one memory access in the critical section.
    SingleOperation,
    /// WCSB: an access to a shared counter and 1 to 4 µs of computing in the critical section.
    WorkloadInside,
    /// WARB: 1 to 4 µs of computing after the release.
    WaitAfterRelease,
}

/// A run: every process takes the lock a number of times.
#[derive(Debug, Clone)]
pub struct Workload {
    /// What the processes do with the lock.
    pub benchmark: Benchmark,
    /// The number of processes.
    pub processes: usize,
    /// How many times each takes the lock; a tenth of them are not counted.
    pub rounds: usize,
    /// F_W: the share of writers, drawn for each time. With several shares the workload changes: each holds for an equal part
    /// of the rounds.
    pub writers: Vec<f64>,
    /// What the random numbers depend on.
    pub seed: u64,
}

/// The figures of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Acquisitions a second, of all processes together.
    pub throughput: f64,
    /// The mean time of acquiring and releasing, in microseconds: of all, of readers, of writers. 0 if
    /// there were none.
    pub latency_us: [f64; 3],
}

#[derive(Debug, Default)]
struct Tally {
    /// How many acquisitions have ended, and how many end before the counting begins.
    ended: usize,
    skipped: usize,
    begin: Time,
    end: Time,
    /// Of readers and of writers: number, and sum of the times.
    count: [u64; 2],
    time: [Time; 2],
}

impl Tally {
    fn add(&mut self, now: Time, taken: Time, writes: bool) {
        self.ended += 1;
        if self.ended == self.skipped {
            self.begin = now;
        }
        if self.ended > self.skipped {
            self.end = now;
            self.count[usize::from(writes)] += 1;
            self.time[usize::from(writes)] += taken;
        }
    }

    fn outcome(&self) -> Outcome {
        let mean = |time: Time, count: u64| {
            if count == 0 { 0.0 } else { time as f64 / count as f64 / MICROSECOND as f64 }
        };
        let [readers, writers] = self.count;
        let seconds = (self.end - self.begin) as f64 / (1e6 * MICROSECOND as f64);
        Outcome {
            throughput: (readers + writers) as f64 / seconds,
            latency_us: [
                mean(self.time[0] + self.time[1], readers + writers),
                mean(self.time[0], readers),
                mean(self.time[1], writers),
            ],
        }
    }
}

impl Workload {
    /// Runs it with a lock on a machine.
    ///
    /// # Errors
    /// If processes wait for ever.
    pub fn run(&self, kind: Kind, network: &Network) -> Result<Outcome, Stuck> {
        let lock = Rc::new(kind.make(network, self.processes));
        let skipped = self.processes * self.rounds / 10;
        let tally = Rc::new(RefCell::new(Tally { skipped, ..Tally::default() }));
        // The shared word stands with the last process, far from the lock's words.
        let (data_home, data) = (self.processes - 1, lock.words);
        let words = lock.words + 1;
        let simulation = Simulation::new(
            network.clone(),
            |_| words,
            self.processes,
            self.seed,
            |process| {
                let (lock, tally, workload) = (Rc::clone(&lock), Rc::clone(&tally), self.clone());
                async move {
                    let mut random = Random::new(workload.seed, process.rank() as u64 + 1);
                    process.compute(random.below(START)).await;
                    for round in 0..workload.rounds {
                        let part = round * workload.writers.len() / workload.rounds;
                        let writes = random.chance(workload.writers[part]);
                        let place = (data_home, data);
                        workload.visit(&process, &lock, &tally, writes, place, &mut random).await;
                    }
                }
            },
        );
        simulation.run()?;
        let outcome = tally.borrow().outcome();
        Ok(outcome)
    }

    async fn visit(
        &self,
        process: &Process,
        lock: &Lock,
        tally: &RefCell<Tally>,
        writes: bool,
        (home, word): (Rank, usize),
        random: &mut Random,
    ) {
        let before = process.time();
        lock.acquire(process, writes).await;
        let inside = process.time();
        match self.benchmark {
            Benchmark::SingleOperation if writes => {
                process.put(1, home, word).await;
                process.flush(home).await;
            }
            Benchmark::SingleOperation => {
                process.get(home, word).await;
            }
            Benchmark::WorkloadInside => {
                if writes {
                    process.fetch_add(1, home, word).await;
                } else {
                    process.get(home, word).await;
                }
                process.compute(one_to_four_us(random)).await;
            }
            Benchmark::Empty | Benchmark::WaitAfterRelease => {}
        }
        let leaves = process.time();
        lock.release(process, writes).await;
        let after = process.time();
        tally.borrow_mut().add(after, (inside - before) + (after - leaves), writes);
        if self.benchmark == Benchmark::WaitAfterRelease {
            process.compute(one_to_four_us(random)).await;
        }
    }
}

fn one_to_four_us(random: &mut Random) -> Time {
    (1000 + random.below(3000)) * NANOSECOND
}

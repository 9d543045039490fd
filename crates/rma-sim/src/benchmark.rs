//! The paper's benchmarks of locks (section 5): LB, ECSB, SOB, WCSB and WARB.

use crate::lock::{Lock, LockKind};
use crate::network::{MICROSECOND, NANOSECOND, SimulatedNetwork, Time};
use crate::process::SimulatedProcess;
use crate::random::Random;
use crate::simulation::{Simulation, Stuck};
use heddle_rma_locks::{Rank, Reader, Rma};
use std::cell::RefCell;
use std::rc::Rc;

/// Processes start at random within this time: if all began at once, queues would be in the order of ranks,
/// which is as near as can be.
const START: Time = 100 * MICROSECOND;

/// The use that the processes make of the lock.
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

/// How the acquisitions of a run are divided among the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// Each process makes the same number, and the time counts until the last has ended: the paper's method.
    /// A lock that prefers some processes leaves the others for the end.
    Equal,
    /// Each process goes on until all together have reached the total, fast ones making more: the rate of a
    /// program that goes on. A lock that prefers some processes looks better than it is.
    Free,
}

/// A run: all processes take the lock again and again.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The use that the processes make of the lock.
    pub benchmark: Benchmark,
    /// The number of processes.
    pub processes: usize,
    /// How many times they take the lock, all together.
    pub acquisitions: usize,
    /// How these are divided.
    pub shares: Shares,
    /// F_W: the share of writers, drawn for each time. With several shares the workload changes: each holds
    /// for an equal part of the acquisitions.
    pub writers: Vec<f64>,
    /// The seed of the random numbers.
    pub seed: u64,
}

/// The figures of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunFigures {
    /// Acquisitions a second, of all processes together.
    pub throughput: f64,
    /// The mean time of acquiring and releasing, in microseconds: of all, of readers, of writers. 0 if
    /// there were none.
    pub latency_us: [f64; 3],
}

/// What happened while the acquisitions of a part of the run ended.
#[derive(Debug, Default)]
struct Part {
    begin: Time,
    end: Time,
    /// Of readers and of writers: number, and sum of the times.
    count: [u64; 2],
    time: [Time; 2],
}

impl Part {
    fn outcome(&self) -> RunFigures {
        let mean = |time: Time, count: u64| {
            if count == 0 { 0.0 } else { time as f64 / count as f64 / MICROSECOND as f64 }
        };
        let [readers, writers] = self.count;
        let seconds = (self.end - self.begin) as f64 / (1e6 * MICROSECOND as f64);
        RunFigures {
            throughput: (readers + writers) as f64 / seconds,
            latency_us: [
                mean(self.time[0] + self.time[1], readers + writers),
                mean(self.time[0], readers),
                mean(self.time[1], writers),
            ],
        }
    }
}

#[derive(Debug)]
struct Tally {
    ended: usize,
    /// The parts so far, and how many acquisitions have ended at the end of each of all.
    parts: Vec<Part>,
    ends: Vec<usize>,
}

impl Tally {
    fn add(&mut self, now: Time, taken: Time, writes: bool) {
        self.ended += 1;
        // Those that are on their way when the total is reached only wait for each other.
        let is_counted = self.ends.last().is_some_and(|end| self.ended <= *end);
        let Some(part) = self.parts.last_mut().filter(|_| is_counted) else { return };
        part.end = now;
        part.count[usize::from(writes)] += 1;
        part.time[usize::from(writes)] += taken;
        if self.ended == self.ends[self.parts.len() - 1] && self.parts.len() < self.ends.len() {
            self.parts.push(Part { begin: now, ..Part::default() });
        }
    }
}

impl Workload {
    /// Runs it with a lock on a machine. The first tenth is not counted.
    ///
    /// # Errors
    /// If processes wait for ever.
    pub fn run(&self, kind: LockKind, network: &SimulatedNetwork) -> Result<RunFigures, Stuck> {
        let all = self.acquisitions / self.processes * self.processes;
        let parts = self.run_in_parts(kind, network, vec![all / 10, all])?;
        Ok(parts[1])
    }

    /// Runs in equal parts, one for each share of writers, and returns the outcome of each part.
    ///
    /// # Errors
    /// If processes wait for ever.
    pub fn run_by_shares(
        &self,
        kind: LockKind,
        network: &SimulatedNetwork,
    ) -> Result<Vec<RunFigures>, Stuck> {
        let (all, parts) = (self.acquisitions, self.writers.len());
        self.run_in_parts(kind, network, (1..=parts).map(|part| all * part / parts).collect())
    }

    fn run_in_parts(
        &self,
        kind: LockKind,
        network: &SimulatedNetwork,
        ends: Vec<usize>,
    ) -> Result<Vec<RunFigures>, Stuck> {
        let lock = Rc::new(kind.make(network, self.processes));
        let tally = Rc::new(RefCell::new(Tally { ended: 0, parts: vec![Part::default()], ends }));
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
                    let (mut reader, mut own) = (Reader::default(), 0);
                    process.compute(random.below(START)).await;
                    loop {
                        let (ended, all) = match workload.shares {
                            Shares::Equal => (own, workload.acquisitions / workload.processes),
                            Shares::Free => (tally.borrow().ended, workload.acquisitions),
                        };
                        if ended >= all {
                            break;
                        }
                        own += 1;
                        let part = ended * workload.writers.len() / all;
                        let writes = random.chance(workload.writers[part]);
                        let place = (data_home, data);
                        workload
                            .visit(&process, (&lock, &mut reader), &tally, writes, place, &mut random)
                            .await;
                    }
                }
            },
        );
        simulation.run()?;
        let outcomes = tally.borrow().parts.iter().map(Part::outcome).collect();
        Ok(outcomes)
    }

    async fn visit(
        &self,
        process: &SimulatedProcess,
        (lock, reader): (&Lock, &mut Reader),
        tally: &RefCell<Tally>,
        writes: bool,
        (home, word): (Rank, usize),
        random: &mut Random,
    ) {
        let before = process.time();
        lock.acquire(process, reader, writes).await;
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
        lock.release(process, reader, writes).await;
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

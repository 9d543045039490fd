//! The parameters of a simulated machine: who is how far from whom, and what an operation costs there.

use heddle_rma_locks::{Layout, Rank};

/// Virtual time in picoseconds.
pub type Time = u64;

/// A nanosecond.
pub const NANOSECOND: Time = 1_000;
/// A microsecond.
pub const MICROSECOND: Time = 1_000_000;

/// The times of the operations between two processes at some distance, if nobody else is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistanceTimes {
    /// The processor's time to issue a put or an add, after which its next operation begins.
    pub issue: Time,
    /// The time from the issue of an operation to its effect.
    pub one_way: Time,
    /// The time of a put and its flush.
    pub put: Time,
    /// The time of a get and its flush.
    pub get: Time,
    /// The time of an atomic operation that returns a value, and its flush.
    pub atomic: Time,
}

/// A machine of nodes with several processes each, and perhaps groups of nodes.
///
/// **Contention.** All operations from other nodes pass one by one through the target node's network
/// interface. Operations from the same node pass one by one through the memory of the target process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedNetwork {
    /// The number of processes in an element of each level, the smallest first: those of a node, then
    /// those of a group of nodes, and so on.
    pub sizes: Vec<usize>,
    /// The costs by distance: the process itself, the same node, the same group, .., the whole machine.
    /// There are two more than [`sizes`](Self::sizes).
    pub distances: Vec<DistanceTimes>,
    /// The time for which a put or a get occupies the target node's interface.
    pub interface: Time,
    /// The time for which an atomic operation occupies the target node's interface.
    pub interface_atomic: Time,
    /// The time for which an operation from the same node occupies the target process's memory: the
    /// transfer of a cache line between two cores.
    pub line: Time,
    /// The time after which [`wait_a_while`](heddle_rma_locks::Rma::wait_a_while) gives up.
    pub patience: Time,
}

impl SimulatedNetwork {
    /// A machine like the paper's: Piz Daint, a Cray XC30 of 16 processes a node, with two levels.
    ///
    /// | parameter | value | from |
    /// |---|---|---|
    /// | put, get, atomic to another node | 1.0, 1.9, 2.4 µs | the cost models of foMPI, whose locks the paper compares with: P_put, P_get, P_CAS (Gerstenberger, Besta, Hoefler: *Enabling highly-scalable remote memory access programming with MPI-3 one sided*, SC 2013, section 3), on Gemini, the predecessor of Aries |
    /// | issue of a put to another node, to the same node | 416, 80 ns | the same: the time between two puts |
    /// | an operation on the process's own memory | 80 ns, atomic 100 ns | the same issue time within a node; an atomic's 20 ns are assumed |
    /// | cache line between two cores | 60 ns | assumed: the magnitude for a processor of one socket (Xeon E5-2670) |
    /// | put and get within a node, atomic | 200, 220 ns | issue and two transfers of a line |
    /// | interface, put or get | 10 ns | assumed: of the order of 100 million small packets a second |
    /// | interface, atomic | 25 ns | assumed: of the order of 40 million a second to one address |
    /// | patience | 10 µs | chosen: a few round trips |
    ///
    /// The figures of foMPI are for its machine and were quoted without its text at hand; see how a result
    /// depends on a number before relying on it.
    ///
    /// Atomics within a node are the processor's. (Where a program mixes them with those of the interface it
    /// may need those of the interface everywhere; the paper does not say which it uses.)
    pub fn xc30() -> SimulatedNetwork {
        let distance = |issue, one_way, put, get, atomic| DistanceTimes {
            issue: issue * NANOSECOND,
            one_way: one_way * NANOSECOND,
            put: put * NANOSECOND,
            get: get * NANOSECOND,
            atomic: atomic * NANOSECOND,
        };
        SimulatedNetwork {
            sizes: vec![16],
            distances: vec![
                distance(80, 80, 80, 80, 100),
                distance(80, 140, 200, 200, 220),
                distance(416, 500, 1000, 1900, 2400),
            ],
            interface: 10 * NANOSECOND,
            interface_atomic: 25 * NANOSECOND,
            line: 60 * NANOSECOND,
            patience: 10 * MICROSECOND,
        }
    }

    /// The node of a process.
    pub fn node(&self, p: Rank) -> usize {
        p / self.sizes[0]
    }

    /// The index of the costs between two processes: 0 for the process itself, 1 for the same node, ...
    pub fn level(&self, a: Rank, b: Rank) -> usize {
        if a == b {
            return 0;
        }
        let together = |size: &usize| a / size == b / size;
        1 + self.sizes.iter().position(together).unwrap_or(self.sizes.len())
    }

    /// The costs between two processes.
    pub fn distance(&self, a: Rank, b: Rank) -> &DistanceTimes {
        &self.distances[self.level(a, b)]
    }

    /// The layout of a lock over the first `processes` processes: the machine, and its elements down to the
    /// nodes (the paper's N = 2 if there are no groups).
    pub fn layout(&self, processes: usize, counter_distance: usize) -> Layout {
        let mut elements = vec![vec![0; processes]];
        for size in self.sizes.iter().rev() {
            elements.push((0..processes).map(|p| p / size).collect());
        }
        Layout::new(elements, counter_distance)
    }

    /// How long an operation from another node waits behind the gets of `pollers` processes that poll words
    /// of the target's node.
    ///
    /// Each poller has one get at a time on the way, for a round trip `R`. Together they offer the interface,
    /// which takes `s` for each, a load of `pollers * s / R`. Above 1 the interface is busy all the time, and
    /// `pollers - R / s` gets stand before it; below 1 the mean wait is that of a queue with random arrivals
    /// and a fixed service time (M/D/1), with the load bounded at 0.9.
    pub(crate) fn wait_behind_polls(&self, pollers: usize) -> Time {
        let round_trip = self.round_trip();
        let offered = pollers as Time * self.interface;
        let load = (offered as f64 / round_trip as f64).min(0.9);
        let random = self.interface as f64 * load / (2.0 * (1.0 - load));
        offered.saturating_sub(round_trip) + random as Time
    }

    /// The time between two gets of a process that polls a word of a node, as one of `pollers` processes.
    pub(crate) fn time_between_polls(&self, pollers: usize) -> Time {
        self.round_trip().max(pollers as Time * self.interface)
    }

    fn round_trip(&self) -> Time {
        self.distances.last().map_or(0, |distance| distance.get)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_follow_the_elements() {
        let network = SimulatedNetwork { sizes: vec![4, 8], ..SimulatedNetwork::xc30() };
        assert_eq!([(3, 3), (0, 3), (3, 4), (7, 8)].map(|(a, b)| network.level(a, b)), [0, 1, 2, 3]);
    }

    #[test]
    fn polls_delay_others_only_when_there_are_many() {
        let network = SimulatedNetwork::xc30();
        assert_eq!(network.wait_behind_polls(0), 0);
        assert!(network.wait_behind_polls(10) < NANOSECOND);
        assert_eq!(network.wait_behind_polls(1000) / MICROSECOND, 8);
    }
}

//! The algorithms of collective operations, by name.

use heddle_model::Choice;

/// How a collective operation of a communicator with one group is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// By the size of the data and the number of processes.
    Auto,
    /// In memory that the processes share.
    Blackboard,
    /// Among the processes of each machine, and among one leader of each machine.
    Leaders,
    /// A message from or to each process.
    Linear,
    /// Messages along a binomial tree.
    Binomial,
    /// Pieces along a binomial tree, then round a ring.
    ScatterRing,
    /// Round a ring.
    Ring,
    /// ⌈log₂ n⌉ rounds in which blocks travel together.
    Bruck,
    /// All messages in flight at once.
    Batch,
    /// One partner per round.
    Pairwise,
    /// ⌈log₂ n⌉ rounds in which partners exchange what they have.
    RecursiveDoubling,
    /// ⌈log₂ n⌉ rounds in which partners exchange half of what they have.
    RecursiveHalving,
    /// A reduce-scatter by recursive halving, then a gather or an allgather.
    Rabenseifner,
    /// ⌈log₂ n⌉ rounds in which each process tells another one.
    Dissemination,
}

impl Choice for Algorithm {
    const CHOICE: &'static str = "algorithm";
    const OPTIONS: &'static [(Algorithm, &'static str, &'static str)] = &[
        (Algorithm::Auto, "auto", "by the size of the data, the number of processes, and the switch points"),
        (
            Algorithm::Blackboard,
            "blackboard",
            "in memory that the processes share, without messages, where there is such memory and the data are \
             not too long for it",
        ),
        (
            Algorithm::Leaders,
            "leaders",
            "the processes of each machine act among themselves, on a blackboard of theirs, and one leader of each machine \
             with the other leaders, by messages; only in the blocking form, and where there are several machines, one of \
             them with several processes",
        ),
        (Algorithm::Linear, "linear", "a message between the root and each other process"),
        (Algorithm::Binomial, "binomial", "messages along a binomial tree: ⌈log₂ n⌉ one after the other"),
        (
            Algorithm::ScatterRing,
            "scatter-ring",
            "pieces go down a binomial tree, and then round a ring (Barnett et al. 1994)",
        ),
        (Algorithm::Ring, "ring", "each block goes round a ring, in n − 1 steps"),
        (Algorithm::Bruck, "bruck", "⌈log₂ n⌉ rounds in which blocks travel together (Bruck et al. 1997)"),
        (Algorithm::Batch, "batch", "a message to each other process, up to 64 in flight at once"),
        (
            Algorithm::Pairwise,
            "pairwise",
            "n − 1 rounds, in each of which a process sends to one and receives from one",
        ),
        (
            Algorithm::RecursiveDoubling,
            "recursive-doubling",
            "⌈log₂ n⌉ rounds in which partners exchange all that they have combined",
        ),
        (
            Algorithm::RecursiveHalving,
            "recursive-halving",
            "⌈log₂ n⌉ rounds in which partners exchange half of what they have combined, for operators that commute",
        ),
        (
            Algorithm::Rabenseifner,
            "rabenseifner",
            "recursive halving, and then the pieces are gathered (Rabenseifner 2004), for operators that commute",
        ),
        (
            Algorithm::Dissemination,
            "dissemination",
            "⌈log₂ n⌉ rounds, in round k each process tells the one 2^k ranks ahead (Hensgen et al. 1988)",
        ),
    ];
}

impl Algorithm {
    /// Returns true if the operation may go over the blackboard.
    #[inline(always)]
    #[must_use]
    pub fn allows_blackboard(self) -> bool {
        matches!(self, Algorithm::Auto | Algorithm::Blackboard | Algorithm::Leaders)
    }

    /// Returns true if the operation may go by leaders. Unless that is chosen by its name, it must be
    /// quicker.
    #[must_use]
    pub fn allows_leaders(self, is_quicker: bool) -> bool {
        self == Algorithm::Leaders || is_quicker && self.allows_blackboard()
    }
}

//! A process on its way into its job: it knows its rank, and has not met the others.

use crate::builtin::env::Contract;
use crate::{BootstrapError, LocalRanks, Mechanism, World, external, pmi, pmix};

/// A process that knows its rank, and may still leave words for the other ranks.
#[derive(Debug)]
pub struct Joining(Kind);

#[derive(Debug)]
enum Kind {
    Alone,
    Builtin(Contract),
    External(external::ExternalJoining),
}

impl Joining {
    /// Reads which job the environment describes. Without the variables of any mechanism it is a world of
    /// one.
    ///
    /// # Errors
    /// When a mechanism's variables are there but wrong, or absent although the mechanism was asked for, or
    /// when the launcher does not answer as it should.
    pub fn begin(mechanism: Mechanism) -> Result<Joining, BootstrapError> {
        let tries = |one| mechanism == Mechanism::Auto || mechanism == one;
        if tries(Mechanism::Builtin)
            && let Some(contract) = Contract::read(std::env::var_os)?
        {
            return Ok(Joining(Kind::Builtin(contract)));
        }
        if tries(Mechanism::Pmix) && std::env::var_os(pmix::NAMESPACE).is_some() {
            return Ok(Joining(Kind::External(pmix::begin()?)));
        }
        if (tries(Mechanism::Pmi) || tries(Mechanism::Pmi2))
            && let Some(contract) = pmi::PmiContract::read(std::env::var_os)?
        {
            let versions = match mechanism {
                Mechanism::Pmi => &[pmi::Version::One],
                Mechanism::Pmi2 => &[pmi::Version::Two],
                _ => contract.versions(),
            };
            return Ok(Joining(Kind::External(pmi::begin(&contract, versions)?)));
        }
        match mechanism.variable() {
            Some(name) => Err(BootstrapError::NotStarted { mechanism: mechanism.name(), name }),
            None => Ok(Joining(Kind::Alone)),
        }
    }

    /// Returns true if all ranks share memory, whatever the launcher calls a machine: containers may divide
    /// what another launcher than Heddle's takes for one.
    #[must_use]
    pub fn shares_memory(&self) -> bool {
        matches!(self.0, Kind::Alone | Kind::Builtin(_))
    }

    /// Returns true if the launcher says that ranks run on several machines; `None` if it does not say.
    #[must_use]
    pub fn spans_machines(&self) -> Option<bool> {
        match &self.0 {
            Kind::Alone | Kind::Builtin(_) => Some(false),
            Kind::External(joining) => joining.spans_machines(),
        }
    }

    /// Leaves a word with the number `index`, which the other ranks get by [`World::word_of`].
    ///
    /// # Errors
    /// When the launcher refuses it. Where the ranks are of one machine there is nobody to need it.
    pub fn publish(&self, index: usize, word: &str) -> Result<(), BootstrapError> {
        match &self.0 {
            Kind::Alone | Kind::Builtin(_) => Ok(()),
            Kind::External(joining) => joining.publish(index, word),
        }
    }

    /// Meets the other ranks.
    ///
    /// # Errors
    /// When the job cannot be reached.
    pub fn join(self) -> Result<World, BootstrapError> {
        match self.0 {
            Kind::Alone => Ok(World::alone()),
            Kind::Builtin(contract) => World::join(&contract),
            Kind::External(joining) => joining.join(),
        }
    }
}

impl World {
    /// Joins the job that the environment describes, without a word for the other ranks.
    ///
    /// # Errors
    /// Those of [`Joining`].
    pub fn from_env(mechanism: Mechanism) -> Result<World, BootstrapError> {
        Joining::begin(mechanism)?.join()
    }

    /// The word that a rank has [left](Joining::publish).
    ///
    /// # Errors
    /// When there is none, or the launcher is gone.
    pub fn word_of(rank: u32, index: usize) -> Result<String, BootstrapError> {
        external::word_of(rank, index)
    }

    /// The node of each of these ranks, as the launcher numbers its nodes. All processes get the same answer.
    /// The ranks of a node need not share memory: containers may divide it. `None` if the launcher does not
    /// say.
    #[must_use]
    pub fn nodes_of(ranks: &[u32]) -> Option<Vec<u32>> {
        external::nodes_of(ranks)
    }

    fn alone() -> World {
        World { rank: 0, size: 1, appnum: None, job: None, local: LocalRanks::all(1) }
    }
}

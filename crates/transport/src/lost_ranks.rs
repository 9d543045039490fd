//! Lost ranks, as the protocols above see them.

use crate::fabric::Fabric;
use crate::failure::Failure;

impl Fabric {
    /// Returns true if a rank is lost.
    #[inline]
    pub fn has_losses(&self) -> bool {
        self.losses().count() != 0
    }

    /// Returns true if this rank is lost. A thread that has published an operation before the call, and is
    /// told that the rank is not lost, leaves the operation to the thread that reads the message of the loss.
    pub fn is_lost(&self, rank: usize) -> bool {
        self.losses().contain(rank)
    }

    /// The lost ranks, in the order in which they were lost.
    pub fn lost_ranks(&self) -> Vec<usize> {
        self.losses().after(0)
    }

    /// The message about the loss of a rank; about the first loss, for `None`.
    pub fn loss_text(&self, rank: Option<usize>) -> Option<String> {
        self.losses().text(rank)
    }

    /// Returns true to the first caller that is to tell other processes of a loss.
    pub fn is_news(&self, rank: usize) -> bool {
        self.losses().is_news(rank)
    }

    /// Notes that a rank is lost; the message for a person is given.
    pub fn note_loss(&self, rank: usize, text: String) {
        self.losses().note(rank, text);
    }

    /// Ends the process because a rank is lost that it cannot do without.
    #[cold]
    pub fn give_up(&self, rank: usize, why: &str) -> ! {
        let text = self.loss_text(Some(rank)).unwrap_or_default();
        self.end(&Failure::Network { why: format!("{text}; {why}") })
    }

    /// Lets a VNI look for signs of life of a rank on another machine, though it has sent it nothing.
    #[cold]
    pub fn watch(&self, vni: usize, rank: usize) {
        if let Some(port) = self.port(vni).filter(|_| !self.is_local(rank)) {
            port.watch(rank as u32);
        }
    }

    /// Handles the word of a rank that it has lost another. Returns false if no rank says such a thing.
    #[cold]
    pub fn hear_of_loss(&self, from: usize, rank: usize) -> bool {
        if rank >= self.size() || rank == from {
            return false;
        }
        // A rank of this machine lives, as far as this process can see.
        if !self.is_local(rank) && !self.losses().contain(rank) {
            let why = format!("rank {from} has lost it");
            self.lose(&Failure::Lost { peer: rank, host: self.host_of(rank), why });
        }
        true
    }
}

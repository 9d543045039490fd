//! RMA-MCS: a tree of queues, one for each element of the machine (paper, section 3.5). With one level
//! it is D-MCS (section 2.4).

use crate::layout::Layout;
use crate::queue::{Branch, Entered, Passed, START};
use crate::rma::Rma;

/// A lock that is passed on within an element of the machine a number of times before it goes to another one.
/// In order among the processes of the smallest elements and among the elements of a level.
#[derive(Debug, Clone)]
pub struct RmaMcs {
    layout: Layout,
    locality: Vec<u64>,
}

impl RmaMcs {
    /// `locality[i - 2]` is the paper's T_L,i for levels 2 to N: how many times in a row the lock is passed
    /// on within an element of level i.
    ///
    /// # Panics
    /// If there is not one threshold for each level from 2 on.
    pub fn new(layout: Layout, locality: Vec<u64>) -> RmaMcs {
        assert_eq!(locality.len() + 1, layout.levels(), "a threshold for each level below the first");
        RmaMcs { layout, locality }
    }

    fn branch(&self, rma: &impl Rma) -> Branch<'_> {
        Branch { layout: &self.layout, locality: &self.locality, p: rma.rank() }
    }

    /// Waits until the lock is the caller's.
    pub async fn acquire(&self, rma: &impl Rma) {
        let branch = self.branch(rma);
        if !branch.climb(rma).await
            && let Entered::First = branch.root().enter(rma).await
        {
            branch.root().start(rma).await;
        }
    }

    /// Takes the lock if no process has it or waits for it, at any level. If one does, the attempt may pass
    /// through queues of lower levels and then waits, shortly, for a process that enters one of them.
    pub async fn try_acquire(&self, rma: &impl Rma) -> bool {
        self.branch(rma).try_climb(rma).await
    }

    /// Releases the lock, which is the caller's.
    pub async fn release(&self, rma: &impl Rma) {
        let branch = self.branch(rma);
        let left_from = match branch.pass(rma).await {
            Passed::At(level) => level + 1,
            Passed::Nowhere => {
                let root = branch.root();
                let successor = match root.successor(rma).await {
                    Some(successor) => Some(successor),
                    None => root.leave(rma).await,
                };
                if let Some(successor) = successor {
                    root.pass(rma, successor, START).await;
                }
                2
            }
        };
        branch.leave(rma, left_from).await;
    }
}

//! The blackboards of freed communicators. A process that has finished all its rounds may be ahead of the
//! others, so it gives its memory back only when those have finished them, too.

use crate::board::Blackboard;
use std::sync::{Mutex, OnceLock, PoisonError};

heddle_platform::per_process! {
    static RETIRED: Mutex<Vec<Blackboard>> = Mutex::new(Vec::new());
}

/// Gives back what no process needs any more.
fn sweep(retired: &mut Vec<Blackboard>) {
    retired.retain(|blackboard| !blackboard.leave());
}

/// Where a communicator has its blackboard, once its processes have agreed whether it has one.
#[derive(Debug, Default)]
pub struct BoardPlace(OnceLock<Option<Box<Blackboard>>>);

impl BoardPlace {
    /// The blackboard, if there is one.
    #[inline(always)]
    pub fn get(&self) -> Option<&Blackboard> {
        self.0.get()?.as_deref()
    }

    /// Returns true if the processes have agreed.
    pub fn is_decided(&self) -> bool {
        self.0.get().is_some()
    }

    /// Notes what they have agreed on.
    pub fn decide(&self, blackboard: Option<Blackboard>) {
        sweep(&mut RETIRED.lock().unwrap_or_else(PoisonError::into_inner));
        // Only an erroneous program has two operations at once that decide.
        let _ = self.0.set(blackboard.map(Box::new));
    }
}

impl Drop for BoardPlace {
    fn drop(&mut self) {
        if let Some(Some(blackboard)) = self.0.take() {
            let mut retired = RETIRED.lock().unwrap_or_else(PoisonError::into_inner);
            retired.push(*blackboard);
            sweep(&mut retired);
        }
    }
}

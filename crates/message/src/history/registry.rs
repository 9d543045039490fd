//! The communicators about which other processes may ask.

use super::record::{Answer, History, Identity, Known, Question};
use heddle_platform::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

heddle_platform::per_process! {
    static COMMUNICATORS: Mutex<Vec<Weak<History>>> = Mutex::new(Vec::new());
    /// Those whose ranks disagree.
    static DISAGREED: Mutex<Vec<Arc<History>>> = Mutex::new(Vec::new());
    static ASKERS: AtomicU32 = AtomicU32::new(0);
}

impl History {
    /// Notes an operation that begins: its function, the bytes that decide how it is carried out, and the
    /// number of its first round on the blackboard. `identity` is called for the first one.
    #[inline(always)]
    pub fn note(
        self: &Arc<History>,
        (function, bytes, rounds): (i32, usize, u32),
        identity: impl FnOnce() -> Identity,
    ) {
        let known = match self.known() {
            Some(known) => known,
            None => self.open_with(identity()),
        };
        self.push(known, function, bytes, rounds);
    }

    #[cold]
    #[inline(never)]
    fn open_with(self: &Arc<History>, identity: Identity) -> &Known {
        self.open(|| (identity, add(self, identity)))
    }

    /// Notes that the ranks disagree. Others may ask about the communicator for long, also when it was freed.
    #[cold]
    pub fn disagree(self: &Arc<History>) {
        if self.note_disagreement() {
            DISAGREED.lock().unwrap_or_else(PoisonError::into_inner).push(self.clone());
        }
    }
}

/// Lets others ask about a communicator. Returns the number of its questions.
fn add(history: &Arc<History>, identity: Identity) -> u32 {
    let mut disagreed = DISAGREED.lock().unwrap_or_else(PoisonError::into_inner);
    disagreed.retain(|other| other.identity().is_none_or(|other| other.context != identity.context));
    let mut all = COMMUNICATORS.lock().unwrap_or_else(PoisonError::into_inner);
    if all.len() == all.capacity() {
        all.retain(|other| other.strong_count() != 0);
    }
    all.push(Arc::downgrade(history));
    ASKERS.fetch_add(1, Ordering::Relaxed)
}

fn find(is_it: impl Fn(Identity) -> bool) -> Option<Arc<History>> {
    let all = COMMUNICATORS.lock().unwrap_or_else(PoisonError::into_inner);
    // The latest first: an earlier one with the same id may not be gone yet.
    all.iter().rev().filter_map(Weak::upgrade).find(|history| history.identity().is_some_and(&is_it))
}

/// What this process answers; an error if the ranks disagree, `None` if it has no operation of the
/// communicator.
pub(crate) fn answer(question: &Question) -> Option<Result<Answer, Identity>> {
    let history = find(|identity| identity == question.identity)?;
    if history.is_disagreed() {
        return Some(Err(question.identity));
    }
    Some(Ok(history.answer(question)))
}

/// Notes the answer of a process.
pub(crate) fn learn(peer: usize, answer: &Answer) {
    if let Some(history) = find(|identity| identity.context == answer.context)
        && history.differs(peer, answer)
    {
        history.disagree();
    }
}

/// Notes that the ranks of a communicator disagree.
pub(crate) fn learn_of_disagreement(identity: Identity) {
    if let Some(history) = find(|other| other == identity) {
        history.disagree();
    }
}

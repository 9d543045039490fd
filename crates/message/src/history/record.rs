//! What a process notes of its operations on a communicator, and what it learns from the answers of others.

use heddle_platform::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::OnceLock;
use std::time::Duration;

/// For how long a process waits for others before it asks them.
pub const COMPARES_AFTER: Duration = Duration::from_millis(100);

/// How many of its latest operations a process can compare.
const KEPT: u32 = 128;

/// The communicator, as all its processes name it. Another one of the same processes has this name only after
/// all have freed this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The id of its collective messages' context.
    pub context: u64,
    /// A hash of its members: others may have a communicator with the same context id meanwhile.
    pub members: u64,
}

/// An operation: the number in the upper half, and a check value in the lower one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Noted(u64);

impl Noted {
    fn number(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The next operation.
    #[inline(always)]
    fn then(self, function: i32, bytes: usize, rounds: u32) -> Noted {
        let all = u64::from(rounds).rotate_right(32) ^ (function as u64) << 56 ^ bytes as u64;
        let check = all.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        Noted((self.0 & !0xffff_ffff).wrapping_add(1 << 32) | check)
    }
}

/// What a process asks about a communicator.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    pub(crate) identity: Identity,
    /// The number of an operation.
    pub(crate) number: u32,
    /// Comes back with the answer.
    pub(crate) asker: u32,
}

/// What it is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    /// The context id.
    pub(crate) context: u64,
    /// That operation, or the latest one.
    pub(crate) entry: u64,
    /// The number of the latest operation when a blocking one ended last.
    pub(crate) over: u32,
    /// That of the question.
    pub(crate) asker: u32,
}

/// What a process sets with its first operation on a communicator.
#[derive(Debug)]
pub(super) struct Known {
    identity: Identity,
    /// Tells the answers to this history's questions from those to an earlier communicator's with the same
    /// context id.
    asker: u32,
    entries: [AtomicU64; KEPT as usize],
}

/// The collective operations that a process has begun on a communicator. They are begun one after the other.
#[derive(Debug, Default)]
pub struct History {
    /// The latest [`Noted`].
    latest: AtomicU64,
    /// The number of the latest operation when a blocking one ended last.
    over: AtomicU32,
    /// True once the ranks are known to disagree.
    disagreed: AtomicBool,
    /// True once this process has told the others.
    told: AtomicBool,
    /// The number of the operation that is under way, and the process for which the thread waits that is in a
    /// blocking one; and how often that process has said that it has completed it.
    awaited: AtomicU64,
    completions: AtomicU32,
    /// Set with the first operation.
    known: OnceLock<Box<Known>>,
}

impl History {
    /// What the first operation has set.
    #[inline(always)]
    pub(super) fn known(&self) -> Option<&Known> {
        self.known.get().map(Box::as_ref)
    }

    /// Sets that: how all processes name the communicator, and the number of this one's questions.
    pub(super) fn open(&self, name: impl FnOnce() -> (Identity, u32)) -> &Known {
        self.known.get_or_init(|| {
            let (identity, asker) = name();
            Box::new(Known { identity, asker, entries: std::array::from_fn(|_| AtomicU64::new(0)) })
        })
    }

    /// [Notes](History::note) an operation.
    #[inline(always)]
    pub(super) fn push(&self, known: &Known, function: i32, bytes: usize, rounds: u32) {
        let noted = self.latest().then(function, bytes, rounds);
        known.entries[(noted.number() % KEPT) as usize].store(noted.0, Ordering::Relaxed);
        self.latest.store(noted.0, Ordering::Relaxed);
    }

    /// Notes that the blocking operation that was noted last is over.
    #[inline(always)]
    pub fn end_blocking(&self) {
        // Release: what says so to another process goes behind all messages of the operation.
        self.over.store(self.latest().number(), Ordering::Release);
    }

    /// Takes back what was noted last: the operation has not begun, because of an error.
    #[cold]
    pub fn forget(&self) {
        let number = self.latest().number();
        let before = self.entry(number.wrapping_sub(1)).map_or(0, |entry| entry.0);
        self.latest.store(before, Ordering::Relaxed);
        if let Some(known) = self.known() {
            known.entries[(number % KEPT) as usize].store(0, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn latest(&self) -> Noted {
        // Relaxed, here and below: the program begins operations one after the other, and another thread
        // needs some entries only.
        Noted(self.latest.load(Ordering::Relaxed))
    }

    /// Returns true once the ranks are known to disagree.
    #[inline(always)]
    pub fn is_disagreed(&self) -> bool {
        self.disagreed.load(Ordering::Relaxed)
    }

    /// Notes that the ranks disagree. Returns true if that is news.
    pub(super) fn note_disagreement(&self) -> bool {
        !self.disagreed.swap(true, Ordering::Relaxed)
    }

    /// Returns true if the ranks disagree and the caller, the first of this process, has to tell the others.
    pub fn is_to_be_told(&self) -> bool {
        self.is_disagreed() && !self.told.swap(true, Ordering::Relaxed)
    }

    /// The number of the latest operation.
    pub fn number(&self) -> u32 {
        self.latest().number()
    }

    /// What to ask a process about an operation; nothing before the first one here.
    pub fn question(&self, number: u32) -> Option<Question> {
        let known = self.known()?;
        Some(Question { identity: known.identity, number, asker: known.asker })
    }

    /// Says for which process the calling thread waits in a blocking operation.
    pub fn begin_awaiting(&self, peer: usize) {
        let awaited = self.await_of(peer);
        if self.awaited.swap(awaited, Ordering::Relaxed) != awaited {
            self.completions.store(0, Ordering::Relaxed);
        }
    }

    /// How often the process has said that it has completed the blocking operation that is under way here.
    pub fn completions_of(&self, peer: usize) -> u32 {
        let is_awaited = self.awaited.load(Ordering::Relaxed) == self.await_of(peer);
        if is_awaited { self.completions.load(Ordering::Relaxed) } else { 0 }
    }

    fn await_of(&self, peer: usize) -> u64 {
        u64::from(self.under_way()) << 32 | (peer as u64 + 1)
    }

    /// The number of the operation that is under way: what comes after the latest one, if that is over, is
    /// none that is noted.
    fn under_way(&self) -> u32 {
        let latest = self.latest().number();
        latest.wrapping_add(u32::from(self.over.load(Ordering::Relaxed) == latest))
    }

    /// How all processes name the communicator; `None` before the first operation.
    pub fn identity(&self) -> Option<Identity> {
        self.known().map(|known| known.identity)
    }

    /// The answer to a question.
    pub(super) fn answer(&self, question: &Question) -> Answer {
        // Acquire: this number first; see `end_blocking`.
        let over = self.over.load(Ordering::Acquire);
        let entry = self.entry(question.number).unwrap_or_else(|| self.latest());
        Answer { context: question.identity.context, entry: entry.0, over, asker: question.asker }
    }

    /// The operation with a number, if it has begun and is among the latest.
    fn entry(&self, number: u32) -> Option<Noted> {
        let entries = &self.known()?.entries;
        let entry = Noted(entries[(number % KEPT) as usize].load(Ordering::Relaxed));
        Some(entry).filter(|entry| entry.number() == number)
    }

    /// Notes the answer of a process. Returns true if it has begun other operations.
    pub(super) fn differs(&self, peer: usize, answer: &Answer) -> bool {
        if self.known().is_none_or(|known| known.asker != answer.asker) {
            return false;
        }
        let has_completed = answer.over.wrapping_sub(self.under_way()).cast_signed() >= 0;
        if has_completed && self.awaited.load(Ordering::Relaxed) == self.await_of(peer) {
            self.completions.fetch_add(1, Ordering::Relaxed);
        }
        let theirs = Noted(answer.entry);
        self.entry(theirs.number()).is_some_and(|own| own != theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(operations: &[(i32, usize, u32)]) -> History {
        let history = History::default();
        operations.iter().for_each(|&operation| note(&history, operation));
        history
    }

    fn note(history: &History, (function, bytes, rounds): (i32, usize, u32)) {
        let known = history.open(|| (Identity { context: 1, members: 2 }, 3));
        history.push(known, function, bytes, rounds);
    }

    const USUAL: (i32, usize, u32) = (3, 8, 5);

    /// Asks one history about another's operation; returns true if they differ.
    fn compare_at(number: u32, asker: &History, asked: &History) -> bool {
        asker.differs(7, &asked.answer(&asker.question(number).expect("it has operations")))
    }

    fn compare(asker: &History, asked: &History) -> bool {
        compare_at(asker.number(), asker, asked)
    }

    #[test]
    fn histories_that_are_the_same_up_to_where_each_has_come_agree() {
        for (own, theirs) in [(1, 1), (1, 100), (100, 1), (300, 1), (1, 300)] {
            assert!(!compare(&history(&vec![USUAL; own]), &history(&vec![USUAL; theirs])));
        }
    }

    #[test]
    fn one_that_differs_in_the_operation_differs() {
        for difference in [(3, 9, 5), (4, 8, 5), (3, 0, 5), (3, 8 << 32, 5), (3, 8, 6), (3, 8, 0)] {
            for (before, after) in [(0, 0), (100, 0), (300, 100)] {
                let operations = |it| [vec![USUAL; before], vec![it], vec![USUAL; after]].concat();
                let number = before as u32 + 1;
                let (own, theirs) = (history(&operations(USUAL)), history(&operations(difference)));
                assert!(compare_at(number, &own, &theirs), "{difference:?}");
                assert_eq!(compare(&own, &theirs), after == 0, "only the latest counts");
            }
        }
    }

    #[test]
    fn an_answer_to_an_earlier_communicator_says_nothing() {
        let own = history(&[USUAL]);
        let asker = own.known().expect("it has an operation").asker.wrapping_add(1);
        let entry = history(&[(3, 9, 5)]).latest().0;
        assert!(!own.differs(7, &Answer { context: 1, entry, over: 1, asker }));
        assert_eq!(own.completions_of(7), 0);
    }

    #[test]
    fn a_process_may_have_completed_the_operation_that_is_under_way() {
        let next = |history: &History| note(history, USUAL);
        let (own, theirs) = (history(&[USUAL]), history(&[USUAL]));
        let completions = |of: usize| {
            own.begin_awaiting(7);
            compare(&own, &theirs);
            own.completions_of(of)
        };
        assert_eq!(completions(7), 0, "both are in the operation");
        theirs.end_blocking();
        assert_eq!(completions(6), 0, "another process");
        assert_eq!(completions(7), 2, "said twice");
        own.end_blocking();
        assert_eq!(completions(7), 0, "it is over here, too");
        next(&own);
        next(&theirs);
        assert_eq!(completions(7), 0, "the one before is over");
        theirs.end_blocking();
        assert_eq!(completions(7), 1);
        next(&own);
        assert_eq!(own.completions_of(7), 0, "that was the one before");
    }

    #[test]
    fn what_is_forgotten_was_never_noted() {
        for operations in [1, 2, 200] {
            let (own, theirs) = (history(&vec![USUAL; operations]), history(&vec![USUAL; operations]));
            note(&own, (5, 1, 5));
            own.forget();
            note(&theirs, USUAL);
            assert!(!compare(&theirs, &own));
            note(&own, USUAL);
            assert!(!compare(&own, &theirs));
        }
        let own = history(&[(5, 1, 5)]);
        own.forget();
        note(&own, USUAL);
        assert!(!compare(&own, &history(&[USUAL])));
    }
}

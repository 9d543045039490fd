//! How a thread gets leave to change elements of a target: together with others by processor atomics, or
//! alone in the target's accumulate lock.

use crate::atomics::can_be_atomic;
use crate::control::{Control, wait};
use crate::means::{ChangeKind, Means};
use crate::target::{Target, Way};
use crate::window::{LARGEST_ATOMIC, Window};
use heddle_platform::clock;
use heddle_platform::hint::spin_loop;
use heddle_sync::shared_bias::{Alone, Entered};
use heddle_sync::{SharedBias, SharedMarks};

/// The most bytes that are changed in a turn, so that others wait for microseconds at most.
const BYTES_TOGETHER: usize = 4 << 10;
const BYTES_ALONE: usize = 128 << 10;

/// Nanoseconds that are lost by a turn in a lock that is not closed yet.
const CLOSING_LOSS: i32 = 100;
/// The most nanoseconds that count as lost by waiting: who waits longer sleeps, and leaves its core to
/// others.
const MOST_WAITED: u64 = 100_000;
/// A thread that finds the lock held tries again after pauses of 2, 4, and so on, to so many doublings,
/// before it waits for it …
const LONGEST_PAUSE: i32 = 5;
/// … and the nanoseconds of a pause.
const PAUSE_NS: i32 = 40;
/// How many pauses a thread leaves the lock to those that wait for it, between two turns.
const PAUSES: u32 = 20;

/// The turns of one operation.
pub(crate) struct Turns<'a> {
    window: &'a Window,
    target: &'a Target,
    kind: ChangeKind,
    /// Bytes of an element; those of one that the processor can change at once, else 0.
    element: usize,
    atomic: usize,
    turn: Turn<'a>,
    /// Bytes that may still be changed in this turn, and that were.
    left: usize,
    changed: usize,
    /// Nanoseconds that the thread has waited for this turn.
    waited: i32,
}

enum Turn<'a> {
    None,
    Together(Entered<'a>),
    Alone { alone: Alone<'a>, means: Means },
}

impl<'a> Turns<'a> {
    /// The turns of an operation on elements of so many bytes, which the processor can change at once if
    /// `atomic` is not 0.
    #[inline]
    pub(crate) fn new(
        window: &'a Window,
        target: &'a Target,
        kind: ChangeKind,
        (element, atomic): (usize, usize),
    ) -> Turns<'a> {
        Turns { window, target, kind, element, atomic, turn: Turn::None, left: 0, changed: 0, waited: 0 }
    }

    /// Leave to change the next elements: by which means, and how many of `len` bytes at the address.
    #[inline]
    pub(crate) fn next(&mut self, address: *const u8, len: usize) -> (Means, usize) {
        let is_atomic = can_be_atomic(self.atomic, address);
        let keeps = self.left > 0
            && match &self.turn {
                Turn::None => false,
                Turn::Together(_) => is_atomic,
                Turn::Alone { alone, means } => match means {
                    // Alone among those that take the lock: only for elements that nobody changes otherwise.
                    Means::Any => alone.is_closed() || !is_atomic || matches!(self.target.way(), Way::Lock),
                    Means::Atomics => is_atomic,
                },
            };
        let means = if keeps { self.means() } else { self.begin(is_atomic, len) };
        let bytes = len.min(self.left);
        self.left -= bytes;
        self.changed += bytes;
        (means, bytes)
    }

    fn means(&self) -> Means {
        match &self.turn {
            Turn::Alone { means, .. } => *means,
            Turn::Together(_) | Turn::None => Means::Atomics,
        }
    }

    fn begin(&mut self, is_atomic: bool, len: usize) -> Means {
        self.end(true);
        match self.target.way() {
            Way::Atomics if is_atomic => {
                // Nobody closes the lock.
                self.left = len;
                return Means::Atomics;
            }
            Way::Chosen if is_atomic => loop {
                if let Some(mark) = self.target.enter() {
                    self.turn = Turn::Together(mark);
                    self.left = BYTES_TOGETHER;
                    return Means::Atomics;
                }
                let (mut alone, waited) = self.window.take_alone(self.target);
                if alone.is_open() {
                    // It was opened meanwhile.
                    continue;
                }
                let has_left = alone.is_closed() || alone.have_left(&mut self.window.all_marks());
                let means = if has_left { Means::Any } else { Means::Atomics };
                (self.turn, self.waited) = (Turn::Alone { alone, means }, waited);
                break;
            },
            _ => {
                let (alone, waited) = self.window.take_alone(self.target);
                (self.turn, self.waited) = (Turn::Alone { alone, means: Means::Any }, waited);
            }
        }
        self.left = match (self.target.way(), self.window.granularity()) {
            (Way::Lock, granularity) if granularity > LARGEST_ATOMIC => granularity,
            _ => BYTES_ALONE,
        }
        .next_multiple_of(self.element);
        self.means()
    }

    /// Ends the turn; `more` says that the operation has another one.
    fn end(&mut self, more: bool) {
        let changed = std::mem::take(&mut self.changed) / self.element;
        match std::mem::replace(&mut self.turn, Turn::None) {
            Turn::None => {}
            Turn::Together(mark) => self.window.leave_together(self.target, mark, self.kind, changed),
            Turn::Alone { alone, means } => {
                let lock = self.target.accumulate_lock();
                let gain = if means == Means::Any { self.kind.gain(changed) } else { -CLOSING_LOSS };
                if lock.leave(alone, gain - self.waited) && more {
                    // Those that wait are slower to take it than this thread.
                    (0..PAUSES).take_while(|_| !lock.bias().is_held()).for_each(|_| spin_loop());
                }
            }
        }
    }
}

impl Drop for Turns<'_> {
    fn drop(&mut self) {
        self.end(false);
    }
}

impl Window {
    /// Takes the accumulate lock of a process of this machine alone. Returns also how many nanoseconds are
    /// lost by waiting for it.
    pub(crate) fn take_alone<'a>(&self, target: &'a Target) -> (Alone<'a>, i32) {
        let lock = target.accumulate_lock().bias();
        if let Some(alone) = lock.try_alone() {
            return (alone, 0);
        }
        let since = clock::now_ns();
        let mut alone = None;
        wait(self.domain(), lock.event(), || {
            alone = lock.try_alone();
            if alone.is_none() {
                lock.say_waiting();
            }
            alone.is_some()
        });
        let waited = (clock::now_ns() - since).min(MOST_WAITED) as i32;
        (alone.expect("waited until it was taken"), waited)
    }

    /// The marks of all processes of this machine.
    fn all_marks(&self) -> impl Iterator<Item = &SharedMarks> {
        self.remote().machine().controls().iter().map(Control::marks)
    }

    /// Leaves a target, some elements of which were changed by atomics: closes its lock if that would have
    /// been better for long enough.
    #[inline(never)]
    fn leave_together(&self, target: &Target, mark: Entered<'_>, kind: ChangeKind, elements: usize) {
        let lost = mark.note();
        drop(mark);
        let gain = kind.gain(elements);
        if gain > 0
            && target.way() == Way::Chosen
            && let Some(lost) = lost
            && target.accumulate_lock().is_to_be_closed(lost, gain as u32)
        {
            self.close(target);
        }
    }

    #[cold]
    fn close(&self, target: &Target) {
        let lock = target.accumulate_lock();
        if let Some(mut alone) = lock.bias().try_alone()
            && alone.is_open()
        {
            lock.close(&mut alone);
            alone.have_left(&mut self.all_marks());
        }
    }

    /// Changes elements that the processor can change at once, and `bytes` long together. Returns false,
    /// having done nothing, if they are many or somebody has to be waited for longer than a moment.
    #[inline(always)]
    pub fn change_at_once(
        &self,
        target: &Target,
        kind: ChangeKind,
        (elements, bytes): (usize, usize),
        change: impl FnOnce(Means),
    ) -> bool {
        if bytes > BYTES_ALONE || target.way() == Way::Lock {
            return false;
        }
        let lock = target.accumulate_lock();
        if lock.bias().is_open()
            && bytes <= BYTES_TOGETHER
            && let Some(mark) = target.enter()
        {
            change(Means::Atomics);
            self.leave_together(target, mark, kind, elements);
            return true;
        }
        let (alone, waited) = match lock.bias().try_alone() {
            Some(alone) => (alone, 0),
            None => match try_for_a_moment(lock.bias()) {
                Some(taken) => taken,
                None => return false,
            },
        };
        if !alone.is_closed() {
            return false;
        }
        change(Means::Any);
        lock.leave(alone, kind.gain(elements) - waited);
        true
    }
}

/// Takes a lock alone, if it takes a moment. Returns also how many nanoseconds are lost. The pauses grow, so
/// that the holder, whose cache has the lock, may take it several times in a row.
#[inline(never)]
fn try_for_a_moment(lock: &SharedBias) -> Option<(Alone<'_>, i32)> {
    let mut pauses = 0;
    (1..=LONGEST_PAUSE).find_map(|doublings| {
        (0..1 << doublings).for_each(|_| spin_loop());
        pauses += 1 << doublings;
        lock.try_alone().map(|alone| (alone, pauses * PAUSE_NS))
    })
}

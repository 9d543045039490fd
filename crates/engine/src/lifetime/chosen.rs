//! The lifetime in use, and the collector of communicators and datatypes.

use super::collector::Collector;
use super::{hold, section};
use crate::comm::COMMS;
use crate::datatype::DERIVED;
use crate::request;
use heddle_model::{Lifetime, Model, Sections};
use heddle_platform::atomic::{AtomicU8, Ordering};

static COLLECTOR: Collector = Collector::new(&[&COMMS, &DERIVED]);

const COLLECT: u8 = 0;
const SUPPRESS: u8 = 1;
const NAIVE: u8 = 2;
const NEVER: u8 = 3;

/// The lifetime in use: set once, when MPI is initialised.
static CHOSEN: AtomicU8 = AtomicU8::new(COLLECT);

#[inline(always)]
fn chosen() -> u8 {
    CHOSEN.load(Ordering::Relaxed)
}

/// Takes over what the model chose. Before this there are no collected objects.
pub(crate) fn configure(model: &Model, sections: &Sections) {
    let chosen = match model.lifetime {
        Lifetime::Naive => NAIVE,
        Lifetime::Suppress => SUPPRESS,
        Lifetime::Collect => COLLECT,
        Lifetime::Never => NEVER,
    };
    section::configure(model, sections);
    COLLECTOR.configure(model.collect_threshold);
    CHOSEN.store(chosen, Ordering::Relaxed);
}

/// Whether requests count references: not by default.
#[inline(always)]
pub(crate) fn requests_count() -> bool {
    matches!(chosen(), SUPPRESS | NAIVE)
}

/// Whether references to predefined objects count, too.
pub(crate) fn predefined_count() -> bool {
    chosen() == NAIVE
}

/// What becomes of the reference that the user gave up.
pub(crate) fn user_released<R>(handle: usize, reference: R) {
    hold::forget(handle);
    if chosen() == NEVER {
        std::mem::forget(reference);
    }
}

/// An object is about to be made: a cycle is run if enough are eligible.
#[inline]
pub(crate) fn before_creation() {
    COLLECTOR.run_if_due(requests_of_calls);
}

/// Collects what can be collected.
pub(crate) fn collect_now() {
    COLLECTOR.cycle(requests_of_calls, &mut |_| ());
}

/// How many cycles were run, and how many objects they have destroyed.
pub fn collected() -> (u64, u64) {
    COLLECTOR.totals()
}

/// Hands the words of all requests to `root`, if they are all that the requests do. Returns how many slots it looked at.
fn requests_of_calls(root: &mut dyn FnMut(usize)) -> usize {
    if requests_count() { 0 } else { request::roots(root) }
}

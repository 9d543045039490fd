//! The lifetime in use, and the collector of communicators and datatypes.

use heddle_message::request;
use heddle_model::counters::{self, CountedEvent};
use heddle_model::{CollectThreshold, Lifetime, Model, Tracepoint};
use heddle_objects::lifetime::{Collected, Collector, Step, hazard};
use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_platform::clock;
use std::sync::OnceLock;

heddle_platform::per_process! {
    /// Before MPI is initialised there are no collected objects.
    static COLLECTOR: OnceLock<Collector> = OnceLock::new();

    /// True if freed objects are never destroyed.
    static NEVER: AtomicBool = AtomicBool::new(false);
}

/// Applies the model's choice. `tables` holds the objects that are collected.
pub fn configure(model: &Model, tables: &'static [&'static dyn Collected]) {
    let collector = COLLECTOR.get_or_init(|| Collector::new(tables));
    collector.set_threshold(match model.collect_threshold {
        CollectThreshold::Adaptive => 0,
        CollectThreshold::Number(number) => number,
    });
    NEVER.store(model.lifetime == Lifetime::Never, Ordering::Relaxed);
}

/// Decides what happens to the reference that the program gave up.
pub fn user_released<R>(handle: usize, reference: R) {
    hazard::forget(handle);
    if NEVER.load(Ordering::Relaxed) {
        std::mem::forget(reference);
    }
}

/// Called before an object is made: runs a cycle if enough objects are eligible.
#[inline]
pub fn before_creation() {
    if let Some(collector) = COLLECTOR.get() {
        counted(|at| collector.run_if_due(requests_of_calls, at));
    }
}

/// Runs one collection.
pub fn collect_now() {
    if let Some(collector) = COLLECTOR.get() {
        counted(|at| {
            collector.cycle(requests_of_calls, at);
            true
        });
    }
}

/// Counts a collection that `collect` may run; it returns true if one ran.
#[inline]
fn counted(collect: impl FnOnce(&mut dyn FnMut(Step)) -> bool) {
    let mut begun = None;
    let (mut marked, mut destroyed) = (0, 0);
    let mut note = |step| match step {
        Step::Begun if Tracepoint::Collection.is_observed() => begun = Some(clock::now_ns()),
        Step::Marked(number) => marked = number,
        Step::Destroyed => destroyed += 1,
        _ => {}
    };
    if collect(&mut note) {
        counters::count(CountedEvent::Collection, 1);
        counters::count(CountedEvent::CollectionMark, marked);
        counters::count(CountedEvent::CollectionSweep, destroyed);
        if let Some(begun) = begun {
            Tracepoint::Collection.pass(|| [destroyed, clock::now_ns().saturating_sub(begun)]);
        }
    }
}

/// Passes the words of all requests to `root`, unless requests count their references. Returns
/// the number of slots read.
fn requests_of_calls(root: &mut dyn FnMut(usize)) -> usize {
    if request::requests_count() { 0 } else { request::roots(root) }
}

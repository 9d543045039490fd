//! Cycles at once, slots that are used anew while a cycle is under way, and the number of eligible objects.

use super::{
    COLLECTOR, LEFT, TABLE, TOO_MANY, call, cycle, done, free, new_object, nothing_is_left, protect, release,
    requests, use_it,
};
use crate::lifetime::collector::{Collected, Step};
use crate::sentinel::step;
use heddle_platform::model::explore;
use heddle_platform::with_fault;
use loom::thread;

/// Two threads collect at once; this one uses the slot anew meanwhile, and frees the new object, too.
fn two_cycles() {
    let handle = new_object();
    free(handle);
    let other = thread::spawn(cycle);
    cycle();
    let handle = new_object();
    let protected = protect(handle).expect("live");
    free(handle);
    use_it(&protected);
    release(&protected, handle);
    done(other);
    nothing_is_left();
}

/// Two threads collect an object that a third one uses.
fn two_cycles_and_a_call(calls: fn(usize)) -> impl Fn() + Sync + Send + 'static {
    move || {
        let handle = new_object();
        let caller = thread::spawn(move || calls(handle));
        free(handle);
        // Without the steps of `cycle`: three threads have enough orders as it is.
        let cycle = || COLLECTOR.cycle(requests, &mut |_| ());
        let other = thread::spawn(cycle);
        cycle();
        done(caller);
        done(other);
        nothing_is_left();
    }
}

/// Two threads make and free objects, and collect when it is due: it goes on being due by and by.
fn collected_when_due() {
    let make_and_free = || {
        COLLECTOR.run_if_due(requests, &mut |_| ());
        free(new_object());
    };
    let other = thread::spawn(make_and_free);
    make_and_free();
    done(other);
    for _ in 0..4 {
        make_and_free();
    }
    COLLECTOR.run_if_due(requests, &mut |_| ());
    let (cycles, destroyed) = COLLECTOR.totals();
    assert!(cycles > 0 && destroyed > 0);
    assert!(TABLE.existing() <= 2, "{LEFT}");
}

/// The number of eligible objects is right, or a little too large, at any moment.
fn the_number_of_eligible_objects() {
    let handle = new_object();
    let owned = TABLE.remove(handle).expect("live");
    let collecting = thread::spawn(|| {
        step();
        COLLECTOR.cycle(requests, &mut |at| {
            step();
            if matches!(at, Step::Destroyed | Step::Over) {
                assert!(TABLE.eligible() <= 1, "{TOO_MANY}");
            }
        });
    });
    step();
    drop(owned);
    done(collecting);
    nothing_is_left();
}

/// A slot is used anew while the cycle that has emptied it is not over.
fn a_slot_is_used_anew() {
    let handle = new_object();
    free(handle);
    let collecting = thread::spawn(cycle);
    free(new_object());
    done(collecting);
    nothing_is_left();
}

/// A slot is used anew while a cycle is about to check whether its object is eligible: the cycle may find the
/// new object before the thread that freed it has marked it.
fn a_slot_is_used_anew_in_a_cycle() {
    free(new_object());
    let collecting = thread::spawn(cycle);
    cycle();
    free(new_object());
    done(collecting);
    cycle();
    free(new_object());
    nothing_is_left();
}

#[test]
fn one_of_two_cycles_destroys_an_object() {
    explore(Some(3), two_cycles);
}

#[test]
fn two_cycles_leave_an_object_in_use() {
    explore(Some(2), two_cycles_and_a_call(call));
}

#[test]
fn no_object_is_overlooked() {
    explore(None, a_slot_is_used_anew);
}

#[test]
fn cycles_come_when_they_are_due() {
    explore(Some(3), collected_when_due);
}

#[test]
fn the_eligible_are_counted() {
    explore(Some(3), a_slot_is_used_anew_in_a_cycle);
    explore(None, the_number_of_eligible_objects);
}

with_fault!(a_blind_claim_is_found, two_cycles);

with_fault!(a_claim_of_any_generation_is_found, two_cycles);

with_fault!(a_late_count_is_found, the_number_of_eligible_objects);

with_fault!(a_blind_subtraction_is_found, a_slot_is_used_anew_in_a_cycle);

with_fault!(a_bit_cleared_late_is_found, a_slot_is_used_anew);

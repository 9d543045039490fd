//! Calls and requests against one thread that frees and collects; and the places of threads.

use super::{REQUEST, TABLE, call, cycle, done, free, give_up, hold, new_object, nothing_is_left, use_it};
use crate::canary::{Canary, must_fail, step};
use crate::fault::Fault;
use crate::lifetime::hazard::{KeptPlace, forget};
use crate::table::{Held, Ref};
use heddle_platform::model::{RACE, explore};
use loom::thread;
use std::mem::ManuallyDrop;
use std::ptr::without_provenance_mut;

/// A request that uses the object begins.
fn begin_request(handle: usize) {
    REQUEST.names().take(handle);
    REQUEST.names().begin();
}

/// A request that uses the object ends.
fn end_request(held: &Held<Canary>) {
    step();
    use_it(held);
    REQUEST.names().end();
}

/// A call that begins an operation.
fn call_with_request(handle: usize) {
    if let Some(held) = hold(handle) {
        use_it(&held);
        begin_request(handle);
        give_up(&held, handle);
        end_request(&held);
    }
}

/// A call that has a counted reference made, by which an operation is begun when the call is over.
fn call_with_reference(handle: usize) {
    if let Some(held) = hold(handle) {
        // SAFETY: no reference is taken: this one is not dropped, and the hold keeps the object.
        let kept = ManuallyDrop::new(unsafe { Ref::from_index(&TABLE, handle as u32) });
        let reference = Ref::clone(&kept);
        give_up(&held, handle);
        reference.sing();
        begin_request(handle);
        drop(reference);
        end_request(&held);
    }
}

/// A call that begins an operation, and then one with another object, in the same place.
fn call_with_request_and_another(handle: usize, other: usize) {
    if let Some(held) = hold(handle) {
        begin_request(handle);
        assert!(held.hold.give_up());
        call(other);
        end_request(&held);
    }
}

/// As much of an address as an object needs that requests name by it.
const NAME: usize = 0x5550;

/// A call that begins an operation whose buffer has the object as its datatype.
fn call_with_datatype(handle: usize) {
    if let Some(held) = hold(handle) {
        begin_request(0);
        REQUEST.names().set_datatype(without_provenance_mut(NAME));
        give_up(&held, handle);
        end_request(&held);
    }
}

/// A datatype, which this thread frees and collects.
fn free_and_collect_datatype() {
    let handle = TABLE.insert_named(Canary::new(), NAME);
    let caller = thread::spawn(move || call_with_datatype(handle));
    free(handle);
    cycle();
    done(caller);
    nothing_is_left();
}

/// Two operations, one after the other, whose requests have the same slot.
fn a_request_after_another() {
    let (handle, other) = (new_object(), new_object());
    let caller = thread::spawn(move || {
        call_with_request(handle);
        call_with_request(other);
    });
    free(handle);
    free(other);
    cycle();
    done(caller);
    nothing_is_left();
}

/// A call that begins an operation, which fails: the error goes on using the object.
fn call_with_request_that_fails(handle: usize) {
    if let Some(held) = hold(handle) {
        begin_request(handle);
        give_up(&held, handle);
        step();
        let of_error = TABLE.get_while_it_exists(handle).expect("the request keeps it");
        end_request(&held);
        step();
        of_error.sing();
    }
}

/// A call that uses more objects than the thread has places, and so counts a reference.
fn call_without_a_place(handle: usize) {
    let others = [new_object(), new_object()].map(|other| (other, hold(other).expect("live")));
    if let Some(held) = hold(handle) {
        assert!(held.hold.is_counted());
        begin_request(handle);
        assert!(!held.hold.give_up());
        // SAFETY: the reference that the hold had.
        drop(unsafe { Ref::from_index(&TABLE, handle as u32) });
        end_request(&held);
    }
    for (other, held) in others {
        assert!(held.hold.give_up());
        free(other);
    }
}

/// Two calls: the second may find its object where the first has left it.
fn two_calls(handle: usize) {
    for _ in 0..2 {
        if let Some(held) = hold(handle) {
            use_it(&held);
            assert!(held.hold.give_up());
        }
    }
    forget(handle);
}

/// A thread does `calls` with an object, which this one frees and collects.
fn free_and_collect(calls: fn(usize)) -> impl Fn() + Sync + Send + 'static {
    move || {
        let handle = new_object();
        let caller = thread::spawn(move || calls(handle));
        free(handle);
        cycle();
        done(caller);
        nothing_is_left();
    }
}

/// The same, but another thread frees the object.
fn freed_by_another(calls: fn(usize)) -> impl Fn() + Sync + Send + 'static {
    move || {
        let handle = new_object();
        let caller = thread::spawn(move || calls(handle));
        let other = thread::spawn(move || free(handle));
        cycle();
        done(caller);
        done(other);
        nothing_is_left();
    }
}

/// A call that uses two objects, each in a place of its kind.
fn a_call_with_two_objects() {
    let (handle, other) = (new_object(), new_object());
    let caller = thread::spawn(move || {
        if let Some(held) = hold(handle) {
            if let Some(second) = TABLE.hold(other, KeptPlace::Datatype) {
                use_it(&second);
                give_up(&second, other);
            }
            use_it(&held);
            give_up(&held, handle);
        }
    });
    free(other);
    free(handle);
    cycle();
    done(caller);
    nothing_is_left();
}

fn a_place_for_two_objects() {
    let (handle, other) = (new_object(), new_object());
    let caller = thread::spawn(move || call_with_request_and_another(handle, other));
    free(handle);
    cycle();
    done(caller);
    free(other);
    nothing_is_left();
}

/// A thread has ended; one of two gets its places.
fn places_change_hands() {
    let handle = new_object();
    done(thread::spawn(move || call(handle)));
    let second = thread::spawn(move || call(handle));
    call(handle);
    done(second);
    free(handle);
    nothing_is_left();
}

#[test]
fn a_call_keeps_its_object() {
    explore(Some(4), free_and_collect(call));
    explore(Some(2), a_call_with_two_objects);
    explore(Some(2), freed_by_another(call));
}

#[test]
fn calls_in_a_row_keep_their_object() {
    explore(Some(3), free_and_collect(two_calls));
}

#[test]
fn a_request_keeps_its_object() {
    explore(Some(3), free_and_collect(call_with_request));
    explore(Some(2), freed_by_another(call_with_request));
    explore(Some(3), free_and_collect_datatype);
    explore(Some(2), a_request_after_another);
}

#[test]
fn a_request_made_by_a_counted_reference_keeps_its_object() {
    explore(Some(3), free_and_collect(call_with_reference));
    explore(Some(2), free_and_collect(call_without_a_place));
}

#[test]
fn an_error_keeps_its_object() {
    explore(Some(2), free_and_collect(call_with_request_that_fails));
}

#[test]
fn an_object_that_was_replaced_in_its_place_is_kept_by_its_request() {
    explore(Some(3), a_place_for_two_objects);
}

#[test]
fn places_are_one_threads_at_a_time() {
    explore(Some(2), places_change_hands);
}

must_fail!(a_check_before_the_hold_is_found, Fault::HoldChecksFirst, RACE, free_and_collect(call));

must_fail!(a_hold_without_its_fence_is_found, Fault::HoldWithoutLight, RACE, free_and_collect(call));

must_fail!(a_cycle_without_its_barrier_is_found, Fault::CycleWithoutHeavy, RACE, free_and_collect(call));

must_fail!(
    a_name_cleared_silently_is_found,
    Fault::HoldClearsSilently,
    RACE,
    free_and_collect(call_with_request)
);

must_fail!(a_name_replaced_silently_is_found, Fault::HoldReplacesSilently, RACE, a_place_for_two_objects);

must_fail!(
    a_look_at_the_requests_first_is_found,
    Fault::CycleRequestsFirst,
    RACE,
    free_and_collect(call_with_request)
);

must_fail!(
    a_look_at_the_states_first_is_found,
    Fault::CycleStatesFirst,
    RACE,
    free_and_collect(call_with_reference)
);

must_fail!(
    no_second_look_at_the_states_is_found,
    Fault::CycleWithoutStates,
    RACE,
    free_and_collect(call_with_reference)
);

must_fail!(places_returned_carelessly_are_found, Fault::PlacesRelaxedReturn, RACE, places_change_hands);

must_fail!(places_taken_by_two_are_found, Fault::PlacesPlainTake, RACE, places_change_hands);

must_fail!(
    a_request_that_ends_silently_is_found,
    Fault::RequestRelaxedGeneration,
    RACE,
    free_and_collect(call_with_request)
);

//! Calls and requests against one thread that frees and collects; and the hazard slots of threads.

use super::{REQUEST, TABLE, call, cycle, done, free, new_object, nothing_is_left, protect, release, use_it};
use crate::lifetime::hazard::{KeptSlot, forget};
use crate::sentinel::{Sentinel, step};
use crate::table::{Protected, Ref};
use heddle_platform::model::explore;
use heddle_platform::with_fault;
use loom::thread;
use std::mem::ManuallyDrop;
use std::ptr::without_provenance_mut;

/// A request that uses the object begins.
fn begin_request(handle: usize) {
    REQUEST.names().take(handle);
    REQUEST.names().begin();
}

/// A request that uses the object ends.
fn end_request(protected: &Protected<Sentinel>) {
    step();
    use_it(protected);
    REQUEST.names().end();
}

/// A call that begins an operation.
fn call_with_request(handle: usize) {
    if let Some(protected) = protect(handle) {
        use_it(&protected);
        begin_request(handle);
        release(&protected, handle);
        end_request(&protected);
    }
}

/// A call that has a counted reference made, by which an operation is begun when the call is over.
fn call_with_reference(handle: usize) {
    if let Some(protected) = protect(handle) {
        // SAFETY: no reference is taken: this one is not dropped, and the hazard slot keeps the object.
        let kept = ManuallyDrop::new(unsafe { Ref::from_index(&TABLE, handle as u32) });
        let reference = Ref::clone(&kept);
        release(&protected, handle);
        reference.check();
        begin_request(handle);
        drop(reference);
        end_request(&protected);
    }
}

/// A call that begins an operation, and then one with another object, in the same hazard slot.
fn call_with_request_and_another(handle: usize, other: usize) {
    if let Some(protected) = protect(handle) {
        begin_request(handle);
        assert!(protected.protection.release());
        call(other);
        end_request(&protected);
    }
}

/// An object's address, by which requests name it.
const NAME: usize = 0x5550;

/// A call that begins an operation whose buffer has the object as its datatype.
fn call_with_datatype(handle: usize) {
    if let Some(protected) = protect(handle) {
        begin_request(0);
        REQUEST.names().set_datatype(without_provenance_mut(NAME));
        release(&protected, handle);
        end_request(&protected);
    }
}

/// A datatype, which this thread frees and collects.
fn free_and_collect_datatype() {
    let handle = TABLE.insert_named(Sentinel::new(), NAME);
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
    if let Some(protected) = protect(handle) {
        begin_request(handle);
        release(&protected, handle);
        step();
        let of_error = TABLE.get_while_it_exists(handle).expect("the request keeps it");
        end_request(&protected);
        step();
        of_error.check();
    }
}

/// A call that uses more objects than the thread has hazard slots, and so counts a reference.
fn call_without_a_slot(handle: usize) {
    let others = [new_object(), new_object()].map(|other| (other, protect(other).expect("live")));
    if let Some(protected) = protect(handle) {
        assert!(protected.protection.is_counted());
        begin_request(handle);
        assert!(!protected.protection.release());
        // SAFETY: the reference that the protection owned.
        drop(unsafe { Ref::from_index(&TABLE, handle as u32) });
        end_request(&protected);
    }
    for (other, protected) in others {
        assert!(protected.protection.release());
        free(other);
    }
}

/// Two calls: the second may find its object where the first has left it.
fn two_calls(handle: usize) {
    for _ in 0..2 {
        if let Some(protected) = protect(handle) {
            use_it(&protected);
            assert!(protected.protection.release());
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

/// A call that uses two objects, each in the hazard slot of its kind.
fn a_call_with_two_objects() {
    let (handle, other) = (new_object(), new_object());
    let caller = thread::spawn(move || {
        if let Some(protected) = protect(handle) {
            if let Some(second) = TABLE.protect(other, KeptSlot::Datatype) {
                use_it(&second);
                release(&second, other);
            }
            use_it(&protected);
            release(&protected, handle);
        }
    });
    free(other);
    free(handle);
    cycle();
    done(caller);
    nothing_is_left();
}

fn a_slot_for_two_objects() {
    let (handle, other) = (new_object(), new_object());
    let caller = thread::spawn(move || call_with_request_and_another(handle, other));
    free(handle);
    cycle();
    done(caller);
    free(other);
    nothing_is_left();
}

/// A thread has ended; one of two gets its hazard slots.
fn slots_change_hands() {
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
    explore(Some(2), free_and_collect(call_without_a_slot));
}

#[test]
fn an_error_keeps_its_object() {
    explore(Some(2), free_and_collect(call_with_request_that_fails));
}

#[test]
fn an_object_that_was_replaced_in_its_slot_is_kept_by_its_request() {
    explore(Some(3), a_slot_for_two_objects);
}

#[test]
fn slots_belong_to_one_thread_at_a_time() {
    explore(Some(2), slots_change_hands);
}

with_fault!(a_check_before_publishing_is_found, free_and_collect(call));

with_fault!(a_hazard_slot_without_its_fence_is_found, free_and_collect(call));

with_fault!(a_cycle_without_its_barrier_is_found, free_and_collect(call));

with_fault!(a_handle_cleared_without_order_is_found, free_and_collect(call_with_request));

with_fault!(a_handle_replaced_without_order_is_found, a_slot_for_two_objects);

with_fault!(requests_read_first_are_found, free_and_collect(call_with_request));

with_fault!(states_read_first_are_found, free_and_collect(call_with_reference));

with_fault!(states_read_once_are_found, free_and_collect(call_with_reference));

with_fault!(slots_returned_without_order_are_found, slots_change_hands);

with_fault!(slots_taken_by_two_threads_are_found, slots_change_hands);

with_fault!(a_request_that_ends_without_order_is_found, free_and_collect(call_with_request));

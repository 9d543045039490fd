//! Ranks that leave the network, come back and leave again.

use super::{PATIENCE, SILENCE, acquainted, read, send};
use crate::network::Port;
use crate::throttle::Traffic;

/// Waits until the network has what a rank has sent to `one`.
fn drain(other: &Port, one: &Port) {
    while !other.is_drained() {
        one.is_empty();
    }
}

/// Lets a rank leave, and `one` hear of it: not by a message that was on its way anyhow.
fn leave(other: &Port, one: &Port) {
    drain(other, one);
    other.set_leaves(true);
    drain(other, one);
    // It is silent from now on.
    (0..10 * PATIENCE).for_each(|_| one.beat(SILENCE));
}

#[test]
fn a_rank_that_leaves_twice_is_missed_neither_time() {
    let (one, other) = acquainted(20);
    assert_eq!(one.acquaintances(), [1]);
    leave(&other, &one);
    assert!(one.acquaintances().is_empty(), "a rank that has left is told nothing");
    other.set_leaves(false);
    while read(&one, 1).is_empty() {
        send(&other, 0, Traffic::Eager, 0, 8);
        other.is_empty();
    }
    assert_eq!(one.acquaintances(), [1]);
    leave(&other, &one);
    assert!(one.acquaintances().is_empty());
}

#[test]
fn a_message_that_was_just_sent_keeps_its_rank_from_leaving() {
    let (one, other) = acquainted(21);
    drain(&one, &other);
    assert!(send(&one, 1, Traffic::Eager, 0, 8));
    assert!(!one.is_drained(), "the provider has not said that it has sent it");
    drain(&one, &other);
}

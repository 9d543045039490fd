//! Credit that a receiver returns to a sender.

use super::{acquainted, port, provider, read, send};
use crate::throttle::Traffic;

#[test]
fn credit_for_a_rank_that_is_gone_is_no_failure() {
    let provider = provider();
    let (from, to) = (port(&provider, 0, 5, 4), port(&provider, 1, 5, 4));
    let mut sent = 0;
    while sent < 40 {
        sent += i32::from(send(&from, 1, Traffic::Eager, sent, 8));
        from.read(|_, _| panic!("nobody sends to it"));
        // The connection is made while both poll. The messages wait for their reader.
        to.is_empty();
    }
    // The provider has sent injected packets, too.
    while !from.is_drained() {
        to.is_empty();
    }
    drop(from);
    let mut tags = Vec::new();
    for _ in 0..2000 {
        tags.extend(read(&to, 0));
    }
    assert_eq!(tags, (0..40).collect::<Vec<_>>());
}

#[test]
fn credit_for_which_no_buffer_is_free_is_returned_when_there_is_one() {
    let (one, other) = acquainted(23);
    while !one.is_drained() {
        other.is_empty();
    }
    one.without_buffers(1, || {
        let (mut sent, mut received) = (0, 0);
        while received < 100 {
            // A poll before each, so that each has a packet of its own.
            sent += i32::from(sent < 100 && send(&other, 0, Traffic::Eager, sent, 8));
            other.is_empty();
            received += read(&one, 1).len();
        }
        assert!(one.owes_enough(1));
    });
    // Nothing more is read that would remind it.
    one.is_empty();
    assert!(!one.owes_enough(1), "it was forgotten");
    let mut sent = 0;
    while sent < 50 {
        sent += i32::from(send(&other, 0, Traffic::Eager, sent, 8));
        one.is_empty();
        other.is_empty();
    }
}

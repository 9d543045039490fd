//! Remote reads from ranks that are lost.

use super::*;

const LONG: usize = 8 << 20;

/// Memory of a rank, all of whose bytes are alike, that others may read.
struct Memory {
    exposed: crate::network::Exposed,
    _bytes: Vec<u8>,
}

fn memory(port: &Arc<Port>, byte: u8) -> Memory {
    let mut bytes = vec![byte; LONG];
    // SAFETY: the bytes outlive what is exposed.
    let exposed =
        unsafe { port.expose(bytes.as_mut_ptr(), LONG, Lasts::Shortly) }.expect("there are remote reads");
    Memory { exposed, _bytes: bytes }
}

/// Begins to read the first `to.len()` bytes. The caller keeps `to` until the end of the test.
fn copy(port: &Port, peer: usize, memory: &Memory, to: &mut [u8]) -> bool {
    let done = (header(0), [0; EXTRA_BYTES]);
    let (direction, there) = (CopyDirection::Read, memory.exposed.name());
    let copy = RemoteCopy { direction, peer, there, here: to.as_mut_ptr(), len: to.len(), done };
    // SAFETY: the bytes are there until the end of the test.
    unsafe { port.copy(copy, true) }
}

/// Polls until data is there.
fn complete(reader: &Port, owner: &Port) {
    let mut done = 0;
    while done == 0 {
        reader.read(|sender, _| done += usize::from(sender == 0));
        owner.is_empty();
    }
}

/// Reads some data, so that there is a connection for it, and then a part of long data.
fn read_a_part(reader: &Port, owner: &Port, memory: &Memory, to: &mut [u8]) {
    assert!(copy(reader, 1, memory, &mut to[..100_000]));
    complete(reader, owner);
    to.fill(0);
    assert!(copy(reader, 1, memory, to));
    let first = &raw const to[0];
    // SAFETY: a byte of the buffer, which the provider may write at any time.
    while unsafe { first.read_volatile() } == 0 {
        reader.is_empty();
        owner.is_empty();
    }
}

#[test]
#[should_panic(expected = "it was lost while data was read from its memory")]
fn a_rank_that_is_lost_while_its_memory_is_read_may_end_the_process() {
    let (one, other) = acquainted(14);
    let other = Arc::new(other);
    let (memory, mut to) = (memory(&other, 1), vec![0; 100_000]);
    assert!(copy(&one, 1, &memory, &mut to));
    // It was not so when the read began.
    SURVIVES.set(true);
    (0..2 * PATIENCE).for_each(|_| one.beat(SILENCE));
}

#[test]
fn a_read_from_a_silent_rank_is_stopped_and_others_begin_again() {
    SURVIVES.set(true);
    let (one, other) = acquainted(18);
    let (other, third) = (Arc::new(other), Arc::new(port(&provider(), 2, 18, 4)));
    let (of_other, of_third) = (memory(&other, 1), memory(&third, 2));
    let (mut from_other, mut from_third) = (vec![0; LONG], vec![0; LONG]);
    assert!(copy(&one, 2, &of_third, &mut from_third[..100_000]));
    complete(&one, &third);
    assert!(send(&third, 0, Traffic::Eager, 0, 8));
    while read(&one, 2).is_empty() {
        third.is_empty();
    }
    read_a_part(&one, &other, &of_other, &mut from_other);
    // One rank is silent from now on, though parts of its data may still arrive, and the other one is heard.
    let (mut lost, mut done, mut beats) = (Vec::new(), 0, 0);
    while lost.is_empty() {
        if beats == PATIENCE / 2 {
            from_third.fill(0);
            assert!(copy(&one, 2, &of_third, &mut from_third));
        }
        if beats % (PATIENCE / 2) == 0 {
            while !send(&third, 0, Traffic::Eager, 0, 8) {}
            third.send_open();
        }
        one.beat(SILENCE);
        one.read(|sender, message| match (sender, message.header.kind) {
            (0, LOST) => lost.push(message.payload()[0]),
            (0, _) => done += 1,
            _ => assert_eq!(sender, 2),
        });
        beats += 1;
    }
    assert_eq!((lost, done), (vec![1], 0));
    assert!(!copy(&one, 1, &of_other, &mut []));
    // The lost rank comes back, and nothing is written to memory that is not the port's any more.
    from_other.fill(3);
    for _ in 0..1000 {
        other.is_empty();
        one.is_empty();
    }
    complete(&one, &third);
    assert!(from_third.iter().all(|byte| *byte == 2));
    assert!(from_other.iter().all(|byte| *byte == 3), "it was written to");
    while !one.is_drained() {
        third.is_empty();
    }
}

#[test]
fn a_read_from_a_rank_that_ends_is_an_error_of_that_rank() {
    SURVIVES.set(true);
    let (one, other) = acquainted(19);
    let (other, mut to) = (Arc::new(other), vec![0; LONG]);
    let memory = memory(&other, 1);
    read_a_part(&one, &other, &memory, &mut to);
    drop(memory);
    drop(other);
    let mut lost = Vec::new();
    for _ in 0..100_000 {
        lost.extend(read_losses(&one, 0));
    }
    assert_eq!(lost, [1]);
    assert!(one.is_drained());
}

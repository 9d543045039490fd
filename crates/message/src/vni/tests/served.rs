//! Tests: memory that the kernel does not copy is copied by the process whose memory it is.

use super::ranks::{models, ranks};
use crate::buffer::Buffer;
use crate::request::{self, RequestId, RequestKind};
use crate::vni::{ServedCopy, Vni};
use heddle_transport::CopyDirection::{self, Read, Write};

/// Some pieces, and not a whole number of them.
const LEN: usize = 100_001;

fn pattern(seed: usize) -> Vec<u8> {
    (0..LEN).map(|place| (place * 7 + place / 256 + seed) as u8).collect()
}

/// Begins a copy between a buffer and memory of the peer of the other number.
///
/// # Safety
/// Buffer and memory have `LEN` bytes and outlive the operation.
unsafe fn begin(
    vni: &Vni,
    direction: CopyDirection,
    peer: usize,
    memory: *mut u8,
    buffer: *mut u8,
) -> RequestId {
    let kind = if direction == Read { RequestKind::Receive } else { RequestKind::Send };
    let id = request::take(0, 0, kind).expect("a request");
    // SAFETY: the caller's promise.
    let buffer = unsafe { Buffer::bytes(buffer, LEN) };
    // SAFETY: new, and not issued yet.
    unsafe { request::set_buffer(id, buffer) };
    let address = memory.expose_provenance() as u64;
    vni.begin_served_copy(id, ServedCopy { direction, peer, address, buffer });
    id
}

#[test]
fn copies_in_both_directions_at_once_are_made_by_the_owners() {
    for model in models() {
        let [(_first, a), (_second, b)] = ranks(&model);
        // Each rank reads memory of the other one and writes to memory of the other one.
        let mut memory = [pattern(1), pattern(2), pattern(3), pattern(4)];
        let mut buffers = [pattern(5), pattern(6), pattern(7), pattern(8)];
        let copies = [(&a, Read, 1), (&b, Read, 0), (&a, Write, 1), (&b, Write, 0)];
        let begun: Vec<RequestId> = copies
            .iter()
            .zip(memory.iter_mut().zip(&mut buffers))
            .map(|((vni, direction, peer), (memory, buffer))| {
                // SAFETY: both outlive the operation, which ends in this function.
                unsafe { begin(vni, *direction, *peer, memory.as_mut_ptr(), buffer.as_mut_ptr()) }
            })
            .collect();
        while !begun.iter().all(|id| request::is_complete(*id)) {
            a.progress();
            b.progress();
        }
        for (id, (_, direction, _)) in begun.into_iter().zip(copies) {
            let (outcome, _) = request::consume(id).expect("no other thread took it");
            assert_eq!(outcome.error, None);
            assert!(direction == Write || outcome.bytes == LEN as u64);
        }
        assert!(buffers[0] == pattern(1) && buffers[1] == pattern(2), "other bytes were read");
        assert!(memory[2] == pattern(7) && memory[3] == pattern(8), "other bytes were written");
        assert!(!a.has_offers() && !b.has_offers() && a.is_drained() && b.is_drained());
    }
}

#[test]
fn a_store_is_over_only_when_its_owner_has_stored_everything() {
    for model in models() {
        let [(_first, writer), (_second, owner)] = ranks(&model);
        let (mut memory, mut data) = (vec![0; LEN], pattern(9));
        // SAFETY: both outlive the operation, which ends in this function.
        let id = unsafe { begin(&writer, Write, 1, memory.as_mut_ptr(), data.as_mut_ptr()) };
        for _ in 0..1000 {
            writer.progress();
        }
        assert!(!request::is_complete(id), "the owner has done nothing yet");
        while !request::is_complete(id) {
            owner.progress();
            writer.progress();
        }
        assert!(memory == data);
        request::release(id);
    }
}

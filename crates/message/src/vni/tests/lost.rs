//! Tests: the operations that wait for a lost rank end in an error, and no others do.

use super::ranks::{self, CONTEXT, models, ranks};
use crate::buffer::Buffer;
use crate::matching::Key;
use crate::request::{self, RequestId, RequestKind};
use crate::vni::core::Core;
use crate::vni::interface::{VniState, apart};
use crate::vni::{SendArgs, Vni};
use heddle_model::{Model, Path, SectionOf, Whole};
use heddle_spec::constants::{MPI_ANY_SOURCE, MPI_ERR_PROC_ABORTED};

/// More than a ring has room for.
const LARGE: usize = 8 << 20;
/// The tests of a process share its requests, and no other one has a rank with this number.
const LOST: usize = 7;
const LIVE: usize = 2;

fn receive(vni: &Vni, source: i32, tag: i32, bytes: &mut [u8]) -> RequestId {
    let id = request::take(0, 0, RequestKind::Receive).expect("a request");
    // SAFETY: new, and not issued yet.
    let in_flight = unsafe { request::in_flight(id) };
    // SAFETY: the bytes outlive the operation, which ends in the test that has them.
    in_flight.buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) };
    in_flight.context = CONTEXT;
    vni.receive(id, Key::new(CONTEXT, source, tag));
    id
}

fn send_synchronously(vni: &Vni, bytes: &mut [u8]) -> RequestId {
    // SAFETY: the bytes outlive the operation, which ends in the test that has them.
    let buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) };
    let (synchronous, keep) = (true, None);
    let args = SendArgs { buffer, peer: LOST, context: CONTEXT, source: 0, tag: 1, synchronous, keep };
    let id = vni.send(args, || request::take(0, 0, RequestKind::Send)).expect("a request");
    id.expect("it waits for its match")
}

/// Returns true if the request, which is complete, has ended in the error of a loss.
fn has_failed(id: RequestId) -> bool {
    let (outcome, _) = request::consume(id).expect("it is complete");
    let error = outcome.error.as_ref();
    assert!(error.is_none_or(|error| error.message() == "the rank is gone"));
    error.is_some_and(|error| error.code() == MPI_ERR_PROC_ABORTED)
}

fn lose(vni: &Vni) {
    run!(vni, Progress, core => core.arrivals().with(Path::Progress, |_| core.lose(LOST)));
}

fn ends_what_waits_for_the_lost_rank(model: &Model) {
    let ranks = ranks::<8>(model);
    let ((fabric, vni), (lost_fabric, lost), (_, live)) = (&ranks[0], &ranks[LOST], &ranks[LIVE]);
    // Data goes in pieces.
    fabric.forbid_single_copies();
    lost_fabric.forbid_single_copies();
    let mut bytes: Vec<Vec<u8>> = (0..9).map(|_| vec![0; LARGE]).collect();
    let [a, b, c, d, e, f, g, h, i] = &mut bytes[..] else { unreachable!("nine") };

    // Once its pieces have come, a receive waits for its sender no more, nor does the next one in its slot.
    // SAFETY: the bytes outlive the operation, which ends here.
    let past_send = unsafe { ranks::send(lost, 0, LOST as i32, 2, c) }.expect("it is long");
    let past = receive(vni, LOST as i32, 2, d);
    while !(request::is_complete(past_send) && request::is_complete(past)) {
        lost.progress();
        vni.progress();
    }
    assert!(!has_failed(past_send) && !has_failed(past));
    let goes_on = receive(vni, LIVE as i32, 8, &mut i[..8]);
    assert_eq!(goes_on, past, "a thread takes the slot that it has returned last");

    // SAFETY: the bytes outlive the operation, which ends in this function.
    let streamed = unsafe { ranks::send(vni, LOST, 0, 3, a) }.expect("it is long");
    let its_receive = receive(lost, 0, 3, b);
    lost.progress();
    vni.progress();
    // SAFETY: the lost rank sends no more once this is offered, and the bytes outlive the test.
    unsafe { ranks::send(lost, 0, LOST as i32, 4, c) }.expect("it is long");
    let in_pieces = receive(vni, LOST as i32, 4, d);
    vni.progress();
    let offered = send_synchronously(vni, &mut e[..8]);
    // SAFETY: the bytes outlive the operation, which ends in this function.
    let queued = unsafe { ranks::send(vni, LOST, 0, 5, &mut f[..8]) };
    let mut fails = vec![streamed, in_pieces, offered];
    fails.extend(queued);
    fails.push(receive(vni, LOST as i32, 6, g));
    fails.push(receive(vni, MPI_ANY_SOURCE, 7, h));
    let complete: Vec<bool> = fails.iter().map(|id| request::is_complete(*id)).collect();
    assert!(!complete.contains(&true), "{complete:?}");

    fabric.note_loss(LOST, "the rank is gone".to_owned());
    lose(vni);
    assert!(fails.iter().all(|id| request::is_complete(*id)));
    assert!(fails.into_iter().all(has_failed));
    assert!(vni.is_drained() && !vni.has_offers());
    // The others are told of it, once.
    assert!(live.progress() && !live.progress());

    // A later receive from the rank fails, and one from any rank does not: the loss was reported.
    let (mut there, mut word) = ([0; 8], [7; 8]);
    let later = receive(vni, LOST as i32, 6, &mut there);
    vni.progress();
    assert!(request::is_complete(later) && has_failed(later));
    let any = receive(vni, MPI_ANY_SOURCE, 9, &mut there);
    vni.progress();
    assert!(!request::is_complete(any) && !request::is_complete(goes_on));
    for tag in [8, 9] {
        // SAFETY: the bytes outlive the operation, which is complete when this returns.
        assert_eq!(unsafe { ranks::send(live, 0, LIVE as i32, tag, &mut word) }, None);
    }
    while !(request::is_complete(any) && request::is_complete(goes_on)) {
        vni.progress();
    }
    assert!(!has_failed(any) && !has_failed(goes_on) && there == [7; 8]);
    // It stays with the rank that is gone.
    assert!(!request::is_complete(its_receive));
}

#[test]
fn the_loss_of_a_rank_ends_what_waits_for_it() {
    models().iter().for_each(ends_what_waits_for_the_lost_rank);
}

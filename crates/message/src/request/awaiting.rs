//! Requests that wait for a word of their peer, which never comes if the peer is lost.
//!
//! The slot of such a request names the VNI and the peer, so the thread that handles the loss of the peer
//! finds it among all slots, and nothing has to be listed. The thread that clears the name completes the
//! request: with an exchange, where two threads may do so at once.

use super::kind::{RequestId, RequestKind};
use super::slot::{at, used};
use heddle_platform::atomic::Ordering;

/// The word for a VNI and a peer; 0 is that of a request that waits for no peer.
fn word(vni: usize, peer: usize) -> u64 {
    (vni as u64) << 32 | (peer as u64 + 1)
}

/// Notes that a request waits on a VNI for a word of a peer. The caller has its in-flight state.
pub(crate) fn await_peer(id: RequestId, vni: usize, peer: usize) {
    // Release: pairs with the Acquire in `claim`.
    at(id).awaits.store(word(vni, peer), Ordering::Release);
}

/// Notes that a request waits for its peer no more. No thread handles the loss of the peer meanwhile.
pub(crate) fn await_nobody(id: RequestId) {
    at(id).awaits.store(0, Ordering::Relaxed);
}

/// Takes back the in-flight state of a request that waits for a word of a peer. Returns false if the thread
/// that handles the loss of the peer has it.
pub(crate) fn claim(id: RequestId, vni: usize, peer: usize) -> bool {
    let claimed = at(id).awaits.compare_exchange(word(vni, peer), 0, Ordering::AcqRel, Ordering::Relaxed);
    claimed.is_ok()
}

/// Claims all requests that wait on a VNI for a word of a peer; returns them with their purposes.
pub(crate) fn claim_all(vni: usize, peer: usize) -> Vec<(RequestId, RequestKind)> {
    let awaiting = (0..used()).filter(|id| at(*id).awaits.load(Ordering::Relaxed) == word(vni, peer));
    let claimed = awaiting.filter(|id| claim(*id, vni, peer));
    // SAFETY: the kind does not change while the request is active.
    claimed.map(|id| (id, unsafe { (*at(id).owner.get()).kind })).collect()
}

/// The communicator that a request names.
pub(crate) fn comm_word(id: RequestId) -> usize {
    at(id).comm.load(Ordering::Relaxed)
}

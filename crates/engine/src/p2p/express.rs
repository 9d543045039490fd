//! The express path: the most frequent kind of send, a small message, with the fewest instructions.
//!
//! It serves a standard send of at most [`INLINE_BYTES`] bytes of a predefined datatype to another process, on a communicator that
//! the calling thread used last or that is predefined, if the VNI has no critical section or its lock is biased to the thread. It
//! checks all arguments. If it cannot send, or finds an error, it changes nothing, and the caller takes the general path, which
//! reports the error.

use crate::comm::{Comm, CommRef, Plane};
use heddle_message::context::Context;
use heddle_message::vni::{INLINE_BYTES, eager_header};
use heddle_spec::constants::MPI_PROC_NULL;

/// A small standard send, as the program gives it.
#[derive(Debug, Clone, Copy)]
pub struct SmallSend {
    /// Where the data lies.
    pub address: *const u8,
    /// Elements.
    pub count: i64,
    /// Handle of their datatype.
    pub datatype: usize,
    /// Rank of the receiver.
    pub dest: i32,
    /// Its tag.
    pub tag: i32,
    /// Handle of the communicator.
    pub comm: usize,
}

/// No data lies below this address.
const LOWEST_ADDRESS: usize = 4096;

impl SmallSend {
    /// Sends, if the express path can; otherwise does nothing and returns false.
    ///
    /// # Safety
    /// The memory that the arguments describe is valid for reads, if they are valid at all.
    #[inline(always)]
    #[must_use]
    pub unsafe fn send(self) -> bool {
        // SAFETY: the caller's promise.
        CommRef::peek(
            self.comm,
            #[inline(always)]
            |comm| unsafe { self.send_on(comm) },
        ) == Some(true)
    }

    /// # Safety
    /// As [`send`](Self::send).
    #[inline(always)]
    unsafe fn send_on(self, comm: &Comm) -> bool {
        // As a `u64`, a negative count is a large one.
        let len = (heddle_datatype::plain_bytes(self.datatype) as u64).wrapping_mul(self.count as u64);
        if self.count as u64 > INLINE_BYTES as u64 || len.wrapping_sub(1) >= INLINE_BYTES as u64 {
            return false;
        }
        let context = comm.context();
        let id = context.id(Plane::PointToPoint);
        if self.address.addr() < LOWEST_ADDRESS || self.tag < 0 || !Context::is_plain(id) {
            return false;
        }
        if self.dest as usize == context.rank() {
            return false;
        }
        let Some(peer) = comm.group.world_rank(self.dest as usize) else {
            return self.dest == MPI_PROC_NULL;
        };
        let header = eager_header(id, context.rank() as i32, self.tag);
        // SAFETY: the caller's promise; ranks of one communicator are of different processes.
        unsafe { context.default_vni().send_express(peer, &header, self.address, len as usize) }
    }
}

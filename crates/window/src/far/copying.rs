//! Puts and gets: copies from and to the memory of processes of other machines.

use super::wire::{LONGEST, PacketKind, copied, message};
use super::{Far, Peer};
use crate::answers::Answers;
use heddle_transport::{CopyDirection, RemoteCopy};

/// The least length of data that is copied past the thread at the target, in bytes.
const REMOTE: usize = 16 << 10;
/// How many such copies may be under way.
const COPIES: u64 = 64;

impl Peer {
    /// The name of the memory at an address, if it is read and written past the thread there.
    fn exposed_at(&self, address: u64) -> Option<(u64, u64)> {
        let (start, key) = self.exposed?;
        Some((start.wrapping_add(address.wrapping_sub(self.base)), key))
    }
}

impl Far {
    /// Begins to copy `len` bytes at `address` in a process's address space to `here`, for a thread that
    /// [finishes](Self::finish) the reads; without one they are complete after [`complete`](Self::complete).
    ///
    /// # Safety
    /// `here` has room for the bytes, which nobody else uses until then.
    pub(crate) unsafe fn read(
        &self,
        rank: usize,
        address: u64,
        (here, len): (*mut u8, usize),
        thread: Option<&Answers>,
    ) {
        // SAFETY: by the caller's promise.
        if unsafe { self.copy(rank, CopyDirection::Read, address, (here, len), thread) } {
            return;
        }
        let Peer { process, window, .. } = self.peer(rank);
        for at in (0..len).step_by(LONGEST) {
            let part = LONGEST.min(len - at);
            // SAFETY: by the caller's promise.
            let token = unsafe { self.begin(self.waiter(rank, thread), here.wrapping_add(at), part) };
            let words = [address.wrapping_add(at as u64), part as u64, 0];
            self.service.send(process, &message(PacketKind::Read, 0, (window, token), words, 0), |_| {});
        }
    }

    /// Begins to copy long data past the thread at the target. Returns false and does nothing if the data has
    /// to go in messages.
    ///
    /// # Safety
    /// Until the copy is complete the bytes at `here` are valid, and nobody changes them; nobody uses them
    /// if data comes there.
    unsafe fn copy(
        &self,
        rank: usize,
        direction: CopyDirection,
        address: u64,
        (here, len): (*mut u8, usize),
        thread: Option<&Answers>,
    ) -> bool {
        let peer = self.peer(rank);
        let Some(there) = peer.exposed_at(address).filter(|_| len >= REMOTE) else { return false };
        let waiter = self.waiter(rank, thread);
        self.wait_for_less_than(COPIES, waiter);
        // SAFETY: the answer has no data, since that is in the memory by then.
        let token = unsafe { self.service.calls().begin(waiter, here, 0) };
        let done = copied(token, peer.process);
        let remote = RemoteCopy { direction, peer: peer.process as usize, there, here, len, done };
        // SAFETY: by the caller's promise.
        let copies = unsafe { self.service.port().copy(remote) };
        if !copies {
            self.service.calls().answer(peer.process as usize, token, 0, &[]);
        }
        copies
    }

    /// Does what [`write`](Self::write) does. Long data may be read until [`complete`](Self::complete), or
    /// the end of its [`request`](Self::request).
    ///
    /// # Safety
    /// The bytes at `here` are valid, and nobody changes them until then.
    pub(crate) unsafe fn write_from(&self, rank: usize, address: u64, here: *const u8, len: usize) {
        // SAFETY: by the caller's promise.
        if !unsafe { self.copy(rank, CopyDirection::Write, address, (here.cast_mut(), len), None) } {
            // SAFETY: by the caller's promise.
            unsafe { self.write(rank, address, here, len) };
        }
    }

    /// Copies `len` bytes at `here` to `address` in a process's address space, where they are once
    /// [`complete`](Self::complete) returns.
    ///
    /// # Safety
    /// The bytes at `here` are valid.
    pub(crate) unsafe fn write(&self, rank: usize, address: u64, here: *const u8, len: usize) {
        let Peer { process, window, .. } = self.peer(rank);
        for at in (0..len).step_by(LONGEST) {
            let part = LONGEST.min(len - at);
            let words = [address.wrapping_add(at as u64), 0, 0];
            self.counts.ask(rank);
            let message = message(PacketKind::Write, 0, (window, self.window), words, part);
            self.service.send(process, &message, |payload| {
                // SAFETY: the payload has room for the bytes, which are valid by the caller's promise.
                unsafe { payload.copy_from_nonoverlapping(here.wrapping_add(at), part) }
            });
        }
    }
}

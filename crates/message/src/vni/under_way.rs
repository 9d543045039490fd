//! Rendezvous transfers in progress: copies to make, pieces to send.

use super::wire::Rts;
use crate::buffer::Buffer;
use crate::matching::Key;
use crate::request::RequestId;
use heddle_platform::clock;
use heddle_transport::single_copy;
use std::io;

/// A length of time.
pub(super) type Nanoseconds = u64;

/// A copy to make from another process's memory, outside all critical sections. Its owner has the
/// in-flight state of the receive.
#[derive(Debug)]
pub(crate) struct Pull {
    pub receive: RequestId,
    pub key: Key,
    pub peer: usize,
    /// The sender's process.
    pub pid: u32,
    pub rts: Rts,
    pub local: *mut u8,
    pub len: usize,
    /// The time from which to pull even if the sender does not wait in MPI.
    pub wait_until_ns: u64,
    /// The number of bytes that the receiver copies: all, or the front half.
    pub share: usize,
}

// SAFETY: the receive's buffer belongs to MPI until the receive completes.
unsafe impl Send for Pull {}

impl Pull {
    /// Makes the copy; returns the time that it took.
    ///
    /// # Errors
    /// The kernel's error.
    pub(crate) fn run(&self) -> io::Result<Nanoseconds> {
        let began = clock::now_ns();
        // SAFETY: `local` is the receive's buffer and has room for `len` bytes, of which `share` is a part.
        unsafe { single_copy::read(self.pid, self.rts.address, self.local, self.share) }?;
        Ok(clock::now_ns() - began)
    }
}

/// Data that is sent in pieces.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The data.
    pub buffer: Buffer,
    /// The send that it belongs to; `None` if the peer has asked for the memory itself.
    pub send: Option<RequestId>,
    pub sink: Sink,
    pub peer: usize,
    pub sent: usize,
    pub wanted: usize,
}

/// Where the peer stores pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sink {
    /// In the buffer of this receive.
    Receive(RequestId),
    /// At this address of its memory; after the last piece it says so.
    Memory(u64),
}

/// A half of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    /// The receiver copies it.
    Front,
    /// The sender copies it.
    Rear,
}

/// How the copy of a half ended; numbered as it travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HalfEnd {
    /// The kernel forbids copies between the processes.
    Forbidden,
    Copied,
    /// The kernel cannot copy this memory.
    NoCopyOfMemory,
}

impl HalfEnd {
    pub(crate) fn of<T>(result: &io::Result<T>) -> HalfEnd {
        match result {
            Ok(_) => HalfEnd::Copied,
            Err(error) if single_copy::concerns_memory(error) => HalfEnd::NoCopyOfMemory,
            Err(_) => HalfEnd::Forbidden,
        }
    }

    /// The end that a peer's word names.
    pub(crate) fn from_word(word: u64) -> HalfEnd {
        match word {
            0 => HalfEnd::Forbidden,
            1 => HalfEnd::Copied,
            _ => HalfEnd::NoCopyOfMemory,
        }
    }
}

/// A receive by split copy.
#[derive(Debug)]
pub(crate) struct SplitCopy {
    pub receive: RequestId,
    pub key: Key,
    pub peer: usize,
    pub rts: Rts,
    /// The time of the request for the sender's half.
    pub asked_ns: u64,
    /// For each half: `None` until its copy has ended, then how.
    pub over: [Option<HalfEnd>; 2],
}

/// The rear half of a send, to copy to the receiver's memory, outside all critical sections.
#[derive(Debug)]
pub(crate) struct PushUnderWay {
    pub send: RequestId,
    pub receive: RequestId,
    pub peer: usize,
    /// The receiver's process, if its memory may be copied to.
    pub pid: Option<u32>,
    pub remote: u64,
    pub local: *mut u8,
    pub len: usize,
}

// SAFETY: the send's buffer belongs to MPI until the send completes, which it does not before
// its rear half was copied.
unsafe impl Send for PushUnderWay {}

impl PushUnderWay {
    /// Makes the copy.
    ///
    /// # Errors
    /// The kernel's error.
    pub(crate) fn run(&self) -> io::Result<()> {
        let pid = self.pid.ok_or(io::ErrorKind::PermissionDenied)?;
        // SAFETY: `local` is a part of the send's buffer and has `len` bytes.
        unsafe { single_copy::write(pid, self.remote, self.local, self.len) }
    }
}

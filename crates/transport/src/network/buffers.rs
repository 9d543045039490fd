//! Buffers for packets: memory that the provider reads and writes while an operation lasts.
//!
//! ```text
//!  ┌──────────────────────┬──────────────┬──────────────────────────────┐
//!  │ the provider's bytes │ whose it is  │ label, records of messages   │
//!  └──────────────────────┴──────────────┴──────────────────────────────┘
//!  ◀──── 64: context ────▶◀───── 64 ────▶◀──────── PACKET_BYTES ────────▶
//! ```

use super::packet::{LABEL_BYTES, RECORD_BYTES};
use crate::slot::EXTRA_BYTES;
use heddle_bootstrap::Mapping;
use heddle_libfabric::{CONTEXT_BYTES, Endpoint, Registered};
use std::io;

/// The number of packets that can arrive before the port is polled.
pub(super) const RECEIVES: usize = 64;
/// The longest packet: one message of 64 KiB, which arrives sooner than by a remote read.
pub(super) const PACKET_BYTES: usize = (64 << 10) + 128;
/// The longest payload of a packet.
pub(crate) const LONGEST_PAYLOAD: usize = PACKET_BYTES - HEAD_BYTES;
/// Room in front of the longest payload.
const HEAD_BYTES: usize = LABEL_BYTES + RECORD_BYTES + EXTRA_BYTES;
/// Room for the owner's words.
const OWNER_BYTES: usize = 64;
const STRIDE: usize = CONTEXT_BYTES + OWNER_BYTES + PACKET_BYTES + TAIL_BYTES;
/// Bytes behind a packet that may be read and mean nothing: a message without extra bytes is asked for them.
const TAIL_BYTES: usize = 64;

/// Whose a buffer is; it lies in the buffer, so that a completion leads to it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    /// The rank that packets are sent to; `RECEIVED` for buffers of packets that come, `COPIED` for remote
    /// copies.
    pub(super) peer: u32,
    /// Its number among the owner's.
    pub(super) index: u32,
}

impl Owner {
    /// The owner of the buffer that an operation has returned, by its context.
    pub(super) fn of(context: *mut u8) -> Owner {
        // SAFETY: the context of each operation is that of a buffer.
        unsafe { PacketBuffer::of_context(context).owner().read() }
    }
}

/// The owner of buffers that receive.
pub(super) const RECEIVED: u32 = u32::MAX;
/// The owner of remote copies.
pub(super) const COPIED: u32 = u32::MAX - 1;

/// Some buffers in one piece of memory. Pages that no packet needs cost nothing.
#[derive(Debug)]
pub(super) struct Buffers {
    /// Ended before the memory.
    memory: Registered,
    mapping: Mapping,
}

/// One buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketBuffer(*mut u8);

impl Buffers {
    /// Makes that many buffers for an owner.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) fn new(endpoint: &Endpoint, peer: u32, count: usize) -> io::Result<Buffers> {
        let mapping = Mapping::anonymous(count * STRIDE)?;
        // SAFETY: the registration is dropped before the mapping, and with its endpoint by `Port`.
        let memory = unsafe { endpoint.register(mapping.as_ptr(), mapping.len()) };
        let memory = memory.map_err(io::Error::other)?;
        let buffers = Buffers { memory, mapping };
        for index in 0..count {
            let owner = Owner { peer, index: index as u32 };
            // SAFETY: inside of the buffer, which no operation has yet; aligned like the mapping and the
            // stride.
            unsafe { buffers.place(index).owner().write(owner) };
        }
        Ok(buffers)
    }

    /// The buffer with a number.
    pub(super) fn place(&self, index: usize) -> PacketBuffer {
        assert!((index + 1) * STRIDE <= self.mapping.len(), "there is no buffer {index}");
        PacketBuffer(self.mapping.as_ptr().wrapping_add(index * STRIDE))
    }

    /// The registration of the memory.
    pub(super) fn memory(&self) -> &Registered {
        &self.memory
    }
}

impl PacketBuffer {
    /// The buffer of a context that an operation has returned.
    pub(super) fn of_context(context: *mut u8) -> PacketBuffer {
        PacketBuffer(context)
    }

    pub(super) fn context(self) -> *mut u8 {
        self.0
    }

    pub(super) fn owner(self) -> *mut Owner {
        self.0.wrapping_add(CONTEXT_BYTES).cast()
    }

    /// The first byte of the packet.
    pub(super) fn packet(self) -> *mut u8 {
        self.0.wrapping_add(CONTEXT_BYTES + OWNER_BYTES)
    }
}

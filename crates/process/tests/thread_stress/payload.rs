//! Data that names its sender. Every payload is a separate allocation, so that a heap checker
//! sees an access beyond it.

use heddle_comm::buffer::Buffer;

/// A sequence of numbers (xorshift; Marsaglia 2003, doi:10.18637/jss.v008.i14).
pub(crate) struct Sequence(u64);

impl Sequence {
    pub(crate) fn new(seed: u64) -> Sequence {
        Sequence(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Bytes at an address that does not change.
pub(crate) struct Payload(Box<[u8]>);

impl Payload {
    /// The data with this seed.
    pub(crate) fn new(len: usize, seed: u64) -> Payload {
        let mut sequence = Sequence::new(seed);
        let mut data = vec![0; len];
        for chunk in data.chunks_mut(8) {
            chunk.copy_from_slice(&sequence.next().to_ne_bytes()[..chunk.len()]);
        }
        Payload(data.into_boxed_slice())
    }

    /// Room for data.
    pub(crate) fn room(len: usize) -> Payload {
        Payload(vec![0; len].into_boxed_slice())
    }

    /// The bytes for an operation. The caller keeps the payload, untouched, until the operation is complete.
    pub(crate) fn buffer(&mut self) -> Buffer {
        // SAFETY: the box does not move, and the caller keeps it until the operation is complete.
        unsafe { Buffer::bytes(self.0.as_mut_ptr(), self.0.len()) }
    }

    /// One byte more than the payload has.
    pub(crate) fn longer_buffer(&mut self) -> Buffer {
        // SAFETY: this is not safe; it is the fault that a sanitizer must find.
        unsafe { Buffer::bytes(self.0.as_mut_ptr(), self.0.len() + 1) }
    }

    /// The first eight bytes as a number.
    pub(crate) fn sum(&self) -> u64 {
        self.0
            .chunks_exact(8)
            .next()
            .map_or(0, |bytes| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    /// Panics unless this is the data with the seed.
    pub(crate) fn check(&self, seed: u64, what: &str) {
        let expected = Payload::new(self.0.len(), seed);
        if let Some(at) = (0..self.0.len()).find(|&at| self.0[at] != expected.0[at]) {
            panic!("{what}: byte {at} of {} is {}, not {}", self.0.len(), self.0[at], expected.0[at]);
        }
    }
}

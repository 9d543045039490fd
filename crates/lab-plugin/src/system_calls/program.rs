//! The program's memory, and what it pays and gets for a system call.

use crate::guest::Running;

impl Running<'_> {
    /// The call costs `price`.
    pub(super) fn pay(&mut self, price: u64) {
        self.guest.thread.clock += price;
    }

    pub(super) fn argument(&self, index: usize) -> u64 {
        self.guest.call.arguments[index]
    }

    /// Something outside may have to do because of the call: until all outside is still again, nobody may ask
    /// a descriptor whether it is ready.
    pub(super) fn stir(&mut self) {
        self.lab.stirred = u32::from(!self.process.is_alone);
    }

    /// The program gets `result` for the call, whatever the host says.
    pub(super) fn answer(&mut self, result: i64) {
        self.guest.answer = Some(result);
    }
}

/// Reads a value of the program's memory. Its addresses are the host's.
///
/// # Safety
///
/// The program vouches for the address, as it does to the kernel.
pub(super) unsafe fn read<T: Copy>(address: u64) -> T {
    // SAFETY: the caller's promise.
    unsafe { (address as *const T).read_unaligned() }
}

/// Writes a value to the program's memory.
///
/// # Safety
///
/// As [`read`].
pub(super) unsafe fn write<T>(address: u64, value: T) {
    // SAFETY: the caller's promise.
    unsafe { (address as *mut T).write_unaligned(value) }
}

pub(super) fn error(number: i32) -> i64 {
    -i64::from(number)
}

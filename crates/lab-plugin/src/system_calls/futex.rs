//! Futexes.

use super::{Caller, error, read, time};
use heddle_lab::shared::{Access, NEVER};
use heddle_lab::thread::{Ended, LineNames, Site};
use heddle_platform::atomic::AtomicBool;

static NOT_MET: AtomicBool = AtomicBool::new(true);
/// The kernel's use of a futex's word.
static KERNEL: Site = Site { at: 0, meets: &NOT_MET, is_met: AtomicBool::new(true) };

/// All futexes' sleepers and wakers are on the machine. True if the call was one.
pub(super) fn before(caller: &mut Caller<'_>, number: i64) -> bool {
    if number != libc::SYS_futex {
        return false;
    }
    let price = caller.lab.costs.system_call;
    caller.pay(price);
    let [address, operation, value, ..] = caller.guest.call.arguments;
    let value = value as u32;
    touch(caller, address);
    let operation = operation as i32 & libc::FUTEX_CMD_MASK;
    let result = match operation {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            wait(caller, address, value, operation == libc::FUTEX_WAIT_BITSET)
        }
        libc::FUTEX_WAKE => wake(caller, address, value, u32::MAX),
        libc::FUTEX_WAKE_BITSET => {
            let bits = caller.argument(5) as u32;
            wake(caller, address, value, bits)
        }
        // All are woken instead, which a waiter must be prepared for.
        libc::FUTEX_REQUEUE => wake(caller, address, u32::MAX, u32::MAX),
        // SAFETY: the program's address.
        libc::FUTEX_CMP_REQUEUE if unsafe { read::<u32>(address) } == caller.argument(5) as u32 => {
            wake(caller, address, u32::MAX, u32::MAX)
        }
        libc::FUTEX_CMP_REQUEUE => error(libc::EAGAIN),
        _ => error(libc::ENOSYS),
    };
    caller.answer(result);
    true
}

/// The kernel reads and locks the word's line, as a locked instruction does.
fn touch(caller: &mut Caller<'_>, address: u64) {
    let names = &mut caller.process.names;
    caller.guest.thread.before_locked(caller.lab, names, Some(address), &KERNEL);
    caller.guest.thread.access(caller.lab, names, address, Access::Locked, &KERNEL);
}

/// The name of a futex's word: the same in all processes that share it.
pub(super) fn word(caller: &mut Caller<'_>, address: u64) -> u64 {
    caller.process.names.name(address).wrapping_mul(16) + (address >> 2 & 15)
}

fn wait(caller: &mut Caller<'_>, address: u64, value: u32, has_bits: bool) -> i64 {
    // SAFETY: the program's address.
    if unsafe { read::<u32>(address) } != value {
        return error(libc::EAGAIN);
    }
    let deadline = match caller.argument(3) {
        0 => NEVER,
        // With a set of bits the time is absolute.
        timeout => time::deadline(caller, timeout, has_bits),
    };
    if deadline <= caller.guest.thread.clock {
        return error(libc::ETIMEDOUT);
    }
    let bits = if has_bits { caller.argument(5) as u32 } else { u32::MAX };
    let word = word(caller, address);
    match caller.guest.thread.sleep(caller.lab, word, bits, deadline) {
        Ended::Come => 0,
        Ended::TimeOver => error(libc::ETIMEDOUT),
    }
}

pub(super) fn wake(caller: &mut Caller<'_>, address: u64, most: u32, bits: u32) -> i64 {
    let word = word(caller, address);
    i64::from(caller.guest.thread.wake(caller.lab, word, bits, most))
}

//! Futexes.

use super::program::{error, read};
use super::time;
use crate::guest::Running;
use heddle_lab::shared::{Access, NEVER};
use heddle_lab::thread::{Ended, LineNames, Site};
use heddle_platform::atomic::AtomicBool;

static NOT_MET: AtomicBool = AtomicBool::new(true);
/// The kernel's use of a futex's word.
static KERNEL: Site = Site::new(0, &NOT_MET, true);

/// All futexes' sleepers and wakers are on the machine. True if the call was one.
pub(super) fn before(running: &mut Running<'_>, number: i64) -> bool {
    if number != libc::SYS_futex {
        return false;
    }
    let price = running.lab.costs.system_call;
    running.pay(price);
    let [address, operation, value, ..] = running.guest.call.arguments;
    let value = value as u32;
    touch(running, address);
    let operation = operation as i32 & libc::FUTEX_CMD_MASK;
    let result = match operation {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            wait(running, address, value, operation == libc::FUTEX_WAIT_BITSET)
        }
        libc::FUTEX_WAKE => wake(running, address, value, u32::MAX),
        libc::FUTEX_WAKE_BITSET => {
            let bits = running.argument(5) as u32;
            wake(running, address, value, bits)
        }
        // All are woken instead, which a waiter must be prepared for.
        libc::FUTEX_REQUEUE => wake(running, address, u32::MAX, u32::MAX),
        // SAFETY: the program's address.
        libc::FUTEX_CMP_REQUEUE if unsafe { read::<u32>(address) } == running.argument(5) as u32 => {
            wake(running, address, u32::MAX, u32::MAX)
        }
        libc::FUTEX_CMP_REQUEUE => error(libc::EAGAIN),
        _ => error(libc::ENOSYS),
    };
    running.answer(result);
    true
}

/// The kernel reads and locks the word's line, as a locked instruction does.
fn touch(running: &mut Running<'_>, address: u64) {
    let names = &mut running.process.names;
    running.guest.thread.before_locked(running.lab, names, Some(address), &KERNEL);
    running.guest.thread.access(running.lab, names, address, Access::Locked, &KERNEL);
}

/// The name of a futex's word: the same in all processes that share it.
pub(super) fn word(running: &mut Running<'_>, address: u64) -> u64 {
    running.process.names.name(address).wrapping_mul(16) + (address >> 2 & 15)
}

fn wait(running: &mut Running<'_>, address: u64, value: u32, has_bits: bool) -> i64 {
    // SAFETY: the program's address.
    if unsafe { read::<u32>(address) } != value {
        return error(libc::EAGAIN);
    }
    let deadline = match running.argument(3) {
        0 => NEVER,
        // With a set of bits the time is absolute.
        timeout => time::deadline(running, timeout, has_bits),
    };
    if deadline <= running.guest.thread.clock {
        return error(libc::ETIMEDOUT);
    }
    let bits = if has_bits { running.argument(5) as u32 } else { u32::MAX };
    let word = word(running, address);
    match running.guest.thread.sleep(running.lab, word, bits, deadline) {
        Ended::Come => 0,
        Ended::TimeOver => error(libc::ETIMEDOUT),
    }
}

pub(super) fn wake(running: &mut Running<'_>, address: u64, most: u32, bits: u32) -> i64 {
    let word = word(running, address);
    i64::from(running.guest.thread.wake(running.lab, word, bits, most))
}

//! System calls in virtual time.
//!
//! The plugin itself does what concerns time, cores and sleeping threads, and keeps the host's call away or
//! replaces its result. A call that may wait for something outside waits on the machine until it would not,
//! and is then made. All others are made at once, while the machine's time stands still.
//!
//! | module | which |
//! |---|---|
//! | [`futex`] | futexes |
//! | [`time`] | clocks, sleeps |
//! | [`cores`] | affinity, restartable sequences, `membarrier`, yields and switches |
//! | [`waits`] | reading, polling, waiting for processes |
//! | [`program`] | its memory, and what it gets for a call |
//! | [`life`] | threads that begin, processes that begin and end, random numbers |
//! | [`ending`] | threads that end |

mod cores;
mod ending;
mod futex;
mod life;
mod program;
mod time;
mod waits;

use crate::guest::{self, Running};
use crate::qemu::PluginId;

/// The running thread makes or has made a system call.
fn of(vcpu: u32) -> Running<'static> {
    if !guest::is_current(vcpu) {
        guest::arrive(vcpu);
    }
    // SAFETY: the calling thread runs, so it holds the token.
    unsafe { guest::running() }
}

/// The program makes a system call.
///
/// # Safety
///
/// For qemu.
#[rustfmt::skip]
pub(crate) unsafe extern "C" fn on_call(
    _: PluginId, vcpu: u32, number: i64, a0: u64, a1: u64, a2: u64, a3: u64, a4: u64, a5: u64, _: u64, _: u64,
) {
    let mut running = of(vcpu);
    running.guest.call.arguments = [a0, a1, a2, a3, a4, a5];
    life::check_once(&running);
    running.guest.thread.wait_drained();
    running.lab.slots[running.guest.thread.slot as usize].counts.system_calls += 1;
    let is_done = time::before(&mut running, number)
        || futex::before(&mut running, number)
        || cores::before(&mut running, number)
        || waits::before(&mut running, number)
        || life::before(&mut running, number);
    if !is_done {
        let price = running.lab.costs.system_call;
        running.pay(price);
    }
    // Another thread may have had its turn. One that has ended is nobody's.
    if number != libc::SYS_exit && number != libc::SYS_exit_group {
        guest::back(running.guest);
    }
}

/// The host has answered it.
///
/// # Safety
///
/// For qemu.
pub(crate) unsafe extern "C" fn on_return(_: PluginId, vcpu: u32, number: i64, result: i64) {
    if !guest::is_current(vcpu) {
        return;
    }
    let mut running = of(vcpu);
    waits::give_back(&mut running);
    time::after_call(&mut running, number, result);
    cores::after(&mut running, number, result);
    life::after(&mut running, number, result);
    guest::back(running.guest);
}

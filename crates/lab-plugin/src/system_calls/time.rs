//! Clocks and sleeps.

use super::program::{read, write};
use crate::guest::Running;

/// The virtual clock's beginning, in nanoseconds: a time that a program may believe.
const BEGINNING: u64 = 1_700_000_000_000_000_000;
const SECOND: u64 = 1_000_000_000;

/// The time that the thread is told, in nanoseconds.
fn now(running: &mut Running<'_>) -> u64 {
    BEGINNING + running.guest.thread.tell(running.lab) / 1000
}

/// When a wait's `timespec` at `address` is over, on the thread's clock.
pub(super) fn deadline(running: &mut Running<'_>, address: u64, is_absolute: bool) -> u64 {
    // SAFETY: the program's address.
    let time: libc::timespec = unsafe { read(address) };
    let nanoseconds = i128::from(time.tv_sec) * i128::from(SECOND) + i128::from(time.tv_nsec);
    let from = if is_absolute { i128::from(now(running)) } else { 0 };
    after(running, nanoseconds - from)
}

/// The clock `nanoseconds` from now; a day at most.
pub(super) fn after(running: &Running<'_>, nanoseconds: i128) -> u64 {
    running.guest.thread.clock + nanoseconds.clamp(0, 86_400 * i128::from(SECOND)) as u64 * 1000
}

/// True if the call was about time.
pub(super) fn before(running: &mut Running<'_>, number: i64) -> bool {
    match number {
        libc::SYS_clock_gettime | libc::SYS_gettimeofday | libc::SYS_time => {
            let price = running.lab.costs.clock;
            running.pay(price);
        }
        libc::SYS_nanosleep => sleep(running, 0, false),
        libc::SYS_clock_nanosleep => {
            let is_absolute = running.argument(1) as i32 & libc::TIMER_ABSTIME != 0;
            sleep(running, 2, is_absolute);
        }
        _ => return false,
    }
    true
}

fn sleep(running: &mut Running<'_>, argument: usize, is_absolute: bool) {
    let price = running.lab.costs.system_call;
    running.pay(price);
    let address = running.argument(argument);
    let deadline = deadline(running, address, is_absolute);
    running.guest.thread.sleep_until(running.lab, deadline);
}

/// Replaces the times that the host has told.
pub(super) fn after_call(running: &mut Running<'_>, number: i64, result: i64) {
    if result < 0 {
        return;
    }
    match number {
        libc::SYS_clock_gettime => {
            let [clock, address, ..] = running.guest.call.arguments;
            let is_wall = matches!(
                clock as i32,
                libc::CLOCK_REALTIME
                    | libc::CLOCK_MONOTONIC
                    | libc::CLOCK_MONOTONIC_RAW
                    | libc::CLOCK_BOOTTIME
            ) || clock as i32 > libc::CLOCK_MONOTONIC_RAW;
            let time = now(running) - if is_wall { 0 } else { BEGINNING };
            // SAFETY: the program's address, to which the host has written.
            unsafe {
                write(
                    address,
                    libc::timespec { tv_sec: (time / SECOND) as i64, tv_nsec: (time % SECOND) as i64 },
                )
            };
        }
        libc::SYS_gettimeofday if running.argument(0) != 0 => {
            let time = now(running);
            let time =
                libc::timeval { tv_sec: (time / SECOND) as i64, tv_usec: (time % SECOND / 1000) as i64 };
            // SAFETY: as above.
            unsafe { write(running.argument(0), time) };
        }
        libc::SYS_time => {
            let seconds = (now(running) / SECOND) as i64;
            running.answer(seconds);
        }
        _ => {}
    }
}

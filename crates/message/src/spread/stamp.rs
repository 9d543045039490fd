//! The clock by which messages in lanes are stamped. All threads of the machine share it: if one reads it,
//! and then another one that has heard of it, the second reads a greater number.

use heddle_platform::clock;
use std::fs;

/// Where Linux says by which clock it tells the time.
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Returns true if there is such a clock: the cycle counter of x86-64, if the kernel trusts it, too, and so
/// has found it equal on all cores. `CLOCK_MONOTONIC` would do as well, but takes as long as a message.
pub(crate) fn is_shared() -> bool {
    cfg!(target_arch = "x86_64") && fs::read_to_string(CLOCK_SOURCE).is_ok_and(|name| name.trim() == "tsc")
}

/// The time. It is read after all earlier loads: what the caller has heard of was stamped before.
#[inline(always)]
pub(crate) fn now() -> u64 {
    clock::ticks_in_order()
}

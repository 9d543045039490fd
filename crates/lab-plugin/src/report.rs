//! The process's part of the report: the plugin writes it when the process ends, if somebody wants it.
//!
//! In the lab's folder are then `times.N` (a block's address and the picoseconds spent in it, line by line)
//! and `maps.N` (what was mapped where) of the process with the number N.

use crate::blocks::Block;
use crate::guest::Running;
use heddle_platform::atomic::Ordering::Relaxed;
use std::fmt::Write;
use std::fs;
use std::sync::{Mutex, PoisonError};

static BLOCKS: Mutex<Vec<&'static Block>> = Mutex::new(Vec::new());

/// A block was translated.
pub(crate) fn know(block: &'static Block) {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner).push(block);
}

/// The thread begins `block`: the time since it began the one before belongs to that.
#[cold]
pub(crate) fn count(running: &mut Running<'_>, block: &'static Block) {
    let guest = &mut *running.guest;
    if let Some((before, since, interval)) =
        guest.in_block.replace((block, guest.thread.clock, running.lab.counting))
        && interval == running.lab.counting
    {
        before.spend(guest.thread.clock.saturating_sub(since), interval);
    }
}

/// The process ends.
pub(crate) fn write(running: &Running<'_>) {
    let Some(folder) = running.process.folder.as_ref().filter(|_| running.lab.report_wanted != 0) else {
        return;
    };
    let interval = running.lab.last_interval();
    let mut times = String::new();
    for block in BLOCKS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        if block.interval.load(Relaxed) == interval {
            // A string takes all.
            let _ = writeln!(times, "{:x} {}", block.at, block.time.load(Relaxed));
        }
    }
    let number = running.process.number;
    let maps = fs::read("/proc/self/maps").unwrap_or_default();
    let written = fs::write(folder.join(format!("times.{number}")), times)
        .and_then(|()| fs::write(folder.join(format!("maps.{number}")), maps));
    if let Err(why) = written {
        eprintln!("heddle lab: no report of process {number} in {}: {why}", folder.display());
    }
}

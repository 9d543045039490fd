//! The core of a thread: affinity, restartable sequences, `membarrier`, `sched_yield`, switches.

use super::program::{error, read, write};
use crate::guest::Running;
use heddle_lab::shared::{CORES, State};
use std::ptr::NonNull;

/// The commands of `membarrier`: all that a program may ask for.
const COMMANDS: i64 = 0x1ff;
const RSEQ_UNREGISTER: u64 = 1;

/// True if the call was about cores.
pub(super) fn before(running: &mut Running<'_>, number: i64) -> bool {
    match number {
        libc::SYS_sched_yield => running.guest.thread.yield_core(running.lab),
        libc::SYS_sched_setaffinity => {
            let price = running.lab.costs.system_call;
            running.pay(price);
            restrict(running);
        }
        libc::SYS_membarrier => barrier(running),
        _ => return false,
    }
    publish_core(running);
    true
}

fn restrict(running: &mut Running<'_>) {
    let [_, bytes, address, ..] = running.guest.call.arguments;
    let mut allowed = [0_u64; CORES / 64];
    for (index, word) in allowed.iter_mut().enumerate().take(bytes as usize / 8) {
        // SAFETY: the program's address.
        *word = unsafe { read(address + index as u64 * 8) };
    }
    let cores = running.lab.layout.cores;
    let has_core = (0..cores).any(|core| allowed[core as usize / 64] >> (core % 64) & 1 != 0);
    if !has_core {
        return running.answer(error(libc::EINVAL));
    }
    running.guest.thread.restrict(running.lab, allowed);
    running.answer(0);
}

/// `membarrier` interrupts the cores that run other threads of the process.
fn barrier(running: &mut Running<'_>) {
    let [command, flags, core, ..] = running.guest.call.arguments;
    if command == 0 {
        return running.answer(COMMANDS);
    }
    let price = running.lab.costs.barrier;
    running.pay(price);
    let interrupted = running.lab.costs.interrupted;
    let (used, mine) = (running.lab.used, running.guest.thread.slot);
    for slot in (0..used).filter(|slot| *slot != mine) {
        let thread = &running.lab.slots[slot as usize];
        let is_meant = flags & 1 == 0 || u64::from(thread.core) == core;
        if thread.state == State::Running && thread.pid == running.process.pid && is_meant {
            running.lab.clocks[slot as usize] += interrupted;
        }
    }
    running.answer(0);
    let slack = running.lab.slack;
    running.guest.thread.look_around(running.lab, slack);
}

/// Tells the program which core it is on, where it asks by its restartable sequence.
fn publish_core(running: &mut Running<'_>) {
    let area = running.guest.restartable;
    if area != 0 {
        let core = running.guest.thread.core;
        // SAFETY: the program has registered it: cpu_id_start, cpu_id.
        unsafe { write(area, core) };
        // SAFETY: as above.
        unsafe { write(area + 4, core) };
    }
}

/// Replaces what the host has said of its own cores.
pub(super) fn after(running: &mut Running<'_>, number: i64, result: i64) {
    match number {
        libc::SYS_getcpu => {
            let [core, node, ..] = running.guest.call.arguments;
            let mine = running.guest.thread.core;
            if core != 0 {
                // SAFETY: the program's address.
                unsafe { write(core, mine) };
            }
            if node != 0 {
                // SAFETY: the program's address.
                unsafe { write(node, running.lab.layout.socket_of(mine)) };
            }
        }
        libc::SYS_sched_getaffinity => {
            let [_, bytes, address, ..] = running.guest.call.arguments;
            let cores = u64::from(running.lab.layout.cores);
            let needed = cores.div_ceil(64) * 8;
            if bytes < needed {
                return running.answer(error(libc::EINVAL));
            }
            let allowed = running.lab.slots[running.guest.thread.slot as usize].allowed;
            for index in 0..needed / 8 {
                let there = cores - index * 64;
                let mask = if there >= 64 { u64::MAX } else { (1 << there) - 1 };
                // SAFETY: the program's address.
                unsafe { write(address + index * 8, allowed[index as usize] & mask) };
            }
            running.answer(needed as i64);
        }
        libc::SYS_getrusage if result == 0 && running.argument(0) as i32 == libc::RUSAGE_THREAD => {
            let counts = running.lab.slots[running.guest.thread.slot as usize].counts;
            let address = running.argument(1);
            // SAFETY: the program's address, to which the host has written.
            let mut usage: libc::rusage = unsafe { read(address) };
            usage.ru_nvcsw = counts.sleeps as i64;
            usage.ru_nivcsw = counts.involuntary_switches() as i64;
            // SAFETY: as above.
            unsafe { write(address, usage) };
        }
        libc::SYS_rseq => {
            let [address, _, flags, ..] = running.guest.call.arguments;
            running.guest.restartable = if flags & RSEQ_UNREGISTER == 0 { address } else { 0 };
            let word = NonNull::new((running.guest.restartable as *mut u64).wrapping_add(1));
            let word = word.filter(|_| running.guest.restartable != 0);
            // SAFETY: the program keeps its area until it says otherwise or the thread ends.
            unsafe { running.guest.thread.set_restartable(word) };
            publish_core(running);
            running.answer(0);
        }
        _ => {}
    }
}

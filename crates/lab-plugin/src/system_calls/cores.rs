//! Which core a thread is on: affinity, restartable sequences, `membarrier`, `sched_yield`.

use super::{Caller, error, read, write};
use heddle_lab::shared::{CORES, State};
use std::ptr::NonNull;

/// What `membarrier` can do: all that a program may ask for.
const COMMANDS: i64 = 0x1ff;
const RSEQ_UNREGISTER: u64 = 1;

/// True if the call was about cores.
pub(super) fn before(caller: &mut Caller<'_>, number: i64) -> bool {
    match number {
        libc::SYS_sched_yield => caller.guest.thread.yield_core(caller.lab),
        libc::SYS_sched_setaffinity => {
            let price = caller.lab.costs.system_call;
            caller.pay(price);
            restrict(caller);
        }
        libc::SYS_membarrier => barrier(caller),
        _ => return false,
    }
    publish_core(caller);
    true
}

fn restrict(caller: &mut Caller<'_>) {
    let [_, bytes, address, ..] = caller.guest.call.arguments;
    let mut allowed = [0_u64; CORES / 64];
    for (index, word) in allowed.iter_mut().enumerate().take(bytes as usize / 8) {
        // SAFETY: the program's address.
        *word = unsafe { read(address + index as u64 * 8) };
    }
    let cores = caller.lab.layout.cores;
    let has_core = (0..cores).any(|core| allowed[core as usize / 64] >> (core % 64) & 1 != 0);
    if !has_core {
        return caller.answer(error(libc::EINVAL));
    }
    caller.guest.thread.restrict(caller.lab, allowed);
    caller.answer(0);
}

/// `membarrier` interrupts the cores that run other threads of the process.
fn barrier(caller: &mut Caller<'_>) {
    let [command, flags, core, ..] = caller.guest.call.arguments;
    if command == 0 {
        return caller.answer(COMMANDS);
    }
    let price = caller.lab.costs.barrier;
    caller.pay(price);
    let interrupted = caller.lab.costs.interrupted;
    let (used, mine) = (caller.lab.used, caller.guest.thread.slot);
    for slot in (0..used).filter(|slot| *slot != mine) {
        let thread = &caller.lab.slots[slot as usize];
        let is_meant = flags & 1 == 0 || u64::from(thread.core) == core;
        if thread.state == State::Running && thread.pid == caller.process.pid && is_meant {
            caller.lab.clocks[slot as usize] += interrupted;
        }
    }
    caller.answer(0);
    let slack = caller.lab.slack;
    caller.guest.thread.look_around(caller.lab, slack);
}

/// Tells the program which core it is on, where it asks by its restartable sequence.
fn publish_core(caller: &mut Caller<'_>) {
    let area = caller.guest.restartable;
    if area != 0 {
        let core = caller.guest.thread.core;
        // SAFETY: the program has registered it: cpu_id_start, cpu_id.
        unsafe { write(area, core) };
        // SAFETY: as above.
        unsafe { write(area + 4, core) };
    }
}

/// Replaces what the host has said of its own cores.
pub(super) fn after(caller: &mut Caller<'_>, number: i64) {
    match number {
        libc::SYS_getcpu => {
            let [core, node, ..] = caller.guest.call.arguments;
            let mine = caller.guest.thread.core;
            if core != 0 {
                // SAFETY: the program's address.
                unsafe { write(core, mine) };
            }
            if node != 0 {
                // SAFETY: the program's address.
                unsafe { write(node, caller.lab.layout.socket_of(mine)) };
            }
        }
        libc::SYS_sched_getaffinity => {
            let [_, bytes, address, ..] = caller.guest.call.arguments;
            let cores = u64::from(caller.lab.layout.cores);
            let needed = cores.div_ceil(64) * 8;
            if bytes < needed {
                return caller.answer(error(libc::EINVAL));
            }
            let allowed = caller.lab.slots[caller.guest.thread.slot as usize].allowed;
            for index in 0..needed / 8 {
                let there = cores - index * 64;
                let mask = if there >= 64 { u64::MAX } else { (1 << there) - 1 };
                // SAFETY: the program's address.
                unsafe { write(address + index * 8, allowed[index as usize] & mask) };
            }
            caller.answer(needed as i64);
        }
        libc::SYS_rseq => {
            let [address, _, flags, ..] = caller.guest.call.arguments;
            caller.guest.restartable = if flags & RSEQ_UNREGISTER == 0 { address } else { 0 };
            let word = NonNull::new((caller.guest.restartable as *mut u8).wrapping_add(8).cast::<u64>());
            let word = word.filter(|_| caller.guest.restartable != 0);
            // SAFETY: the program keeps its area until it says otherwise or the thread ends.
            unsafe { caller.guest.thread.set_restartable(word) };
            publish_core(caller);
            caller.answer(0);
        }
        _ => {}
    }
}

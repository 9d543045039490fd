//! Threads that begin, processes that begin and end; random numbers; memory that is mapped.

use super::ending;
use super::program::{error, read, write};
use crate::guest::Running;
use crate::{filter, guest, report};
use std::sync::Once;

const CHILD_CLEARTID: u64 = libc::CLONE_CHILD_CLEARTID as u64;
/// `prctl(COUNT, 1)`: the program wants the report to begin here; `prctl(COUNT, 0)`: to end. Elsewhere that
/// is an error without effect.
const COUNT: u64 = 0x4c41_4221;
const THREAD: u64 = libc::CLONE_THREAD as u64;

/// At the first call: are registers where they are thought to be? And the filter is set, now that qemu has
/// set up its own.
pub(super) fn check_once(running: &Running<'_>) {
    static CHECK: Once = Once::new();
    CHECK.call_once(|| {
        // rdi, rsi, rdx: the first three arguments.
        let found = [7, 6, 2].map(|number| {
            // SAFETY: a block has run, so there are registers.
            let register = unsafe { running.guest.registers.add(number) };
            // SAFETY: during a call they are in memory.
            unsafe { register.read() }
        });
        if found != running.guest.call.arguments[..3] {
            give_up("this qemu keeps registers in another place: the lab knows Debian's qemu-user 7.2");
        }
        if let Err(why) = filter::install() {
            give_up(&why);
        }
    });
}

fn give_up(why: &str) -> ! {
    eprintln!("heddle lab: {why}");
    std::process::abort();
}

/// True if the call was about threads or processes.
pub(super) fn before(running: &mut Running<'_>, number: i64) -> bool {
    match number {
        libc::SYS_set_tid_address => running.guest.tid_address = running.argument(0),
        libc::SYS_exit => ending::end_thread(running),
        libc::SYS_prctl if running.argument(0) == COUNT => {
            if running.argument(1) == 0 {
                running.lab.end_interval();
            } else {
                running.lab.begin_interval();
            }
            running.answer(0);
        }
        libc::SYS_exit_group => {
            report::write(running);
            let (process, lab) = (&mut *running.process, &mut *running.lab);
            running.guest.thread.count(lab);
            lab.clocks[running.guest.thread.slot as usize] = running.guest.thread.clock;
            lab.now = lab.now.max(running.guest.thread.clock);
            lab.end_process(process.pid);
            lab.hand_on();
            // qemu would wait until all threads have left the program. Those that wait for their turn never
            // do.
            // SAFETY: it ends the process, as the call does.
            unsafe { libc::_exit(running.argument(0) as i32) };
        }
        libc::SYS_clone | libc::SYS_clone3 | libc::SYS_fork | libc::SYS_vfork => {
            let price = 10 * running.lab.costs.system_call;
            running.pay(price);
        }
        _ => return false,
    }
    true
}

pub(super) fn after(running: &mut Running<'_>, number: i64, result: i64) {
    match number {
        libc::SYS_clone | libc::SYS_clone3 | libc::SYS_fork | libc::SYS_vfork => {
            // SAFETY: the pid cannot fail.
            if unsafe { libc::getpid() } != running.process.pid {
                guest::be_alone(running.guest);
            } else if result > 0 && number != libc::SYS_fork && number != libc::SYS_vfork {
                begin_thread(running, number);
            }
        }
        libc::SYS_getrandom if result > 0 => {
            let address = running.argument(0);
            for index in 0..result as u64 {
                let byte = draw(running);
                // SAFETY: the program's memory, to which the host has written.
                unsafe { write(address + index, byte) };
            }
        }
        libc::SYS_mmap if running.argument(3) as i32 & libc::MAP_SHARED != 0 => {
            running.process.names.forget()
        }
        libc::SYS_mmap
            if result > 0 && running.process.names.touches(result.cast_unsigned(), running.argument(1)) =>
        {
            running.process.names.forget()
        }
        libc::SYS_munmap if running.process.names.touches(running.argument(0), running.argument(1)) => {
            running.process.names.forget()
        }
        libc::SYS_mremap | libc::SYS_shmat | libc::SYS_shmdt => running.process.names.forget(),
        libc::SYS_process_vm_readv | libc::SYS_process_vm_writev => copy_between(running, number),
        _ => {}
    }
}

fn begin_thread(running: &mut Running<'_>, number: i64) {
    let [flags, _, _, tid, ..] = running.guest.call.arguments;
    let (flags, tid) = if number == libc::SYS_clone3 {
        // SAFETY: the program's `struct clone_args`: flags, pidfd, child_tid.
        let arguments: [u64; 3] = unsafe { read(flags) };
        (arguments[0], arguments[2])
    } else {
        (flags, tid)
    };
    if flags & THREAD != 0 {
        let tid = if flags & CHILD_CLEARTID != 0 { tid } else { 0 };
        guest::let_in(running.guest, tid);
    }
}

/// A byte of a sequence that the seed and the process's number make.
fn draw(running: &mut Running<'_>) -> u8 {
    let process = &mut *running.process;
    process.drawn += 1;
    let mixed =
        (process.seed ^ u64::from(process.number) << 32 ^ process.drawn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 32).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56) as u8
}

/// qemu 7.2 lacks these two. The program's addresses are the host's.
fn copy_between(running: &mut Running<'_>, number: i64) {
    let [a0, a1, a2, a3, a4, a5] = running.guest.call.arguments;
    // SAFETY: the program's own call.
    let moved = unsafe { libc::syscall(number, a0, a1, a2, a3, a4, a5) };
    let result = if moved < 0 {
        error(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    } else {
        moved
    };
    running.answer(result);
    // A copy by the kernel: a tenth of a nanosecond per byte.
    running.pay(moved.max(0).unsigned_abs() * 100);
}

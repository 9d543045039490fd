//! Threads and processes that begin and end; random numbers; memory that is mapped.

use super::{Caller, error, futex, read, write};
use crate::{filter, guest};
use std::sync::Once;

const CHILD_CLEARTID: u64 = libc::CLONE_CHILD_CLEARTID as u64;
const THREAD: u64 = libc::CLONE_THREAD as u64;

/// At the first call: are registers where they are thought to be? And the filter is set, now that qemu has set up its own.
pub(super) fn check_once(caller: &Caller<'_>) {
    static CHECK: Once = Once::new();
    CHECK.call_once(|| {
        // rdi, rsi, rdx: the first three arguments.
        // SAFETY: a block has run, so there are registers; during a call they are in memory.
        let found = [7, 6, 2].map(|number| unsafe { caller.guest.registers.add(number).read() });
        if found != caller.guest.call.arguments[..3] {
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
pub(super) fn before(caller: &mut Caller<'_>, number: i64) -> bool {
    match number {
        libc::SYS_set_tid_address => caller.guest.tid_address = caller.argument(0),
        libc::SYS_exit => end_thread(caller),
        libc::SYS_exit_group => {
            let (process, lab) = (&mut *caller.process, &mut *caller.lab);
            caller.guest.thread.count(lab);
            lab.clocks[caller.guest.thread.slot as usize] = caller.guest.thread.clock;
            lab.now = lab.now.max(caller.guest.thread.clock);
            lab.end_process(process.pid);
            lab.hand_on();
        }
        libc::SYS_clone | libc::SYS_clone3 | libc::SYS_fork | libc::SYS_vfork => {
            let price = 10 * caller.lab.costs.system_call;
            caller.pay(price);
        }
        _ => return false,
    }
    true
}

fn end_thread(caller: &mut Caller<'_>) {
    let word = caller.guest.tid_address;
    if word != 0 {
        // SAFETY: the program has named it for this.
        unsafe { write(word, 0_u32) };
        futex::wake(caller, word, u32::MAX, u32::MAX);
    }
    caller.guest.thread.end(caller.lab);
}

pub(super) fn after(caller: &mut Caller<'_>, number: i64, result: i64) {
    match number {
        libc::SYS_clone | libc::SYS_clone3 | libc::SYS_fork | libc::SYS_vfork => {
            // SAFETY: the pid cannot fail.
            if unsafe { libc::getpid() } != caller.process.pid {
                guest::be_alone(caller.guest);
            } else if result > 0 && number != libc::SYS_fork && number != libc::SYS_vfork {
                begin_thread(caller, number);
            }
        }
        libc::SYS_getrandom if result > 0 => {
            let address = caller.argument(0);
            for index in 0..result as u64 {
                let byte = draw(caller);
                // SAFETY: the program's memory, to which the host has written.
                unsafe { write(address + index, byte) };
            }
        }
        libc::SYS_mmap if caller.argument(3) as i32 & libc::MAP_SHARED != 0 => caller.process.names.forget(),
        libc::SYS_mmap
            if result > 0 && caller.process.names.touches(result.cast_unsigned(), caller.argument(1)) =>
        {
            caller.process.names.forget()
        }
        libc::SYS_munmap if caller.process.names.touches(caller.argument(0), caller.argument(1)) => {
            caller.process.names.forget()
        }
        libc::SYS_mremap | libc::SYS_shmat | libc::SYS_shmdt => caller.process.names.forget(),
        libc::SYS_process_vm_readv | libc::SYS_process_vm_writev => copy_between(caller, number),
        _ => {}
    }
}

fn begin_thread(caller: &mut Caller<'_>, number: i64) {
    let [flags, _, _, tid, ..] = caller.guest.call.arguments;
    let (flags, tid) = if number == libc::SYS_clone3 {
        // SAFETY: the program's `struct clone_args`: flags, pidfd, child_tid.
        let arguments: [u64; 3] = unsafe { read(flags) };
        (arguments[0], arguments[2])
    } else {
        (flags, tid)
    };
    if flags & THREAD != 0 {
        let tid = if flags & CHILD_CLEARTID != 0 { tid } else { 0 };
        guest::let_in(caller.guest, tid);
    }
}

/// A byte of a sequence that the seed and the process's number make.
fn draw(caller: &mut Caller<'_>) -> u8 {
    let process = &mut *caller.process;
    process.drawn += 1;
    let mixed =
        (process.seed ^ u64::from(process.number) << 32 ^ process.drawn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 32).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56) as u8
}

/// qemu 7.2 lacks these two. The program's addresses are the host's.
fn copy_between(caller: &mut Caller<'_>, number: i64) {
    let [a0, a1, a2, a3, a4, a5] = caller.guest.call.arguments;
    // SAFETY: the program's own call.
    let moved = unsafe { libc::syscall(number, a0, a1, a2, a3, a4, a5) };
    let result = if moved < 0 {
        error(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    } else {
        moved
    };
    caller.answer(result);
    // A copy by the kernel: a tenth of a nanosecond per byte.
    caller.pay(moved.max(0).unsigned_abs() * 100);
}

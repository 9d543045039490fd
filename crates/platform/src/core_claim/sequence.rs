//! The restartable sequence of Linux on x86-64.

use crate::atomic::{AtomicI64, AtomicU32, Ordering};
use crate::core_visits;
use crate::rseq;
use std::io;
use std::sync::OnceLock;

/// Not in every version of libc (the crate).
const MEMBARRIER_CMD_FLAG_CPU: libc::c_int = 1;

/// Where the threads have their `struct rseq`, from the thread pointer; 0 unless claims are supported. A copy
/// of its own, so that a claim asks one word once.
static AREA: AtomicI64 = AtomicI64::new(0);

pub(super) fn is_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| {
        let Some(offset) = rseq::offset().filter(|_| ask_kernel()) else { return false };
        AREA.store(offset, Ordering::Relaxed);
        true
    })
}

#[inline(always)]
pub(super) fn claim(core: &AtomicU32, flag: &AtomicU32) -> bool {
    let area = AREA.load(Ordering::Relaxed);
    if area == 0 {
        return false;
    }
    // SAFETY: `area` leads to the calling thread's registered `struct rseq`, whose field `rseq_cs` (at 8)
    // is for the code that runs; `cpu_id` (at 4) is read. The descriptor names the instructions from 2 to
    // 4, which make no call and commit with the last of them; the abort address 5 lies outside and behind
    // glibc's signature. The two words are alive for the call. x86-64 loads are Acquire, and the block is
    // a compiler's barrier. The field is cleared at both ends, so that the kernel never reads a
    // descriptor of an unloaded library.
    unsafe {
        std::arch::asm!(
            "lea {scratch}, [rip + 6f]",
            "mov qword ptr fs:[{area} + 8], {scratch}",
            "2:",
            "mov {scratch:e}, dword ptr fs:[{area} + 4]",
            "cmp {scratch:e}, dword ptr [{core}]",
            "jne 3f",
            "cmp dword ptr [{flag}], 0",
            "jne 3f",
            "mov dword ptr [{flag}], 1",
            "4:",
            "mov qword ptr fs:[{area} + 8], 0",
            // The way out without a claim, apart from the path that succeeds.
            ".pushsection .text.unlikely.heddle_claim, \"ax\", @progbits",
            // RSEQ_SIG, as the operand of an instruction that traps (ud1).
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "5:",
            "3:",
            "mov qword ptr fs:[{area} + 8], 0",
            "jmp {failed}",
            ".popsection",
            // struct rseq_cs: version, flags, start, length, abort address.
            ".pushsection .data.rel.ro.heddle_claim, \"aw\", @progbits",
            ".balign 32",
            "6:",
            ".long 0, 0",
            ".quad 2b, 4b - 2b, 5b",
            ".popsection",
            area = in(reg) area,
            core = in(reg) core.as_ptr(),
            flag = in(reg) flag.as_ptr(),
            scratch = out(reg) _,
            failed = label { return false },
            options(nostack)
        );
    }
    // ThreadSanitizer does not see what assembly reads.
    #[cfg(tsan)]
    let _ = flag.load(Ordering::Acquire);
    true
}

pub(super) fn barrier(core: u32) {
    let interrupt = || {
        membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, MEMBARRIER_CMD_FLAG_CPU, core.cast_signed())
    };
    if interrupt().is_err()
        && (!ask_kernel() || interrupt().is_err())
        && let Err(error) = core_visits::visit(core as usize)
    {
        // Going on would break mutual exclusion without a trace, and there is nobody to hand the error to.
        eprintln!(
            "heddle: membarrier for restartable sequences was available when this process started and now fails: \
             {error}. Stopping, since mutual exclusion can no longer be guaranteed.",
        );
        std::process::abort();
    }
}

/// Registers this process; false if the kernel lacks the command or the flag that names a core. The flag is
/// as old as the command, and a call shows that both are there.
fn ask_kernel() -> bool {
    let wanted = libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ;
    membarrier(libc::MEMBARRIER_CMD_QUERY, 0, 0).is_ok_and(|offered| offered & wanted != 0)
        && membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0).is_ok()
        && membarrier(wanted, MEMBARRIER_CMD_FLAG_CPU, 0).is_ok()
}

fn membarrier(command: libc::c_int, flags: libc::c_int, core: libc::c_int) -> io::Result<libc::c_int> {
    // SAFETY: membarrier takes three numbers and touches no memory of the caller.
    let rc = unsafe { libc::syscall(libc::SYS_membarrier, command, flags, core) };
    match libc::c_int::try_from(rc) {
        Ok(value) if value >= 0 => Ok(value),
        _ => Err(io::Error::last_os_error()),
    }
}

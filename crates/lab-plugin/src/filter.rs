//! Calls that must not reach the host: the guest's futexes and sleeps, which happen in virtual time only.
//!
//! qemu makes the program's interruptible calls by one `syscall` instruction. A filter answers 0 to futexes
//! and sleeps from there, and leaves those of qemu and of the plugin alone.

use std::fs;

/// A BPF instruction.
const fn statement(code: u32, value: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k: value }
}

const fn jump_if_equal(value: u32, then: u8, otherwise: u8) -> libc::sock_filter {
    libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: then,
        jf: otherwise,
        k: value,
    }
}

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
/// Where the filter finds the call's number and its instruction.
const NUMBER: u32 = 0;
const INSTRUCTION: u32 = 8;

/// Keeps the program's futexes and sleeps, and every change of affinity, away from the host.
///
/// # Errors
///
/// When this qemu's instruction is not found, or the kernel refuses the filter.
pub(crate) fn install() -> Result<(), String> {
    let at = find_instruction()
        .ok_or("this qemu makes its system calls in another way: the lab knows Debian's qemu-user 7.2")?;
    let mut code = [
        statement(LOAD, NUMBER),
        jump_if_equal(libc::SYS_sched_setaffinity as u32, 8, 0),
        jump_if_equal(libc::SYS_sched_yield as u32, 7, 0),
        jump_if_equal(libc::SYS_futex as u32, 2, 0),
        jump_if_equal(libc::SYS_nanosleep as u32, 1, 0),
        jump_if_equal(libc::SYS_clock_nanosleep as u32, 0, 5),
        statement(LOAD, INSTRUCTION),
        jump_if_equal(at as u32, 0, 3),
        statement(LOAD, INSTRUCTION + 4),
        jump_if_equal((at >> 32) as u32, 0, 1),
        statement(RETURN, libc::SECCOMP_RET_ERRNO),
        statement(RETURN, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: code.len() as u16, filter: code.as_mut_ptr() };
    // SAFETY: the process gives up rights that it does not use.
    let is_set = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
    // SAFETY: the filter is a whole program, read during the call.
    let is_in = is_set
        && unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_TSYNC,
                &raw const program,
            )
        } == 0;
    is_in.then_some(()).ok_or_else(|| {
        format!("the kernel refuses a filter of system calls: {}", std::io::Error::last_os_error())
    })
}

/// Behind which instruction of qemu's program the guest's interruptible calls return: `jne`, then `syscall`.
fn find_instruction() -> Option<u64> {
    let program = fs::read_link("/proc/self/exe").ok()?;
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    for line in maps.lines().filter(|line| line.ends_with(program.to_string_lossy().as_ref())) {
        let mut fields = line.split_ascii_whitespace();
        let (from, to) = fields.next()?.split_once('-')?;
        if !fields.next()?.contains('x') {
            continue;
        }
        let (from, to) = (u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?);
        // SAFETY: the mapping is qemu's program, which stays.
        let text = unsafe { std::slice::from_raw_parts(from as *const u8, (to - from) as usize) };
        let is_call = |at: &usize| {
            text[*at..].starts_with(&[0x0f, 0x05]) && (text[*at - 2] == 0x75 || text[*at - 6] == 0x0f)
        };
        if let Some(place) = (6..text.len() - 1).find(is_call) {
            return Some(from + place as u64 + 2);
        }
    }
    None
}

//! What an uncontended acquire and release executes, counted instruction by instruction: the platform trait
//! and the layers of the locks leave nothing behind. A child process is single-stepped; where tracing is
//! forbidden, nothing is shown.
#![cfg(all(not(loom), target_arch = "x86_64", target_os = "linux"))]
#![allow(clippy::expect_used)]

use heddle_locks::mcs::StrictMcs;
use heddle_locks::ticket::StrictTicket;
use heddle_locks::{Biased, Clh, CoreBiased, Hmcs, Mcs, Ticket};
use heddle_platform::background;
use heddle_sync::{Mutex, Native, RawLock};
use std::ptr;

/// What was executed between a function's first instruction and its return.
#[derive(Debug, Default, Clone, Copy)]
struct Path {
    instructions: usize,
    /// Those that lock the bus or the line: a prefix, or an exchange with memory.
    locked: usize,
    system_calls: usize,
}

#[inline(never)]
fn pair<L: RawLock>(lock: &L) {
    let token = lock.acquire();
    // SAFETY: acquired above.
    unsafe { lock.release(token) };
}

/// Counts one uncontended `pair`, or says that tracing is forbidden.
fn walk<L: RawLock>(lock: &L) -> Option<Path> {
    walk_after(lock, || ())
}

/// As [`walk`], and the child does something before it is stepped.
fn walk_after<L: RawLock>(lock: &L, prepare: impl FnOnce()) -> Option<Path> {
    // The path does not count steps that are taken once (a node for the thread's cache, a bias).
    (0..10_000).for_each(|_| pair(lock));
    // SAFETY: the child calls only functions that are allowed between fork and exit.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork failed");
    if child == 0 {
        prepare();
        // SAFETY: a request of the process for itself.
        let traced =
            unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, ptr::null_mut::<u8>(), ptr::null_mut::<u8>()) };
        if traced == 0 {
            // SAFETY: stops the child until the parent has seen it.
            unsafe { libc::raise(libc::SIGSTOP) };
            pair(lock);
        }
        // SAFETY: ends the child without the handlers of the test's process.
        unsafe { libc::_exit(0) };
    }
    let path = trace(child, pair::<L> as *const () as u64);
    // SAFETY: the child is this process's own, and stopped or gone.
    unsafe { libc::kill(child, libc::SIGKILL) };
    wait(child);
    path
}

fn wait(child: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: a child of this process.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    status
}

/// The kernel begins a restartable sequence anew after every step. So the child's only thread, which nobody
/// can preempt there, takes back its registration and writes the core's number into its area itself.
fn keep_sequences_going() {
    let symbol = |name: &std::ffi::CStr| {
        // SAFETY: a look-up by name, which is a string.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
    };
    let offset = symbol(c"__rseq_offset").cast::<isize>();
    // SAFETY: there are claims, so glibc has the symbol, a ptrdiff_t.
    let offset = unsafe { offset.read() };
    let thread_pointer = heddle_platform::thread::current_id().cast_signed() as isize;
    let area = (thread_pointer + offset) as *mut u32;
    let cpu_id = area.wrapping_add(1);
    // SAFETY: the second word of the thread's own `struct rseq`.
    let core = unsafe { cpu_id.read() };
    let (unregister, signature) = (1, 0x5305_3053);
    let sizes = [32, 20, 28, 33];
    // SAFETY: takes back this thread's own registration, which has one of these sizes.
    let gone = |size: i32| unsafe { libc::syscall(libc::SYS_rseq, area, size, unregister, signature) == 0 };
    assert!(sizes.into_iter().any(gone), "the registration has another size");
    // SAFETY: the second word of that struct, which the kernel does not write any more.
    unsafe { cpu_id.write(core) };
}

/// Steps through the child from `start` to its return.
fn trace(child: libc::pid_t, start: u64) -> Option<Path> {
    if !libc::WIFSTOPPED(wait(child)) {
        return None;
    }
    let (mut path, mut back) = (Path::default(), None);
    for _ in 0..1_000_000 {
        let (at, stack) = registers(child);
        if at == start {
            back = Some((peek(child, stack), stack));
        }
        if let Some((address, above)) = back {
            if at == address && stack > above {
                return Some(path);
            }
            path.instructions += 1;
            let code = peek(child, at).to_le_bytes();
            path.locked += usize::from(is_locked(&code));
            path.system_calls += usize::from(code[..2] == [0x0f, 0x05]);
        }
        let nothing = ptr::null_mut::<u8>();
        // SAFETY: a stopped child of this process.
        let stepped = unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, child, nothing, nothing) };
        if stepped != 0 || !libc::WIFSTOPPED(wait(child)) {
            return None;
        }
    }
    panic!("the function never returned");
}

/// The program counter and the stack pointer.
fn registers(child: libc::pid_t) -> (u64, u64) {
    // SAFETY: plain numbers.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    // SAFETY: a stopped child of this process, and room for its registers.
    let got = unsafe { libc::ptrace(libc::PTRACE_GETREGS, child, ptr::null_mut::<u8>(), &raw mut registers) };
    assert_eq!(got, 0, "a stopped child has registers");
    (registers.rip, registers.rsp)
}

fn peek(child: libc::pid_t, address: u64) -> u64 {
    // SAFETY: reads the child's memory; a bad address is an error.
    unsafe { libc::ptrace(libc::PTRACE_PEEKTEXT, child, address as *mut u8, ptr::null_mut::<u8>()) }
        .cast_unsigned()
}

/// A `lock` prefix, or an `xchg` with memory, which locks without one.
fn is_locked(code: &[u8]) -> bool {
    let prefixes = code.iter().take_while(|byte| matches!(byte, 0x40..=0x4f | 0x66)).count();
    match code[prefixes..] {
        [0xf0, ..] => true,
        [0x86 | 0x87, operands, ..] => operands < 0xc0,
        _ => false,
    }
}

/// Checks a path: the exact number of locked instructions, an upper limit of all
/// instructions, and no system call.
fn expect(name: &str, path: Option<Path>, locked: usize, most: usize) {
    let Some(path) = path else {
        eprintln!("{name}: not shown, since tracing is forbidden here");
        return;
    };
    println!("{name}: {path:?}");
    assert_eq!(path.system_calls, 0, "{name}: {path:?}");
    assert_eq!(path.locked, locked, "{name}: {path:?}");
    assert!(path.instructions <= most, "{name}: {path:?}, {most} were expected at most");
}

/// On the first core that the thread may use, since the bias of a core stays there.
fn on_one_core(walk: impl FnOnce() -> Option<Path>) -> Option<Path> {
    let cores = background::allowed_cores();
    background::bind(cores[0]).expect("an allowed core");
    walk()
}

#[test]
fn an_uncontended_pair_is_a_few_instructions() {
    if !heddle_platform::barrier::is_asymmetric() {
        eprintln!("without membarrier the locks fence, which this does not count");
        return;
    }
    expect("mutex", walk(&Mutex::default()), 1, 40);
    expect("biased mutex", walk(&Biased::<Mutex>::default()), 0, 60);
    let core_biased = CoreBiased::<Mutex>::default();
    if heddle_platform::core_claim::is_supported() {
        expect("core-biased mutex", on_one_core(|| walk_after(&core_biased, keep_sequences_going)), 0, 70);
    }
    expect("ticket", walk(&Ticket::default()), 1, 60);
    expect("mcs", walk(&Mcs::default()), 1, 60);
    expect("clh", walk(&Clh::default()), 1, 60);
    expect(
        "hmcs",
        walk(&Hmcs::new(&heddle_locks::hmcs::Tree::flat(), heddle_sync::WaitPolicy::DEFAULT)),
        1,
        60,
    );
    expect("strict ticket", walk(&StrictTicket::<Native>::default()), 1, 60);
    // 52 where the compiler optimises. The development profile calls the instances that the catalogue has
    // made in the crate (82), and does not inline them.
    expect("strict mcs", walk(&StrictMcs::<Native>::default()), 2, 90);
}

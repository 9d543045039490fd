//! Giving up the processor, and a cheap name for the calling thread.

#[cfg(not(loom))]
use crate::clock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The low bits of every [`current_id`] are zero: identities are multiples of this.
pub const ID_STEP: u64 = 16;

/// If a yield takes longer than this, another thread ran for a whole time slice (2 to 4 ms): it computes. A
/// thread that waits yields again within microseconds …
#[cfg(not(loom))]
const DEAR_NS: u64 = 1_500_000;

/// … and one that is busy for other processes, copying or reducing long data, within this time.
#[cfg(not(loom))]
const BUSY_NS: u64 = 250_000;

static PROCESSES_PER_CORE: AtomicU32 = AtomicU32::new(1);

/// Says how many processes share each core and wait for each other, so that a row of them that are busy is
/// not taken for a thread that computes. (Sixteen processes on two cores that were, slept at each step of an
/// allreduce of 1 MiB, which took 32 ms instead of 4.5.)
pub fn set_processes_per_core(count: u32) {
    // Relaxed, here and below: a hint.
    PROCESSES_PER_CORE.store(count, Relaxed);
}

/// The number of processes that share each core, as was said last.
pub fn processes_per_core() -> u32 {
    PROCESSES_PER_CORE.load(Relaxed)
}

/// A yield may take any time, if the process is stopped meanwhile; more than this does not count.
#[cfg(not(loom))]
const MOST_NS: u64 = 100_000_000;

/// A dear yield is remembered for as long as it took, since the other thread may have been a process that
/// starts. If the next one comes soon, it is remembered for twice as long, and so on, up to 2 to the power of
/// this times. (When each was remembered for 16 times as long, eight processes on two cores slept in each of
/// their first 130 ms of collective operations, which took 80 µs instead of 13.)
#[cfg(not(loom))]
const MOST_DOUBLINGS: u64 = 4;
/// A yield comes soon if it does within this many times as long as it takes after the last one was forgotten.
#[cfg(not(loom))]
const SOON: u64 = 16;

/// The bits of `dear_until` that hold the number of doublings.
#[cfg(not(loom))]
const DOUBLINGS: u64 = 7;

// The tick until which yields are dear, its low bits replaced by the number of doublings; null if none ever
// was. A number, not a pointer.
#[cfg(not(loom))]
crate::thread_slot!(dear_until, "heddle_platform_dear_until_slot");

/// Lets another runnable thread have this core (`sched_yield`).
#[inline]
pub fn yield_now() {
    #[cfg(not(loom))]
    timed_yield();
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// A yield that takes less than this has let no other thread run: two switches take longer.
#[cfg(not(loom))]
const IN_VAIN_NS: u64 = 1_000;

/// Does the same as [`yield_now`]; returns true if no other thread wanted the core, as far as the time tells.
#[inline]
pub fn yield_in_vain() -> bool {
    #[cfg(not(loom))]
    {
        timed_yield() < clock::ns_to_ticks(IN_VAIN_NS)
    }
    #[cfg(loom)]
    {
        loom::thread::yield_now();
        false
    }
}

/// Yields, and returns how many ticks that took.
#[cfg(not(loom))]
#[inline]
fn timed_yield() -> u64 {
    let began = clock::ticks();
    std::thread::yield_now();
    let ended = clock::ticks();
    note_yield(began, ended);
    ended.wrapping_sub(began)
}

#[cfg(not(loom))]
#[inline]
fn note_yield(began: u64, ended: u64) {
    let took = ended.wrapping_sub(began);
    let row = u64::from(processes_per_core().saturating_sub(2)) * BUSY_NS;
    if took > clock::ns_to_ticks(DEAR_NS + row) {
        remember_yield(began, took.min(clock::ns_to_ticks(MOST_NS)), ended);
    }
}

#[cfg(not(loom))]
#[cold]
fn remember_yield(began: u64, took: u64, ended: u64) {
    let last = dear_until::get().addr() as u64;
    let forgotten_for = began.wrapping_sub(last).cast_signed();
    let comes_soon = last != 0 && forgotten_for < (took * SOON).cast_signed();
    let doublings = if comes_soon { (last % (DOUBLINGS + 1) + 1).min(MOST_DOUBLINGS) } else { 0 };
    let until = ended.wrapping_add(took << doublings) & !DOUBLINGS | doublings;
    dear_until::set(std::ptr::without_provenance_mut(until as usize));
}

/// Returns true if a yield of this thread would be a gift of a time slice to a thread that computes: one
/// was, not long ago. Linux 6.18 takes a yield for giving up all that is left of the slice, so a thread
/// that yields every 20 microseconds beside one that never does gets a fiftieth of the core, where half
/// would be fair. A thread that has slept instead gets its core back within 10 microseconds.
#[inline]
#[must_use]
pub fn is_yield_dear() -> bool {
    #[cfg(not(loom))]
    {
        let until = dear_until::get().addr() as u64;
        until != 0 && until.wrapping_sub(clock::ticks()).cast_signed() > 0
    }
    #[cfg(loom)]
    false
}

/// The number of cores that the calling thread might use when this was first called.
#[must_use]
pub fn cores() -> usize {
    #[cfg(not(loom))]
    {
        static CORES: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        *CORES.get_or_init(|| crate::background::allowed_cores().len().max(1))
    }
    #[cfg(loom)]
    {
        usize::MAX / 16
    }
}

/// How often another thread has run on this thread's core while this one wanted to run, or had yielded: the
/// kernel's count of its involuntary context switches.
#[cfg(not(loom))]
#[must_use]
pub fn preemptions() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one such struct.
    let rc = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    // SAFETY: all zero is a valid value, too.
    let usage = unsafe { usage.assume_init() };
    if rc == 0 { usage.ru_nivcsw.cast_unsigned() } else { 0 }
}

/// The hardware thread that the caller runs on now, by the kernel's number; it may be outdated when it
/// arrives. Under `loom`, the core that the model put the thread on, or the number of the calling thread.
#[inline]
#[must_use]
pub fn hardware_thread() -> usize {
    #[cfg(not(loom))]
    return cpu::current();
    #[cfg(loom)]
    {
        if let Some(core) = crate::model::core() {
            return core;
        }
        // The one number of a model's thread that is the same in every execution; loom shows it only in text.
        let text = format!("{:?}", loom::thread::current().id());
        text.chars().filter(char::is_ascii_digit).fold(0, |n, digit| n * 10 + (digit as usize - '0' as usize))
    }
}

/// The kernel keeps the number of the processor in the thread's `struct rseq`: one load.
/// Without one a call finds it.
#[cfg(not(loom))]
mod cpu {
    use crate::rseq;

    #[inline]
    pub(super) fn current() -> usize {
        if let Some(number) = rseq::offset().and_then(rseq::cpu_id) {
            return number;
        }
        // SAFETY: takes nothing and writes nothing of ours.
        let number = unsafe { libc::sched_getcpu() };
        // If the kernel does not tell (-1), all threads have the number 0: slower, never wrong.
        usize::try_from(number).unwrap_or(0)
    }
}

/// A token of the calling thread: never zero, a multiple of [`ID_STEP`], different for all threads of this
/// process that live at the same time. A thread that starts after another ended may get the ended one's
/// token.
///
/// One instruction on x86-64 and aarch64 (the thread pointer of the ABI), the address of a thread-local
/// elsewhere.
#[inline(always)]
pub fn current_id() -> u64 {
    imp::current_id()
}

// Under the thread sanitizer a token must not be reused: it cannot know that the old thread's end comes
// before the new one's start.
#[cfg(all(not(loom), not(tsan), not(miri), target_env = "gnu", target_arch = "x86_64"))]
mod imp {
    #[inline(always)]
    pub(super) fn current_id() -> u64 {
        let id: u64;
        // SAFETY: the x86-64 psABI stores the thread pointer (the address of the thread's control block,
        // aligned to 64 bytes by glibc) at %fs:0; this only reads it.
        unsafe {
            std::arch::asm!("mov {}, fs:0", out(reg) id, options(nostack, preserves_flags, pure, readonly))
        };
        id
    }
}

#[cfg(all(not(loom), not(tsan), not(miri), target_env = "gnu", target_arch = "aarch64"))]
mod imp {
    #[inline(always)]
    pub(super) fn current_id() -> u64 {
        let id: u64;
        // SAFETY: reads the thread pointer register, which glibc sets to an address aligned to 16 bytes or
        // more.
        unsafe {
            std::arch::asm!("mrs {}, tpidr_el0", out(reg) id, options(nostack, preserves_flags, pure, nomem))
        };
        id
    }
}

#[cfg(all(
    not(loom),
    any(tsan, miri, not(target_env = "gnu"), not(any(target_arch = "x86_64", target_arch = "aarch64")))
))]
mod imp {
    use super::ID_STEP;
    use crate::atomic::{AtomicU64, Ordering};

    static NEXT: AtomicU64 = AtomicU64::new(ID_STEP);

    thread_local! {
        static ID: u64 = NEXT.fetch_add(ID_STEP, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn current_id() -> u64 {
        ID.with(|id| *id)
    }
}

#[cfg(loom)]
mod imp {
    use super::ID_STEP;
    use std::cell::Cell;

    // All of a model's threads run on one thread of the machine, so this counter is theirs together, and no
    // step of the model.
    std::thread_local! {
        static NEXT: Cell<u64> = const { Cell::new(ID_STEP) };
    }

    loom::thread_local! {
        static ID: u64 = NEXT.with(|next| next.replace(next.get() + ID_STEP));
    }

    pub(super) fn current_id() -> u64 {
        ID.with(|id| *id)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Barrier;

    #[test]
    fn the_hardware_thread_is_where_the_system_says() {
        // Another thread may move this one between the two questions, but not every time.
        let agrees = || {
            // SAFETY: takes nothing and writes nothing of ours.
            usize::try_from(unsafe { libc::sched_getcpu() }) == Ok(hardware_thread())
        };
        assert!((0..1_000).any(|_| agrees()));
    }

    #[test]
    fn identities_of_live_threads_differ() {
        let all_alive = Barrier::new(32);
        let ids: HashSet<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..32)
                .map(|_| {
                    scope.spawn(|| {
                        let id = current_id();
                        all_alive.wait();
                        assert_eq!(id, current_id());
                        id
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("thread")).collect()
        });
        assert_eq!(ids.len(), 32);
        assert!(ids.iter().all(|id| *id != 0 && id % ID_STEP == 0));
    }

    #[test]
    fn a_dear_yield_is_remembered_for_a_while() {
        let [slice, hour] = [4_000_000, 3_600_000_000_000].map(clock::ns_to_ticks);
        let now = clock::ticks();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                note_yield(now.wrapping_add(hour), now.wrapping_add(hour));
                assert!(!is_yield_dear(), "the machine's own pace");
                note_yield(now.wrapping_add(hour - slice), now.wrapping_add(hour));
                assert!(is_yield_dear());
                std::thread::scope(|scope| {
                    scope.spawn(|| assert!(!is_yield_dear(), "for that thread only"));
                });
                dear_until::set(std::ptr::null_mut());
                let ended = now.wrapping_sub(slice);
                note_yield(ended.wrapping_sub(slice), ended);
                assert!(!is_yield_dear(), "that is over");
                let ended = now.wrapping_sub(clock::ns_to_ticks(MOST_NS) << MOST_DOUBLINGS);
                note_yield(ended.wrapping_sub(hour), ended);
                assert!(!is_yield_dear(), "a process that was stopped has learned nothing");
            });
        });
    }

    #[test]
    fn a_row_of_busy_processes_does_not_make_a_yield_dear() {
        let [took, hour] = [2_500_000, 3_600_000_000_000].map(clock::ns_to_ticks);
        let ended = clock::ticks().wrapping_add(hour);
        let is_dear = || {
            dear_until::set(std::ptr::null_mut());
            note_yield(ended.wrapping_sub(took), ended);
            is_yield_dear()
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(is_dear());
                set_processes_per_core(8);
                assert!(!is_dear());
                set_processes_per_core(1);
            });
        });
    }

    #[test]
    fn dear_yields_that_follow_each_other_are_remembered_for_longer() {
        let slice = clock::ns_to_ticks(4_000_000);
        let began = clock::ticks();
        let remembered = |began: u64| {
            note_yield(began, began.wrapping_add(slice));
            let until = dear_until::get().addr() as u64;
            (until.wrapping_sub(began).wrapping_sub(slice) + DOUBLINGS) / slice
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut now = began;
                let times = [0; 6].map(|_| {
                    let times = remembered(now);
                    now = now.wrapping_add((times + 10) * slice);
                    times
                });
                assert_eq!(times, [1, 2, 4, 8, 16, 16]);
                assert_eq!(remembered(now.wrapping_add((SOON + 1) * slice)), 1, "long after the last");
            });
        });
    }
}

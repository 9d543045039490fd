//! The threads of this process on the machine, and which of them runs.
//!
//! One thread of all processes runs at a time, the holder of the token. So the process's own state needs no
//! lock either: the holder has it. A thread that begins is not yet on the machine; its parent lets it in.

use crate::blocks::{self, Block};
use crate::names::Mappings;
use heddle_lab::shared::{LabMemory, SharedLab};
use heddle_lab::thread::Thread;
use heddle_platform::atomic::AtomicPtr;
use heddle_platform::atomic::Ordering::{Acquire, Relaxed, Release};
use heddle_platform::{
    Scope,
    atomic::{AtomicU32, AtomicU64},
    futex,
};
use std::path::PathBuf;
use std::ptr;

/// A system call under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) arguments: [u64; 6],
    /// Memory of the program that has other contents while the host works on the call.
    pub(crate) kept: Vec<(u64, Vec<u8>)>,
    /// An event that was added to this set for the time of the call.
    pub(crate) hurried: Option<i32>,
}

/// A thread of the program.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) thread: Thread,
    /// qemu's number for it.
    pub(crate) vcpu: u32,
    /// Its registers, as they are when a block begins.
    pub(crate) registers: *mut u64,
    /// A read of the time-stamp counter has run, whose result is to be replaced.
    pub(crate) is_timestamp_due: bool,
    /// The result of the last system call, in place of the host's.
    pub(crate) answer: Option<i64>,
    /// The word that is cleared when it ends.
    pub(crate) tid_address: u64,
    /// Its `struct rseq`, 0 if it has none.
    pub(crate) restartable: u64,
    pub(crate) call: Call,
    /// The addresses that locked instructions used last.
    pub(crate) used: Box<[(u64, u64); 64]>,
    /// The block that it is in.
    pub(crate) block: &'static Block,
    /// The block that it is in, since when, and in which interval that was: for the report.
    pub(crate) in_block: Option<(&'static Block, u64, u32)>,
}

/// The process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) lab: *mut SharedLab,
    pub(crate) names: Mappings,
    pub(crate) number: u32,
    pub(crate) pid: i32,
    pub(crate) seed: u64,
    /// Where its report goes.
    pub(crate) folder: Option<PathBuf>,
    /// Random bytes handed out so far.
    pub(crate) drawn: u64,
    /// It is the child of a fork, on a machine of its own without a supervisor.
    pub(crate) is_alone: bool,
}

static CURRENT: AtomicPtr<Guest> = AtomicPtr::new(ptr::null_mut());
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(ptr::null_mut());

/// The way into the machine for a thread that begins: 0 nobody is there, 1 one waits, slot + 2 its slot.
static DOOR: AtomicU32 = AtomicU32::new(0);

/// The word that the thread at the door clears when it ends.
static TID_ADDRESS: AtomicU64 = AtomicU64::new(0);

/// The plugin is loaded.
pub(crate) fn begin(mapping: LabMemory, seed: u64, folder: Option<PathBuf>) {
    let lab = mapping.lab();
    // SAFETY: the pid cannot fail.
    let pid = unsafe { libc::getpid() };
    let process = Process {
        lab,
        names: Mappings::new(lab, 0),
        number: 0,
        pid,
        seed,
        folder,
        drawn: 0,
        is_alone: false,
    };
    PROCESS.store(Box::into_raw(Box::new(process)), Release);
}

/// True if the thread with qemu's number `vcpu` runs.
#[inline(always)]
pub(crate) fn is_current(vcpu: u32) -> bool {
    let current = CURRENT.load(Relaxed);
    // SAFETY: guests live until their process ends, and keep their number.
    !current.is_null() && unsafe { (*current).vcpu } == vcpu
}

/// The thread that runs, its process, and the machine: what a callback works with.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    pub(crate) guest: &'a mut Guest,
    pub(crate) process: &'a mut Process,
    pub(crate) lab: &'a mut SharedLab,
}

/// The calling thread, its process and the machine.
///
/// # Safety
///
/// It holds the token, and has no other such borrows. Callbacks of qemu do: threads wait for the token
/// inside of them, and the thread that has it makes one call at a time.
#[inline(always)]
pub(crate) unsafe fn running<'a>() -> Running<'a> {
    // SAFETY: guests live until their process ends; the holder of the token uses its own.
    let guest = unsafe { &mut *CURRENT.load(Relaxed) };
    // SAFETY: the caller's promise.
    let (process, lab) = unsafe { process() };
    Running { guest, process, lab }
}

/// This process and the machine.
///
/// # Safety
///
/// As [`running`]; or the process has no thread on the machine.
#[inline(always)]
pub(crate) unsafe fn process<'a>() -> (&'a mut Process, &'a mut SharedLab) {
    // SAFETY: made when the plugin was loaded; the holder of the token uses it.
    let process = unsafe { &mut *PROCESS.load(Relaxed) };
    // SAFETY: mapped until the process ends.
    let lab = unsafe { &mut *process.lab };
    (process, lab)
}

/// The calling thread, which holds the token again, is the one that runs.
pub(crate) fn back(guest: &mut Guest) {
    CURRENT.store(guest, Relaxed);
}

/// The first callback of a thread: waits until it is on the machine and has its turn.
#[cold]
#[inline(never)]
pub(crate) fn arrive(vcpu: u32) {
    let is_first = CURRENT.load(Relaxed).is_null();
    let (slot, tid_address) = if is_first { (arrive_as_process(), 0) } else { arrive_as_thread() };
    // SAFETY: what is read here was written before this thread came in; `begin` only waits, until it has
    // the token.
    let (process, lab) = unsafe { process() };
    let guest = Box::leak(Box::new(Guest {
        thread: Thread::new(slot, process.number),
        vcpu,
        registers: ptr::null_mut(),
        is_timestamp_due: false,
        answer: None,
        tid_address,
        restartable: 0,
        call: Call::default(),
        used: Box::new([(0, 0); 64]),
        block: &blocks::BEFORE_THE_FIRST,
        in_block: None,
    }));
    guest.thread.begin(lab);
    back(guest);
}

fn arrive_as_process() -> u32 {
    // SAFETY: no thread of this process is on the machine; the places for new processes are made for those
    // that do not hold the token.
    let (process, lab) = unsafe { process() };
    let Some(slot) = lab.new_processes.arrive(process.pid.cast_unsigned()) else {
        eprintln!("heddle lab: too many processes begin at a time");
        std::process::abort();
    };
    process.number = lab.slots[slot as usize].process;
    process.names = Mappings::new(process.lab, process.number);
    slot
}

/// Its slot, and the word that it clears when it ends.
fn arrive_as_thread() -> (u32, u64) {
    DOOR.store(1, Release);
    futex::wake(&DOOR, 1, Scope::Process);
    loop {
        match DOOR.load(Acquire) {
            1 => _ = futex::wait(&DOOR, 1, None, Scope::Process),
            word => {
                // Behind the door the parent goes on, and may name the word of its next thread.
                let tid_address = TID_ADDRESS.swap(0, Relaxed);
                DOOR.store(0, Release);
                futex::wake(&DOOR, 1, Scope::Process);
                return (word - 2, tid_address);
            }
        }
    }
}

/// The running thread has begun another: waits for it at the door and gives it its place.
pub(crate) fn let_in(parent: &mut Guest, tid_address: u64) {
    TID_ADDRESS.store(tid_address, Relaxed);
    while DOOR.load(Acquire) != 1 {
        futex::wait(&DOOR, 0, None, Scope::Process);
    }
    // SAFETY: the parent runs.
    let (process, lab) = unsafe { process() };
    let at = parent.thread.clock + lab.costs.thread;
    let Some(slot) = lab.begin_thread(process.number, process.pid, parent.thread.core, at) else {
        eprintln!("heddle lab: the machine has room for {} threads", heddle_lab::shared::SLOTS);
        std::process::abort();
    };
    parent.thread.set_limits(lab);
    DOOR.store(slot + 2, Release);
    futex::wake(&DOOR, 1, Scope::Process);
    while DOOR.load(Acquire) != 0 {
        futex::wait(&DOOR, slot + 2, None, Scope::Process);
    }
}

/// In the child of a fork: it is alone, on a machine of its own, until it becomes another program.
pub(crate) fn be_alone(guest: &mut Guest) {
    let Ok(mapping) = LabMemory::new(None) else { std::process::abort() };
    // SAFETY: of the parent's machine only what does not change is read; then it is left for one that
    // nobody else has.
    let (process, parents) = unsafe { process() };
    process.lab = mapping.lab();
    process.is_alone = true;
    // SAFETY: the pid cannot fail.
    process.pid = unsafe { libc::getpid() };
    // SAFETY: mapped above.
    let lab = unsafe { &mut *process.lab };
    lab.begin(parents.layout, parents.costs, 0);
    let slot =
        lab.begin_thread(process.number, process.pid, 0, guest.thread.clock).expect("a new machine is empty");
    lab.token.give_to(slot);
    let mut thread = Thread::new(slot, process.number);
    thread.go_on_alone(lab);
    guest.thread = thread;
    process.names = Mappings::new(process.lab, process.number);
}

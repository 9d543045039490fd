//! Deliberate faults inside the library: `thread_stress planted=NAME`. Only a sanitizer that reports them is
//! believed when it is silent about the stress test.

use crate::payload::Payload;
use crate::scene::call;
use heddle_comm::{CommRef, Plane};
use heddle_p2p::Mode;
use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_process::init;
use heddle_spec::constants::{MPI_THREAD_MULTIPLE, MPI_THREAD_SINGLE};
use std::process::ExitCode;

const TAG: i32 = 1;
const P2P: Plane = Plane::PointToPoint;

/// Commits the fault of this name.
pub(crate) fn commit(name: &str) -> ExitCode {
    match name {
        "race" => race(),
        "late-read" => late_read(),
        "use-after-free" => use_after_free(),
        "overflow" => overflow(),
        "leak" => leak(),
        _ => {
            eprintln!("planted={name}: one of race, late-read, use-after-free, overflow, leak is wanted");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn start(thread_level: i32) -> CommRef {
    init::initialize(thread_level).expect("MPI can be initialised");
    CommRef::comm_self().expect("MPI is running")
}

/// Runs `other` on a thread and `this` here, without any synchronisation between the two. The thread ends
/// after both are complete, because the end of a thread may order them.
fn unordered(other: impl FnOnce() + Send, this: impl FnOnce()) {
    let (other_done, all_done) = (AtomicBool::new(false), AtomicBool::new(false));
    let wait_for = |done: &AtomicBool| {
        while !done.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            other();
            other_done.store(true, Ordering::Relaxed);
            wait_for(&all_done);
        });
        wait_for(&other_done);
        this();
        all_done.store(true, Ordering::Relaxed);
    });
}

/// Two threads in a library that was promised one: no critical section guards the matching lists.
fn race() {
    let comm = start(MPI_THREAD_SINGLE);
    let send = || {
        let mut data = Payload::new(8, 1);
        call(|| heddle_p2p::send(&comm, P2P, data.buffer(), 0, TAG, Mode::Standard));
    };
    unordered(send, || {
        let mut room = Payload::room(8);
        call(|| heddle_p2p::recv(&comm, P2P, room.buffer(), 0, TAG));
    });
}

/// The program reads the receive buffer before the receive is complete.
fn late_read() {
    let comm = start(MPI_THREAD_MULTIPLE);
    let mut room = Payload::room(8000);
    let mut request = call(|| heddle_p2p::irecv(&comm, P2P, room.buffer(), 0, TAG));
    let send = || {
        let mut data = Payload::new(8000, 1);
        call(|| heddle_p2p::send(&comm, P2P, data.buffer(), 0, TAG, Mode::Standard));
    };
    unordered(send, || println!("{}", room.sum()));
    call(|| heddle_p2p::wait(&mut request));
}

/// The program frees the send buffer before the send is complete.
fn use_after_free() {
    let comm = start(MPI_THREAD_MULTIPLE);
    let mut data = Payload::new(100, 1);
    let mut request = call(|| heddle_p2p::isend(&comm, P2P, data.buffer(), 0, TAG, Mode::Synchronous));
    drop(data);
    let mut room = Payload::room(100);
    call(|| heddle_p2p::recv(&comm, P2P, room.buffer(), 0, TAG));
    call(|| heddle_p2p::wait(&mut request));
}

/// The program announces more room than it has.
fn overflow() {
    let comm = start(MPI_THREAD_MULTIPLE);
    let mut data = Payload::new(101, 1);
    call(|| heddle_p2p::send(&comm, P2P, data.buffer(), 0, TAG, Mode::Standard));
    let mut room = Payload::room(100);
    call(|| heddle_p2p::recv(&comm, P2P, room.longer_buffer(), 0, TAG));
}

/// Memory to which no pointer leads any more.
fn leak() {
    start(MPI_THREAD_MULTIPLE);
    for len in 1000..1100 {
        std::mem::forget(Payload::new(len, 1));
    }
}

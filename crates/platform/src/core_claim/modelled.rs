//! A core as `loom` models it is a mutex: a claim holds it, so claims on a core take turns, and a
//! barrier passes through it, which orders the caller before or after each of them. That is all
//! that the guarantee says.

use crate::atomic::{AtomicU32, Ordering};
use crate::thread::hardware_thread;
use loom::sync::Mutex;
use std::array;

/// Threads of a model that are on no core by name have one each.
const CORES: usize = loom::MAX_THREADS;

crate::statics! {
    static TURNS: [Mutex<()>; CORES] = array::from_fn(|_| Mutex::new(()));
}

pub(super) fn is_supported() -> bool {
    true
}

pub(super) fn claim(core: &AtomicU32, flag: &AtomicU32) -> bool {
    let here = hardware_thread();
    let _turn = TURNS[here].lock().expect("not poisoned");
    let is_free = core.load(Ordering::Acquire) as usize == here && flag.load(Ordering::Acquire) == 0;
    if is_free {
        flag.store(1, Ordering::Relaxed);
    }
    is_free
}

pub(super) fn barrier(core: u32) {
    drop(TURNS[core as usize].lock().expect("not poisoned"));
}

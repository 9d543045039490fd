//! What combining costs a thread that is alone: nanoseconds of one addition, median of 41 short runs in turn.
//!
//! `cargo run --release -p heddle-sync --example combining_cost`

#[cfg(loom)]
fn main() {}

#[cfg(not(loom))]
fn main() {
    hardware::main();
}

#[cfg(not(loom))]
mod hardware {
    use heddle_platform::{barrier, clock};
    use heddle_sync::combining::Combining;
    use heddle_sync::{Biased, CachePadded, DsmSynch, Lock, LockQueue, Mutex};
    use std::hint::black_box;

    const ADDITIONS: u32 = 200_000;
    const RUNS: usize = 41;

    #[inline(never)]
    fn run(sum: &impl Combining<u64>) -> f64 {
        let start = clock::now_ns();
        (0..ADDITIONS).for_each(|_| sum.run(|sum| *sum = black_box(*sum + 1)));
        (clock::now_ns() - start) as f64 / f64::from(ADDITIONS)
    }

    #[inline(never)]
    fn post(sum: &impl Combining<u64>) -> f64 {
        let start = clock::now_ns();
        (0..ADDITIONS).for_each(|_| sum.post(|sum| *sum = black_box(*sum + 1)));
        (clock::now_ns() - start) as f64 / f64::from(ADDITIONS)
    }

    pub(super) fn main() {
        barrier::register();
        let mutex = CachePadded::new(Lock::<Mutex, u64>::default());
        let biased = CachePadded::new(Lock::<Biased<Mutex>, u64>::default());
        let lock_queue = CachePadded::new(LockQueue::<Mutex, u64>::default());
        let dsm_synch = CachePadded::new(DsmSynch::<u64>::default());
        let names = ["mutex", "lockq-mtx", "lockq-mtx (posted)", "dsm-synch", "biased mutex"];
        let mut figures: [Vec<f64>; 5] = Default::default();
        for _ in 0..RUNS {
            figures[0].push(run(&*mutex));
            figures[1].push(run(&*lock_queue));
            figures[2].push(post(&*lock_queue));
            figures[3].push(run(&*dsm_synch));
            figures[4].push(run(&*biased));
        }
        for (name, mut figures) in names.iter().zip(figures) {
            figures.sort_by(f64::total_cmp);
            println!("{name:20} {:6.2} ns", figures[RUNS / 2]);
        }
    }
}

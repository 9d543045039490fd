//! What the locks cost: one thread alone, and two and more threads together. Prints JSON.
//!
//! `cargo run --release -p heddle-sync --example lock_cost [rounds] [threads ...] [parts of names ...]`
//!
//! All locks are measured one after the other in each round, and a figure is the median over the rounds, so that a
//! machine that changes its mind halfway treats them alike. Uncontended: nanoseconds of an acquisition and a release
//! around one addition. Contended: millions of acquisitions a second by all threads together, each
//! working outside the lock for about as long as inside, and the share of the slowest thread in the mean.

#[cfg(loom)]
fn main() {}

#[cfg(not(loom))]
fn main() {
    hardware::main();
}

#[cfg(not(loom))]
mod hardware {
    use heddle_platform::atomic::{AtomicBool, Ordering};
    use heddle_platform::cell::UnsafeCell;
    use heddle_platform::clock;
    use heddle_sync::hmcs::Tree;
    use heddle_sync::{
        AbortableMcs, Biased, CachePadded, Clh, Fissile, Hmcs, Mcs, Mutex, RawLock, Ticket, WaitPolicy,
    };
    use serde_json::{Value, json};
    use std::collections::BTreeMap;
    use std::hint::black_box;
    use std::sync::Barrier;
    use std::time::Duration;

    const ALONE: u32 = 2_000_000;
    const RUNS: u32 = 200;
    const TOGETHER: Duration = Duration::from_millis(200);

    /// Something that runs a piece of work under a lock.
    trait Guarded: Sync {
        fn run(&self, work: impl FnOnce(&mut u64));
    }

    struct Ours<L>(L, UnsafeCell<u64>);
    // SAFETY: the number is touched only under the lock.
    unsafe impl<L: RawLock> Sync for Ours<L> {}
    impl<L: RawLock> Guarded for Ours<L> {
        #[inline(always)]
        fn run(&self, work: impl FnOnce(&mut u64)) {
            let token = self.0.acquire();
            // SAFETY: the lock is held.
            work(unsafe { &mut *self.1.get() });
            // SAFETY: acquired above.
            unsafe { self.0.release(token) };
        }
    }

    fn ours<L: RawLock + Default>() -> Ours<L> {
        Ours(L::default(), UnsafeCell::new(0))
    }

    impl Guarded for std::sync::Mutex<u64> {
        #[inline(always)]
        fn run(&self, work: impl FnOnce(&mut u64)) {
            work(&mut self.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        }
    }

    impl Guarded for parking_lot::Mutex<u64> {
        #[inline(always)]
        fn run(&self, work: impl FnOnce(&mut u64)) {
            work(&mut self.lock());
        }
    }

    struct Pthread(UnsafeCell<libc::pthread_mutex_t>, UnsafeCell<u64>);
    // SAFETY: pthread mutexes are made for this; the number is touched only under it.
    unsafe impl Sync for Pthread {}
    impl Guarded for Pthread {
        #[inline(always)]
        fn run(&self, work: impl FnOnce(&mut u64)) {
            // SAFETY: initialised, and it does not move while borrowed.
            unsafe { libc::pthread_mutex_lock(self.0.get()) };
            // SAFETY: the lock is held.
            work(unsafe { &mut *self.1.get() });
            // SAFETY: locked above.
            unsafe { libc::pthread_mutex_unlock(self.0.get()) };
        }
    }

    /// The least there is: the work without a lock.
    struct Unlocked(UnsafeCell<u64>);
    // SAFETY: used by one thread only.
    unsafe impl Sync for Unlocked {}
    impl Guarded for Unlocked {
        #[inline(always)]
        fn run(&self, work: impl FnOnce(&mut u64)) {
            // SAFETY: used by one thread only.
            work(unsafe { &mut *self.0.get() });
        }
    }

    /// Nanoseconds a use by one thread: the median over short runs, of which few meet another process.
    #[inline(never)]
    fn alone(lock: &impl Guarded) -> f64 {
        let runs = (0..RUNS).map(|_| {
            let start = clock::now_ns();
            for _ in 0..ALONE / RUNS {
                lock.run(|number| *number = black_box(*number + 1));
            }
            (clock::now_ns() - start) as f64 / f64::from(ALONE / RUNS)
        });
        median(runs.collect())
    }

    /// Millions of uses a second by all, and the slowest one's share of the mean.
    fn together(lock: &impl Guarded, threads: usize) -> (f64, f64) {
        let (begin, stop) = (Barrier::new(threads + 1), AtomicBool::new(false));
        let (start, uses) = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|_| {
                    scope.spawn(|| {
                        begin.wait();
                        // Until the last has been inside, the first ones would be measured among themselves.
                        lock.run(|_| ());
                        begin.wait();
                        let mut uses = 0_u64;
                        while !stop.load(Ordering::Relaxed) {
                            lock.run(|number| (0..10).for_each(|_| *number = black_box(*number + 1)));
                            uses += 1;
                            let mut outside = 0_u64;
                            (0..10).for_each(|_| outside = black_box(outside + 1));
                        }
                        uses
                    })
                })
                .collect();
            begin.wait();
            begin.wait();
            let start = clock::now_ns();
            std::thread::sleep(TOGETHER);
            stop.store(true, Ordering::Relaxed);
            (start, workers.into_iter().map(|worker| worker.join().expect("worker")).collect::<Vec<u64>>())
        });
        let seconds = (clock::now_ns() - start) as f64 / 1e9;
        let total = uses.iter().sum::<u64>() as f64;
        let slowest = uses.iter().copied().min().unwrap_or(0) as f64;
        (total / seconds / 1e6, slowest * threads as f64 / total)
    }

    fn median(mut values: Vec<f64>) -> f64 {
        values.sort_by(f64::total_cmp);
        (values[values.len() / 2] * 1000.0).round() / 1000.0
    }

    /// One lock's figures of all rounds.
    #[derive(Default)]
    struct Figures {
        alone_ns: Vec<f64>,
        together: Vec<Vec<(f64, f64)>>,
    }

    impl Figures {
        fn measure(&mut self, lock: impl Guarded, threads: &[usize]) {
            let lock = &*CachePadded::new(lock);
            self.alone_ns.push(alone(lock));
            self.together.resize_with(threads.len(), Vec::new);
            for (runs, threads) in self.together.iter_mut().zip(threads) {
                runs.push(together(lock, *threads));
            }
        }

        fn report(&self, threads: &[usize]) -> Value {
            let contended: serde_json::Map<_, _> = threads
                .iter()
                .zip(&self.together)
                .map(|(threads, runs)| {
                    let rate = median(runs.iter().map(|run| run.0).collect());
                    let share = median(runs.iter().map(|run| run.1).collect());
                    (threads.to_string(), json!({ "millions_per_s": rate, "slowest_share": share }))
                })
                .collect();
            json!({ "uncontended_ns": median(self.alone_ns.clone()), "contended": contended })
        }
    }

    pub(super) fn main() {
        let numbers: Vec<usize> =
            std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
        let wanted: Vec<String> =
            std::env::args().skip(1).filter(|argument| argument.parse::<usize>().is_err()).collect();
        let rounds = numbers.first().copied().unwrap_or(5).max(1);
        let threads = if numbers.len() > 1 { &numbers[1..] } else { &[2, 16] };
        let mut figures: BTreeMap<&str, Figures> = BTreeMap::new();

        // A second thread from the start: glibc leaves out atomic instructions while there is only one.
        let (done, asleep) = std::sync::mpsc::channel::<()>();
        let second = std::thread::spawn(move || asleep.recv().unwrap_or(()));
        heddle_platform::barrier::register();
        for _ in 0..rounds {
            // New locks each round: a bias that was revoked for good would spoil the next round.
            let mut measure = |name: &'static str, lock: &dyn Fn(&mut Figures)| {
                if wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted.as_str())) {
                    lock(figures.entry(name).or_default());
                }
            };
            measure("no lock", &|f| f.measure(Unlocked(UnsafeCell::new(0)), &[]));
            measure("mutex", &|f| f.measure(ours::<Mutex>(), threads));
            measure("biased mutex", &|f| f.measure(ours::<Biased<Mutex>>(), threads));
            measure("ticket", &|f| f.measure(ours::<Ticket>(), threads));
            measure("mcs", &|f| f.measure(ours::<Mcs>(), threads));
            measure("clh", &|f| f.measure(ours::<Clh>(), threads));
            measure("abortable mcs", &|f| f.measure(ours::<AbortableMcs>(), threads));
            measure("fissile ticket", &|f| f.measure(ours::<Fissile<Ticket>>(), threads));
            measure("fissile mcs", &|f| f.measure(ours::<Fissile<Mcs>>(), threads));
            measure("fissile clh", &|f| f.measure(ours::<Fissile<Clh>>(), threads));
            // Hardware threads 0 and 1 in cohorts of their own.
            let hmcs = || Hmcs::new(&Tree::balanced(&[2], 1), WaitPolicy::DEFAULT);
            measure("hmcs", &|f| f.measure(Ours(hmcs(), UnsafeCell::new(0)), threads));
            let fissile = || Fissile::new(hmcs(), WaitPolicy::DEFAULT);
            measure("fissile hmcs", &|f| f.measure(Ours(fissile(), UnsafeCell::new(0)), threads));
            measure("std", &|f| f.measure(std::sync::Mutex::new(0), threads));
            measure("parking_lot", &|f| f.measure(parking_lot::Mutex::new(0), threads));
            let mutex = || Pthread(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER), UnsafeCell::new(0));
            measure("pthread", &|f| f.measure(mutex(), threads));
        }
        drop(done);
        second.join().expect("the second thread");

        let report: serde_json::Map<_, _> =
            figures.iter().map(|(name, figures)| ((*name).to_string(), figures.report(threads))).collect();
        println!("{:#}", json!({ "rounds": rounds, "locks": report }));
    }
}

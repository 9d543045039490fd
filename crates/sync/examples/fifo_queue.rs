//! The FIFO queue of the combining slides: threads that enqueue and dequeue in turn, under locks and under combining.
//! Prints JSON.
//!
//! `cargo run --release -p heddle-sync --example fifo_queue [rounds] [threads ...]`
//!
//! All are measured one after the other in each round, and a figure is the median over the rounds. An operation is an
//! enqueue or a dequeue; each thread works outside for about as long as inside. `(posted)`: enqueues do not wait.
//! The first part is the cost of an operation to one thread alone.

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
    use heddle_sync::combining::{Combining, OffloadThread};
    use heddle_sync::{Biased, CachePadded, DsmSynch, Lock, LockQueue, Mutex, RawLock, WaitPolicy};
    use serde_json::{Value, json};
    use std::collections::VecDeque;
    use std::hint::black_box;
    use std::sync::Barrier;
    use std::time::Duration;

    const ALONE: u32 = 400_000;
    const TOGETHER: Duration = Duration::from_millis(60);
    /// Elements at the start, so that no dequeue finds the queue empty.
    const FILLED: u64 = 1_000;

    type Fifo = VecDeque<u64>;

    trait Queue: Sync {
        fn enqueue(&self, value: u64);
        fn dequeue(&self) -> Option<u64>;
    }

    struct Waits<C>(C);
    impl<C: Combining<Fifo>> Queue for Waits<C> {
        #[inline]
        fn enqueue(&self, value: u64) {
            self.0.run(|fifo| fifo.push_back(value));
        }
        #[inline]
        fn dequeue(&self) -> Option<u64> {
            self.0.run(VecDeque::pop_front)
        }
    }

    struct Posts<C>(C);
    impl<C: Combining<Fifo>> Queue for Posts<C> {
        #[inline]
        fn enqueue(&self, value: u64) {
            self.0.post(move |fifo| fifo.push_back(value));
        }
        #[inline]
        fn dequeue(&self) -> Option<u64> {
            self.0.run(VecDeque::pop_front)
        }
    }

    impl Queue for std::sync::Mutex<Fifo> {
        #[inline]
        fn enqueue(&self, value: u64) {
            self.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push_back(value);
        }
        #[inline]
        fn dequeue(&self) -> Option<u64> {
            self.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop_front()
        }
    }

    impl Queue for parking_lot::Mutex<Fifo> {
        #[inline]
        fn enqueue(&self, value: u64) {
            self.lock().push_back(value);
        }
        #[inline]
        fn dequeue(&self) -> Option<u64> {
            self.lock().pop_front()
        }
    }

    struct Pthread(UnsafeCell<libc::pthread_mutex_t>, UnsafeCell<Fifo>);
    // SAFETY: pthread mutexes are made for this; the queue is touched only under it.
    unsafe impl Sync for Pthread {}
    impl Pthread {
        #[inline]
        fn locked<R>(&self, work: impl FnOnce(&mut Fifo) -> R) -> R {
            // SAFETY: initialised, and it does not move while borrowed.
            unsafe { libc::pthread_mutex_lock(self.0.get()) };
            // SAFETY: the lock is held.
            let result = work(unsafe { &mut *self.1.get() });
            // SAFETY: locked above.
            unsafe { libc::pthread_mutex_unlock(self.0.get()) };
            result
        }
    }
    impl Queue for Pthread {
        #[inline]
        fn enqueue(&self, value: u64) {
            self.locked(|fifo| fifo.push_back(value));
        }
        #[inline]
        fn dequeue(&self) -> Option<u64> {
            self.locked(VecDeque::pop_front)
        }
    }

    #[inline]
    fn pair(queue: &impl Queue) {
        queue.enqueue(black_box(1));
        black_box(queue.dequeue());
    }

    /// Nanoseconds an operation by one thread.
    #[inline(never)]
    fn alone(queue: &impl Queue) -> f64 {
        let start = clock::now_ns();
        (0..ALONE / 2).for_each(|_| pair(queue));
        (clock::now_ns() - start) as f64 / f64::from(ALONE)
    }

    /// Millions of operations a second by all, and the slowest one's share of the mean.
    fn together(queue: &impl Queue, threads: usize) -> (f64, f64) {
        let (begin, stop) = (Barrier::new(threads + 1), AtomicBool::new(false));
        let (start, operations) = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|_| {
                    scope.spawn(|| {
                        begin.wait();
                        let mut operations = 0_u64;
                        while !stop.load(Ordering::Relaxed) {
                            pair(queue);
                            operations += 2;
                            (0..10).for_each(|n| {
                                black_box(n);
                            });
                        }
                        operations
                    })
                })
                .collect();
            begin.wait();
            let start = clock::now_ns();
            std::thread::sleep(TOGETHER);
            stop.store(true, Ordering::Relaxed);
            (start, workers.into_iter().map(|worker| worker.join().expect("worker")).collect::<Vec<u64>>())
        });
        let seconds = (clock::now_ns() - start) as f64 / 1e9;
        let total = operations.iter().sum::<u64>() as f64;
        let slowest = operations.iter().copied().min().unwrap_or(0) as f64;
        (total / seconds / 1e6, slowest * threads as f64 / total)
    }

    fn median(mut values: Vec<f64>) -> f64 {
        values.sort_by(f64::total_cmp);
        (values[values.len() / 2] * 1000.0).round() / 1000.0
    }

    /// One structure's figures of all rounds.
    struct Figures {
        name: &'static str,
        alone_ns: Vec<f64>,
        together: Vec<Vec<(f64, f64)>>,
    }

    /// All structures, in the order of their first measurement.
    #[derive(Default)]
    struct Table {
        rows: Vec<Figures>,
        threads: Vec<usize>,
    }

    impl Table {
        fn measure(&mut self, name: &'static str, queue: impl Queue) {
            let queue = CachePadded::new(queue);
            (0..FILLED).for_each(|value| queue.enqueue(value));
            let row = self.rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
                let together = vec![Vec::new(); self.threads.len()];
                self.rows.push(Figures { name, alone_ns: Vec::new(), together });
                self.rows.len() - 1
            });
            let row = &mut self.rows[row];
            row.alone_ns.push(alone(&*queue));
            for (runs, threads) in row.together.iter_mut().zip(&self.threads) {
                runs.push(together(&*queue, *threads));
            }
        }

        fn report(&self) -> Value {
            let row = |row: &Figures| {
                let contended: serde_json::Map<_, _> = self
                    .threads
                    .iter()
                    .zip(&row.together)
                    .map(|(threads, runs)| {
                        let rate = median(runs.iter().map(|run| run.0).collect());
                        let share = median(runs.iter().map(|run| run.1).collect());
                        (threads.to_string(), json!({ "millions_per_s": rate, "slowest_share": share }))
                    })
                    .collect();
                let value = json!({ "alone_ns": median(row.alone_ns.clone()), "contended": contended });
                (row.name.to_owned(), value)
            };
            Value::Object(self.rows.iter().map(row).collect())
        }
    }

    fn lock_queue<L: RawLock + Default>() -> LockQueue<L, Fifo> {
        LockQueue::default()
    }

    fn offload() -> OffloadThread<Fifo> {
        OffloadThread::start(Fifo::new(), "offload", WaitPolicy::DEFAULT).expect("a thread")
    }

    pub(super) fn main() {
        let numbers: Vec<usize> =
            std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
        let rounds = numbers.first().copied().unwrap_or(5).max(1);
        let threads = if numbers.len() > 1 { numbers[1..].to_vec() } else { vec![2, 16] };
        let mut table = Table { threads, ..Table::default() };

        // A second thread from the start: glibc leaves out atomic instructions while there is only one.
        let (done, asleep) = std::sync::mpsc::channel::<()>();
        let second = std::thread::spawn(move || asleep.recv().unwrap_or(()));
        for _ in 0..rounds {
            table.measure("std", std::sync::Mutex::new(Fifo::new()));
            table.measure("parking_lot", parking_lot::Mutex::new(Fifo::new()));
            let mutex = UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER);
            table.measure("pthread", Pthread(mutex, UnsafeCell::new(Fifo::new())));
            table.measure("mutex", Waits(Lock::<Mutex, Fifo>::default()));
            table.measure("dsm-synch", Waits(DsmSynch::<Fifo>::default()));
            table.measure("lockq-mtx", Waits(lock_queue::<Mutex>()));
            table.measure("lockq-mtx (posted)", Posts(lock_queue::<Mutex>()));
            table.measure("lockq-biased (posted)", Posts(lock_queue::<Biased<Mutex>>()));
            table.measure("offload", Waits(offload()));
            table.measure("offload (posted)", Posts(offload()));
        }
        drop(done);
        second.join().expect("the second thread");
        println!("{:#}", json!({ "rounds": rounds, "fifo": table.report() }));
    }
}

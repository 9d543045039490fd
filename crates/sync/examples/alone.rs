use heddle_platform::clock;
use heddle_sync::combining::*;
use heddle_sync::*;
use std::hint::black_box;
#[inline(never)]
fn run(c: &impl Combining<u64>) -> f64 {
    let s = clock::now_ns();
    for _ in 0..200_000 {
        c.run(|n| *n = black_box(*n + 1));
    }
    (clock::now_ns() - s) as f64 / 2e5
}
#[inline(never)]
fn post(c: &impl Combining<u64>) -> f64 {
    let s = clock::now_ns();
    for _ in 0..200_000 {
        c.post(|n| *n = black_box(*n + 1));
    }
    (clock::now_ns() - s) as f64 / 2e5
}
fn main() {
    heddle_platform::barrier::register();
    let (a, b, c, d) = (
        CachePadded::new(Lock::<Mutex, u64>::default()),
        CachePadded::new(LockQueue::<Mutex, u64>::default()),
        CachePadded::new(DsmSynch::<u64>::default()),
        CachePadded::new(Lock::<Biased<Mutex>, u64>::default()),
    );
    let mut v: [Vec<f64>; 5] = Default::default();
    for _ in 0..41 {
        v[0].push(run(&*a));
        v[1].push(run(&*b));
        v[2].push(post(&*b));
        v[3].push(run(&*c));
        v[4].push(run(&*d));
    }
    for (n, v) in ["lock", "lockq run", "lockq post", "dsm", "biased"].iter().zip(v.iter_mut()) {
        v.sort_by(f64::total_cmp);
        println!("{n} {:.2} min {:.2}", v[20], v[0]);
    }
}

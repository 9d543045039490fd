#![allow(missing_docs, clippy::all)]
use heddle_engine::{
    buffer::Buffer,
    comm::{CommRef, Plane},
    p2p, process,
};
use heddle_spec::constants as mpi;
use std::time::Instant;
fn pin(core: usize) {
    unsafe {
        let mut s: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut s);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &s);
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let level = if args.get(1).map(|s| s == "m").unwrap_or(false) {
        mpi::MPI_THREAD_MULTIPLE
    } else {
        mpi::MPI_THREAD_SINGLE
    };
    process::initialize(level).unwrap();
    let p = process::current().unwrap();
    let me = p.rank();
    pin(me % 2);
    let world = CommRef::world(p);
    let pt = Plane::PointToPoint;
    let mut mem = vec![1u8; 8 << 20];
    let at = mem.as_mut_ptr();
    let other = 1 - me as i32;
    for _round in 0..3 {
        for len in [0usize, 8, 40, 64, 1024, 8192, 65536, 1 << 20, 4 << 20] {
            let n = if len < 10000 {
                200_000
            } else if len < 100_000 {
                5_000
            } else {
                200
            };
            let b = || unsafe { Buffer::bytes(at, len) };
            let t = Instant::now();
            for _ in 0..n {
                if me == 0 {
                    p2p::send(&world, pt, b(), other, 5, p2p::Mode::Standard).unwrap();
                    p2p::recv(&world, pt, b(), other, 5).unwrap();
                } else {
                    p2p::recv(&world, pt, b(), other, 5).unwrap();
                    p2p::send(&world, pt, b(), other, 5, p2p::Mode::Standard).unwrap();
                }
            }
            let lat = t.elapsed().as_secs_f64() / n as f64 / 2.0;
            let w = if len <= 1024 { 128 } else { 8 };
            let rounds = (n / w).max(20);
            let t = Instant::now();
            for _ in 0..rounds {
                let mut r = [0usize; 128];
                if me == 0 {
                    for x in &mut r[..w] {
                        *x = p2p::isend(&world, pt, b(), 1, 7, p2p::Mode::Standard).unwrap();
                    }
                    p2p::wait_all(&mut r[..w], |_, _| {}).unwrap();
                    p2p::recv(&world, pt, unsafe { Buffer::bytes(at, 4) }, 1, 8).unwrap();
                } else {
                    for x in &mut r[..w] {
                        *x = p2p::irecv(&world, pt, b(), 0, 7).unwrap();
                    }
                    p2p::wait_all(&mut r[..w], |_, _| {}).unwrap();
                    p2p::send(&world, pt, unsafe { Buffer::bytes(at, 4) }, 0, 8, p2p::Mode::Standard)
                        .unwrap();
                }
            }
            let e = t.elapsed().as_secs_f64();
            if me == 0 {
                println!(
                    "{len:8} B  latency {:9.1} ns  rate {:7.2} M/s  {:8.1} MB/s",
                    lat * 1e9,
                    (rounds * w) as f64 / e / 1e6,
                    (rounds * w * len) as f64 / e / 1e6
                );
            }
        }
        if me == 0 {
            println!();
        }
    }
    process::finalize().unwrap();
}

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
    pin(if std::env::var("SAME").is_ok() { 0 } else { me % 2 });
    let world = CommRef::world(p);
    let pt = Plane::PointToPoint;
    let mut mem = vec![1u8; 8 << 20];
    let at = mem.as_mut_ptr();
    let len = 8;
    let b = || unsafe { Buffer::bytes(at, len) };
    let w = 128;
    if p.size() == 1 {
        for _ in 0..5 {
            let t = Instant::now();
            let n = 20000;
            for _ in 0..n {
                let mut r = [0usize; 128];
                for x in &mut r[..w] {
                    *x = p2p::irecv(&world, pt, b(), 0, 7).unwrap();
                }
                for _ in 0..w {
                    p2p::send(&world, pt, b(), 0, 7, p2p::Mode::Standard).unwrap();
                }
                p2p::wait_all(&mut r[..w], |_, _| {}).unwrap();
            }
            println!("self: {:.1} ns a message", t.elapsed().as_secs_f64() / (n * w) as f64 * 1e9);
        }
        return;
    }
    for _ in 0..10 {
        let rounds = 20000;
        let t = Instant::now();
        let mut busy = 0.0;
        for _ in 0..rounds {
            let mut r = [0usize; 128];
            if me == 0 {
                let t = Instant::now();
                for x in &mut r[..w] {
                    *x = p2p::isend(&world, pt, b(), 1, 7, p2p::Mode::Standard).unwrap();
                }
                busy += t.elapsed().as_secs_f64();
                p2p::wait_all(&mut r[..w], |_, _| {}).unwrap();
                p2p::recv(&world, pt, unsafe { Buffer::bytes(at, 4) }, 1, 8).unwrap();
            } else {
                for x in &mut r[..w] {
                    *x = p2p::irecv(&world, pt, b(), 0, 7).unwrap();
                }
                let t = Instant::now();
                p2p::wait_all(&mut r[..w], |_, _| {}).unwrap();
                busy += t.elapsed().as_secs_f64();
                p2p::send(&world, pt, unsafe { Buffer::bytes(at, 4) }, 0, 8, p2p::Mode::Standard).unwrap();
            }
        }
        let e = t.elapsed().as_secs_f64();
        println!(
            "{me}: rate {:7.2} M/s  {:.1} ns a message, busy {:.1}",
            (rounds * w) as f64 / e / 1e6,
            e / (rounds * w) as f64 * 1e9,
            busy / (rounds * w) as f64 * 1e9
        );
    }
    process::finalize().unwrap();
}

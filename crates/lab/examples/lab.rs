use heddle_lab::machine::{Costs, Machine};
use heddle_lab::run::{Plan, run};
fn main() {
    let mut args = std::env::args_os().skip(1);
    let shape = args.next().unwrap().into_string().unwrap();
    let mut n = shape.split('x').map(|n| n.parse::<usize>().unwrap());
    let costs = Costs { instruction: 133, locked: 5000, pause: 45000, timestamp: 8000, ticks: 3000, own: 2000, cluster: 60000, socket: 60000, far: 130000, clean: 30000, memory: 80000,
        stream: 6000, occupied: 6000, held: 15000, core_lines: 16384, cluster_lines: 500000, system_call: 250000, clock: 25000, wake: 1000000, awake: 3000000, switch: 1200000, slice: 3_000_000_000,
        yielded: 350000, thread: 20000000, barrier: 2500000, interrupted: 700000 };
    let machine = Machine { name: shape.clone(), sockets: n.next().unwrap(), clusters: 1, cores: n.next().unwrap(), costs };
    let here = std::env::current_exe().unwrap();
    let plan = Plan { machine, command: args.collect(), seed: 1, qemu: "/usr/bin/qemu-x86_64".into(), plugin: std::env::var_os("PLUGIN").map_or(here.with_file_name("../libheddle_lab.so"), Into::into),
        host_core: std::env::var("CORE").map_or(1, |c| c.parse().unwrap()), tree: "/nonexistent".into() };
    let o = run(&plan).unwrap();
    eprintln!("{:?} virtual {:.3} ms, wall {:?}, {:.1} M/s, passes {} ({} kps), evictions {} {:?}", o.status, o.time as f64 / 1e9, o.wall, o.counts.instructions as f64 / 1e6 / o.wall.as_secs_f64(), o.passes, o.passes as f64 / 1e3 / o.wall.as_secs_f64(), o.evictions, o.counts);
}

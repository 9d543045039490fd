use heddle_lab::machine::Machine;
use heddle_lab::run::{Plan, run};
fn main() {
    let mut args = std::env::args_os().skip(1);
    let shape = args.next().unwrap().into_string().unwrap();
    let machine = Machine::parse(&shape).unwrap();
    let here = std::env::current_exe().unwrap();
    let tree = std::path::PathBuf::from(format!("/dev/shm/labtree.{}", std::process::id()));
    heddle_lab::machine::tree::write(&machine, &tree).unwrap();
    let plan = Plan { machine, command: args.collect(), seed: 1, qemu: "/usr/bin/qemu-x86_64".into(), plugin: std::env::var_os("PLUGIN").map_or(here.with_file_name("../libheddle_lab.so"), Into::into),
        host_core: std::env::var("CORE").map_or(1, |c| c.parse().unwrap()), tree: tree.clone() };
    let o = run(&plan).unwrap();
    std::fs::remove_dir_all(tree).unwrap();
    eprintln!("{:?} virtual {:.3} ms, wall {:?}, {:.1} M/s, passes {} ({} kps), evictions {} {:?}", o.status, o.time as f64 / 1e9, o.wall, o.counts.instructions as f64 / 1e6 / o.wall.as_secs_f64(), o.passes, o.passes as f64 / 1e3 / o.wall.as_secs_f64(), o.evictions, o.counts);
}

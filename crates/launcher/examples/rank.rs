//! Plays a rank: does to the control block what an MPI library does, step by step as the command line says.
//!
//! Steps: `init`, `finalize`, `session`, `leave`, `abort=CODE[:MESSAGE]`, `exit=CODE`, `raise=SIGNAL`,
//! `ignore-term`, `park`, `who`, `agree=INDEX:PROPOSAL`, `outlive=RANK`, `await-ends=COUNT` (of processes
//! that the launcher has started), `await-finalized=RANK`. A step `3@exit=1` is for rank 3 only.

use std::process::exit;

use heddle_bootstrap::{BootstrapError, Job, Mechanism, RankState, World};
use nix::sys::signal::{SigHandler, SigSet, Signal, raise};

fn main() {
    let world = World::from_env(Mechanism::Auto).unwrap_or_else(|error| give_up(&error));
    for argument in std::env::args().skip(1) {
        let step = match argument.split_once('@') {
            Some((rank, step)) if rank == world.rank().to_string() => step,
            Some(_) => continue,
            None => &argument,
        };
        perform(step, &world);
    }
}

fn perform(step: &str, world: &World) {
    let (verb, object) = step.split_once('=').unwrap_or((step, ""));
    let number = |text: &str| text.parse::<i32>().unwrap_or_else(|_| panic!("{step}: not a number"));
    match verb {
        "init" => world.job().map_or(Ok(()), Job::set_initialised).unwrap_or_else(|error| give_up(&error)),
        "finalize" => {
            if let Some(job) = world.job() {
                job.set_finalised();
            }
        }
        "session" => world.job().map_or(Ok(()), Job::set_in_sessions).unwrap_or_else(|error| give_up(&error)),
        "leave" => {
            if let Some(job) = world.job() {
                job.set_left();
            }
        }
        "abort" => {
            let (code, message) = object.split_once(':').unwrap_or((object, ""));
            if let Some(job) = world.job() {
                job.set_aborted(number(code), message);
            }
        }
        "exit" => exit(number(object)),
        "raise" => {
            let signal = Signal::try_from(number(object)).expect("a signal's number");
            // Rust's runtime handles some signals to tell a stack overflow; an MPI program in C does not.
            // SAFETY: the default action runs no code of ours.
            unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) }.ok();
            raise(signal).expect("raising a signal");
        }
        "ignore-term" => {
            let mut set = SigSet::empty();
            set.add(Signal::SIGTERM);
            set.add(Signal::SIGINT);
            set.thread_block().expect("blocking signals");
        }
        "park" => loop {
            std::thread::park();
        },
        "outlive" => {
            let job = world.job().expect("a job to outlive in");
            // The launcher keeps the ended as zombies, so that their numbers stay theirs.
            while !job.pid_of(number(object) as u32).is_some_and(is_zombie) {
                std::thread::yield_now();
            }
        }
        "await-ends" => {
            let launcher = world.job().expect("a job with a launcher").launcher_pid();
            while zombies_of(launcher) < number(object) as usize {
                std::thread::yield_now();
            }
        }
        "await-finalized" => {
            let job = world.job().expect("a job with other ranks");
            while job.state_of(number(object) as u32) != RankState::Finalised {
                std::thread::yield_now();
            }
        }
        "who" => println!("rank {} of {} app {:?}", world.rank(), world.size(), world.appnum()),
        "agree" => {
            let (index, proposal) = object.split_once(':').expect("agree=INDEX:PROPOSAL");
            let job = world.job().expect("a job to agree in");
            let value = job.agree(number(index) as usize, number(proposal) as u64);
            println!("agreed {value}");
        }
        _ => panic!("unknown step {step}"),
    }
}

fn is_zombie(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, fields)| fields.starts_with('Z'))
}

/// How many of a process's children have ended and are not reaped.
fn zombies_of(parent: u32) -> usize {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let children = children.expect("the launcher's children in /proc");
    children.split_whitespace().filter(|pid| pid.parse().is_ok_and(is_zombie)).count()
}

fn give_up(error: &BootstrapError) -> ! {
    eprintln!("rank: {error}");
    exit(9)
}

//! Many threads do everything at once, without the C interface: messages of all protocols, the life of
//! requests, communicators, collectives, other objects. Every byte received is checked.
//!
//! ```text
//! thread_stress                       a short run as a world of one, under each model: what `cargo test` does
//! thread_stress threads=8 rounds=10   this process alone, or, below mpiexec, all processes together
//! thread_stress planted=race          a fault on purpose, which a sanitizer must report
//! ```
//!
//! The work is a number of rounds, not a time, so that it runs under a sanitizer, however
//! slow (`ci/sanitize.sh`).
//!
//! | file | idea |
//! |---|---|
//! | `scene.rs` | the state that the threads share; calls enter the model's call section |
//! | `payload.rs` | data that names its sender, in memory that the heap checker sees |
//! | `messages.rs` | windows of nonblocking messages to others and to oneself, wildcards, probes |
//! | `requests.rs` | requests handed to other threads, cancelled, freed, started again |
//! | `communicators.rs` | communicators made, used and freed while messages are in flight |
//! | `collectives.rs` | each thread on its own communicator |
//! | `planted.rs` | faults on purpose |
//! | `objects.rs` | datatypes, groups, info, attributes, names |

mod collectives;
mod communicators;
mod messages;
mod objects;
mod payload;
mod planted;
mod requests;
mod scene;

use heddle_process::init;
use heddle_spec::constants::MPI_THREAD_MULTIPLE;
use scene::{Scene, Thread};
use std::process::{Command, ExitCode};

/// The work of a thread in a round.
type Work = fn(&mut Thread<'_>, usize);

const WORK: [(&str, Work); 5] = [
    ("messages", messages::run),
    ("requests", requests::run),
    ("communicators", communicators::run),
    ("collectives", collectives::run),
    ("objects", objects::run),
];

fn main() -> ExitCode {
    // A thread that fails must end the process: the others would wait for its messages.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        report(info);
        std::process::abort();
    }));
    if let Some(name) = argument("planted") {
        return planted::commit(&name);
    }
    match number("threads") {
        Some(threads) => stress(threads, number("rounds").unwrap_or(3)),
        None => under_each_model(),
    }
    ExitCode::SUCCESS
}

/// The value of `name=value` among the arguments. Other arguments, such as those of
/// `cargo test`, are ignored.
fn argument(name: &str) -> Option<String> {
    std::env::args().skip(1).find_map(|argument| {
        argument.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')).map(str::to_owned)
    })
}

fn number(name: &str) -> Option<usize> {
    let text = argument(name)?;
    match text.parse() {
        Ok(value @ 1..=64) => Some(value),
        _ => panic!("{name}={text}: a number from 1 to 64 is wanted"),
    }
}

/// Starts this program again for each model: a process initialises MPI once.
fn under_each_model() {
    let program = std::env::current_exe().expect("the program's own path");
    for model in heddle_model::Model::names() {
        let ended = Command::new(&program)
            .args(["threads=4", "rounds=2"])
            .env("HEDDLE_MODEL", model)
            .status()
            .expect("this program can be started");
        assert!(ended.success(), "{model}: {ended}");
        println!("ok: {model}");
    }
}

fn stress(threads: usize, rounds: usize) {
    init::initialize(MPI_THREAD_MULTIPLE).expect("MPI can be initialised");
    let scene = Scene::new(threads);
    for (name, work) in WORK {
        scene.run(true, |thread| (0..rounds).for_each(|round| work(thread, round)));
        scene.report(&format!("{name}: {threads} threads, {rounds} rounds"));
    }
    scene.run(false, |thread| {
        // Each thread has an order of its own, which is the same on every rank: operations on one
        // communicator must be in order.
        let mut order = payload::Sequence::new(thread.number as u64 + 1);
        for round in 0..2 * rounds {
            WORK[(order.next() % WORK.len() as u64) as usize].1(thread, round);
        }
    });
    scene.report(&format!("mixed: {threads} threads, {} rounds", 2 * rounds));
    scene.end();
    init::finalize().expect("MPI is running");
}

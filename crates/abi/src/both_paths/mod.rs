//! The functions that have an express path, called by both paths with the same random arguments.
//!
//! Each case is played twice, between two ranks that are threads ([`heddle_ranks`]): once as the entry point
//! does it, with the express path first, and once by the general path alone. What the ranks see afterwards
//! has to be the same: error codes, statuses, data, requests, the messages that are left, and the counters.
//! So a rule that the express path checks in its own words is checked against the general path's.
//!
//! | file | functions |
//! |---|---|
//! | `messages.rs` | sends, receives, `Sendrecv`, `Iprobe` |
//! | `requests.rs` | `Wait`, `Test` |
//! | `partitions.rs` | `Pready` |
//! | `windows.rs` | puts, gets, accumulates, flushes |
//! | `stage.rs` | the objects that arguments name |
//! | `traffic.rs` | the messages around a call |
//! | `seen.rs` | what is compared |
//! | `way.rs` | the two ways |
//! | `draw.rs` | random numbers |
//!
//! `HEDDLE_TEST_SEED=N` repeats the cases whose seed a failure names, `HEDDLE_TEST_CASES=N` makes about N of
//! each kind.

mod draw;
mod messages;
mod partitions;
mod requests;
mod seen;
mod stage;
mod traffic;
mod way;
mod windows;

use draw::Draw;
use heddle_ranks::Ranks;
use heddle_settings::SpreadRule;
use heddle_spec::function_table::Functions;
use stage::Stage;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Barrier, Mutex, PoisonError};
use way::{Case, Counts, Taken, Way};

/// The messages and signs that pass between the ranks of a job.
struct Play<'a> {
    stage: Stage<'a>,
    taken: Taken,
    /// The record of rank 1.
    other: &'a Mutex<String>,
    differences: &'a Mutex<Vec<String>>,
}

impl Play<'_> {
    /// Plays a case in both ways, and compares.
    fn compare<C: Case>(&self, draw: &mut Draw) {
        let case = C::draw(draw);
        let [express, general] = [Way::ExpressFirst, Way::GeneralOnly].map(|way| {
            let seen = case.play(&self.stage, (way, &self.taken));
            if self.stage.rank == 1 {
                *self.other.lock().unwrap_or_else(PoisonError::into_inner) = seen.clone();
            }
            self.stage.meet();
            let other = self.other.lock().unwrap_or_else(PoisonError::into_inner).clone();
            self.stage.meet();
            format!("rank 0: {seen}\n    rank 1: {other}")
        });
        if self.stage.rank == 0 && express != general {
            let text = format!(
                "{case:?}\n  by the express path\n    {express}\n  by the general path\n    {general}"
            );
            self.differences.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }
    }
}

fn number_in(variable: &str, default: impl FnOnce() -> u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or_else(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

/// The functions that have an express path, without `MPI_`.
fn functions() -> Vec<String> {
    let table = Functions::parse(heddle_spec::FUNCTIONS_TABLE).expect("a table");
    table.all().filter(|function| function.express).map(|function| function.name.clone()).collect()
}

/// Plays cases of all kinds under a model, with messages that are spread over VNIs from the first one on, or
/// as the model has it; returns how often the express path took a call and refused one. Only messages
/// without wildcards stay spread.
fn play_under(
    model: &str,
    spread: Option<SpreadRule>,
    seed: u64,
    cases: u64,
) -> BTreeMap<&'static str, Counts> {
    let (both, other, differences) = (Barrier::new(2), Mutex::default(), Mutex::default());
    let (counts, has_wildcards) = (Mutex::default(), spread.is_none());
    let ranks =
        Ranks::new(2).under(model).with(|settings| settings.spread = spread.unwrap_or(settings.spread));
    ranks.run(|rank| {
        let stage = Stage::new(rank, has_wildcards, &both);
        let play = Play { stage, taken: Taken::default(), other: &other, differences: &differences };
        let mut draw = Draw::new(seed, has_wildcards);
        for number in 0..cases {
            for _ in 0..2 {
                play.compare::<messages::Message>(&mut draw);
                play.compare::<windows::Access>(&mut draw);
            }
            play.compare::<requests::Completion>(&mut draw);
            if number % 4 == 0 {
                play.compare::<partitions::Partitions>(&mut draw);
            }
        }
        play.stage.meet();
        if rank == 0 {
            *counts.lock().expect("no panic") = play.taken.take();
        }
        play.stage.free();
    });
    let differences: Vec<String> = differences.into_inner().expect("no panic");
    assert!(
        differences.is_empty(),
        "HEDDLE_TEST_SEED={seed}, model {model}, spread {spread:?}: the paths differ in {} cases, among them\n{}",
        differences.len(),
        differences[..differences.len().min(3)].join("\n")
    );
    counts.into_inner().expect("no panic")
}

#[test]
fn both_paths_do_the_same() {
    let seed = number_in("HEDDLE_TEST_SEED", || u64::from(std::process::id()));
    let cases = number_in("HEDDLE_TEST_CASES", || 600);
    // Not captured: a wrong rule may end the process.
    _ = writeln!(std::io::stderr(), "HEDDLE_TEST_SEED={seed}");
    // The express paths of messages exist under the first two, those of sends also under the last two.
    let part = cases / 4;
    for (model, cases) in [
        ("auto", cases),
        ("per-vni-mcs", part),
        ("global-mutex", part),
        ("lock-free", part),
        ("per-object", part),
    ] {
        let taken = play_under(model, None, seed, cases);
        println!(
            "HEDDLE_TEST_SEED={seed}, model {model}: taken, on a lane, refused by the express path {taken:?}"
        );
        if model == "auto" && cases >= 600 {
            for name in functions() {
                let is_taken = taken.get(&*name).is_some_and(|[taken, ..]| *taken > 0);
                assert!(is_taken, "the express path of {name} is not tested: {taken:?}");
            }
        }
        if matches!(model, "lock-free" | "per-object") && part >= 150 {
            let sends = ["Send", "Rsend", "Isend", "Irsend"].iter().filter_map(|name| taken.get(name));
            let sent: usize = sends.map(|[taken, ..]| taken).sum();
            assert!(sent > 10, "the express paths of sends are not tested under {model}: {taken:?}");
        }
    }
    let taken = play_under("auto", Some(SpreadRule::Always), seed, cases / 2);
    println!("HEDDLE_TEST_SEED={seed}, spread: taken, on a lane, refused by the express path {taken:?}");
    // Sends find their lane by themselves, and count as taken at home.
    let on_lanes: usize =
        ["Recv", "Irecv"].iter().filter_map(|name| taken.get(name)).map(|[_, on, _]| on).sum();
    assert!(cases < 600 || on_lanes > 0, "the express paths of receives on lanes are not tested: {taken:?}");
}

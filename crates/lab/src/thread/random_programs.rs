//! Random programs: what is true at any time, and that the host does not matter.

use crate::shared::{Access, CORES, NEVER, State};
use crate::testing::{ByHand, NoNames, Program, Running, START, check_whole, cores, run, site};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// What a thread does next.
#[derive(Clone, Debug)]
enum Step {
    Work(u64),
    Use(u64, Access),
    Sleep { word: u64, bits: u32, time: u64 },
    SleepUntil(u64),
    Wake { word: u64, bits: u32, most: u32 },
    Yield,
    Tell,
    Restrict([u64; CORES / 64]),
    Outside { asked: u32, time: u64 },
}

/// A machine, and what its threads do.
#[derive(Clone, Debug)]
struct Job {
    cores: u32,
    sockets: u32,
    slice: u64,
    threads: Vec<Vec<Step>>,
}

fn step(all: u32) -> impl Strategy<Value = Step> {
    let access = prop_oneof![Just(Access::Load), Just(Access::Store), Just(Access::Locked)];
    let word = 1_u64..4;
    let time = prop_oneof![1_u64..5_000, 1_u64..2_000_000];
    prop_oneof![
        4 => (1_u64..300_000).prop_map(Step::Work),
        8 => (1_u64..12, access).prop_map(|(line, access)| Step::Use(line << 6, access)),
        2 => (word.clone(), 1_u32..4, time.clone()).prop_map(|(word, bits, time)| Step::Sleep { word, bits, time }),
        1 => time.clone().prop_map(Step::SleepUntil),
        2 => (word, 1_u32..4, 1_u32..3).prop_map(|(word, bits, most)| Step::Wake { word, bits, most }),
        2 => Just(Step::Yield),
        1 => Just(Step::Tell),
        1 => prop::collection::vec(0..all, 1..4).prop_map(|set| Step::Restrict(cores(set))),
        1 => (1_u32..4, 1_u64..60_000_000).prop_map(|(asked, time)| Step::Outside { asked, time }),
    ]
}

fn job() -> impl Strategy<Value = Job> {
    (1_u32..3, 1_u32..4, prop_oneof![Just(200_000), Just(3_000_000_000)]).prop_flat_map(
        |(sockets, cores, slice)| {
            let steps = prop::collection::vec(step(sockets * cores), 1..40);
            let threads = prop::collection::vec(steps, 1..8);
            threads.prop_map(move |threads| Job { cores, sockets, slice, threads })
        },
    )
}

/// What happened: thread, step, clock, core, and what came of it.
type Trace = Vec<(u32, usize, u64, u32, u32)>;

fn take(step: &Step, running: &mut Running<'_>) -> u32 {
    let (thread, lab) = (&mut *running.thread, &mut *running.lab);
    match *step {
        Step::Work(time) => {
            thread.clock += time;
            if thread.is_ahead() {
                thread.pause_if_ahead(lab);
                assert!(thread.clock <= lab.due().saturating_add(lab.quantum), "it has looked around");
            }
        }
        Step::Use(address, access) => {
            let site = site(true);
            match access {
                Access::Load => {}
                Access::Store => thread.before_store(lab, &mut NoNames, address, &site),
                Access::Locked => thread.before_locked(lab, &mut NoNames, Some(address), &site),
            }
            thread.access(lab, &mut NoNames, address, access, &site);
        }
        Step::Sleep { word, bits, time } => {
            return thread.sleep(lab, word, bits, thread.clock + time) as u32;
        }
        Step::SleepUntil(time) => {
            let deadline = thread.clock + time;
            thread.sleep_until(lab, deadline);
            assert!(thread.clock >= deadline);
        }
        Step::Wake { word, bits, most } => return thread.wake(lab, word, bits, most),
        Step::Yield => thread.yield_core(lab),
        Step::Tell => {
            thread.tell(lab);
        }
        Step::Restrict(allowed) => thread.restrict(lab, allowed),
        Step::Outside { mut asked, time } => {
            let has_come = move || {
                asked -= u32::from(asked > 0);
                asked == 0
            };
            return thread.wait_outside(lab, thread.clock + time, has_come) as u32;
        }
    }
    0
}

/// Runs the job. `rests` lets each thread of the host stand aside now and then, so that others come in
/// another order.
fn trace_of(job: &Job, rests: u32) -> (Trace, u64, u64) {
    let mut lab = ByHand::new(job.sockets, 1, job.cores);
    lab.costs.slice = job.slice;
    let trace = Arc::new(Mutex::new(Trace::new()));
    let program = |(number, steps): (usize, &Vec<Step>)| -> (u32, u64, Program) {
        let (steps, trace) = (steps.clone(), Arc::clone(&trace));
        let program = move |running: &mut Running<'_>| {
            for (at, step) in steps.iter().enumerate() {
                for _ in 0..rests * (number as u32 + at as u32) % 5 {
                    std::thread::yield_now();
                }
                let came = take(step, running);
                let (slot, clock, core) = (running.thread.slot, running.thread.clock, running.thread.core);
                check_whole(running.lab);
                assert_eq!(running.lab.slots[slot as usize].state, State::Running);
                assert_eq!(running.lab.cores[core as usize].running, slot, "it has its core");
                assert_eq!(running.lab.clocks[slot as usize], NEVER, "it has its clock itself");
                assert!(
                    clock >= running.lab.slots[slot as usize].told,
                    "the clock is behind what it has told"
                );
                trace.lock().expect("no thread has failed").push((slot, at, clock, core, came));
            }
        };
        (0, START, Box::new(program))
    };
    let programs = job.threads.iter().enumerate().map(program).collect();
    run(&mut lab, programs);
    check_whole(&lab);
    let trace = std::mem::take(&mut *trace.lock().expect("no thread has failed"));
    (trace, lab.now, lab.passes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_program_has_the_same_trace(job in job()) {
        let first = trace_of(&job, 0);
        prop_assert_eq!(first.0.len(), job.threads.iter().map(Vec::len).sum::<usize>());
        prop_assert_eq!(&first, &trace_of(&job, 0));
        prop_assert_eq!(&first, &trace_of(&job, 3));
    }
}

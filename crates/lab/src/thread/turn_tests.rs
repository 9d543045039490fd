//! Tests of turns, by threads of the host that wait for the token.

use super::Ended;
use crate::shared::{Access, NEVER, State};
use crate::testing::{ByHand, COSTS, NoNames, Program, Running, START, check_whole, run, site};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

/// What threads did, in the order of their turns: the clock, which thread, and a number.
#[derive(Clone, Debug, Default)]
struct Trace(Arc<Mutex<Vec<(u64, u32, u64)>>>);

impl Trace {
    fn note(&self, running: &Running<'_>, what: u64) {
        let mut trace = self.0.lock().expect("no thread has failed");
        trace.push((running.thread.clock, running.thread.slot, what));
    }

    fn take(&self) -> Vec<(u64, u32, u64)> {
        std::mem::take(&mut self.0.lock().expect("no thread has failed"))
    }
}

fn boxed(program: impl FnOnce(&mut Running<'_>) + Send + 'static) -> Program {
    Box::new(program)
}

#[test]
fn turns_come_in_the_order_of_clocks() {
    let mut lab = ByHand::new(1, 1, 4);
    let trace = Trace::default();
    let programs = (0..4).map(|number| {
        let trace = trace.clone();
        let program = boxed(move |running| {
            for step in 0..50 {
                running.thread.clock += 100 + 37 * number + step % 7;
                let passes = running.lab.passes;
                running.thread.look_around(running.lab, 0);
                trace.note(running, step);
                check_whole(running.lab);
                let had_turn = running.lab.passes != passes;
                assert!(!had_turn || running.lab.now >= running.thread.clock, "the machine's time stands");
            }
        });
        (number as u32, START, program)
    });
    run(&mut lab, programs.collect());
    let trace = trace.take();
    assert_eq!(trace.len(), 200);
    assert!(trace.is_sorted_by_key(|(clock, ..)| *clock), "{trace:?}");
    assert!(lab.passes > 100);
}

#[test]
fn nobody_is_ahead_by_more_than_the_limit() {
    let mut lab = ByHand::new(1, 1, 3);
    let programs = (0..3_u64).map(|number| {
        let program = boxed(move |running| {
            for step in 0..500 {
                running.thread.clock += 1_000 + 700 * number + 13 * (step % 5);
                if running.thread.is_ahead() {
                    running.thread.pause_if_ahead(running.lab);
                }
                let others = running.lab.due();
                let quantum = running.lab.quantum;
                assert!(running.thread.clock <= others.saturating_add(quantum), "{others}");
            }
        });
        (number as u32, START, program)
    });
    run(&mut lab, programs.collect());
}

#[test]
fn others_go_on_until_a_foreseen_store_is_visible() {
    let mut lab = ByHand::new(2, 1, 1);
    let trace = Trace::default();
    let line = 0x10_0000;
    let at = lab.find(line >> 6);
    lab.take(at, 1, Access::Store, 0);
    let (stores, goes_on) = (trace.clone(), trace.clone());
    let stores = boxed(move |running| {
        running.thread.before_store(running.lab, &mut NoNames, line, &site(true));
        running.thread.access(running.lab, &mut NoNames, line, Access::Store, &site(true));
        stores.note(running, 1);
        running.thread.wait_drained();
        stores.note(running, 2);
    });
    let goes_on = boxed(move |running| {
        for _ in 0..100 {
            running.thread.clock += 1_000;
            running.thread.look_around(running.lab, 0);
            goes_on.note(running, 0);
        }
    });
    run(&mut lab, vec![(0, START, stores), (1, START, goes_on)]);
    let trace = trace.take();
    let stored = trace.iter().position(|(.., what)| *what == 1).expect("it has stored");
    assert_eq!(trace[stored].0, START, "its clock has not waited");
    assert_eq!(trace[stored + 1].0, START + COSTS.far, "it is visible then");
    for (clock, slot, _) in &trace[..stored] {
        assert!(*slot == 1 && *clock <= START + COSTS.far, "{clock}");
    }
    assert!(trace[stored + 2..].iter().all(|(clock, ..)| *clock >= START + COSTS.far), "{trace:?}");
    assert!(stored >= 38, "the other has gone on meanwhile: {stored}");
}

#[test]
fn yields_alternate_on_one_core() {
    let mut lab = ByHand::new(1, 1, 1);
    let trace = Trace::default();
    let programs = (0..3).map(|_| {
        let trace = trace.clone();
        let program = boxed(move |running| {
            for step in 0..5 {
                trace.note(running, step);
                running.thread.yield_core(running.lab);
            }
        });
        (0, START, program)
    });
    run(&mut lab, programs.collect());
    let trace = trace.take();
    let order: Vec<u32> = trace.iter().map(|(_, slot, _)| *slot).collect();
    assert_eq!(order, [0, 1, 2].repeat(5));
    let steps: Vec<u64> = trace.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert_eq!(steps, [COSTS.yielded + COSTS.switch].repeat(14));
    assert_eq!(lab.total.yields, 15);
    assert!((14..=15).contains(&lab.total.involuntary_switches()), "{}", lab.total.involuntary_switches());
}

#[test]
fn a_yield_without_anybody_who_waits_lets_other_cores_go_on() {
    let mut lab = ByHand::new(1, 1, 2);
    let programs = (0..2).map(|core| {
        let program = boxed(|running| {
            for _ in 0..10_000 {
                running.thread.yield_core(running.lab);
                let others = running.lab.due();
                let slack = running.lab.slack;
                assert!(running.thread.clock <= others.saturating_add(slack), "{others}");
            }
        });
        (core, START, program)
    });
    run(&mut lab, programs.collect());
    assert_eq!((lab.total.yields, lab.total.involuntary_switches()), (20_000, 0));
}

#[test]
fn a_thread_that_does_not_give_way_loses_its_core_after_a_slice() {
    let mut lab = ByHand::new(1, 1, 1);
    lab.costs.slice = 10_000_000;
    let trace = Trace::default();
    let programs = (0..2).map(|_| {
        let trace = trace.clone();
        let program = boxed(move |running| {
            for _ in 0..50 {
                running.thread.clock += 1_000_000;
                if running.thread.is_ahead() {
                    running.thread.pause_if_ahead(running.lab);
                }
                trace.note(running, 0);
            }
        });
        (0, START, program)
    });
    run(&mut lab, programs.collect());
    let order: Vec<u32> = trace.take().iter().map(|(_, slot, _)| *slot).collect();
    let turns: Vec<usize> = order.chunk_by(|a, b| a == b).map(<[u32]>::len).collect();
    let whole = &turns[..turns.len() - 2];
    assert!(whole.iter().all(|turn| (10..=11).contains(turn)), "{turns:?}");
    assert!((8..=10).contains(&lab.total.preempted), "{}", lab.total.preempted);
}

#[test]
fn a_restartable_sequence_is_not_interrupted() {
    let mut lab = ByHand::new(1, 1, 1);
    lab.costs.slice = 1_000_000;
    let keeps = boxed(|running| {
        let mut word = Box::new(1_u64);
        // SAFETY: the word lives until it is taken back below.
        unsafe { running.thread.set_restartable(Some(NonNull::from(&mut *word))) };
        running.thread.clock += 10_000_000;
        running.thread.pause_if_ahead(running.lab);
        assert_eq!(running.lab.passes, 1, "it has its core");
        // SAFETY: without a word nothing is read.
        unsafe { running.thread.set_restartable(None) };
        running.thread.pause_if_ahead(running.lab);
        assert!(running.lab.passes > 1);
    });
    run(&mut lab, vec![(0, START, keeps), (0, START, boxed(|_| {}))]);
    assert_eq!(lab.total.preempted, 1);
}

#[test]
fn a_sleep_says_why_it_ended() {
    let mut lab = ByHand::new(1, 1, 2);
    let sleeps = boxed(|running| {
        let thread = &mut *running.thread;
        assert_eq!(thread.sleep(running.lab, 16, 1, START + 100_000), Ended::TimeOver);
        assert_eq!(thread.clock, START + 100_000);
        assert_eq!(thread.sleep(running.lab, 16, 1, START + 900_000), Ended::Come);
        assert_eq!(thread.clock, START + 500_000 + COSTS.awake);
        assert_eq!(thread.sleep(running.lab, 16, 1, NEVER), Ended::Come);
        thread.sleep_until(running.lab, START + 2_000_000);
        assert_eq!(thread.clock, START + 2_000_000);
        thread.sleep_until(running.lab, START);
        assert_eq!(thread.clock, START + 2_000_000, "it is over");
    });
    let wakes = boxed(|running| {
        let thread = &mut *running.thread;
        for (at, woken) in [(50_000, 0), (500_000, 1), (600_000, 1), (700_000, 0)] {
            thread.sleep_until(running.lab, START + at);
            // At 50 us it sleeps for other bits.
            let bits = if at == 50_000 { 2 } else { 1 };
            assert_eq!(thread.wake(running.lab, 16, bits, 9), woken, "at {at}");
        }
    });
    run(&mut lab, vec![(0, START, sleeps), (1, START, wakes)]);
    assert_eq!((lab.total.sleeps, lab.total.wakes), (3, 4));
}

#[test]
fn who_waits_outside_comes_back_when_it_has_come_or_its_time_is_over() {
    let mut lab = ByHand::new(1, 1, 3);
    let comes = boxed(|running| {
        let mut asked = 0;
        let has_come = || {
            asked += 1;
            asked > 3
        };
        assert_eq!(running.thread.wait_outside(running.lab, NEVER, has_come), Ended::Come);
        assert_eq!(asked, 4);
        assert_eq!(running.thread.wait_outside(running.lab, NEVER, || true), Ended::Come);
    });
    let ends = boxed(|running| {
        let deadline = START + 70_000_000;
        assert_eq!(running.thread.wait_outside(running.lab, deadline, || false), Ended::TimeOver);
        assert_eq!(running.thread.clock, deadline);
    });
    let works = boxed(|running| {
        for _ in 0..300 {
            running.thread.clock += 1_000_000;
            running.thread.look_around(running.lab, 0);
            check_whole(running.lab);
        }
    });
    run(&mut lab, vec![(0, START, comes), (1, START, ends), (2, START, works)]);
    assert!(lab.slots[..3].iter().all(|slot| slot.state == State::Free));
    assert_eq!(lab.outside, 0);
}

//! Tests of loads that are under way.

use super::dataflow::{Flow, Sources};
use super::{Site, Thread};
use crate::shared::Access;
use crate::testing::{ByHand, COSTS, NoNames, START, site};

const LINE: u64 = 0x10_0000;
const RAX: u32 = 1;
const RCX: u32 = 2;

/// The load with the number `number` of its block, whose address is made of `address`.
fn loads(lab: &mut ByHand, thread: &mut Thread, number: u32, address: Sources) -> u64 {
    let before = thread.clock;
    let site = Site { address, load: 1 << number, ..site(false) };
    // No two of them are a run of lines.
    let line = LINE + u64::from(number) * 0x1040;
    thread.access(lab, &mut NoNames, line, Access::Load, &site);
    thread.clock - before
}

const NOTHING: Sources = Sources { registers: 0, loads: 0 };

fn load(number: u32) -> Sources {
    Sources { registers: 0, loads: 1 << number }
}

fn register(registers: u32) -> Sources {
    Sources { registers, loads: 0 }
}

/// A machine, and a thread that has begun the first load of its block.
fn one_under_way() -> (ByHand, Thread) {
    let mut lab = ByHand::new(1, 1, 2);
    let mut thread = lab.goes_on(0, START);
    assert_eq!(loads(&mut lab, &mut thread, 0, NOTHING), 0);
    (lab, thread)
}

/// What the thread waits until a new block begins.
fn waits(thread: &mut Thread, flow: &Flow, is_expected: bool) -> u64 {
    let before = thread.clock;
    thread.go_on_to_block(flow, is_expected);
    thread.clock - before
}

#[test]
fn loads_that_need_nothing_of_each_other_are_under_way_together() {
    let (mut lab, mut thread) = one_under_way();
    assert_eq!(loads(&mut lab, &mut thread, 1, NOTHING), 0);
    assert!(thread.has_loads());
    thread.wait_drained();
    assert_eq!(thread.clock - START, COSTS.memory);
    assert!(!thread.has_loads());
}

#[test]
fn a_load_waits_for_its_address() {
    let (mut lab, mut thread) = one_under_way();
    assert_eq!(loads(&mut lab, &mut thread, 1, load(0)), COSTS.memory);
    assert_eq!(loads(&mut lab, &mut thread, 2, load(1)), COSTS.memory);
    assert_eq!(loads(&mut lab, &mut thread, 0, load(2)), 0, "the core has the line");
}

#[test]
fn what_is_made_of_a_load_is_known_in_the_blocks_after() {
    let (mut lab, mut thread) = one_under_way();
    // The block puts what it loads into the first register; the next one makes the second one of it, and
    // clears it.
    assert_eq!(waits(&mut thread, &Flow { changed: vec![(RAX, load(0))], branch: NOTHING }, true), 0);
    let moves = Flow { changed: vec![(RCX, register(RAX)), (RAX, NOTHING)], branch: NOTHING };
    assert_eq!(waits(&mut thread, &moves, true), 0);
    assert_eq!(loads(&mut lab, &mut thread, 1, register(RAX)), 0);
    assert_eq!(loads(&mut lab, &mut thread, 2, register(RCX)), COSTS.memory);
}

#[test]
fn a_branch_waits_only_if_it_goes_another_way() {
    for (branch, is_expected, wait) in
        [(load(0), true, 0), (load(0), false, COSTS.memory), (load(1), false, 0), (NOTHING, false, 0)]
    {
        let (_, mut thread) = one_under_way();
        let flow = Flow { changed: Vec::new(), branch };
        assert_eq!(waits(&mut thread, &flow, is_expected), wait, "{branch:?}, expected: {is_expected}");
    }
}

#[test]
fn instructions_behind_a_load_fill_the_window() {
    let (mut lab, mut thread) = one_under_way();
    let window = COSTS.window * COSTS.instruction;
    thread.clock += window / 2;
    assert_eq!(loads(&mut lab, &mut thread, 1, NOTHING), 0);
    thread.clock += window / 2;
    assert_eq!(waits(&mut thread, &Flow::default(), true), 0, "it is just full");
    thread.clock += 1;
    waits(&mut thread, &Flow::default(), true);
    assert_eq!(thread.clock - START, COSTS.memory);
    assert!(thread.has_loads(), "behind the second one there is still room");
    thread.clock += window / 2 + 1;
    waits(&mut thread, &Flow::default(), true);
    assert!(!thread.has_loads());
}

#[test]
fn sixteen_lines_are_on_their_way_at_most() {
    let mut lab = ByHand::new(1, 1, 2);
    let mut thread = lab.goes_on(0, START);
    for number in 0..16 {
        assert_eq!(loads(&mut lab, &mut thread, number, NOTHING), 0);
    }
    assert_eq!(loads(&mut lab, &mut thread, 16, NOTHING), COSTS.memory);
}

#[test]
fn a_store_is_visible_after_the_loads_before_it() {
    let (mut lab, mut thread) = one_under_way();
    thread.access(&mut lab, &mut NoNames, LINE + 0x10_0000, Access::Store, &site(true));
    assert_eq!(thread.clock, START, "it does not wait");
    thread.clock += COSTS.memory / 2;
    assert_eq!(loads(&mut lab, &mut thread, 1, NOTHING), 0);
    thread.access(&mut lab, &mut NoNames, LINE + 0x10_0000, Access::Store, &site(true));
    thread.access(&mut lab, &mut NoNames, LINE + 0x20_0000, Access::Store, &site(true));
    thread.wait_drained();
    assert_eq!(thread.clock - START, COSTS.memory / 2 + COSTS.memory);
}

#[test]
fn who_is_told_the_time_has_what_it_loaded() {
    let (mut lab, mut thread) = one_under_way();
    assert_eq!(thread.tell(&mut lab) - START, COSTS.memory);
}

//! Tests of what uses of memory cost.

use super::Thread;
use super::access::STORE_BUFFER;
use crate::shared::Access;
use crate::testing::{ByHand, COSTS, NoNames, START, site};
use Access::{Load, Locked, Store};
use heddle_platform::atomic::Ordering::Relaxed;

const LINE: u64 = 0x10_0000;

fn uses(lab: &mut ByHand, thread: &mut Thread, address: u64, access: Access) -> u64 {
    let before = thread.clock;
    thread.access(lab, &mut NoNames, address, access, &site(true));
    thread.clock - before
}

fn locks(lab: &mut ByHand, thread: &mut Thread, address: u64) -> u64 {
    let before = thread.clock;
    thread.before_locked(lab, &mut NoNames, Some(address), &site(true));
    uses(lab, thread, address, Locked);
    thread.clock - before
}

fn stores(lab: &mut ByHand, thread: &mut Thread, address: u64) -> u64 {
    let before = thread.clock;
    thread.before_store(lab, &mut NoNames, address, &site(true));
    uses(lab, thread, address, Store);
    thread.clock - before
}

#[test]
fn a_load_waits_and_then_has_its_line() {
    let mut lab = ByHand::new(2, 1, 2);
    let [mut a, mut b] = [0, 2].map(|core| lab.goes_on(core, START));
    assert_eq!(uses(&mut lab, &mut a, LINE, Load), COSTS.memory);
    assert_eq!(uses(&mut lab, &mut a, LINE + 63, Load), 0, "it is the same line");
    assert_eq!(uses(&mut lab, &mut a, LINE + 64, Load), COSTS.memory, "it is the next");
    assert_eq!(uses(&mut lab, &mut a, LINE, Store), 0, "the core is alone");
    assert_eq!(uses(&mut lab, &mut b, LINE, Load), COSTS.far);
    assert_eq!([&a, &b].map(|thread| lab.slots[thread.slot as usize].counts.fetched), [2, 0]);
    assert_eq!([&a, &b].map(|thread| lab.slots[thread.slot as usize].counts.moved), [0, 1]);
}

#[test]
fn a_store_does_not_wait_but_the_next_locked_instruction_does() {
    for is_foreseen in [false, true] {
        let mut lab = ByHand::new(1, 1, 2);
        let [mut a, mut b] = [0, 1].map(|core| lab.goes_on(core, START));
        uses(&mut lab, &mut a, LINE, Store);
        // Its line for the locked instruction.
        locks(&mut lab, &mut b, LINE + 0x1000);
        b.clock = START + 1_000_000;
        let cost =
            if is_foreseen { stores(&mut lab, &mut b, LINE) } else { uses(&mut lab, &mut b, LINE, Store) };
        assert_eq!(cost, 0);
        assert_eq!(locks(&mut lab, &mut b, LINE + 0x1000), COSTS.cluster + COSTS.locked);
        assert_eq!(locks(&mut lab, &mut b, LINE + 0x1000), COSTS.locked, "the buffer is empty");
    }
}

#[test]
fn stores_are_under_way_together_and_become_visible_in_their_order() {
    for is_foreseen in [false, true] {
        let mut lab = ByHand::new(1, 1, 2);
        let [mut a, mut b] = [0, 1].map(|core| lab.goes_on(core, START));
        (lab.costs.core_lines, lab.costs.cluster_lines) = (1000, 1000);
        let lines: Vec<u64> = (0..10).map(|number| LINE + number * 0x1040).collect();
        for line in &lines {
            uses(&mut lab, &mut a, *line, Store);
        }
        let clock = START + 10_000_000;
        b.clock = clock;
        let mut store = |line| {
            let took = if is_foreseen {
                stores(&mut lab, &mut b, line)
            } else {
                uses(&mut lab, &mut b, line, Store)
            };
            (took, b.drained - clock)
        };
        for line in &lines {
            assert_eq!(store(*line), (0, COSTS.cluster));
        }
        assert_eq!(store(LINE + 0x10_0000), (0, COSTS.memory), "nobody had it");
        assert_eq!(store(lines[0]), (0, COSTS.memory), "it waits for the one before");
    }
}

#[test]
fn a_store_asks_late_for_a_line_that_is_polled() {
    for polls in [0, 5] {
        let mut lab = ByHand::new(1, 1, 2);
        let [mut writer, mut reader] = [0, 1].map(|core| lab.goes_on(core, START));
        uses(&mut lab, &mut writer, LINE, Store);
        for _ in 0..=polls {
            reader.clock += 100_000;
            uses(&mut lab, &mut reader, LINE, Load);
        }
        writer.clock = reader.clock;
        let before = writer.clock;
        uses(&mut lab, &mut writer, LINE + 0x10_0000, Store);
        stores(&mut lab, &mut writer, LINE);
        let late = if polls == 0 { 0 } else { COSTS.cluster };
        assert_eq!(writer.drained - before, COSTS.memory + late, "{polls} polls");
    }
}

#[test]
fn a_store_that_waits_long_holds_the_thread_up() {
    let mut lab = ByHand::new(1, 1, 2);
    let [mut a, mut b] = [0, 1].map(|core| lab.goes_on(core, START));
    uses(&mut lab, &mut a, LINE, Store);
    lab.costs.cluster = 3 * STORE_BUFFER;
    b.clock = START + 10_000_000;
    assert_eq!(uses(&mut lab, &mut b, LINE, Store), 2 * STORE_BUFFER);
}

#[test]
fn locked_instructions_at_a_line_come_one_after_the_other() {
    for is_known in [true, false] {
        let mut lab = ByHand::new(1, 1, 9);
        let mut threads: Vec<Thread> = (0..9).map(|core| lab.goes_on(core, START)).collect();
        locks(&mut lab, &mut threads[0], LINE);
        let at = START + 1_000_000;
        // The place in the queue is taken before, or when it is used.
        let held = if is_known { COSTS.held } else { 0 };
        for (number, thread) in (1..).zip(&mut threads[1..]) {
            thread.clock = at;
            thread.before_locked(&mut lab, &mut NoNames, is_known.then_some(LINE), &site(true));
            uses(&mut lab, thread, LINE, Locked);
            let locked = if is_known { COSTS.locked } else { number * COSTS.locked };
            let comes = at + number * COSTS.cluster + (number - 1) * held;
            assert!(thread.clock.abs_diff(comes) <= locked, "{} {comes}", thread.clock);
        }
        assert!(threads.windows(2).all(|pair| pair[0].clock < pair[1].clock));
    }
}

#[test]
fn two_that_lock_in_turn_pay_a_way_each_time_and_one_alone_pays_none() {
    let mut lab = ByHand::new(1, 1, 2);
    let [mut a, mut b] = [0, 1].map(|core| lab.goes_on(core, START));
    assert_eq!(locks(&mut lab, &mut a, LINE), COSTS.memory + COSTS.locked);
    for _ in 0..3 {
        assert_eq!(locks(&mut lab, &mut a, LINE), COSTS.locked);
    }
    for _ in 0..3 {
        b.clock = a.clock + COSTS.held;
        assert_eq!(locks(&mut lab, &mut b, LINE), COSTS.cluster + COSTS.locked);
        a.clock = b.clock + COSTS.held;
        assert_eq!(locks(&mut lab, &mut a, LINE), COSTS.cluster + COSTS.locked);
    }
    assert_eq!(lab.slots[a.slot as usize].counts.locked, 7);
    assert_eq!(lab.slots[a.slot as usize].counts.moved, 3);
}

#[test]
fn a_write_ends_what_the_readers_know() {
    let mut lab = ByHand::new(1, 1, 3);
    let [mut a, mut b, mut c] = [0, 1, 2].map(|core| lab.goes_on(core, START));
    uses(&mut lab, &mut a, LINE, Store);
    assert_eq!(uses(&mut lab, &mut b, LINE, Load), COSTS.cluster);
    c.clock = b.clock;
    assert_eq!(uses(&mut lab, &mut c, LINE, Load), COSTS.clean);
    assert_eq!(uses(&mut lab, &mut b, LINE, Load), 0);
    assert_eq!(uses(&mut lab, &mut a, LINE, Load), COSTS.own, "its writer may read on");
    assert_eq!(uses(&mut lab, &mut a, LINE, Load), 0);
    a.clock = START + 1_000_000;
    uses(&mut lab, &mut a, LINE, Store);
    assert_eq!(a.drained, a.clock + COSTS.cluster, "but it has to ask for the right to write");
    for thread in [&mut b, &mut c] {
        thread.clock = START + 2_000_000;
        assert!(uses(&mut lab, thread, LINE, Load) > 0);
    }
}

#[test]
fn a_store_at_which_threads_meet_is_known_afterwards() {
    let mut lab = ByHand::new(1, 1, 2);
    let [mut a, mut b] = [0, 1].map(|core| lab.goes_on(core, START));
    let new = site(false);
    a.access(&mut lab, &mut NoNames, LINE, Store, &new);
    assert!(!new.is_met.load(Relaxed), "its line came from memory");
    b.access(&mut lab, &mut NoNames, LINE, Store, &new);
    assert!(new.is_met.load(Relaxed) && new.meets.load(Relaxed));
}

#[test]
fn a_load_leaves_the_place_in_the_queue_to_the_store() {
    let mut lab = ByHand::new(1, 1, 2);
    let [mut a, mut b] = [0, 1].map(|core| lab.goes_on(core, START));
    locks(&mut lab, &mut a, LINE);
    b.clock = a.clock;
    b.before_store(&mut lab, &mut NoNames, LINE, &site(true));
    let visible = b.drained;
    uses(&mut lab, &mut b, LINE, Load);
    assert_eq!(b.foreseen.len(), 1);
    uses(&mut lab, &mut b, LINE, Store);
    assert!(b.foreseen.is_empty());
    assert_eq!(b.drained, visible);
}

#[test]
fn lines_in_a_row_come_by_themselves() {
    let mut lab = ByHand::new(2, 1, 2);
    let [mut a, mut b] = [0, 2].map(|core| lab.goes_on(core, START));
    let read = |lab: &mut ByHand, thread: &mut Thread| -> Vec<u64> {
        (0..6).map(|line| uses(lab, thread, LINE + line * 64, Load)).collect()
    };
    let stream = COSTS.stream;
    let (memory, far) = (COSTS.memory, COSTS.far);
    assert_eq!(read(&mut lab, &mut a), [memory, memory, memory, stream, stream, stream]);
    assert_eq!(
        read(&mut lab, &mut b),
        [far, far, far, stream, stream, stream],
        "of another core's lines too"
    );
    for line in 0..6 {
        let cost = locks(&mut lab, &mut a, LINE + line * 64);
        assert!(cost >= COSTS.far, "a locked instruction waits: {cost}");
    }
}

#[test]
fn who_has_another_core_knows_nothing_of_its_caches() {
    let mut lab = ByHand::new(1, 1, 2);
    let mut a = lab.goes_on(0, START);
    uses(&mut lab, &mut a, LINE, Store);
    lab.leave_core(a.slot, crate::shared::State::Asleep, a.clock);
    lab.slots[a.slot as usize].core = 1;
    lab.make_ready(a.slot, a.clock);
    a.go_on_alone(&mut lab);
    assert_eq!(a.core, 1);
    assert_eq!(uses(&mut lab, &mut a, LINE, Load), COSTS.cluster);
}

#[test]
fn a_poller_sees_the_write_when_it_is_made() {
    let mut lab = ByHand::new(1, 1, 2);
    let [mut writer, mut reader] = [0, 1].map(|core| lab.goes_on(core, START));
    uses(&mut lab, &mut writer, LINE, Store);
    writer.wait_drained();
    reader.clock = writer.clock + 1_000_000;
    uses(&mut lab, &mut reader, LINE, Load);
    for _ in 0..50 {
        reader.clock += 1_000;
        assert_eq!(uses(&mut lab, &mut reader, LINE, Load), 0);
    }
    let began = reader.clock - 50_000;
    lab.clocks[reader.slot as usize] = reader.clock;
    writer.clock = began + 20_500;
    stores(&mut lab, &mut writer, LINE);
    assert_eq!(writer.drained, began + 20_500 + COSTS.cluster);
    reader.go_on_alone(&mut lab);
    assert_eq!(reader.clock, began + 31_000, "the first poll behind it");
    assert_eq!(uses(&mut lab, &mut reader, LINE, Load), COSTS.cluster);
}

#[test]
fn the_report_names_the_instruction() {
    let mut lab = ByHand::new(1, 1, 2);
    lab.counting = 1;
    let [mut a, mut b] = [0, 1].map(|core| lab.goes_on(core, START));
    locks(&mut lab, &mut a, LINE);
    locks(&mut lab, &mut b, LINE);
    uses(&mut lab, &mut a, LINE, Load);
    let lines = lab.hottest(10);
    assert_eq!(lines.len(), 1);
    assert_eq!((lines[0].address, lines[0].transfers), (LINE, 2));
    assert_eq!(lines[0].by.iter().map(|mover| (mover.at, mover.times)).collect::<Vec<_>>(), [(0x1000, 2)]);
}

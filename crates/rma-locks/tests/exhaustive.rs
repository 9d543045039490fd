//! Every lock, with a few processes, in all interleavings.

mod explorer;
mod visits;

use explorer::{Most, Places, Presence, Report};
use heddle_rma_locks::{
    AdaptiveRw, Bounds, Fissile, FissileRw, Layout, QueueRw, Reader, RmaMcs, RmaRw, SimpleRw, Spin,
};
use visits::{explore, is_empty, is_empty_but_for_marks, is_long, sound, two_levels};

/// A test for `ci/faults.py`, which runs it with a fault in the source.
macro_rules! with_fault {
    ($name:ident, $report:expr) => {
        #[test]
        #[ignore = "for ci/faults.py, with a fault in the source"]
        fn $name() {
            sound(&$report);
        }
    };
}

fn mcs(layout: Layout, locality: Vec<u64>, rounds: u64) -> Report {
    mcs_that(Places::default(), layout, locality, rounds)
}

/// The same, which follows what happens in these places.
fn mcs_that(places: Places, layout: Layout, locality: Vec<u64>, rounds: u64) -> Report {
    let (size, at_end) = ((layout.processes(), layout.words()), is_empty(&layout));
    explore(size, rounds, true, &at_end, places, move |process| {
        let lock = RmaMcs::new(layout.clone(), locality.clone());
        async move {
            lock.acquire(&process).await;
            process.visit(Presence::Writes).await;
            lock.release(&process).await;
        }
    })
}

/// Processes below `readers` read, the others write.
fn rw(layout: Layout, locality: Vec<u64>, writers: u64, readers: usize, rounds: u64) -> Report {
    rw_that(Places::default(), layout, locality, (writers, 0), readers, rounds)
}

/// The same, which follows what happens in these places; `quota` are T_L,1 and T_R.
fn rw_that(
    places: Places,
    layout: Layout,
    locality: Vec<u64>,
    (writers, quota): (u64, u64),
    readers: usize,
    rounds: u64,
) -> Report {
    let (size, at_end) = ((layout.processes(), layout.words()), is_empty(&layout));
    explore(size, rounds, true, &at_end, places, move |process| {
        let lock = RmaRw::new(layout.clone(), locality.clone(), writers).with_readers(quota);
        async move {
            if heddle_rma_locks::Rma::rank(&process) < readers {
                lock.acquire_read(&process).await;
                process.visit(Presence::Reads).await;
                lock.release_read(&process).await;
            } else {
                lock.acquire_write(&process).await;
                process.visit(Presence::Writes).await;
                lock.release_write(&process).await;
            }
        }
    })
}

/// No queue has a node, and the words after the layout's are 0.
fn is_idle(layout: &Layout) -> impl Fn(&[Vec<u64>]) -> Option<String> + use<> {
    let (is_empty, words) = (is_empty(layout), layout.words());
    move |memory| {
        let is_idle = memory.iter().all(|kept| kept[words..].iter().all(|word| *word == 0));
        is_empty(memory).or_else(|| (!is_idle).then(|| format!("not idle at the end: {memory:?}")))
    }
}

/// `bypasses` and `attempts` are the lock's. The last process keeps the word.
fn fissile(layout: Layout, (bypasses, attempts): (u64, u32), rounds: u64) -> Report {
    fissile_that(Places::default(), layout, (bypasses, attempts), rounds)
}

/// The same, which follows what happens in these places.
fn fissile_that(places: Places, layout: Layout, (bypasses, attempts): (u64, u32), rounds: u64) -> Report {
    let (size, at_end) = ((layout.processes(), Fissile::words(&layout)), is_idle(&layout));
    let home = layout.processes() - 1;
    explore(size, rounds, true, &at_end, places, move |process| {
        let locality = vec![1; layout.levels() - 1];
        let lock = Fissile::new(layout.clone(), locality, bypasses).with_attempts(attempts);
        async move {
            lock.acquire(&process, home).await;
            process.forget();
            process.visit(Presence::Writes).await;
            lock.release(&process, home).await;
        }
    })
}

/// Processes below `readers` read, the others write; `writers` is T_L,1.
fn fissile_rw(layout: Layout, writers: u64, how: (u64, u32), readers: usize, rounds: u64) -> Report {
    fissile_rw_that(Places::default(), layout, writers, how, readers, rounds)
}

/// The same, which follows what happens in these places.
fn fissile_rw_that(
    places: Places,
    layout: Layout,
    writers: u64,
    (bypasses, attempts): (u64, u32),
    readers: usize,
    rounds: u64,
) -> Report {
    let (size, at_end) = ((layout.processes(), FissileRw::words(&layout)), is_idle(&layout));
    let home = layout.processes() - 1;
    explore(size, rounds, true, &at_end, places, move |process| {
        let locality = vec![1; layout.levels() - 1];
        let lock = FissileRw::new(layout.clone(), locality, writers, bypasses).with_attempts(attempts);
        async move {
            if heddle_rma_locks::Rma::rank(&process) < readers {
                lock.acquire_read(&process).await;
                process.forget();
                process.visit(Presence::Reads).await;
                lock.release_read(&process).await;
            } else {
                lock.acquire_write(&process, home).await;
                process.forget();
                process.visit(Presence::Writes).await;
                lock.release_write(&process, home).await;
            }
        }
    })
}

/// RMA-RW that changes its counters and thresholds at every turn; each threshold is 1 or 2. The last
/// `readers` processes read, the others write.
fn adaptive(layout: Layout, readers: usize, rounds: u64) -> Report {
    adaptive_that(Places::default(), layout, readers, rounds)
}

/// The same, which follows what happens in these places.
fn adaptive_that(places: Places, layout: Layout, readers: usize, rounds: u64) -> Report {
    let (processes, levels) = (layout.processes(), layout.levels());
    let at_end = is_empty_but_for_marks(&layout);
    let size = (processes, AdaptiveRw::words(&layout));
    explore(size, rounds, true, &at_end, places, move |process| {
        let bounds = Bounds::new(vec![1..=2; levels - 1], 1..=2);
        let lock = AdaptiveRw::restless(layout.clone(), bounds);
        async move {
            if heddle_rma_locks::Rma::rank(&process) + readers >= processes {
                let mut reader = Reader::default();
                lock.acquire_read(&process, &mut reader).await;
                process.visit(Presence::Reads).await;
                lock.release_read(&process, &reader).await;
            } else {
                lock.acquire_write(&process).await;
                process.visit(Presence::Writes).await;
                lock.release_write(&process, 0).await;
            }
        }
    })
}

/// The last process keeps the word. Processes below `readers` read, the others write.
fn queue_rw(processes: usize, attempts: u32, readers: usize, rounds: u64) -> Report {
    queue_rw_that(Places::default(), processes, attempts, readers, rounds)
}

/// The same, which follows what happens in these places.
fn queue_rw_that(places: Places, processes: usize, attempts: u32, readers: usize, rounds: u64) -> Report {
    let home = processes - 1;
    let at_end = |memory: &[Vec<u64>]| {
        let is_empty = memory.iter().all(|words| words[2] == 0 && words[5] == 0);
        (!is_empty).then(|| format!("not empty at the end: {memory:?}"))
    };
    explore((processes, QueueRw::words(processes)), rounds, true, &at_end, places, move |process| {
        let lock = QueueRw::new(processes, attempts);
        async move {
            if heddle_rma_locks::Rma::rank(&process) < readers {
                lock.acquire_read(&process, home).await;
                process.visit(Presence::Reads).await;
                lock.release_read(&process, home).await;
            } else {
                lock.acquire_write(&process, home).await;
                process.visit(Presence::Writes).await;
                lock.release_write(&process, home).await;
            }
        }
    })
}

#[test]
fn d_mcs() {
    let sizes: &[_] = if is_long() { &[(2, 4), (3, 3), (4, 1)] } else { &[(2, 3), (3, 2)] };
    for &(processes, rounds) in sizes {
        let states = sound(&mcs(Layout::flat(processes, 1), vec![], rounds));
        println!("{processes} processes, {rounds} rounds: {states} states");
    }
}

#[test]
fn rma_mcs_of_two_levels() {
    let mut sizes = vec![(&[0, 0][..], 2), (&[0, 1], 2), (&[0, 0, 1], 1)];
    if is_long() {
        sizes.extend([(&[0, 0, 1][..], 2), (&[0, 0, 1, 1], 1)]);
    }
    for (elements, rounds) in sizes {
        for locality in [1, 2] {
            let states = sound(&mcs(two_levels(elements, 1), vec![locality], rounds));
            println!("elements {elements:?}, T_L {locality}, {rounds} rounds: {states} states");
        }
    }
}

#[test]
fn rma_mcs_of_three_levels() {
    let elements = vec![vec![0, 0, 0], vec![0, 0, 1], vec![0, 1, 2]];
    println!("{} states", sound(&mcs(Layout::new(elements, 1), vec![1, 1], 1)));
}

#[test]
fn queue_rw_of_every_mix() {
    let sizes: &[_] = if is_long() { &[(2, 3), (3, 1), (3, 2)] } else { &[(2, 2), (3, 1)] };
    for &(processes, rounds) in sizes {
        for readers in 0..=processes {
            for attempts in [0, 1] {
                let states = sound(&queue_rw(processes, attempts, readers, rounds));
                println!(
                    "{processes} processes, {readers} read, {attempts} attempts, {rounds} rounds: {states} states"
                );
            }
        }
    }
}

with_fault!(queue_rw_is_sound, queue_rw(3, 1, 2, 1));

#[test]
fn a_word_before_one_queue() {
    let sizes: &[_] = if is_long() { &[(2, 3), (3, 2)] } else { &[(2, 2), (3, 1)] };
    for &(processes, rounds) in sizes {
        for bypasses in if is_long() { &[1, 2][..] } else { &[1] } {
            for attempts in [0, 1] {
                let report = fissile(Layout::flat(processes, 1), (*bypasses, attempts), rounds);
                println!(
                    "{processes} processes, {bypasses} bypasses, {rounds} rounds: {} states",
                    sound(&report)
                );
            }
        }
    }
}

#[test]
fn a_word_before_queues_of_two_levels() {
    let mut sizes = vec![&[0, 0][..], &[0, 1]];
    if is_long() {
        sizes.extend([&[0, 0, 1][..], &[0, 1, 1]]);
    }
    for elements in sizes {
        println!("{elements:?}: {} states", sound(&fissile(two_levels(elements, 1), (1, 1), 1)));
    }
}

#[test]
fn rma_rw_with_a_word_before_its_queue() {
    let sizes: &[_] = if is_long() {
        &[(2, 1, 3), (3, 1, 1), (3, 2, 1), (3, 2, 2)]
    } else {
        &[(2, 1, 2), (3, 1, 1), (3, 2, 1)]
    };
    for &(processes, readers, rounds) in sizes {
        let attempts = if is_long() { &[0, 1][..] } else { &[1] };
        for (writers, counter_distance) in [(1, processes), (2, processes), (2, 1)] {
            for attempts in attempts {
                let layout = Layout::flat(processes, counter_distance);
                let report = fissile_rw(layout, writers, (1, *attempts), readers, rounds);
                println!("{processes} processes, {readers} read, {rounds} rounds: {} states", sound(&report));
            }
        }
    }
}

with_fault!(a_head_that_does_not_wait_is_found, fissile(Layout::flat(3, 1), (1, 0), 1));
with_fault!(a_release_that_erases_those_that_wait_is_found, fissile(Layout::flat(3, 1), (1, 1), 1));
with_fault!(a_phase_without_a_head_is_found, fissile_rw(Layout::flat(2, 2), 2, (1, 1), 1, 1));
with_fault!(a_phase_for_a_writer_behind_a_reader_is_found, fissile_rw(Layout::flat(3, 3), 2, (1, 1), 1, 1));
with_fault!(a_reader_that_is_let_in_and_goes_is_found, fissile_rw(Layout::flat(2, 2), 2, (1, 1), 1, 2));
with_fault!(a_late_phase_is_found, fissile_rw(Layout::flat(3, 3), 2, (1, 1), 1, 1));

#[test]
fn rma_rw_of_one_level() {
    let sizes: &[_] = if is_long() {
        &[(2, 1, 4), (3, 2, 2), (3, 1, 2), (4, 2, 1)]
    } else {
        &[(2, 1, 3), (3, 2, 1), (3, 1, 1)]
    };
    for &(processes, readers, rounds) in sizes {
        for writers in [1, 2] {
            for counter_distance in [1, processes] {
                let report = rw(Layout::flat(processes, counter_distance), vec![], writers, readers, rounds);
                println!("{processes} processes, {readers} read, {rounds} rounds: {} states", sound(&report));
            }
        }
    }
}

#[test]
fn rma_rw_of_two_levels() {
    for locality in [1, 2] {
        // Process 0 reads.
        let states = sound(&rw(two_levels(&[0, 0, 1], 3), vec![locality], 1, 1, 1));
        println!("T_L {locality}: {states} states");
    }
}

#[test]
fn rma_rw_that_tunes_counters_and_thresholds() {
    // The readers' counter is open at first, then closed and opened by turns.
    let sizes: &[_] =
        if is_long() { &[(2, 1, 4, 1), (3, 1, 2, 2), (3, 2, 2, 1)] } else { &[(2, 1, 3, 1), (3, 1, 1, 2)] };
    for &(processes, readers, rounds, counter_distance) in sizes {
        let report = adaptive(Layout::flat(processes, counter_distance), readers, rounds);
        println!("{processes} processes, {readers} read, {rounds} rounds: {} states", sound(&report));
    }
}

#[test]
fn rma_rw_that_tunes_thresholds_of_several_levels() {
    // Two writers of one element or of two, and a reader whose counter is closed at times.
    let rounds = if is_long() { &[1, 2][..] } else { &[1] };
    for (elements, rounds) in rounds.iter().flat_map(|rounds| [([0, 0, 1], *rounds), ([0, 1, 1], *rounds)]) {
        let states = sound(&adaptive(two_levels(&elements, 2), 1, rounds));
        println!("elements {elements:?}, {rounds} rounds: {states} states");
    }
    // Both writers in one element of level 2, each alone in one of level 3.
    let elements = vec![vec![0, 0, 0], vec![0, 0, 1], vec![0, 1, 2]];
    println!("three levels: {} states", sound(&adaptive(Layout::new(elements, 2), 1, 1)));
}

/// Writers that wait for readers' turns.
#[test]
fn rma_rw_with_a_quota_of_readers() {
    let sizes: &[_] = if is_long() { &[(2, 1, 4), (3, 2, 2), (3, 1, 2)] } else { &[(2, 1, 3), (3, 2, 1)] };
    for &(processes, readers, rounds) in sizes {
        let layout = Layout::flat(processes, processes);
        let report = rw_that(Places::default(), layout, vec![], (1, 1), readers, rounds);
        println!("{processes} processes, {readers} read, {rounds} rounds: {} states", sound(&report));
    }
}

/// The places of a lock of the tree: words 0 to 2 of a process are the root's.
fn places(layout: &Layout, elements: &[usize]) -> Places {
    let first = |element| elements.iter().position(|e| *e == element).expect("an element has processes");
    Places {
        root_nodes: elements.iter().map(|element| first(*element)).collect(),
        root_status: Some(1),
        root_tail: Some(2),
        arrive: Some(3 * layout.levels()),
        counters: layout.counters().len(),
        word: None,
    }
}

/// The largest numbers of entries past a process that waits.
fn passed(report: &Report, what: &str) -> Most {
    println!("{what}: {:?}, {} states", report.most, sound(report));
    report.most
}

#[test]
fn d_mcs_is_first_in_first_out() {
    let sizes: &[_] = if is_long() { &[(2, 4), (3, 2), (3, 3), (4, 1)] } else { &[(2, 3), (3, 2)] };
    for &(processes, rounds) in sizes {
        let (layout, own): (_, Vec<usize>) = (Layout::flat(processes, 1), (0..processes).collect());
        let report = mcs_that(places(&layout, &own), layout, vec![], rounds);
        let most = passed(&report, &format!("{processes} processes, {rounds} rounds"));
        assert_eq!(most, Most { writer_by_writers: processes - 1, ..Most::default() });
    }
}

#[test]
fn rma_mcs_has_a_bound_on_bypassing() {
    let mut sizes = vec![(&[0, 1][..], 3), (&[0, 0, 1], 1)];
    if is_long() {
        sizes.extend([(&[0, 1][..], 4), (&[0, 0, 1], 2)]);
    }
    for (elements, rounds) in sizes {
        for locality in [1, 2] {
            let layout = two_levels(elements, 1);
            let report = mcs_that(places(&layout, elements), layout, vec![locality], rounds);
            let most = passed(&report, &format!("elements {elements:?}, T_L {locality}, {rounds} rounds"));
            // Those before it in its element, each of which may end the element's turn; and the turns of the
            // other elements in between.
            let bound = |element| {
                let size = elements.iter().filter(|e| **e == element).count();
                let others = elements.iter().max().map_or(0, |last| *last);
                size - 1 + size * others * (locality as usize + 1)
            };
            let bound = elements.iter().map(|element| bound(*element)).max().unwrap_or(0);
            assert!(most.writer_by_writers <= bound, "{most:?}, not {bound}");
        }
    }
}

#[test]
fn rma_rw_has_a_bound_on_bypassing() {
    let sizes: &[_] =
        if is_long() { &[(2, 1, 4), (3, 2, 2), (3, 1, 2)] } else { &[(2, 1, 3), (3, 2, 1), (3, 1, 1)] };
    for &(processes, readers, rounds) in sizes {
        for writers in [1, 2] {
            let (layout, own): (_, Vec<usize>) =
                (Layout::flat(processes, processes), (0..processes).collect());
            let report = rw_that(places(&layout, &own), layout, vec![], (writers, 0), readers, rounds);
            let most =
                passed(&report, &format!("{processes}, {readers} read, T_L,1 {writers}, {rounds} rounds"));
            assert!(most.writer_by_writers < processes - readers, "in the order of the queue");
            assert!(most.writer_by_readers <= readers, "those that were let in before");
            assert!(most.reader_by_writers <= writers as usize, "one turn of the writers");
        }
    }
}

/// The bounds of RMA-RW with the most of each threshold, T_L,1 = T_L,2 = 2, hold for all that are chosen.
fn bypasses_of_adaptive(elements: &[usize], readers: usize, rounds: u64) -> Report {
    let processes = elements.len();
    let is_flat = elements.iter().enumerate().all(|(process, element)| process == *element);
    let layout = if is_flat { Layout::flat(processes, processes) } else { two_levels(elements, processes) };
    let report = adaptive_that(places(&layout, elements), layout, readers, rounds);
    let most = passed(&report, &format!("elements {elements:?}, {readers} read, {rounds} rounds"));
    let bound = if is_flat { 2 } else { 2 * (2 + 1) };
    assert!(most.reader_by_writers <= bound, "passed by {} writers, not {bound}", most.reader_by_writers);
    assert!(most.writer_by_readers <= readers, "those that were let in before");
    if is_flat {
        assert!(most.writer_by_writers < processes - readers, "in the order of the queue");
    }
    report
}

#[test]
fn rma_rw_that_tunes_has_a_bound_on_bypassing() {
    let sizes: &[_] =
        if is_long() { &[(2, 1, 4), (3, 2, 2), (3, 1, 2)] } else { &[(2, 1, 3), (3, 2, 1), (3, 1, 1)] };
    for &(processes, readers, rounds) in sizes {
        let own: Vec<usize> = (0..processes).collect();
        bypasses_of_adaptive(&own, readers, rounds);
    }
    bypasses_of_adaptive(&[0, 0, 1], 1, 1);
}

/// The processes before one in the queue each enter once; before each of them, and before it, at most
/// `bypasses` processes enter past the queue; and one may be inside already.
fn bound_of_fissile(writers: usize, bypasses: u64) -> usize {
    (writers - 1) * (bypasses as usize + 1)
}

fn bypasses_of_fissile(processes: usize, how: (u64, u32), rounds: u64) -> Report {
    let (layout, own): (_, Vec<usize>) = (Layout::flat(processes, 1), (0..processes).collect());
    let report = fissile_that(places(&layout, &own), layout, how, rounds);
    let most = passed(&report, &format!("{processes} processes, {how:?}, {rounds} rounds"));
    let bound = bound_of_fissile(processes, how.0);
    assert!(most.writer_by_writers <= bound, "passed by {}, not {bound}", most.writer_by_writers);
    if processes == 2 {
        assert_eq!(most.writer_by_writers, bound, "the bound is reached");
    }
    report
}

#[test]
fn a_word_before_one_queue_has_a_bound_on_bypassing() {
    let mut sizes = vec![(2, (1, 0), 2), (2, (1, 1), 2)];
    if is_long() {
        sizes.extend([(2, (1, 0), 3), (2, (2, 0), 4), (3, (1, 0), 1)]);
    }
    for (processes, how, rounds) in sizes {
        bypasses_of_fissile(processes, how, rounds);
    }
}

with_fault!(a_count_that_is_not_looked_at_is_found, bypasses_of_fissile(2, (1, 1), 3));

#[test]
fn rma_rw_with_a_word_before_its_queue_has_a_bound_on_bypassing() {
    let sizes: &[_] = if is_long() { &[(2, 1, 3), (3, 1, 1), (3, 2, 1)] } else { &[(2, 1, 2), (3, 1, 1)] };
    for &(processes, readers, rounds) in sizes {
        for writers in if is_long() { &[1, 2][..] } else { &[2] } {
            let writers = *writers;
            let (layout, own): (_, Vec<usize>) =
                (Layout::flat(processes, processes), (0..processes).collect());
            let report = fissile_rw_that(places(&layout, &own), layout, writers, (1, 1), readers, rounds);
            let most =
                passed(&report, &format!("{processes}, {readers} read, T_L,1 {writers}, {rounds} rounds"));
            assert!(most.writer_by_readers <= readers, "those that were let in before");
            assert!(most.reader_by_writers <= writers as usize, "one turn of the writers");
        }
    }
}

/// Past a reservation come only those that have the lock and are about to leave the queue: once each, and
/// at most one of them a writer.
#[test]
fn queue_rw_admits_nobody_new_past_a_reservation() {
    let sizes: &[_] = if is_long() { &[(2, 3), (3, 1)] } else { &[(2, 2), (3, 1)] };
    for &(processes, rounds) in sizes {
        for readers in 0..=processes {
            let places = Places { word: Some(5), ..Places::default() };
            let report = queue_rw_that(places, processes, 0, readers, rounds);
            let most = passed(&report, &format!("{processes} processes, {readers} read, {rounds} rounds"));
            let bound = if readers == 0 { 1 } else { processes - 1 };
            assert!(most.reserver_by_all <= bound, "{most:?}");
        }
    }
}

#[test]
fn spin_locks() {
    let report = explore((3, 1), 2, true, &|_| None, Places::default(), |process| async move {
        let lock = Spin { home: 0, word: 0 };
        lock.acquire(&process).await;
        process.visit(Presence::Writes).await;
        lock.release(&process).await;
    });
    println!("{}", sound(&report));
    let report = explore((3, 1), 1, true, &|_| None, Places::default(), |process| async move {
        let lock = SimpleRw { home: 0, word: 0 };
        if heddle_rma_locks::Rma::rank(&process) == 0 {
            lock.acquire_write(&process).await;
            process.visit(Presence::Writes).await;
            lock.release_write(&process).await;
        } else {
            lock.acquire_read(&process).await;
            process.visit(Presence::Reads).await;
            lock.release_read(&process).await;
        }
    });
    println!("{}", sound(&report));
}

with_fault!(adaptive_is_sound, adaptive(Layout::flat(3, 2), 1, 2));
with_fault!(a_turn_that_is_too_long_is_found, bypasses_of_adaptive(&[0, 1, 2], 1, 2));
with_fault!(a_missing_flush_is_found, mcs(Layout::flat(2, 1), vec![], 2));
with_fault!(a_node_of_the_process_is_found, mcs(two_levels(&[0, 0], 1), vec![1], 2));
with_fault!(a_parent_that_is_not_acquired_is_found, mcs(two_levels(&[0, 0, 1], 1), vec![1], 1));
with_fault!(a_writer_that_does_not_wait_is_found, rw(Layout::flat(2, 2), vec![], 1, 1, 1));
with_fault!(a_missing_phase_is_found, rw(Layout::flat(2, 2), vec![], 1, 1, 3));
with_fault!(a_counter_that_is_not_marked_is_found, rw(Layout::flat(2, 1), vec![], 1, 1, 1));

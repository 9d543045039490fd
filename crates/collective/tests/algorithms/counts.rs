//! Ranks that disagree on how much data an operation moves, by so much that they would carry out different
//! algorithms: none of them waits for ever, some have an error, and so it stays.

use crate::{Call, Case, Manner, Operation};
use heddle_collective::{
    Conversation, Numbers, Part, Parts, allgatherv, alltoallv, barrier, begin, gatherv, init, run, scatterv,
};
use heddle_comm::datatype::TypeInUse;
use heddle_comm::error::Result;
use heddle_comm::group::Group;
use heddle_comm::{COMMS, Comm, CommRef};
use heddle_datatype::types;
use heddle_message::context::{Context, VniChoice, context_id};
use heddle_message::domain;
use heddle_platform::atomic::{AtomicBool, AtomicU32, Ordering};
use heddle_ranks::Ranks;
use std::process::exit;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

static INT: TypeInUse = TypeInUse::predefined(&types::MPI_INT);

/// Numbers of a block: none, in a cell of the blackboard, in a page, behind the switch points of the tests,
/// in many parts.
const LENGTHS: [usize; 5] = [0, 3, 700, 6_000, 70_000];

/// A case takes about as long as a rank waits before it asks, a few times.
const PATIENCE: Duration = Duration::from_secs(30);

/// Of all cases one in so many is tried, unless the environment says otherwise.
const SHARE: u64 = 97;

#[derive(Debug, Clone, Copy)]
enum Kind {
    Plain(Operation),
    Gatherv,
    Scatterv,
    Allgatherv,
    Alltoallv,
}

const KINDS: [Kind; 14] = [
    Kind::Plain(Operation::Bcast),
    Kind::Plain(Operation::Gather),
    Kind::Plain(Operation::Scatter),
    Kind::Plain(Operation::Allgather),
    Kind::Plain(Operation::Alltoall),
    Kind::Plain(Operation::Reduce),
    Kind::Plain(Operation::Allreduce),
    Kind::Plain(Operation::ReduceScatter),
    Kind::Plain(Operation::Scan),
    Kind::Plain(Operation::Exscan),
    Kind::Gatherv,
    Kind::Scatterv,
    Kind::Allgatherv,
    Kind::Alltoallv,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Blocking,
    Nonblocking,
    Persistent,
}

#[derive(Debug, Clone, Copy)]
struct Disagreement {
    kind: Kind,
    form: Form,
    /// What one rank takes for the length of all blocks, and the others.
    lengths: (usize, usize),
    who: usize,
    root: usize,
    /// Operations before it: after two the communicator gets its blackboard.
    before: usize,
}

/// A rank's buffers for an operation in which all blocks have the length that it takes for right.
struct Buffers {
    kind: Kind,
    case: Case,
    data: Option<crate::operation::Data>,
    send: Vec<i32>,
    receive: Vec<i32>,
    counts: Vec<i64>,
    displs: Vec<i64>,
}

impl Buffers {
    fn new(kind: Kind, case: Case) -> Buffers {
        let Case { size, length, .. } = case;
        let is_plain = matches!(kind, Kind::Plain(_));
        let whole = if is_plain { 0 } else { size * length };
        Buffers {
            kind,
            case,
            data: is_plain.then(|| case.data()),
            send: vec![case.rank as i32; whole],
            receive: vec![-1; whole],
            counts: vec![length as i64; size],
            displs: (0..size).map(|rank| (rank * length) as i64).collect(),
        }
    }

    fn describe(&mut self, talk: &mut Conversation<'_>) -> Result<()> {
        let Case { rank, root, length, .. } = self.case;
        if let Some(data) = &mut self.data {
            return data.describe(talk);
        }
        let (counts, displs) = (&self.counts, &self.displs);
        let one = |numbers: &mut Vec<i32>| {
            // SAFETY: the test keeps the numbers until the operation is over.
            unsafe { Part::new(numbers.as_mut_ptr().cast(), length as i64, &INT) }
        };
        let all = |numbers: &mut Vec<i32>| {
            let (counts, displs) = (Numbers::Large(counts), Numbers::Large(displs));
            // SAFETY: the test keeps the numbers until the operation is over.
            unsafe { Parts::new(numbers.as_mut_ptr().cast(), counts, displs, &INT) }
        };
        let is_root = rank == root;
        match self.kind {
            Kind::Plain(_) => unreachable!("it has data"),
            Kind::Gatherv => {
                let receive = is_root.then(|| all(&mut self.receive)).transpose()?;
                gatherv(talk, Some(one(&mut self.send)?), receive, root as i32)
            }
            Kind::Scatterv => {
                let send = is_root.then(|| all(&mut self.send)).transpose()?;
                scatterv(talk, send, Some(one(&mut self.receive)?), root as i32)
            }
            Kind::Allgatherv => allgatherv(talk, Some(one(&mut self.send)?), all(&mut self.receive)?),
            Kind::Alltoallv => alltoallv(talk, Some(all(&mut self.send)?), all(&mut self.receive)?),
        }
    }
}

/// A communicator of all ranks: after a disagreement it can be of no use any more.
fn communicator(number: u64, size: usize) -> CommRef {
    let domain = domain::current().expect("MPI is in use");
    let id = context_id(0, 1_000 + number, VniChoice::default());
    let context = Context::new(id, domain.rank(), domain.vnis());
    let comm = Comm::new(context, Arc::new(Group::all(size)));
    CommRef::from_handle(COMMS.insert(comm)).expect("a communicator")
}

/// What all ranks of a job try together.
struct Trial {
    fails: AtomicU32,
    now: Mutex<(Instant, String)>,
    is_over: AtomicBool,
}

impl Trial {
    /// Ends the program if a case takes too long.
    fn watch(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
            let now = self.now.lock().expect("no panic");
            if now.0.elapsed() > PATIENCE {
                eprintln!("ranks wait for ever: {}", now.1);
                exit(101);
            }
        }
    }
}

fn disagree(rank: usize, size: usize, comm: &CommRef, it: &Disagreement, trial: &Trial) {
    let case = |length| Case {
        operation: if let Kind::Plain(operation) = it.kind { operation } else { Operation::Bcast },
        rank,
        size,
        length,
        root: it.root,
        manner: Manner::default(),
    };
    for _ in 0..it.before {
        run(comm, barrier).expect("a barrier");
    }
    let own = if rank == it.who { it.lengths.0 } else { it.lengths.1 };
    let mut buffers = Buffers::new(it.kind, case(own));
    let error = match it.form {
        Form::Blocking => run(comm, |talk| buffers.describe(talk)).err(),
        Form::Nonblocking => {
            let mut request = begin(comm, |talk| buffers.describe(talk)).expect("a request");
            heddle_p2p::wait(&mut request).expect("a request").error
        }
        Form::Persistent => {
            let mut request = init(comm, |talk| buffers.describe(talk)).expect("a request");
            heddle_p2p::start(request).expect("a start");
            let error = heddle_p2p::wait(&mut request).expect("a request").error;
            heddle_p2p::free(&mut request).expect("an inactive request");
            error
        }
    };
    if error.is_some() {
        trial.fails.fetch_add(1, Ordering::Relaxed);
    }
    // Whatever becomes of them, they end.
    for _ in 0..2 {
        let _ = run(comm, barrier);
        let mut buffers = Buffers::new(it.kind, case(3));
        let _ = run(comm, |talk| buffers.describe(talk));
    }
    if let Ok(mut request) = begin(comm, barrier) {
        let _ = heddle_p2p::wait(&mut request);
    }
}

/// All cases of a job.
fn cases(size: usize, with_blackboard: bool) -> impl Iterator<Item = Disagreement> {
    let before = if with_blackboard { vec![0, 3] } else { vec![0] };
    let forms = [Form::Blocking, Form::Nonblocking, Form::Persistent];
    let ranks = move || [0, size / 2, size - 1].into_iter();
    let lengths = || LENGTHS.into_iter().flat_map(|one| LENGTHS.into_iter().map(move |other| (one, other)));
    KINDS.into_iter().flat_map(move |kind| {
        let before = before.clone();
        forms.into_iter().flat_map(move |form| {
            let before = before.clone();
            lengths().filter(|(one, other)| one != other).flat_map(move |lengths| {
                let before = before.clone();
                ranks().flat_map(move |who| {
                    let before = before.clone();
                    [0, size - 1].into_iter().flat_map(move |root| {
                        before.clone().into_iter().map(move |before| Disagreement {
                            kind,
                            form,
                            lengths,
                            who,
                            root,
                            before,
                        })
                    })
                })
            })
        })
    })
}

fn number_in(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn check(size: usize, with_blackboard: bool) {
    let share = number_in("HEDDLE_TEST_SHARE", SHARE);
    let seed = number_in("HEDDLE_TEST_SEED", u64::from(std::process::id()));
    eprintln!("HEDDLE_TEST_SEED={seed}");
    let is_drawn = |(number, _): &(u64, Disagreement)| {
        (number.wrapping_add(seed)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33 < (1 << 31) / share
    };
    let cases: Vec<_> = (0..).zip(cases(size, with_blackboard)).filter(is_drawn).collect();
    let trial = Trial {
        fails: AtomicU32::new(0),
        now: Mutex::new((Instant::now(), String::new())),
        is_over: AtomicBool::new(false),
    };
    let ranks = Ranks::new(size as u32).with(|settings| {
        crate::within_reach(&mut settings.collectives);
        settings.blackboards = with_blackboard;
    });
    std::thread::scope(|scope| {
        scope.spawn(|| trial.watch());
        ranks.run(|rank| {
            for (number, case) in &cases {
                if rank == 0 {
                    trial.fails.store(0, Ordering::Relaxed);
                    let what = format!("{size} ranks, {case:?}");
                    if std::env::var_os("HEDDLE_TEST_VERBOSE").is_some() {
                        eprintln!("{number}: {what}");
                    }
                    *trial.now.lock().expect("no panic") = (Instant::now(), what);
                }
                let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
                run(&world, barrier).expect("a barrier");
                let comm = communicator(*number, size);
                disagree(rank, size, &comm, case, &trial);
                run(&world, barrier).expect("a barrier");
                if rank == 0 {
                    let fails = trial.fails.load(Ordering::Relaxed);
                    assert!(
                        fails != 0 || may_go_unnoticed(size, case),
                        "no rank has an error: {size} ranks, {case:?}"
                    );
                }
            }
        });
        trial.is_over.store(true, Ordering::Relaxed);
    });
}

/// Ranks may give less than is expected of them, and only the root counts what others give. One of two ranks
/// that expects nothing does not wait for the other.
fn may_go_unnoticed(size: usize, case: &Disagreement) -> bool {
    let expects_nothing = case.lengths.0 == 0 || case.lengths.1 == 0;
    let is_by_giver =
        matches!(case.kind, Kind::Plain(Operation::Scatter | Operation::Alltoall) | Kind::Alltoallv);
    size == 2 && expects_nothing && is_by_giver
        || matches!(case.kind, Kind::Plain(Operation::Gather) | Kind::Gatherv | Kind::Scatterv)
}

#[test]
fn of_two_ranks() {
    check(2, true);
}

#[test]
fn of_two_ranks_by_messages() {
    check(2, false);
}

#[test]
fn of_three_ranks() {
    check(3, true);
}

#[test]
fn of_three_ranks_by_messages() {
    check(3, false);
}

#[test]
fn of_four_ranks() {
    check(4, true);
}

#[test]
fn of_seven_ranks() {
    check(7, true);
}

#[test]
fn of_seven_ranks_by_messages() {
    check(7, false);
}

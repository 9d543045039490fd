//! The options of a lock, and that all processes give the same.

use crate::error::{Failure, Status};
use crate::kind::{Kind, NAMES};
use crate::mpi::Group;
use crate::topology::{self, TopologySource};
use heddle_c_interface::pointer;
use heddle_rma_locks::AdaptiveRw;
use std::ffi::c_char;

/// How a lock is made. A structure of zeros stands for the defaults, and so does 0 for each number.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// A heddle_rma_topology; the default is HEDDLE_RMA_TOPOLOGY_FLAT. For `rma-rw`, `rma-mcs` and `adaptive`
    /// alone.
    pub topology: i32,
    /// For HEDDLE_RMA_TOPOLOGY_GIVEN: the number of levels below the whole machine, 1 to 16.
    pub levels: i32,
    /// For HEDDLE_RMA_TOPOLOGY_GIVEN: for each of these levels, from the largest elements to the smallest,
    /// any number that names the element of the calling process. Processes that name it alike, and are in
    /// one element of the level above, are in one element.
    pub elements: *const i32,
    /// For each level below the whole machine (one for HEDDLE_RMA_TOPOLOGY_SHARED): how many times in a row
    /// writers pass the lock on within an element (the paper's T_L,i); `adaptive` chooses it up to this. Null
    /// or 0: 16, for `adaptive` 50.
    pub locality: *const u64,
    /// For `rma-rw` and `adaptive`: how many times in a row the lock is passed on between the largest
    /// elements (with one level, between processes) before readers that wait have their turn; `adaptive`
    /// chooses it up to this. 0: 16, for `adaptive` 100.
    pub writers: u64,
    /// For `rma-rw`: for how many readers of its counter a writer that was passed the lock waits, a while at
    /// most, before it ends the readers' turn (the paper's T_R). 0: for none.
    pub readers: u64,
    /// For `rma-rw` and `adaptive`: the number of processes that share a counter of readers (the paper's
    /// T_DC). 1 makes reading cheapest, the number of processes makes writing cheapest; `adaptive` chooses
    /// from this up. 0: 16, for `adaptive` 1.
    pub counter_distance: i32,
    /// For `spin`, `rw` and `queue-rw`: the process that keeps the word of the lock.
    pub home: i32,
    /// For `adaptive`: how many writers may enter between two turns of the readers, on average. 0: four for
    /// each process.
    pub patience: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            topology: 0,
            levels: 0,
            elements: std::ptr::null(),
            locality: std::ptr::null(),
            writers: 0,
            readers: 0,
            counter_distance: 0,
            home: 0,
            patience: 0,
        }
    }
}

/// What 0 stands for.
struct Usual {
    locality: u64,
    writers: u64,
    counter_distance: u64,
}

fn usual(kind: Kind) -> Usual {
    match kind {
        Kind::Adaptive => Usual {
            locality: AdaptiveRw::LOCALITY,
            writers: AdaptiveRw::WRITERS,
            counter_distance: AdaptiveRw::COUNTER_DISTANCE as u64,
        },
        _ => Usual { locality: 16, writers: 16, counter_distance: 16 },
    }
}

/// More levels than any machine has.
const MOST_LEVELS: i32 = 16;

/// Checked options, and the kind.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) kind: Kind,
    pub(crate) writers: u64,
    pub(crate) readers: u64,
    pub(crate) counter_distance: usize,
    pub(crate) home: usize,
    pub(crate) patience: u64,
    topology: TopologySource,
    /// For each level below the whole machine: the caller's name of the element that this process is in.
    elements: Vec<i64>,
    locality: Vec<u64>,
}

fn wrong(words: impl Into<String>) -> Failure {
    Failure::new(Status::WrongArgument, words)
}

fn number(value: u64, usual: u64, name: &str) -> Result<u64, Failure> {
    match value {
        0 => Ok(usual),
        1..=0x7fff_ffff => Ok(value),
        _ => Err(wrong(format!("{name} is {value}, but the most is 2147483647"))),
    }
}

impl Settings {
    /// Reads what the caller of `heddle_rma_lock_create` gave.
    ///
    /// # Safety
    ///
    /// `kind` is null or a string; `options` is null or points to options, whose pointers are null or point
    /// to one value for each level.
    pub(crate) unsafe fn read(
        kind: *const c_char,
        options: *const Options,
        processes: usize,
    ) -> Result<Settings, Failure> {
        // SAFETY: the caller's promise.
        let name = unsafe { pointer::name(kind) }?;
        let unknown = || {
            let known = NAMES.to_string_lossy().replace(' ', ", ");
            Failure::new(Status::UnknownKind, format!("there is no lock {name:?}; there are {known}"))
        };
        let kind = Kind::named(&name).ok_or_else(unknown)?;
        // SAFETY: the caller's promise.
        let options = unsafe { pointer::value(options) }.unwrap_or_default();
        let (topology, levels) = match options.topology {
            0 => (TopologySource::Flat, 0),
            1 => (TopologySource::Shared, 1),
            2 => (TopologySource::Given, options.levels),
            other => return Err(wrong(format!("{other} is no heddle_rma_topology"))),
        };
        if topology == TopologySource::Given && !(1..=MOST_LEVELS).contains(&levels) {
            return Err(wrong(format!(
                "{levels} levels below the whole machine; 1 to {MOST_LEVELS} may be given"
            )));
        }
        let levels = levels as usize;
        let elements = match topology {
            // SAFETY: the caller's promise.
            TopologySource::Given => unsafe { pointer::values(options.elements, levels, "elements") }?,
            TopologySource::Flat | TopologySource::Shared => Vec::new(),
        };
        let usual = usual(kind);
        let locality = if options.locality.is_null() {
            vec![usual.locality; levels]
        } else {
            // SAFETY: the caller's promise.
            let given = unsafe { pointer::values(options.locality, levels, "locality") }?;
            given
                .into_iter()
                .map(|value| number(value, usual.locality, "locality"))
                .collect::<Result<_, _>>()?
        };
        let distance = u64::try_from(options.counter_distance)
            .map_err(|_| wrong(format!("counter_distance is {}", options.counter_distance)))?;
        let home = usize::try_from(options.home).ok().filter(|home| *home < processes);
        let no_home = || wrong(format!("home is {}, of {processes} processes", options.home));
        Ok(Settings {
            kind,
            writers: number(options.writers, usual.writers, "writers")?,
            readers: number(options.readers, 0, "readers")?,
            counter_distance: number(distance, usual.counter_distance, "counter_distance")? as usize,
            home: home.ok_or_else(no_home)?,
            patience: number(options.patience, 0, "patience")?,
            topology,
            elements: elements.into_iter().map(i64::from).collect(),
            locality,
        })
    }

    /// The thresholds of a lock with `levels` levels, for all but the whole machine.
    pub(crate) fn locality(&self, levels: usize) -> Vec<u64> {
        self.locality[..levels - 1].to_vec()
    }

    /// The settings that have to be the same in all processes, as numbers.
    fn record(&self) -> Record {
        [
            1 + self.kind as i64,
            self.writers as i64,
            self.readers as i64,
            self.counter_distance as i64,
            self.home as i64,
            self.patience as i64,
            self.topology as i64,
            self.locality.len() as i64,
        ]
    }

    /// The elements of all processes, level by level from the whole machine on.
    pub(crate) fn elements_of_all(&self, group: &Group) -> Result<Vec<Vec<usize>>, Failure> {
        match self.topology {
            TopologySource::Shared if self.kind.has_levels() => topology::machines(group),
            TopologySource::Given if self.kind.has_levels() => topology::elements(group, &self.elements),
            _ => topology::elements(group, &[]),
        }
    }
}

/// The settings that have to be the same in all processes.
type Record = [i64; 8];

/// The record of a process whose arguments are wrong.
const WRONG: Record = [0; 8];

/// Tells all processes of the outcome of all. If one has failed, or has other settings, all fail.
pub(crate) fn agree(group: &Group, mine: Result<Settings, Failure>) -> Result<Settings, Failure> {
    let record = mine.as_ref().map_or(WRONG, Settings::record);
    let all = group.all(&record)?;
    let mine = mine?;
    let disagreement = |words: String| Err(Failure::new(Status::Disagreement, words));
    if let Some(p) = all.iter().position(|other| *other == WRONG) {
        return disagreement(format!("the call failed in process {p}"));
    }
    if let Some(p) = all.iter().position(|other| *other != record) {
        return disagreement(format!("process {p} gave another kind or other options"));
    }
    if !mine.locality.is_empty() {
        let locality: Vec<i64> = mine.locality.iter().map(|value| *value as i64).collect();
        if let Some(p) = group.all(&locality)?.iter().position(|other| *other != locality) {
            return disagreement(format!("process {p} gave another locality"));
        }
    }
    Ok(mine)
}

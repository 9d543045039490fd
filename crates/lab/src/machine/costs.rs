//! The price of each part of a machine, in picoseconds.

/// In what a cost is written: in the text of a machine, and in documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// Nanoseconds, with up to three decimals.
    Nanoseconds,
    /// Ticks of the time-stamp counter in a microsecond.
    Ticks,
    /// Lines of 64 bytes.
    Lines,
    /// Instructions.
    Instructions,
}

/// A cost as a person reads and writes it.
#[derive(Debug)]
pub(super) struct Row {
    /// The field's name.
    pub(super) name: &'static str,
    /// The field's comment, with the space before it.
    pub(super) meaning: &'static str,
    /// The unit in which it is written.
    pub(super) measure: Measure,
    /// The least value of the field that makes sense: no time for an instruction would stop the clock.
    pub(super) least: u64,
    /// The field of some costs.
    pub(super) get: fn(&Costs) -> u64,
    /// The field, to be changed.
    pub(super) get_mut: fn(&mut Costs) -> &mut u64,
}

/// Makes [`Costs`] of rows, `/// MEANING` and `NAME: MEASURE >= LEAST`, and [`ROWS`] in the same order.
macro_rules! costs {
    ($(#[doc = $meaning:literal] $name:ident: $measure:ident >= $least:literal,)*) => {
        /// Costs in picoseconds of virtual time, and sizes of caches in lines of 64 bytes.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Costs {
            $(#[doc = $meaning] pub $name: u64,)*
        }

        /// The costs, in the order of the fields.
        pub(super) const ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            meaning: $meaning,
            measure: Measure::$measure,
            least: $least,
            get: |costs| costs.$name,
            get_mut: |costs| &mut costs.$name,
        },)*];
    };
}

costs! {
    /// An instruction that neither misses nor is locked.
    instruction: Nanoseconds >= 1,
    /// Instructions that may be under way behind a load that has missed.
    window: Instructions >= 1,
    /// A locked instruction or fence, once the store buffer is empty, beside the transfer of its line.
    locked: Nanoseconds >= 0,
    /// `pause`.
    pause: Nanoseconds >= 0,
    /// `rdtsc`.
    timestamp: Nanoseconds >= 0,
    /// Ticks of the time-stamp counter in a microsecond.
    ticks: Ticks >= 1,
    /// A line of the core's own that its nearest cache has forgotten.
    own: Nanoseconds >= 0,
    /// A line that a core of the same cluster has written.
    cluster: Nanoseconds >= 0,
    /// A line that a core of the same socket has written.
    socket: Nanoseconds >= 0,
    /// A line that a core of another socket has written.
    far: Nanoseconds >= 0,
    /// A clean line that the last-level cache of the cluster has.
    clean: Nanoseconds >= 0,
    /// A line from memory.
    memory: Nanoseconds >= 0,
    /// A line after the one fetched last, which the prefetcher has brought near, from a cache or memory.
    stream: Nanoseconds >= 0,
    /// How long a read of a clean line keeps it from the next reader.
    occupied: Nanoseconds >= 0,
    /// How long a line stays where a locked instruction has brought it.
    held: Nanoseconds >= 0,
    /// Lines that a core's own caches hold.
    core_lines: Lines >= 1,
    /// Lines that the last-level cache of a cluster holds.
    cluster_lines: Lines >= 1,
    /// A system call that does nothing.
    system_call: Nanoseconds >= 0,
    /// `clock_gettime` without a system call.
    clock: Nanoseconds >= 0,
    /// What a wake-up costs the thread that wakes another.
    wake: Nanoseconds >= 0,
    /// From a wake-up until the woken thread runs on an idle core.
    awake: Nanoseconds >= 0,
    /// A core's change from one thread to another.
    switch: Nanoseconds >= 0,
    /// How long a thread runs while others wait for its core.
    slice: Nanoseconds >= 1,
    /// `sched_yield` when nobody waits for the core.
    yielded: Nanoseconds >= 0,
    /// From `clone` until the new thread runs.
    thread: Nanoseconds >= 0,
    /// `membarrier`: what the caller pays.
    barrier: Nanoseconds >= 0,
    /// `membarrier`: what each core pays that runs a thread of the process.
    interrupted: Nanoseconds >= 0,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    #[test]
    fn a_row_leads_to_its_field() {
        let mut costs = Machine::parse("here-2").expect("a name").costs;
        for (number, row) in ROWS.iter().enumerate() {
            *(row.get_mut)(&mut costs) = 1000 + number as u64;
        }
        assert_eq!((costs.instruction, costs.locked, costs.interrupted), (1000, 1002, 1026));
        for (number, row) in ROWS.iter().enumerate() {
            assert_eq!((row.get)(&costs), 1000 + number as u64, "{}", row.name);
        }
        assert_eq!(size_of::<Costs>(), ROWS.len() * size_of::<u64>());
    }
}

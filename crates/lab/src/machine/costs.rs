//! What the parts of a machine cost, in picoseconds.

/// Costs in picoseconds of virtual time, and sizes of caches in lines of 64 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// An instruction that neither misses nor is locked.
    pub instruction: u64,
    /// A locked instruction or fence, once the store buffer is empty, beside the transfer of its line.
    pub locked: u64,
    /// `pause`.
    pub pause: u64,
    /// `rdtsc`.
    pub timestamp: u64,
    /// Ticks of the time-stamp counter in a microsecond.
    pub ticks: u64,
    /// A line of the core's own that its nearest cache has forgotten.
    pub own: u64,
    /// A line that a core of the same cluster has written.
    pub cluster: u64,
    /// A line that a core of the same socket has written.
    pub socket: u64,
    /// A line that a core of another socket has written.
    pub far: u64,
    /// A clean line that the last-level cache of the cluster has.
    pub clean: u64,
    /// A line from memory.
    pub memory: u64,
    /// A line that follows the one fetched last, which the prefetcher has brought near, from another cache or memory.
    pub stream: u64,
    /// How long a read of a clean line keeps it from the next reader.
    pub occupied: u64,
    /// How long a line stays where a locked instruction or a store has brought it.
    pub held: u64,
    /// Lines that a core's own caches hold.
    pub core_lines: u64,
    /// Lines that the last-level cache of a cluster holds.
    pub cluster_lines: u64,
    /// A system call that does nothing.
    pub system_call: u64,
    /// `clock_gettime` without a system call.
    pub clock: u64,
    /// What a wake-up costs the thread that wakes another.
    pub wake: u64,
    /// From a wake-up until the woken thread runs on an idle core.
    pub awake: u64,
    /// A core's change from one thread to another.
    pub switch: u64,
    /// How long a thread runs while others wait for its core.
    pub slice: u64,
    /// `sched_yield` when nobody waits for the core.
    pub yielded: u64,
    /// From `clone` until the new thread runs.
    pub thread: u64,
    /// `membarrier`: what the caller pays.
    pub barrier: u64,
    /// `membarrier`: what each core pays that runs a thread of the process.
    pub interrupted: u64,
}

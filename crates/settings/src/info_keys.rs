//! The info keys of communicators, windows and sessions that Heddle knows (MPI 5.0, sections 7.4.4, 12.2.1
//! and 11.3.1, and its own).

/// The key that names a VNI.
pub const VNI: &str = "heddle_vni";
/// The promise that no receive or probe uses `MPI_ANY_TAG`.
pub const NO_ANY_TAG: &str = "mpi_assert_no_any_tag";
/// The promise that no receive or probe uses `MPI_ANY_SOURCE`.
pub const NO_ANY_SOURCE: &str = "mpi_assert_no_any_source";
/// The promise that a receive's buffer is exactly filled.
pub const EXACT_LENGTH: &str = "mpi_assert_exact_length";
/// The permission to match messages out of order.
pub const ALLOW_OVERTAKING: &str = "mpi_assert_allow_overtaking";
/// The promise that all processes start persistent collective operations in one order.
pub const STRICT_ORDERING: &str = "mpi_assert_strict_persistent_collective_ordering";

/// The kinds of memory that an object takes.
pub const MEMORY_KINDS: &str = "mpi_memory_alloc_kinds";
/// The promise that all buffers are in memory of some kinds.
pub const ASSERT_MEMORY_KINDS: &str = "mpi_assert_memory_alloc_kinds";

/// The promise that no target of a window is locked.
pub const NO_LOCKS: &str = "no_locks";
/// The order of accumulates that a program needs.
pub const ACCUMULATE_ORDERING: &str = "accumulate_ordering";
/// The operators that a program combines on the same data.
pub const ACCUMULATE_OPS: &str = "accumulate_ops";
/// The size in bytes of the pieces in which a program wants accumulates to be atomic.
pub const ACCUMULATE_GRANULARITY: &str = "mpi_accumulate_granularity";
/// The promise that all processes give a window the same amount of memory.
pub const SAME_SIZE: &str = "same_size";
/// The promise that all processes have one displacement unit.
pub const SAME_DISP_UNIT: &str = "same_disp_unit";
/// The permission to place shared memory of different processes apart.
pub const ALLOC_SHARED_NONCONTIG: &str = "alloc_shared_noncontig";
/// The alignment of allocated memory.
pub const MEMORY_ALIGNMENT: &str = "mpi_minimum_memory_alignment";
/// The algorithm of window locks.
pub const WIN_LOCK: &str = "heddle_win_lock";
/// How many processes share a counter of readers.
pub const WIN_LOCK_COUNTER_DISTANCE: &str = "heddle_win_lock_counter_distance";
/// The counters of readers of window locks.
pub const WIN_LOCK_COUNTERS: &str = "heddle_win_lock_counters";
/// How many times in a row a lock is passed on within an element of the machine.
pub const WIN_LOCK_LOCALITY: &str = "heddle_win_lock_locality";
/// The levels of the trees of window locks.
pub const WIN_LOCK_LEVELS: &str = "heddle_win_lock_levels";
/// How many writers may follow each other before waiting readers have their turn.
pub const WIN_LOCK_WRITERS: &str = "heddle_win_lock_writers";
/// For how many readers a writer waits before it takes the lock back.
pub const WIN_LOCK_READERS: &str = "heddle_win_lock_readers";
/// How many writers may enter between two turns of the readers, on average.
pub const WIN_LOCK_PATIENCE: &str = "heddle_win_lock_patience";
/// How many processes may enter past those that wait in a queue.
pub const WIN_LOCK_BYPASSES: &str = "heddle_win_lock_bypasses";

/// The thread level that a program wants for a session, and the one that it gets.
pub const THREAD_LEVEL: &str = "thread_level";

/// An info key.
#[derive(Debug)]
pub struct InfoKey {
    /// The key.
    pub name: &'static str,
    /// The allowed values, in words.
    pub values: &'static str,
    /// Its effect.
    pub meaning: &'static str,
}

/// The keys for a program that makes a communicator with an info object.
pub const INFO_KEYS: &[InfoKey] = &[
    InfoKey {
        name: VNI,
        values: "a number below HEDDLE_VNIS; default",
        meaning: "all messages of the communicator take this VNI",
    },
    InfoKey {
        name: NO_ANY_TAG,
        values: "true, false",
        meaning: "messages are sharded over the VNIs by tag; MPI_ANY_TAG is refused with MPI_ERR_TAG",
    },
    InfoKey {
        name: NO_ANY_SOURCE,
        values: "true, false",
        meaning: "messages are sharded over the VNIs by the sender's rank; MPI_ANY_SOURCE is refused with MPI_ERR_RANK",
    },
    InfoKey { name: EXACT_LENGTH, values: "true, false", meaning: "none: accepted, and without a cost" },
    InfoKey { name: ALLOW_OVERTAKING, values: "true, false", meaning: "none: accepted, and without a cost" },
    InfoKey {
        name: STRICT_ORDERING,
        values: "true, false",
        meaning: "none: accepted; persistent collective operations may be started in any order",
    },
    ASSERTED_KINDS,
];

/// The same for communicators and windows.
const ASSERTED_KINDS: InfoKey = InfoKey {
    name: ASSERT_MEMORY_KINDS,
    values: "a list of system, mpi, mpi:alloc_mem, mpi:win_allocate, mpi:win_allocate_shared",
    meaning: "mpi_memory_alloc_kinds lists these kinds alone, except on MPI_COMM_WORLD and MPI_COMM_SELF; buffers in other memory work, too",
};

/// The keys for a program that makes a session with an info object.
pub const SESSION_KEYS: &[InfoKey] = &[
    InfoKey {
        name: THREAD_LEVEL,
        values: "MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE",
        meaning: "the wanted thread level; MPI_Session_get_info has the level in use, which is MPI_THREAD_MULTIPLE, or that of \
                  MPI_Init if it was called before any session was made",
    },
    InfoKey {
        name: MEMORY_KINDS,
        values: "a list of kinds of memory",
        meaning: "kinds that are wanted; MPI_Session_get_info has the supported ones: system, mpi, mpi:alloc_mem, mpi:win_allocate, \
                  mpi:win_allocate_shared",
    },
];

/// The keys for a program that makes a window with an info object.
pub const WINDOW_KEYS: &[InfoKey] = &[
    InfoKey {
        name: WIN_LOCK,
        values: "queue-rw, rma-rw, rma-mcs, d-mcs, spin, rw, adaptive",
        meaning: "the algorithm of the window's locks; rank 0's value counts; without it that of HEDDLE_WIN_LOCK",
    },
    InfoKey {
        name: WIN_LOCK_COUNTER_DISTANCE,
        values: "a number from 1; 16, under adaptive 1",
        meaning: "under rma-rw and adaptive, how many processes share a counter of readers (T_DC of the paper); adaptive may use fewer of \
                  these counters",
    },
    InfoKey {
        name: WIN_LOCK_COUNTERS,
        values: "told by MPI_Win_get_info",
        meaning: "the counters of readers of rma-rw and adaptive; 0 under the other algorithms, which have none",
    },
    InfoKey {
        name: WIN_LOCK_LOCALITY,
        values: "a number from 1; 16, under adaptive 50",
        meaning: "under rma-rw and rma-mcs, how many times in a row the lock is passed on within a package, NUMA node or shared cache \
                  (T_L,i of the paper); under adaptive, at most",
    },
    InfoKey {
        name: WIN_LOCK_LEVELS,
        values: "told by MPI_Win_get_info",
        meaning: "the levels of the trees of rma-rw, rma-mcs and adaptive: the machine, and those packages, NUMA nodes and shared caches \
                  that every process is bound to; under adaptive the two largest of these",
    },
    InfoKey {
        name: WIN_LOCK_WRITERS,
        values: "a number from 1; 16, under adaptive 100",
        meaning: "under rma-rw, how many writers may follow each other before waiting readers have their turn (T_L,1 of the paper); under \
                  adaptive, at most",
    },
    InfoKey {
        name: WIN_LOCK_READERS,
        values: "a number from 0; 0",
        meaning: "under rma-rw, for how many readers of its counter a writer waits, a while at most, before it ends their turn (T_R of the \
                  paper); 0: for none",
    },
    InfoKey {
        name: WIN_LOCK_PATIENCE,
        values: "a number from 0; 0",
        meaning: "under adaptive, how many writers may enter between two turns of the readers, on average; 0: four for each process",
    },
    InfoKey {
        name: WIN_LOCK_BYPASSES,
        values: "a number from 0; 1000",
        meaning: "under rma-rw, rma-mcs and d-mcs, how many processes may enter past those that wait, between two of the queue; 0: strict order, as in the paper; rank 0's value counts; without it that of HEDDLE_WIN_LOCK_BYPASSES",
    },
    InfoKey {
        name: NO_LOCKS,
        values: "true, false",
        meaning: "the window is not locked; MPI_Win_lock and MPI_Win_lock_all are refused with MPI_ERR_RMA_SYNC",
    },
    InfoKey {
        name: ALLOC_SHARED_NONCONTIG,
        values: "true, false",
        meaning: "each process allocates its part of MPI_Win_allocate_shared by itself; rank 0's value counts",
    },
    InfoKey {
        name: MEMORY_ALIGNMENT,
        values: "a power of two; 64",
        meaning: "the alignment in bytes of memory that the window allocates; also for MPI_Alloc_mem",
    },
    InfoKey {
        name: ACCUMULATE_ORDERING,
        values: "none, or a list of rar, raw, war, waw",
        meaning: "none: accumulates are always in order",
    },
    InfoKey {
        name: ACCUMULATE_OPS,
        values: "same_op, same_op_no_op",
        meaning: "none: any operators may meet",
    },
    InfoKey {
        name: ACCUMULATE_GRANULARITY,
        values: "a number from 0; 0",
        meaning: "how accumulates of the window are made on one machine: 0, as their lengths suggest; 1 to 8, each element of up to 8 bytes by a processor atomic, which short ones want; from 9 on, so many bytes at a time under a lock of the target, which long ones want; counts when the window is made; rank 0's value counts; without it that of HEDDLE_ACCUMULATE_GRANULARITY",
    },
    InfoKey { name: SAME_SIZE, values: "true, false", meaning: "none: accepted, and without a cost" },
    InfoKey { name: SAME_DISP_UNIT, values: "true, false", meaning: "none: accepted, and without a cost" },
    ASSERTED_KINDS,
];

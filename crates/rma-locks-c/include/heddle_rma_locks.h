/* Distributed locks over remote memory access for C programs with MPI.
 *
 * Made by cbindgen from crates/rma-locks-c; change it there.
 *
 * MPI: any library with the standard ABI of MPI 5.0. A lock is a window with a few words at each process. A
 * process that waits calls MPI again and again, at first at once, then with yields and short sleeps in
 * between. Whether others can take a lock while a process that keeps its words computes is up to the MPI
 * library (progress of passive targets); Heddle needs no call by that process.
 *
 * Threads: with MPI_THREAD_MULTIPLE every function may be called by any number of threads at once, on the
 * same handle too, except for heddle_rma_lock_free, whose handle no other thread may use. To other processes
 * this process is one participant: threads that want to write wait for each other in the process first.
 *
 * Errors: every function that can fail returns a heddle_rma_status; heddle_rma_last_error() gives the reason
 * in words. A null pointer where none is allowed is HEDDLE_RMA_STATUS_NULL_POINTER. A handle that was freed,
 * or that is no handle, is not recognised. Memory that is used up ends the program.
 *
 * Link with -lheddle_rma_locks and the MPI library: mpicc program.c -lheddle_rma_locks; statically with the
 * output of `pkg-config --static --libs heddle_rma_locks`.
 *
 *     heddle_rma_lock *lock;
 *     if (heddle_rma_lock_create(MPI_COMM_WORLD, "rma-rw", NULL, &lock) != HEDDLE_RMA_STATUS_OK)
 *         die(heddle_rma_last_error());
 *     heddle_rma_lock_acquire_write(lock);
 *     ... MPI_Put(.., window); MPI_Win_flush(.., window);
 *     heddle_rma_lock_release_write(lock);
 *     heddle_rma_lock_free(lock);
 */

#ifndef HEDDLE_RMA_LOCKS_H
#define HEDDLE_RMA_LOCKS_H

#include <mpi.h>
#include <stdint.h>

/*
 The outcome of a call.
 */
typedef enum {
    /*
     Success.
     */
    HEDDLE_RMA_STATUS_OK = 0,
    /*
     The lock is not free; nothing was done.
     */
    HEDDLE_RMA_STATUS_BUSY = 1,
    /*
     The time was over before the lock was the caller's.
     */
    HEDDLE_RMA_STATUS_TIMED_OUT = 2,
    /*
     A pointer that must not be null was null.
     */
    HEDDLE_RMA_STATUS_NULL_POINTER = 3,
    /*
     No kind has that name; heddle_rma_last_error() lists the names.
     */
    HEDDLE_RMA_STATUS_UNKNOWN_KIND = 4,
    /*
     An option, or the communicator, is not usable; heddle_rma_last_error() says which.
     */
    HEDDLE_RMA_STATUS_WRONG_ARGUMENT = 5,
    /*
     The processes gave different kinds or options, or the call failed in another process.
     */
    HEDDLE_RMA_STATUS_DISAGREEMENT = 6,
    /*
     The caller does not hold the lock in this way.
     */
    HEDDLE_RMA_STATUS_NOT_HOLDER = 7,
    /*
     The calling thread would wait for itself: it has the lock for writing.
     */
    HEDDLE_RMA_STATUS_WOULD_DEADLOCK = 8,
    /*
     This kind of lock cannot do that; heddle_rma_last_error() says which can.
     */
    HEDDLE_RMA_STATUS_NOT_SUPPORTED = 9,
    /*
     MPI is not initialised, or is finalised.
     */
    HEDDLE_RMA_STATUS_NOT_READY = 10,
    /*
     A function of MPI failed; heddle_rma_last_error() has its words.
     */
    HEDDLE_RMA_STATUS_MPI_FAILED = 11,
} heddle_rma_status;

/*
 Where a lock takes the levels of the machine from. Kinds other than `rma-rw`, `rma-mcs` and `adaptive`
 have one level.
 */
typedef enum {
    /*
     One level: all processes are alike.
     */
    HEDDLE_RMA_TOPOLOGY_FLAT = 0,
    /*
     Two levels: the processes that can share memory (`MPI_COMM_TYPE_SHARED`) are an element. One level, if
     there is one element.
     */
    HEDDLE_RMA_TOPOLOGY_SHARED = 1,
    /*
     The levels that the options give.
     */
    HEDDLE_RMA_TOPOLOGY_GIVEN = 2,
} heddle_rma_topology;

/*
 This process's handle of a lock that the processes of a communicator share. Any number of its threads may
 use it at once. It is not recursive.
 */
typedef struct heddle_rma_lock heddle_rma_lock;

/*
 How a lock is made. A structure of zeros stands for the defaults, and so does 0 for each number.
 */
typedef struct {
    /*
     A heddle_rma_topology; the default is HEDDLE_RMA_TOPOLOGY_FLAT. For `rma-rw`, `rma-mcs` and `adaptive`
     alone.
     */
    int32_t topology;
    /*
     For HEDDLE_RMA_TOPOLOGY_GIVEN: the number of levels below the whole machine, 1 to 16.
     */
    int32_t levels;
    /*
     For HEDDLE_RMA_TOPOLOGY_GIVEN: for each of these levels, from the largest elements to the smallest,
     any number that names the element of the calling process. Processes that name it alike, and are in
     one element of the level above, are in one element.
     */
    const int32_t *elements;
    /*
     For each level below the whole machine (one for HEDDLE_RMA_TOPOLOGY_SHARED): how many times in a row
     writers pass the lock on within an element (the paper's T_L,i); `adaptive` chooses it up to this. Null
     or 0: 16, for `adaptive` 50.
     */
    const uint64_t *locality;
    /*
     For `rma-rw` and `adaptive`: how many times in a row the lock is passed on between the largest
     elements (with one level, between processes) before readers that wait have their turn; `adaptive`
     chooses it up to this. 0: 16, for `adaptive` 100.
     */
    uint64_t writers;
    /*
     For `rma-rw`: for how many readers of its counter a writer that was passed the lock waits, a while at
     most, before it ends the readers' turn (the paper's T_R). 0: for none.
     */
    uint64_t readers;
    /*
     For `rma-rw` and `adaptive`: the number of processes that share a counter of readers (the paper's
     T_DC). 1 makes reading cheapest, the number of processes makes writing cheapest; `adaptive` chooses
     from this up. 0: 16, for `adaptive` 1.
     */
    int32_t counter_distance;
    /*
     For `spin`, `rw` and `queue-rw`: the process that keeps the word of the lock.
     */
    int32_t home;
    /*
     For `adaptive`: how many writers may enter between two turns of the readers, on average. 0: four for
     each process.
     */
    uint64_t patience;
} heddle_rma_lock_options;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The reason for this thread's last failed call, in a sentence; empty if none has failed.
 `HEDDLE_RMA_STATUS_BUSY` and `HEDDLE_RMA_STATUS_TIMED_OUT` are answers and do not change it. Never null.
 Valid until this thread's next failed call.
 */
const char *heddle_rma_last_error(void);

/*
 A status in a few words. Never null; for a number that is no status the text says so.
 */
const char *heddle_rma_status_text(int32_t status);

/*
 The names of all kinds of locks, separated by blanks.

 `rma-rw`: readers are counted at several processes and writers wait in a tree of queues, so that the lock
 stays within a part of the machine for a while; readers and writers have their turns. `rma-mcs`: the tree
 of queues alone. `d-mcs`: one queue, in order. `spin`: one word, not fair. `rw`: one word with a count of
 readers, who may keep writers out for ever. `queue-rw`: the same with a queue for those that wait.
 `adaptive`: as `rma-rw`, but it chooses the number of counters, and for how long the lock stays within a
 part of the machine and with writers, by the rate of acquisitions that it measures.

 In `rma-mcs`, `d-mcs` and `spin` a reader excludes other readers.
 */
const char *heddle_rma_lock_kinds(void);

/*
 Makes a free lock of the kind `kind` and stores it in `*lock`; on an error `*lock` becomes null.
 `options` may be null: then all are the defaults.

 Collective: all processes of `comm`, an intra-communicator, call it with the same kind and options
 (`elements` may differ). If one of them cannot, none gets a lock, and the others get
 `HEDDLE_RMA_STATUS_DISAGREEMENT`. It allocates a window of a few words at each process, so calls of it and
 of other collective functions on `comm` must come in the same order everywhere. `comm` may be freed
 afterwards. Failures of MPI in here go to the error handler of `comm`; a failure to reach the words later
 ends the job.

 The caller promises:

 `kind` is null or a string; `options` is null or points to options, whose pointers are null or have the
 number of values that is described there; `lock` is null or may be written.
 */
heddle_rma_status heddle_rma_lock_create(MPI_Comm comm,
                                         const char *kind,
                                         const heddle_rma_lock_options *options,
                                         heddle_rma_lock **lock);

/*
 Waits until the calling thread may write.

 The caller promises:

 `lock` is null or a lock that is not freed before the call returns.
 */
heddle_rma_status heddle_rma_lock_acquire_write(heddle_rma_lock *lock);

/*
 Takes the lock for writing if no process has it or waits in front of it, otherwise returns
 `HEDDLE_RMA_STATUS_BUSY`. All kinds can do that. An attempt may fail because of another one at the same
 time.

 The caller promises:

 The same as for `heddle_rma_lock_acquire_write`.
 */
heddle_rma_status heddle_rma_lock_try_acquire_write(heddle_rma_lock *lock);

/*
 Waits until the calling thread may write, or until `timeout_ns` nanoseconds are over (and up to 0.2
 milliseconds more): then it returns `HEDDLE_RMA_STATUS_TIMED_OUT`. It tries again and again, without a
 place in a queue, so under load it may fail where `heddle_rma_lock_acquire_write` would not wait long.
 `spin`, `rw` and `queue-rw` can do that; the others return `HEDDLE_RMA_STATUS_NOT_SUPPORTED`.

 The caller promises:

 The same as for `heddle_rma_lock_acquire_write`.
 */
heddle_rma_status heddle_rma_lock_acquire_write_timed(heddle_rma_lock *lock, uint64_t timeout_ns);

/*
 Ends the calling thread's writing. Returns `HEDDLE_RMA_STATUS_NOT_HOLDER` if it does not write; then
 nothing has changed. The process's accesses to other windows have to be complete before
 (`MPI_Win_flush`).

 The caller promises:

 The same as for `heddle_rma_lock_acquire_write`.
 */
heddle_rma_status heddle_rma_lock_release_write(heddle_rma_lock *lock);

/*
 Waits until the calling thread may read. A thread that reads must not acquire the lock again.

 The caller promises:

 The same as for `heddle_rma_lock_acquire_write`.
 */
heddle_rma_status heddle_rma_lock_acquire_read(heddle_rma_lock *lock);

/*
 Takes the lock for reading if that needs no waiting, otherwise returns `HEDDLE_RMA_STATUS_BUSY`. All kinds
 can do that.

 The caller promises:

 The same as for `heddle_rma_lock_acquire_write`.
 */
heddle_rma_status heddle_rma_lock_try_acquire_read(heddle_rma_lock *lock);

/*
 Waits until the calling thread may read, or until `timeout_ns` nanoseconds are over; as
 `heddle_rma_lock_acquire_write_timed`.

 The caller promises:

 The same as for `heddle_rma_lock_acquire_write`.
 */
heddle_rma_status heddle_rma_lock_acquire_read_timed(heddle_rma_lock *lock, uint64_t timeout_ns);

/*
 Ends the reading of a thread of this process. Returns `HEDDLE_RMA_STATUS_NOT_HOLDER` if none reads; then
 nothing has changed.

 The caller promises:

 The same as for `heddle_rma_lock_acquire_write`.
 */
heddle_rma_status heddle_rma_lock_release_read(heddle_rma_lock *lock);

/*
 Ends a lock; null is allowed. Collective: all processes that made it call it, before `MPI_Finalize`, when
 none uses it any more. If a thread of this process still has the lock, it returns
 `HEDDLE_RMA_STATUS_BUSY` and nothing has changed; the other processes wait until it is called again.

 The caller promises:

 `lock` is null or a lock that no thread of this process uses any more.
 */
heddle_rma_status heddle_rma_lock_free(heddle_rma_lock *lock);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HEDDLE_RMA_LOCKS_H */

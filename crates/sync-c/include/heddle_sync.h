/* The locks and the combining of Heddle for C.
 *
 * Made by cbindgen from crates/sync-c; change it there.
 *
 * Threads: every function may be called by any number of threads at once, on the same handle too, except
 * for the _destroy functions, whose handle no other thread may use. Processes: handles are for threads of
 * one process, and not for the child of a fork.
 *
 * Errors: every function that can fail returns a heddle_status; heddle_last_error() gives the reason in
 * words. A null pointer where none is allowed is HEDDLE_STATUS_NULL_POINTER. A handle that was destroyed, or
 * that is no handle, is not recognised. Memory that is used up ends the program.
 *
 * Link with -lheddle_sync; statically with the output of `pkg-config --static --libs heddle_sync`.
 *
 *     heddle_lock *lock;
 *     if (heddle_lock_create("mutex", &lock) != HEDDLE_STATUS_OK)
 *         die(heddle_last_error());
 *     heddle_lock_acquire(lock);
 *     ...
 *     heddle_lock_release(lock);
 *     heddle_lock_destroy(lock);
 */

#ifndef HEDDLE_SYNC_H
#define HEDDLE_SYNC_H

#include <stdbool.h>
#include <stdint.h>

/*
 The outcome of a call.
 */
typedef enum {
    /*
     Success.
     */
    HEDDLE_STATUS_OK = 0,
    /*
     The lock is not free, or combining is at work; nothing was done.
     */
    HEDDLE_STATUS_BUSY = 1,
    /*
     The time was over before the lock was the caller's.
     */
    HEDDLE_STATUS_TIMED_OUT = 2,
    /*
     A pointer that must not be null was null.
     */
    HEDDLE_STATUS_NULL_POINTER = 3,
    /*
     No kind has that name; heddle_last_error() lists the names.
     */
    HEDDLE_STATUS_UNKNOWN_KIND = 4,
    /*
     The calling thread does not hold the lock that it wants to release.
     */
    HEDDLE_STATUS_NOT_HOLDER = 5,
    /*
     The calling thread would wait for itself: it holds the lock, or runs an operation of the same
     combining.
     */
    HEDDLE_STATUS_WOULD_DEADLOCK = 6,
    /*
     This kind of lock cannot do that; heddle_last_error() says which can.
     */
    HEDDLE_STATUS_NOT_SUPPORTED = 7,
    /*
     The system could not start a thread.
     */
    HEDDLE_STATUS_NO_RESOURCES = 8,
} heddle_status;

/*
 Combining. Any number of threads may use it at once.
 */
typedef struct heddle_combine heddle_combine;

/*
 A lock. Any number of threads may use it at once; it is not recursive, and the thread that acquired it
 releases it.
 */
typedef struct heddle_lock heddle_lock;

/*
 The operation, called with the argument that was given for it. It may run in another thread than the one
 that called for it, and must return: no `longjmp`, no C++ exception, no end of the thread.
 */
typedef void (*heddle_operation)(void *argument);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The names of all kinds of combining, separated by blanks.

 `mutex`: the caller runs its operation under a lock. `dsm-synch`: the caller, or a thread
 before it in the queue. `lockq-X`: the caller if the lock X is free, else the lock's holder.
 `offload`: one dedicated thread.
 */
const char *heddle_combine_kinds(void);

/*
 Makes combining of the kind `kind` and stores it in `*combine`; on an error `*combine` becomes null.

 The caller promises:

 `kind` is null or a string; `combine` is null or may be written.
 */
heddle_status heddle_combine_create(const char *kind, heddle_combine **combine);

/*
 Has `operation(argument)` run, excluding all other operations of this combining, and returns when it has.
 Its writes are visible then, and to all operations after it. One thread's operations run in the order of
 its calls. Returns `HEDDLE_STATUS_WOULD_DEADLOCK` inside an operation of the same combining.

 The caller promises:

 `combine` is null or combining that is not destroyed before the call returns; `operation` may be called
 with `argument` in any thread.
 */
heddle_status heddle_combine_run(heddle_combine *combine, heddle_operation operation, void *argument);

/*
 Does the same as `heddle_combine_run`, but returns at once if the kind allows it (`lockq-X`,
 `offload`); the operation runs in bounded time, before `heddle_combine_destroy` returns at the
 latest. For these kinds an operation of the same combining may call it; for the others it then
 returns `HEDDLE_STATUS_WOULD_DEADLOCK`.

 The caller promises:

 The same as for `heddle_combine_run`, and `argument` stays valid until the operation has run.
 */
heddle_status heddle_combine_post(heddle_combine *combine, heddle_operation operation, void *argument);

/*
 Does the same as `heddle_combine_run` if no other thread is at it now, otherwise returns
 `HEDDLE_STATUS_BUSY` and runs nothing. Always busy for `offload`.

 The caller promises:

 The same as for `heddle_combine_run`.
 */
heddle_status heddle_combine_try_run(heddle_combine *combine, heddle_operation operation, void *argument);

/*
 Runs the operations that are still posted, and ends the combining; null is allowed. No call on it may be
 in progress in another thread, and none may follow. Inside one of its operations it returns
 `HEDDLE_STATUS_WOULD_DEADLOCK`, and the combining lives on.

 The caller promises:

 `combine` is null or combining that no thread uses any more.
 */
heddle_status heddle_combine_destroy(heddle_combine *combine);

/*
 The reason for this thread's last failed call, in a sentence; empty if none has failed.
 `HEDDLE_STATUS_BUSY` and `HEDDLE_STATUS_TIMED_OUT` are answers and do not change it. Never null. Valid
 until this thread's next failed call.
 */
const char *heddle_last_error(void);

/*
 A status in a few words. Never null; for a number that is no status the text says so.
 */
const char *heddle_status_text(int32_t status);

/*
 The names of all kinds of locks, separated by blanks.

 `mutex` is the right one without a reason for another. `biased-mutex` costs nearly nothing while one
 thread uses it, `core-biased-mutex` while only the threads of one core use it. `ticket`, `mcs`, `clh` and
 `abortable-mcs` serve in order, `hmcs` serves near threads first; in all of them a running thread may come
 again before the waiters, for 50 microseconds. `strict-X` is X without that exception, and slow with more
 threads than cores. `p-X-Y` has two classes: X is the lock of the class that goes first, Y of the class
 that stands back. Not all kinds can wait for a time.
 */
const char *heddle_lock_kinds(void);

/*
 Makes a free lock of the kind `kind` and stores it in `*lock`; on an error `*lock` becomes null.

 The caller promises:

 `kind` is null or a string; `lock` is null or may be written.
 */
heddle_status heddle_lock_create(const char *kind, heddle_lock **lock);

/*
 Waits until the lock is the caller's; in the class that goes first, if the kind has classes.

 The caller promises:

 `lock` is null or a lock that is not destroyed before the call returns.
 */
heddle_status heddle_lock_acquire(heddle_lock *lock);

/*
 Takes the lock if that needs no waiting, otherwise returns `HEDDLE_STATUS_BUSY`.

 The caller promises:

 The same as for `heddle_lock_acquire`.
 */
heddle_status heddle_lock_try_acquire(heddle_lock *lock);

/*
 Waits until the lock is the caller's, or until `timeout_ns` nanoseconds are over: then it returns
 `HEDDLE_STATUS_TIMED_OUT`. Not every kind can do that.

 The caller promises:

 The same as for `heddle_lock_acquire`.
 */
heddle_status heddle_lock_acquire_timed(heddle_lock *lock, uint64_t timeout_ns);

/*
 Does the same as `heddle_lock_acquire` in the class that stands back. For kinds without
 classes there is no difference.

 The caller promises:

 The same as for `heddle_lock_acquire`.
 */
heddle_status heddle_lock_acquire_low(heddle_lock *lock);

/*
 Does the same as `heddle_lock_try_acquire` in the class that stands back.

 The caller promises:

 The same as for `heddle_lock_acquire`.
 */
heddle_status heddle_lock_try_acquire_low(heddle_lock *lock);

/*
 Does the same as `heddle_lock_acquire_timed` in the class that stands back.

 The caller promises:

 The same as for `heddle_lock_acquire`.
 */
heddle_status heddle_lock_acquire_low_timed(heddle_lock *lock, uint64_t timeout_ns);

/*
 Gives the lock back. Returns `HEDDLE_STATUS_NOT_HOLDER` if the calling thread does not hold it;
 then nothing has changed.

 The caller promises:

 The same as for `heddle_lock_acquire`.
 */
heddle_status heddle_lock_release(heddle_lock *lock);

/*
 Returns true if a thread waits for the lock. For the holder, `true` is certain and `false` may overlook a
 thread; for other threads it is a hint. False for null.

 The caller promises:

 The same as for `heddle_lock_acquire`.
 */
bool heddle_lock_has_waiters(const heddle_lock *lock);

/*
 Ends a free lock; null is allowed. Returns `HEDDLE_STATUS_BUSY` if a thread holds it: then it lives on. No
 call on the lock, a release included, may be in progress in another thread, and none may follow.

 The caller promises:

 `lock` is null or a lock that no thread uses any more.
 */
heddle_status heddle_lock_destroy(heddle_lock *lock);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HEDDLE_SYNC_H */

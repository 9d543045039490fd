/* Every kind of lock by several threads, in both classes, by waiting, by trying and for a time: two counters that only a
 * holder may see differ. */
#include <heddle_sync.h>
#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { THREADS = 5, TURNS = 2000 };

static heddle_lock *lock;
static long left, right;

/* Acquires in one of six ways; returns whether the lock is the caller's. */
static int acquire(int way)
{
    heddle_status status;
    switch (way) {
    case 0: status = heddle_lock_acquire(lock); break;
    case 1: status = heddle_lock_acquire_low(lock); break;
    case 2: status = heddle_lock_try_acquire(lock); break;
    case 3: status = heddle_lock_try_acquire_low(lock); break;
    case 4: status = heddle_lock_acquire_timed(lock, 50000); break;
    default: status = heddle_lock_acquire_low_timed(lock, 50000); break;
    }
    if (status == HEDDLE_STATUS_NOT_SUPPORTED && way >= 4)
        return acquire(way - 4);
    if (status == HEDDLE_STATUS_OK)
        return 1;
    CHECK(way >= 2 && status == (way < 4 ? HEDDLE_STATUS_BUSY : HEDDLE_STATUS_TIMED_OUT));
    return 0;
}

static void *work(void *number)
{
    long own = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        if (!acquire((int)((turn + (long)number) % 6)))
            continue;
        CHECK(left == right);
        left++;
        if (turn % 97 == 0)
            sched_yield();
        right++;
        own++;
        CHECK(heddle_lock_release(lock) == HEDDLE_STATUS_OK);
    }
    return (void *)own;
}

static void one_kind(const char *kind)
{
    pthread_t threads[THREADS];
    long sum = 0;
    left = right = 0;
    CHECK(heddle_lock_create(kind, &lock) == HEDDLE_STATUS_OK);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *own;
        CHECK(pthread_join(threads[i], &own) == 0);
        sum += (long)own;
    }
    CHECK(left == sum && right == sum && sum >= THREADS * TURNS / 3);
    CHECK(!heddle_lock_has_waiters(lock));
    CHECK(heddle_lock_destroy(lock) == HEDDLE_STATUS_OK);
}

static int timed_kinds;

/* Waits for a time for a lock that is held all along. */
static void *wait_in_vain(void *argument)
{
    heddle_status status = heddle_lock_acquire_timed(lock, 2000000);
    (void)argument;
    CHECK(status == HEDDLE_STATUS_TIMED_OUT || status == HEDDLE_STATUS_NOT_SUPPORTED);
    if (status == HEDDLE_STATUS_NOT_SUPPORTED)
        CHECK(strstr(heddle_last_error(), "abortable-mcs") != NULL);
    timed_kinds += status == HEDDLE_STATUS_TIMED_OUT;
    return NULL;
}

static void time_out(const char *kind)
{
    pthread_t other;
    CHECK(heddle_lock_create(kind, &lock) == HEDDLE_STATUS_OK);
    CHECK(heddle_lock_acquire(lock) == HEDDLE_STATUS_OK);
    CHECK(pthread_create(&other, NULL, wait_in_vain, NULL) == 0);
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(heddle_lock_release(lock) == HEDDLE_STATUS_OK);
    CHECK(heddle_lock_try_acquire(lock) == HEDDLE_STATUS_OK);
    CHECK(heddle_lock_release(lock) == HEDDLE_STATUS_OK);
    CHECK(heddle_lock_destroy(lock) == HEDDLE_STATUS_OK);
}

int main(void)
{
    CHECK(for_each_name(heddle_lock_kinds(), one_kind) > 5);
    for_each_name(heddle_lock_kinds(), time_out);
    CHECK(timed_kinds >= 2);
    return 0;
}

/* Null pointers, unknown names and calls that do not fit: a status and words, never a crash. */
#include <heddle_sync.h>
#include <pthread.h>

#include "check.h"

static void nothing(void *argument)
{
    (void)argument;
}

static void null_pointers(void)
{
    heddle_lock *lock = (heddle_lock *)1;
    heddle_combine *combine = (heddle_combine *)1;
    CHECK(heddle_lock_create(NULL, &lock) == HEDDLE_STATUS_NULL_POINTER && lock == NULL);
    CHECK(heddle_lock_create("mutex", NULL) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(strstr(heddle_last_error(), "heddle_lock_create") != NULL);
    CHECK(heddle_lock_acquire(NULL) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(heddle_lock_try_acquire(NULL) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(heddle_lock_acquire_timed(NULL, 1) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(heddle_lock_acquire_low(NULL) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(heddle_lock_try_acquire_low(NULL) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(heddle_lock_acquire_low_timed(NULL, 1) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(heddle_lock_release(NULL) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(!heddle_lock_has_waiters(NULL));
    CHECK(heddle_lock_destroy(NULL) == HEDDLE_STATUS_OK);
    CHECK(heddle_combine_create(NULL, &combine) == HEDDLE_STATUS_NULL_POINTER && combine == NULL);
    CHECK(heddle_combine_create("mutex", NULL) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(heddle_combine_run(NULL, nothing, NULL) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(heddle_combine_post(NULL, nothing, NULL) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(heddle_combine_try_run(NULL, nothing, NULL) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(heddle_combine_destroy(NULL) == HEDDLE_STATUS_OK);
}

static void unknown_names(void)
{
    heddle_lock *lock;
    heddle_combine *combine;
    const char *wrong[] = {"", "mutexx", "MCS", "p-", "\xff\xfe", "%s%n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(heddle_lock_create(wrong[i], &lock) == HEDDLE_STATUS_UNKNOWN_KIND && lock == NULL);
        CHECK(strstr(heddle_last_error(), "there are mutex, biased-mutex") != NULL);
        CHECK(heddle_combine_create(wrong[i], &combine) == HEDDLE_STATUS_UNKNOWN_KIND && combine == NULL);
        CHECK(strstr(heddle_last_error(), "dsm-synch") != NULL);
    }
}

static void *release_from_elsewhere(void *lock)
{
    CHECK(heddle_lock_release(lock) == HEDDLE_STATUS_NOT_HOLDER);
    CHECK(heddle_lock_try_acquire(lock) == HEDDLE_STATUS_BUSY);
    CHECK(heddle_lock_destroy(lock) == HEDDLE_STATUS_BUSY);
    return NULL;
}

static void misuse(const char *kind)
{
    heddle_lock *lock;
    pthread_t other;
    CHECK(heddle_lock_create(kind, &lock) == HEDDLE_STATUS_OK && lock != NULL);
    CHECK(heddle_lock_release(lock) == HEDDLE_STATUS_NOT_HOLDER);
    CHECK(heddle_lock_acquire(lock) == HEDDLE_STATUS_OK);
    CHECK(heddle_lock_acquire(lock) == HEDDLE_STATUS_WOULD_DEADLOCK);
    CHECK(heddle_lock_acquire_low(lock) == HEDDLE_STATUS_WOULD_DEADLOCK);
    CHECK(heddle_lock_try_acquire(lock) == HEDDLE_STATUS_BUSY);
    CHECK(heddle_lock_destroy(lock) == HEDDLE_STATUS_BUSY);
    CHECK(pthread_create(&other, NULL, release_from_elsewhere, lock) == 0);
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(heddle_lock_release(lock) == HEDDLE_STATUS_OK);
    CHECK(heddle_lock_destroy(lock) == HEDDLE_STATUS_OK);
}

static heddle_combine *current;

static void calls_itself(void *argument)
{
    (void)argument;
    CHECK(heddle_combine_run(current, nothing, NULL) == HEDDLE_STATUS_WOULD_DEADLOCK);
    CHECK(heddle_combine_try_run(current, nothing, NULL) == HEDDLE_STATUS_WOULD_DEADLOCK);
    CHECK(heddle_combine_destroy(current) == HEDDLE_STATUS_WOULD_DEADLOCK);
}

static void misused_combining(const char *kind)
{
    CHECK(heddle_combine_create(kind, &current) == HEDDLE_STATUS_OK);
    CHECK(heddle_combine_run(current, NULL, NULL) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(heddle_combine_post(current, NULL, NULL) == HEDDLE_STATUS_NULL_POINTER);
    CHECK(heddle_combine_run(current, calls_itself, NULL) == HEDDLE_STATUS_OK);
    CHECK(heddle_combine_destroy(current) == HEDDLE_STATUS_OK);
}

int main(void)
{
    CHECK(strcmp(heddle_last_error(), "") == 0);
    null_pointers();
    unknown_names();
    CHECK(for_each_name(heddle_lock_kinds(), misuse) > 5);
    CHECK(for_each_name(heddle_combine_kinds(), misused_combining) > 2);
    CHECK(strcmp(heddle_status_text(HEDDLE_STATUS_TIMED_OUT), "timed out") == 0);
    CHECK(strcmp(heddle_status_text(4711), "not a status") == 0);
    return 0;
}

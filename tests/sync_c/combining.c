/* Every kind of combining: operations exclude each other, keep each thread's order, and none is lost. */
#include <heddle_sync.h>
#include <pthread.h>

#include "check.h"

enum { THREADS = 5, TURNS = 2000 };

static heddle_combine *combine;
static long entered, left, tried;

/* The operations that one thread has called for, and those of them that have run. */
struct history {
    struct operation { struct history *of; int number; } operations[TURNS];
    int ran;
};

static void next(void *argument)
{
    struct operation *operation = argument;
    CHECK(entered == left);
    entered++;
    CHECK(operation->of->ran == operation->number);
    operation->of->ran++;
    left++;
}

static void count_one(void *argument)
{
    CHECK(entered == left);
    (*(long *)argument)++;
}

static void *work(void *argument)
{
    struct history *history = argument;
    for (int i = 0; i < TURNS; i++) {
        struct operation *operation = &history->operations[i];
        *operation = (struct operation){history, i};
        if (i % 3 == 0) {
            CHECK(heddle_combine_run(combine, next, operation) == HEDDLE_STATUS_OK);
            CHECK(history->ran == i + 1);
        } else {
            CHECK(heddle_combine_post(combine, next, operation) == HEDDLE_STATUS_OK);
        }
        if (i % 7 == 0) {
            heddle_status status = heddle_combine_try_run(combine, count_one, &tried);
            CHECK(status == HEDDLE_STATUS_OK || status == HEDDLE_STATUS_BUSY);
        }
    }
    return NULL;
}

/* Posts one more from inside, if the kind allows that. */
static void posts_another(void *argument)
{
    heddle_status status = heddle_combine_post(combine, count_one, argument);
    CHECK(status == HEDDLE_STATUS_OK || status == HEDDLE_STATUS_WOULD_DEADLOCK);
    *(long *)argument += status == HEDDLE_STATUS_WOULD_DEADLOCK;
}

static void one_kind(const char *kind)
{
    static struct history histories[THREADS];
    pthread_t threads[THREADS];
    long inside = 0;
    entered = left = tried = 0;
    memset(histories, 0, sizeof histories);
    CHECK(heddle_combine_create(kind, &combine) == HEDDLE_STATUS_OK);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, &histories[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(heddle_combine_run(combine, posts_another, &inside) == HEDDLE_STATUS_OK);
    /* Posted operations have run when this returns. */
    CHECK(heddle_combine_destroy(combine) == HEDDLE_STATUS_OK);
    CHECK(entered == (long)THREADS * TURNS && left == entered && inside == 1);
    for (int i = 0; i < THREADS; i++)
        CHECK(histories[i].ran == TURNS);
}

int main(void)
{
    CHECK(for_each_name(heddle_combine_kinds(), one_kind) > 2);
    return 0;
}

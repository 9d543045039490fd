/* The header from C++. */
#include <heddle_sync.h>

extern "C" {
static void add(void *argument)
{
    ++*static_cast<int *>(argument);
}
}

int main()
{
    heddle_lock *lock;
    heddle_combine *combine;
    int sum = 0;
    if (heddle_lock_create("mcs", &lock) != HEDDLE_STATUS_OK
        || heddle_combine_create("lockq-mutex", &combine) != HEDDLE_STATUS_OK)
        return 1;
    heddle_lock_acquire(lock);
    heddle_combine_run(combine, add, &sum);
    heddle_lock_release(lock);
    heddle_combine_destroy(combine);
    return heddle_lock_destroy(lock) == HEDDLE_STATUS_OK && sum == 1 ? 0 : 1;
}

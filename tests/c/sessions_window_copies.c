// A process that has only sessions, whose communicators are on other VNIs, copies for others in a window where the kernel refuses
// the copy: its waiting threads poll VNI 0, too.
// ranks: 2
// levels: none
// heddle: only
#define _GNU_SOURCE
#include "sessions.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

// So short that the window has no thread of its own.
enum { BYTES = 60000, MAPPED = 65536 };

// Memory that the kernel does not copy for other processes: closed pages, which a handler opens page by page.
static char *closed;

static void open_page(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    char *at = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)4095);
    if (at < closed || at >= closed + MAPPED) _exit(99);
    mprotect(at, 4096, PROT_READ | PROT_WRITE);
}

int main(void) {
    CHECK_EQ(setenv("HEDDLE_VNIS", "16", 1), 0);
    MPI_Session session = session_begin();
    MPI_Comm comm = session_comm(session, "mpi://WORLD", "copies");
    MPI_Win win;
    CHECK_OK(MPI_Comm_rank(comm, &check_rank));
    closed = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(closed != MAP_FAILED);
    struct sigaction action = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO | SA_NODEFER};
    CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
    CHECK_OK(MPI_Win_create(closed, BYTES, 1, MPI_INFO_NULL, comm, &win));
    if (check_rank == 1) {
        pattern_fill((unsigned char *)closed, BYTES, 1);
        CHECK_EQ(mprotect(closed, MAPPED, PROT_NONE), 0);
    }
    CHECK_OK(MPI_Barrier(comm));
    if (check_rank == 0) {
        unsigned char *got = check_alloc(BYTES);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
        CHECK_OK(MPI_Get(got, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, win));
        CHECK_OK(MPI_Win_unlock(1, win));
        CHECK_PATTERN(got, BYTES, 1);
        free(got);
    }
    // Rank 1 waits here, on the communicator's VNI.
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&comm));
    session_end(&session);
    return check_status();
}

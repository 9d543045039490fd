// The library makes the calls of the kernel that the settings ask for, and no others: seen by a filter that refuses such
// calls and counts them.
// ranks: 2
// levels: multiple
// models: default
// settings no-copies: HEDDLE_SINGLE_COPY=off
// settings core: HEDDLE_BIAS=core
// heddle: only
#define _GNU_SOURCE
#include "threads.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum { LARGE = 1 << 21, TIMES = 2000 };

static atomic_int copies, claims;

static void refuse(int signal, siginfo_t *call, void *context) {
    (void)signal;
    atomic_fetch_add(call->si_syscall == SYS_membarrier ? &claims : &copies, 1);
#ifdef __x86_64__
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
#else
    ((ucontext_t *)context)->uc_mcontext.regs[0] = -EPERM;
#endif
}

// Copies between processes, and the registration for the barriers of restartable sequences, raise a signal from now on.
static bool filter(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    struct sigaction action = {.sa_sigaction = refuse, .sa_flags = SA_SIGINFO};
    if (sigaction(SIGSYS, &action, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

// Each thread on a core of its own, if there are two.
static void sends_to_self(int index, void *shared) {
    (void)shared;
    int value = 0, found = 0;
    cpu_set_t allowed, mine;
    CHECK_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    CPU_ZERO(&mine);
    for (int core = 0; core < CPU_SETSIZE && found <= index; core++) {
        if (CPU_ISSET(core, &allowed) && found++ == index) CPU_SET(core, &mine);
    }
    if (CPU_COUNT(&mine)) CHECK_EQ(sched_setaffinity(0, sizeof mine, &mine), 0);
    for (int i = 0; i < TIMES; i++) {
        CHECK_OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv) {
    if (!filter()) {
        fprintf(stderr, "no seccomp here, so nothing is seen\n");
        return 0;
    }
    check_start(argc, argv);
    char *out = check_alloc(LARGE), *in = check_alloc(LARGE);
    CHECK_OK(MPI_Sendrecv(out, LARGE, MPI_BYTE, 1 - check_rank, 0, in, LARGE, MPI_BYTE, 1 - check_rank, 0, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    threads_run(2, sends_to_self, NULL);
    if (strcmp(argv[argc - 1], "core") == 0) {
        // Threads of two cores have used a communication path, so one core has lost its claim.
        CHECK(claims > 0);
    } else {
        CHECK_EQ(copies, 0);
    }
    free(out);
    free(in);
    return check_finish();
}

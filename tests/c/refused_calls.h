// A filter of system calls that a program sets for itself, as a sandbox does: from then on the kernel refuses them.
#ifndef HEDDLE_TEST_REFUSED_CALLS_H
#define HEDDLE_TEST_REFUSED_CALLS_H

#include "check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REFUSED_AT_MOST = 8 };

CHECK_UNUSED static bool refuse_by(struct sock_filter *code, int length) {
    struct sock_fprog program = {(unsigned short)length, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

// These system calls fail with `error` in all threads of this process from now on. Returns false if the kernel has no filters.
CHECK_UNUSED static bool refuse_calls(const long *calls, int count, int error) {
    struct sock_filter code[REFUSED_AT_MOST + 3];
    int length = 0;
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < count; i++) {
        code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], (unsigned char)(count - i), 0);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error);
    return refuse_by(code, length);
}

// Waits and wake-ups on futexes between processes fail from now on. The C library, which needs those within the process,
// gives up without them.
CHECK_UNUSED static bool refuse_futexes(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAIT, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAKE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    return refuse_by(code, sizeof code / sizeof *code);
}

#endif

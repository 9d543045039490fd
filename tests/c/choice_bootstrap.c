// HEDDLE_BOOTSTRAP: under mpiexec a process can be a world of one all the same, or the rank of another launcher, which speaks
// PMI-1 or PMI-2. Here a thread plays that launcher.
// ranks: 2
// settings single: HEDDLE_BOOTSTRAP=single
// settings pmi: HEDDLE_BOOTSTRAP=pmi
// settings pmi2: HEDDLE_BOOTSTRAP=pmi2
// heddle: only
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <sys/socket.h>

static int ends[2];
static char asked[4096];

static const char *reply_to(const char *request) {
    static const char *const replies[][2] = {
        {"cmd=init pmi_version=1 ", "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"},
        {"cmd=get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=space\n"},
        {"cmd=get_appnum", "cmd=appnum rc=0 appnum=5\n"},
        {"cmd=put ", "cmd=put_result rc=0\n"},
        {"cmd=barrier_in", "cmd=barrier_out rc=0\n"},
        {"cmd=finalize\n", "cmd=finalize_ack rc=0\n"},
        {"cmd=init pmi_version=2 ", "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"},
        {"cmd=fullinit;", "cmd=fullinit-response;rc=0;rank=0;size=1;appnum=5;"},
        {"cmd=info-getjobattr;", "cmd=info-getjobattr-response;rc=0;found=FALSE;"},
        {"cmd=kvs-put;", "cmd=kvs-put-response;rc=0;"},
        {"cmd=kvs-fence;", "cmd=kvs-fence-response;rc=0;"},
        {"cmd=finalize;", "cmd=finalize-response;rc=0;"},
    };
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        if (strncmp(request, replies[i][0], strlen(replies[i][0])) == 0) return replies[i][1];
    }
    return "cmd=unknown rc=1\n";
}

// Reads a request: a line, or a message after six characters with its length. Returns false at the end.
static bool read_request(FILE *in, char *request, size_t size) {
    int next = fgetc(in), length = 0;
    if (next == EOF) return false;
    ungetc(next, in);
    if (next == 'c') return fgets(request, (int)size, in) != NULL;
    if (fscanf(in, "%6d", &length) != 1 || length < 0 || (size_t)length >= size) return false;
    request[fread(request, 1, (size_t)length, in)] = '\0';
    return true;
}

// Answers until the rank says that it ends.
static void *launch(void *arg) {
    FILE *in = fdopen(ends[1], "r");
    char request[1024];
    (void)arg;
    while (read_request(in, request, sizeof request)) {
        if (strlen(asked) + strlen(request) < sizeof asked) strcat(asked, request);
        const char *reply = reply_to(request);
        if (strchr(reply, ';')) dprintf(ends[1], "%6zu", strlen(reply));
        dprintf(ends[1], "%s", reply);
        if (strncmp(request, "cmd=finalize", 12) == 0) break;
    }
    return NULL;
}

int main(int argc, char **argv) {
    bool pmi2 = strcmp(argv[argc - 1], "pmi2") == 0;
    bool pmi = pmi2 || strcmp(argv[argc - 1], "pmi") == 0;
    int size = -1, flag = 0, *appnum = NULL;
    char number[16];
    pthread_t launcher;
    if (pmi) {
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        snprintf(number, sizeof number, "%d", ends[0]);
        setenv("PMI_FD", number, 1);
        setenv("PMI_RANK", "0", 1);
        setenv("PMI_SIZE", "1", 1);
        CHECK_EQ(pthread_create(&launcher, NULL, launch, NULL), 0);
    }
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK_EQ(size, 1);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag));
    CHECK_EQ(flag, pmi);
    if (pmi && flag) CHECK_EQ(*appnum, 5);
    int status = check_finish();
    if (!pmi) return status;
    // A rank of mpiexec has never asked anything.
    if (size != 1) return 1;
    pthread_join(launcher, NULL);
    if (pmi2) {
        CHECK(strncmp(asked, "cmd=init pmi_version=2 pmi_subversion=0\ncmd=fullinit;", 53) == 0);
        CHECK(strstr(asked, ";cmd=kvs-put;key=heddle-0;value=") != NULL);
        CHECK(strstr(asked, ";cmd=kvs-fence;cmd=finalize;") != NULL);
        return check_status();
    }
    CHECK(strncmp(asked, "cmd=init pmi_version=1 pmi_subversion=1\n", 40) == 0);
    CHECK(strstr(asked, "\ncmd=put kvsname=space key=heddle-0 value=") != NULL);
    CHECK(strstr(asked, "\ncmd=barrier_in\ncmd=finalize\n") != NULL);
    return check_status();
}

// The message with which a process dies of a wrong argument names the function, the class and what is wrong: each call of error_cases.h, in a process
// of its own.
// launcher: none
// levels: single
// heddle: only
#define _GNU_SOURCE
#include "error_cases.h"
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    int class;
    const char *name;
} names[] = {
    {MPI_ERR_ABI, "MPI_ERR_ABI"},
    {MPI_ERR_ARG, "MPI_ERR_ARG"},           {MPI_ERR_BUFFER, "MPI_ERR_BUFFER"}, {MPI_ERR_COMM, "MPI_ERR_COMM"},       {MPI_ERR_COUNT, "MPI_ERR_COUNT"},
    {MPI_ERR_ERRHANDLER, "MPI_ERR_ERRHANDLER"}, {MPI_ERR_GROUP, "MPI_ERR_GROUP"},   {MPI_ERR_INFO, "MPI_ERR_INFO"},       {MPI_ERR_OP, "MPI_ERR_OP"},
    {MPI_ERR_RANK, "MPI_ERR_RANK"},         {MPI_ERR_REQUEST, "MPI_ERR_REQUEST"}, {MPI_ERR_ROOT, "MPI_ERR_ROOT"},     {MPI_ERR_SESSION, "MPI_ERR_SESSION"},
    {MPI_ERR_TAG, "MPI_ERR_TAG"},           {MPI_ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY"}, {MPI_ERR_TYPE, "MPI_ERR_TYPE"},     {MPI_ERR_WIN, "MPI_ERR_WIN"},
};

static const char *name_of(int class) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].class == class) return names[i].name;
    }
    return "?";
}

// Makes one case, or all, in a new process; returns what it wrote, and its status.
static char *made_alone(int wanted, int *status) {
    static char text[1 << 16];
    int ends[2];
    if (pipe(ends) != 0) exit(2);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]), close(ends[1]);
        case_wanted = wanted;
        check_start(0, NULL);
        if (wanted < 0) CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        if (wanted < 0) CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
        all_cases(wanted < 0 ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL);
        if (wanted < 0) {
            // The parent reads the table of cases.
            for (int i = 0; i < cases_seen; i++) printf("%s\t%d\t%s\n", case_at[i].function, case_at[i].class, case_at[i].word);
        }
        exit(check_finish());
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t more;
    while (length < sizeof text - 1 && (more = read(ends[0], text + length, sizeof text - 1 - length)) > 0) length += (size_t)more;
    text[length] = '\0';
    close(ends[0]);
    waitpid(child, status, 0);
    return text;
}

// Without regard to upper and lower case.
static bool says(const char *text, const char *word) { return strcasestr(text, word) != NULL; }

int main(void) {
    int status = -1;
    char *table = strdup(made_alone(-1, &status));
    CHECK_EQ(status, 0);
    int number = 0;
    for (char *line = strtok(table, "\n"); line != NULL; line = strtok(NULL, "\n"), number++) {
        char function[64] = "", word[64] = "", wanted[160];
        int class = -1;
        if (!CHECK(sscanf(line, "%63[^\t]\t%d\t%63[^\n]", function, &class, word) >= 2)) fprintf(stderr, "%s\n", line);
        char *text = made_alone(number, &status);
        snprintf(wanted, sizeof wanted, "heddle: %s failed", function);
        bool right = CHECK(status != 0) & CHECK(strncmp(text, wanted, strlen(wanted)) == 0) & CHECK(says(text, name_of(class))) & CHECK(says(text, word));
        // One line, and no more than what it says.
        right &= CHECK(strchr(text, '\n') == text + strlen(text) - 1);
        if (!right) fprintf(stderr, "case %d, %s, %s, \"%s\": %s\n", number, function, name_of(class), word, text);
    }
    CHECK(number > 900);
    free(table);
    return check_status();
}

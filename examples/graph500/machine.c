#include "report.h"

#include "fatal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void copy_text(char to[REPORT_TEXT_BYTES], const char *from)
{
    snprintf(to, REPORT_TEXT_BYTES, "%.*s", REPORT_TEXT_BYTES - 1, from);
}

static void find_processor(char text[REPORT_TEXT_BYTES])
{
    static const char key[] = "model name";
    copy_text(text, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL)
        return;
    char line[512];
    while (fgets(line, sizeof line, file) != NULL) {
        char *value = strchr(line, ':');
        if (strncmp(line, key, sizeof key - 1) != 0 || value == NULL)
            continue;
        value += 1 + strspn(value + 1, " \t");
        value[strcspn(value, "\n")] = '\0';
        copy_text(text, value);
        break;
    }
    fclose(file);
}

static void squeeze_blanks(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        bool blank = *from == ' ' || *from == '\t';
        if (!blank || (to > text && to[-1] != ' '))
            *to++ = blank ? ' ' : *from;
    }
    *to = '\0';
}

/* Reads the model in use from MPI_T, which knows it also if no variable is set. */
static void find_model(char text[REPORT_TEXT_BYTES])
{
    int provided, index, elements;
    MPI_T_cvar_handle handle;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return;
    if (MPI_T_cvar_get_index("heddle_model", &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &elements) == MPI_SUCCESS) {
        char *value = allocate("the model's name", (size_t)elements + 1, 1);
        if (MPI_T_cvar_read(handle, value) == MPI_SUCCESS) {
            value[elements] = '\0';
            copy_text(text, value);
        }
        free(value);
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
}

static void find_library(struct machine *machine)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    bool heddle = strstr(version, "Heddle") != NULL;
    version[strcspn(version, "\r\n")] = '\0';
    squeeze_blanks(version);
    copy_text(machine->library, version);
    if (heddle)
        find_model(machine->model);
}

static int count_hosts(int rank, int ranks)
{
    enum { NAME = MPI_MAX_PROCESSOR_NAME };
    char name[NAME] = "";
    int length;
    MPI_Get_processor_name(name, &length);
    char *names = rank == 0 ? allocate("host names", (size_t)ranks, NAME) : NULL;
    MPI_Gather(name, NAME, MPI_CHAR, names, NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    int hosts = 0;
    for (int i = 0; names != NULL && i < ranks; i++) {
        bool seen = false;
        for (int j = 0; j < i && !seen; j++)
            seen = strncmp(names + (size_t)i * NAME, names + (size_t)j * NAME, NAME) == 0;
        hosts += !seen;
    }
    free(names);
    return hosts;
}

struct machine describe_machine(void)
{
    struct machine machine = {.cores = sysconf(_SC_NPROCESSORS_ONLN)};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &machine.ranks);
    find_processor(machine.processor);
    find_library(&machine);
    machine.hosts = count_hosts(rank, machine.ranks);
    return machine;
}

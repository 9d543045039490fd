#include "lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool lines_open(struct lines *lines, const char *path)
{
    *lines = (struct lines){.path = path};
    lines->file = fopen(path, "r");
    if (lines->file == NULL) {
        fprintf(stderr, "graph500: cannot open %s: %s; rank 0 reads the file, so it has to be "
                        "there\n",
                path, strerror(errno));
        return false;
    }
    struct stat status;
    if (fstat(fileno(lines->file), &status) == 0 && S_ISREG(status.st_mode))
        lines->bytes_total = (uint64_t)status.st_size;
    return true;
}

bool lines_next(struct lines *lines, bool *more)
{
    errno = 0;
    ssize_t length = getline(&lines->text, &lines->capacity, lines->file);
    *more = length >= 0;
    if (length < 0) {
        if (feof(lines->file))
            return true;
        fprintf(stderr, "graph500: cannot read %s: %s\n", lines->path, strerror(errno));
        return false;
    }
    lines->number++;
    lines->bytes_read += (uint64_t)length;
    if (memchr(lines->text, '\0', (size_t)length) != NULL)
        return lines_wrong(lines, "a NUL byte: this is not a text file");
    while (length > 0 && (lines->text[length - 1] == '\n' || lines->text[length - 1] == '\r'))
        lines->text[--length] = '\0';
    return true;
}

bool lines_wrong(const struct lines *lines, const char *format, ...)
{
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "graph500: %s, line %llu: %s\n", lines->path,
            (unsigned long long)lines->number, message);
    return false;
}

void lines_close(struct lines *lines)
{
    free(lines->text);
    if (lines->file != NULL)
        fclose(lines->file);
}

bool lines_at_end(const char **cursor)
{
    while (isspace((unsigned char)**cursor))
        ++*cursor;
    return **cursor == '\0';
}

bool lines_number(const struct lines *lines, const char **cursor, const char *what,
                  uint64_t *value)
{
    if (lines_at_end(cursor))
        return lines_wrong(lines, "%s is missing", what);
    if (**cursor == '-')
        return lines_wrong(lines, "%s is negative: \"%.20s\"", what, *cursor);
    if (!isdigit((unsigned char)**cursor))
        return lines_wrong(lines, "%s is not a number: \"%.20s\"", what, *cursor);
    char *end;
    errno = 0;
    unsigned long long number = strtoull(*cursor, &end, 10);
    if (errno == ERANGE)
        return lines_wrong(lines, "%s does not fit into 64 bits: \"%.30s\"", what, *cursor);
    if (*end != '\0' && !isspace((unsigned char)*end))
        return lines_wrong(lines, "%s is not a whole number: \"%.20s\"", what, *cursor);
    *value = number;
    *cursor = end;
    return true;
}

bool lines_skip_real(const char **cursor)
{
    char *end;
    strtod(*cursor, &end);
    if (end == *cursor || (*end != '\0' && !isspace((unsigned char)*end)))
        return false;
    *cursor = end;
    return true;
}

/* Matrix Market exchange format, coordinate form (R. Boisvert, R. Pozo, K. Remington,
 * "The Matrix Market Exchange Formats: Initial Design", NISTIR 5935, 1996). */
#include "matrix_market.h"

#include <ctype.h>
#include <string.h>

static const char BANNER[] = "%%MatrixMarket";

enum { WORD_BYTES = 32 };

/* Takes the next word in lower case (the format ignores case); empty at the line's end. */
static void take_word(const char **cursor, char word[WORD_BYTES])
{
    size_t length = 0;
    lines_at_end(cursor);
    while (**cursor != '\0' && !isspace((unsigned char)**cursor)) {
        if (length < WORD_BYTES - 1)
            word[length++] = (char)tolower((unsigned char)**cursor);
        ++*cursor;
    }
    word[length] = '\0';
}

static bool one_of(const char *word, const char *const *choices)
{
    for (; *choices != NULL; choices++) {
        if (strcmp(word, *choices) == 0)
            return true;
    }
    return false;
}

bool matrix_market_begins(const char *first_line)
{
    return strncmp(first_line, BANNER, strlen(BANNER)) == 0;
}

static bool read_banner(const struct lines *lines, int *values)
{
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric",
                                             "hermitian", NULL};
    const char *cursor = lines->text + strlen(BANNER);
    char object[WORD_BYTES], format[WORD_BYTES], field[WORD_BYTES], symmetry[WORD_BYTES];
    take_word(&cursor, object);
    take_word(&cursor, format);
    take_word(&cursor, field);
    take_word(&cursor, symmetry);
    if (strcmp(object, "matrix") != 0 || strcmp(format, "coordinate") != 0)
        return lines_wrong(lines, "only \"matrix coordinate\" can be read, not \"%s %s\"", object,
                           format);
    if (strcmp(field, "pattern") == 0)
        *values = 0;
    else if (strcmp(field, "real") == 0 || strcmp(field, "integer") == 0)
        *values = 1;
    else if (strcmp(field, "complex") == 0)
        *values = 2;
    else
        return lines_wrong(lines, "field \"%s\" is not pattern, real, integer or complex", field);
    if (!one_of(symmetry, symmetries))
        return lines_wrong(lines, "symmetry \"%s\" is not general, symmetric, skew-symmetric or "
                                  "hermitian",
                           symmetry);
    return true;
}

/* Moves to the next line that is neither empty nor a comment. */
static bool next_data_line(struct lines *lines, bool *more)
{
    for (;;) {
        if (!lines_next(lines, more))
            return false;
        const char *cursor = lines->text;
        if (!*more || (!lines_at_end(&cursor) && *cursor != '%'))
            return true;
    }
}

static bool read_size(struct lines *lines, uint64_t *vertices, uint64_t *entries)
{
    bool more;
    if (!next_data_line(lines, &more))
        return false;
    if (!more)
        return lines_wrong(lines, "the file ends before the line \"rows columns entries\"");
    const char *cursor = lines->text;
    uint64_t rows, columns;
    if (!lines_number(lines, &cursor, "the number of rows", &rows) ||
        !lines_number(lines, &cursor, "the number of columns", &columns) ||
        !lines_number(lines, &cursor, "the number of entries", entries))
        return false;
    if (!lines_at_end(&cursor))
        return lines_wrong(lines, "only three numbers are expected, but here is \"%.20s\"", cursor);
    if (rows != columns)
        return lines_wrong(lines, "the matrix has %llu rows and %llu columns; a graph needs a "
                                  "square one",
                           (unsigned long long)rows, (unsigned long long)columns);
    if (rows >= UINT64_C(1) << 48)
        return lines_wrong(lines, "%llu vertices are out of range: fewer than 2^48 can be handled",
                           (unsigned long long)rows);
    *vertices = rows;
    return true;
}

static bool read_entry(struct edge_reader *reader, int values)
{
    const struct lines *lines = &reader->lines;
    const char *cursor = lines->text;
    uint64_t vertices = reader->list->vertices;
    uint64_t row, column;
    if (!lines_number(lines, &cursor, "the row", &row) ||
        !lines_number(lines, &cursor, "the column", &column))
        return false;
    if (row < 1 || row > vertices || column < 1 || column > vertices)
        return lines_wrong(lines, "entry (%llu, %llu) is out of range: rows and columns go from 1 "
                                  "to %llu",
                           (unsigned long long)row, (unsigned long long)column,
                           (unsigned long long)vertices);
    for (int i = 0; i < values; i++) {
        if (lines_at_end(&cursor) || !lines_skip_real(&cursor))
            return lines_wrong(lines, "the entry's value is missing or not a number");
    }
    if (!lines_at_end(&cursor))
        return lines_wrong(lines, "nothing more is expected, but here is \"%.20s\"", cursor);
    edge_reader_add(reader, row - 1, column - 1);
    return true;
}

bool read_matrix_market(struct edge_reader *reader)
{
    struct lines *lines = &reader->lines;
    int values;
    uint64_t entries;
    if (!read_banner(lines, &values) || !read_size(lines, &reader->list->vertices, &entries))
        return false;
    reader->list->label_shift = 1;
    for (;;) {
        bool more;
        if (!next_data_line(lines, &more))
            return false;
        if (!more)
            break;
        if (reader->list->count == entries)
            return lines_wrong(lines, "more entries than the %llu that were announced",
                               (unsigned long long)entries);
        if (!read_entry(reader, values))
            return false;
    }
    if (reader->list->count < entries)
        return lines_wrong(lines, "the file ends after %llu of %llu entries",
                           (unsigned long long)reader->list->count, (unsigned long long)entries);
    return true;
}

#include "table.h"

#include <string.h>

enum { VOLUME = 0, USED = 0, HEAD = 1, END = 0, FREE = 0 };

/* How a word is read: as an atomic operation, or as one that is excluded from all others. */
typedef uint64_t reader(table *t, uint64_t word);

static uint64_t read_atomic(table *t, uint64_t word)
{
    uint64_t unused = 0, value;
    MPI_Fetch_and_op(&unused, &value, MPI_UINT64_T, VOLUME, (MPI_Aint)word, MPI_NO_OP, t->win);
    MPI_Win_flush(VOLUME, t->win);
    return value;
}

static uint64_t read_plain(table *t, uint64_t word)
{
    uint64_t value;
    MPI_Get(&value, 1, MPI_UINT64_T, VOLUME, (MPI_Aint)word, 1, MPI_UINT64_T, t->win);
    MPI_Win_flush(VOLUME, t->win);
    return value;
}

/* Begins a write; `value` stays in place until the flush. */
static void write_plain(table *t, uint64_t word, const uint64_t *value)
{
    MPI_Put(value, 1, MPI_UINT64_T, VOLUME, (MPI_Aint)word, 1, MPI_UINT64_T, t->win);
}

static void write_atomic(table *t, uint64_t word, const uint64_t *value)
{
    MPI_Accumulate(value, 1, MPI_UINT64_T, VOLUME, (MPI_Aint)word, 1, MPI_UINT64_T, MPI_REPLACE, t->win);
}

/* Stores `value` if the word holds `expected`; returns the value before. */
static uint64_t compare_and_swap(table *t, uint64_t word, uint64_t expected, uint64_t value)
{
    uint64_t before;
    MPI_Compare_and_swap(&value, &expected, &before, MPI_UINT64_T, VOLUME, (MPI_Aint)word, t->win);
    MPI_Win_flush(VOLUME, t->win);
    return before;
}

/* The key's slot, by multiplicative hashing (Knuth, The Art of Computer Programming, 6.4). */
static uint64_t slot_of(const table *t, uint64_t key)
{
    uint64_t high = (key * 0x9e3779b97f4a7c15) >> 32;
    return HEAD + 2 * (high * t->slots >> 32);
}

static uint64_t place_word(const table *t, uint64_t place)
{
    return HEAD + 2 * (t->slots + place - 1);
}

/* Whether the key is in a list from the place `from` on, before the place `to`. */
static int is_between(table *t, uint64_t key, uint64_t from, uint64_t to, reader *read)
{
    for (uint64_t place = from; place != to; place = read(t, place_word(t, place) + 1))
        if (read(t, place_word(t, place)) == key)
            return 1;
    return 0;
}

/* A place of the heap, or 0. */
static uint64_t take_place(table *t)
{
    uint64_t one = 1, before, spare = t->spare;
    t->spare = END;
    if (spare != END)
        return spare;
    /* An attempt on a full heap counts, too: 64 bits have room for more than there can ever be. */
    MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, VOLUME, USED, MPI_SUM, t->win);
    MPI_Win_flush(VOLUME, t->win);
    return before < t->heap ? before + 1 : END;
}

table_result table_insert_atomic(table *t, uint64_t key)
{
    uint64_t slot = slot_of(t, key), before = compare_and_swap(t, slot, FREE, key), last, place;
    if (before == FREE || before == key)
        return before == FREE ? TABLE_NEW : TABLE_KNOWN;
    last = read_atomic(t, slot + 1);
    if (is_between(t, key, last, END, read_atomic))
        return TABLE_KNOWN;
    place = take_place(t);
    if (place == END)
        return TABLE_FULL;
    write_atomic(t, place_word(t, place), &key);
    for (;;) {
        uint64_t now;
        write_atomic(t, place_word(t, place) + 1, &last);
        /* The place is complete before a list names it. */
        MPI_Win_flush(VOLUME, t->win);
        now = compare_and_swap(t, slot + 1, last, place);
        if (now == last)
            return TABLE_NEW;
        /* Others came first, perhaps with the same key. */
        if (is_between(t, key, now, last, read_atomic)) {
            t->spare = place;
            return TABLE_KNOWN;
        }
        last = now;
    }
}

table_result table_insert_exclusive(table *t, uint64_t key)
{
    uint64_t slot = slot_of(t, key), there = read_plain(t, slot), last, place;
    if (there == key)
        return TABLE_KNOWN;
    if (there == FREE) {
        write_plain(t, slot, &key);
        MPI_Win_flush(VOLUME, t->win);
        return TABLE_NEW;
    }
    last = read_plain(t, slot + 1);
    if (is_between(t, key, last, END, read_plain))
        return TABLE_KNOWN;
    place = read_plain(t, USED) + 1;
    if (place > t->heap)
        return TABLE_FULL;
    write_plain(t, USED, &place);
    write_plain(t, place_word(t, place), &key);
    write_plain(t, place_word(t, place) + 1, &last);
    write_plain(t, slot + 1, &place);
    /* Before the caller lets others in. */
    MPI_Win_flush(VOLUME, t->win);
    return TABLE_NEW;
}

static int contains(table *t, uint64_t key, reader *read)
{
    uint64_t slot = slot_of(t, key), there = read(t, slot);
    return there == key || (there != FREE && is_between(t, key, read(t, slot + 1), END, read));
}

int table_contains_atomic(table *t, uint64_t key)
{
    return contains(t, key, read_atomic);
}

int table_contains(table *t, uint64_t key)
{
    return contains(t, key, read_plain);
}

uint64_t table_keys(table *t, uint64_t *keys)
{
    uint64_t count = 0;
    MPI_Win_sync(t->win);
    for (uint64_t slot = HEAD; slot < HEAD + 2 * t->slots; slot += 2) {
        if (t->base[slot] == FREE)
            continue;
        keys[count++] = t->base[slot];
        for (uint64_t place = t->base[slot + 1]; place != END; place = t->base[place_word(t, place) + 1])
            keys[count++] = t->base[place_word(t, place)];
    }
    return count;
}

void table_make(MPI_Comm comm, uint64_t slots, uint64_t heap, table *made)
{
    int rank;
    size_t bytes;
    MPI_Comm_rank(comm, &rank);
    bytes = rank == VOLUME ? (HEAD + 2 * (slots + heap)) * sizeof(uint64_t) : 0;
    *made = (table){ .slots = slots, .heap = heap };
    MPI_Win_allocate((MPI_Aint)bytes, sizeof(uint64_t), MPI_INFO_NULL, comm, &made->base, &made->win);
    if (bytes > 0)
        memset(made->base, 0, bytes);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, made->win);
    MPI_Win_sync(made->win);
    MPI_Barrier(comm);
}

void table_free(table *t)
{
    MPI_Win_unlock_all(t->win);
    MPI_Win_free(&t->win);
}

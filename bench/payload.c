/* The contents of messages. A figure is void if they do not arrive as they were sent. */
#include "harness.h"

#include <string.h>

static unsigned char payload_byte(const struct worker *w, int slot) {
    return (unsigned char)(1 + (w->id * 37 + slot * 11) % 251);
}

void payload_fill(const struct worker *w, unsigned char *bytes, int slot) {
    memset(bytes, payload_byte(w, slot), w->bench->size);
}

void payload_check(const struct worker *w, const unsigned char *bytes, int slot) {
    struct bench *b = w->bench;
    unsigned char expected = payload_byte(w, slot);
    int64_t wrong = 0;
    for (size_t i = 0; i < b->size; i++) wrong += bytes[i] != expected;
    pthread_mutex_lock(&b->gate.lock);
    b->wrong_bytes += wrong;
    pthread_mutex_unlock(&b->gate.lock);
}

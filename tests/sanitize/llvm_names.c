// Rust's compiler calls these functions of ThreadSanitizer's runtime; the runtime of GCC has them only as interceptors of
// the C functions, which do the same. Linked into each program, since the runtime comes with the program.
#include <string.h>

void *__tsan_memcpy(void *to, const void *from, size_t len);
void *__tsan_memmove(void *to, const void *from, size_t len);
void *__tsan_memset(void *to, int value, size_t len);

void *__tsan_memcpy(void *to, const void *from, size_t len) {
    return memcpy(to, from, len);
}

void *__tsan_memmove(void *to, const void *from, size_t len) {
    return memmove(to, from, len);
}

void *__tsan_memset(void *to, int value, size_t len) {
    return memset(to, value, len);
}

/* Random numbers by index instead of by sequence: draw k of stream s is a function of
 * (seed, s, k), so the graph does not depend on the number of processes or threads.
 *
 * The mixing function is the finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood:
 * "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014,
 * doi:10.1145/2660193.2660195). */
#ifndef GRAPH500_RANDOM_H
#define GRAPH500_RANDOM_H

#include <stdint.h>

static inline uint64_t random_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint64_t random_at(uint64_t seed, uint64_t stream, uint64_t index)
{
    const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = random_mix(seed + step * (stream + 1));
    return random_mix(key + step * (index + 1));
}

/* A permutation of 0 ... 2^bits - 1 chosen by `seed` and `stream`. Multiplying by an odd
 * number and folding high bits onto low ones can both be undone, so nothing collides. */
static inline uint64_t random_permute(uint64_t seed, uint64_t stream, int bits, uint64_t x)
{
    uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    int fold = bits / 2 > 0 ? bits / 2 : 1;
    for (uint64_t round = 0; round < 4; round++) {
        x = (x + random_at(seed, stream, 2 * round)) & mask;
        x = (x * (random_at(seed, stream, 2 * round + 1) | 1)) & mask;
        x ^= x >> fold;
    }
    return x;
}

#endif

/* The fixed yardstick of the throughput guard: a table walk that never changes.

   It does the kind of work that a tokenizer does, and nothing of the library's: it loads bytes, looks
   each up in a table, follows a trie-like chain of dependent loads through 1 MiB in four lanes, and
   writes what comes out. A phase in which the machine is slow (another tenant in the shared cache, a
   lower clock) slows both alike, so the ratio of their times stays.

   Do not improve this file: every change makes the saved ratios worthless. */

#include <stddef.h>
#include <stdint.h>

enum { UNITS = 1 << 17, LANES = 4 };

static uint32_t classes[256]; /* of a byte: a number to mix into the state, and bit 31: it ends a word */
static struct { uint32_t base, label; } units[UNITS]; /* 8 bytes each, 1 MiB together */

#define ENDS_WORD 0x80000000u

static uint32_t next_random(uint32_t *state) { /* xorshift, so that the tables need no file */
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

void yardstick_prepare(void) {
    uint32_t state = 2463534242u;
    for (int i = 0; i < 256; i++) {
        classes[i] = next_random(&state) & 0xff;
        if (i <= ' ' || (i < 128 && !((i | 32) >= 'a' && (i | 32) <= 'z')))
            classes[i] |= ENDS_WORD;
    }
    for (int i = 0; i < UNITS; i++) {
        units[i].base = next_random(&state) & (UNITS - 1);
        units[i].label = next_random(&state) & 3; /* one in four: "a piece ends here" */
    }
}

/* Walk text[0:n] and write at most n numbers to out; return how many. The common beginnings of words
   lead to the same units again and again, and the rare ones to cold ones, as in a real trie. */
size_t yardstick_walk(const uint8_t *text, size_t n, uint32_t *out) {
    uint32_t state[LANES] = {0};
    size_t written[LANES] = {0}, part = n / LANES;
    for (size_t i = 0; i < part; i++) {
        for (int lane = 0; lane < LANES; lane++) {
            uint32_t class = classes[text[lane * part + i]];
            uint32_t child = (units[state[lane]].base ^ class) & (UNITS - 1);
            uint32_t ends = (class & ENDS_WORD) != 0 || units[child].label == 0;
            out[lane * part + written[lane]] = child;
            written[lane] += ends;
            state[lane] = class & ENDS_WORD ? 0 : child;
        }
    }
    return written[0] + written[1] + written[2] + written[3];
}

/* Sixteen characters at a time: what the memo of words needs of a processor's vector unit.

   Each function exists in plain C, here, with the suffix _plain, which is what it means; and once
   for each instruction set, in a file of its own, with the set's suffix. The names without a suffix
   are those that the kernels call. tests/vector_check.c compares the two. Where there is no such
   file, and with PIECEWORK_PLAIN defined, the kernels get plain C; it knows nothing of the order of
   a number's bytes but in what a hash is. Those that look at 64 bytes exist for AVX-512, too: these
   are chosen when the program runs. */

#ifndef PIECEWORK_VECTOR_H
#define PIECEWORK_VECTOR_H

#include <stdint.h>
#include <string.h>

/* SSE2 in 64-bit mode only, as a key's hash is taken from a vector as one number. */
#if defined(PIECEWORK_PLAIN)
#define PIECEWORK_VECTOR "plain C"
#elif (defined(__SSE2__) && defined(__x86_64__)) || defined(_M_X64)
#define PIECEWORK_VECTOR "SSE2"
#define PIECEWORK_SSE2 1
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#define PIECEWORK_VECTOR "NEON"
#define PIECEWORK_NEON 1
#else
#define PIECEWORK_VECTOR "plain C"
#endif

#define PW_BLOCK 64 /* bytes that are classified at a time */

/* What a byte can be. White space is none of these. */
#define PW_LETTER 1
#define PW_ISOLATED 2
#define PW_ODD 4     /* one of a word that the memo can't hold; always a letter, too */
#define PW_SPECIAL 8 /* a special token may begin here */
#define PW_VANISHES 16 /* inside a word, and is nothing; always a letter, too */

#define PW_N_EXCEPTIONS 2

/* The bytes that characters become: of the Basic Multilingual Plane here, all others become 0.
   U+0020 to U+007E become themselves, but capitals small letters where `fold` is 0x20 (else it is
   0): vector code does not look them up. */
typedef struct {
    uint8_t of_char[0x10000];
    uint8_t fold;
} pw_bytes;

/* The classes of all bytes. Vector code guesses that ASCII letters and digits and the bytes from
   0x80 on are letters, that 0x20 is white space and that the rest of visible ASCII is isolated,
   and leaves it to the table what the others are: those below, 0x7F, and the exceptions, for which
   the guess is wrong. */
typedef struct {
    uint8_t of_byte[256];
    uint8_t exceptions[PW_N_EXCEPTIONS]; /* any byte that needs asking, as often as it takes */
    int guess_fails;                     /* there are more exceptions than that */
} pw_classes;

/* One bit for each byte of a block, the first one the lowest. */
typedef struct {
    uint64_t letters;
    uint64_t isolated;
    uint64_t unsure; /* the other two are not to be believed here */
} pw_masks;

/* The bytes of a word, and zeros behind. */
typedef struct {
    uint64_t low, high;
} pw_key;

/* ---- plain C ---- */

static inline int pw_count_bits(uint64_t mask) {
    mask -= mask >> 1 & 0x5555555555555555ull;
    mask = (mask & 0x3333333333333333ull) + (mask >> 2 & 0x3333333333333333ull);
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F0F0F0F0Full;
    return (int)(mask * 0x0101010101010101ull >> 56);
}

/* Requires  mask is not 0 */
static inline int pw_lowest_bit(uint64_t mask) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(mask);
#else
    return pw_count_bits((mask & (0 - mask)) - 1);
#endif
}

static inline void pw_classify_plain(const uint8_t *block, const pw_classes *classes,
                                     pw_masks *masks) {
    uint64_t letters = 0, isolated = 0, unsure = 0;
    for (int i = 0; i < PW_BLOCK; i++) {
        uint64_t is = classes->of_byte[block[i]];
        letters |= (is & 1) << i;
        isolated |= (is >> 1 & 1) << i;
        unsure |= (uint64_t)(is > PW_ISOLATED) << i;
    }
    masks->letters = letters;
    masks->isolated = isolated;
    masks->unsure = unsure;
}

static inline uint8_t pw_byte_of(const pw_bytes *bytes, uint32_t c) {
    return c < 0x10000 ? bytes->of_char[c] : 0;
}

/* Characters to bytes. Returns how many of these are 0, of the last 15 perhaps twice. */
#define PW_NARROW_PLAIN(name, type)                                                              \
    static inline size_t name(const type *chars, size_t n, const pw_bytes *bytes, uint8_t *out) { \
        size_t zeros = 0;                                                                        \
        for (size_t i = 0; i < n; i++) {                                                         \
            out[i] = pw_byte_of(bytes, chars[i]);                                                \
            zeros += out[i] == 0;                                                                \
        }                                                                                        \
        return zeros;                                                                            \
    }
PW_NARROW_PLAIN(pw_narrow1_plain, uint8_t)
PW_NARROW_PLAIN(pw_narrow2_plain, uint16_t)
PW_NARROW_PLAIN(pw_narrow4_plain, uint32_t)

#define PW_HASH_FACTOR 0x9E3779B97F4A7C15ull

/* A number whose highest bits are as good as random. */
static inline uint64_t pw_hash(uint64_t low, uint64_t high) {
    return (low + (high << 32 | high >> 32)) * PW_HASH_FACTOR;
}

/* How many of a key's 16 bytes lie behind each word, 0 if the word is as long or longer. Lists the
   words that are longer; returns where the next one goes. Up to 7 numbers more are written behind
   `cuts`, and as many read behind the other two. No word is longer than 32,767. */
static inline uint32_t *pw_cut_words_plain(const uint16_t *starts, const uint16_t *stops, size_t n,
                                           uint16_t *cuts, uint32_t *longer) {
    for (size_t i = 0; i < n; i++) {
        int behind = 16 - (stops[i] - starts[i]);
        cuts[i] = (uint16_t)(behind > 0 ? behind : 0);
        *longer = (uint32_t)i;
        longer += behind < 0;
    }
    return longer;
}

/* Make the key of a word, of whose 16 bytes the last `cut` lie behind it, and return its hash. All
   16 bytes may be read. */
static inline uint64_t pw_load_key_plain(const uint8_t *word, size_t cut, pw_key *key) {
    uint8_t bytes[16] = {0};
    memcpy(bytes, word, 16 - cut);
    memcpy(key, bytes, 16);
    return pw_hash(key->low, key->high);
}

/* Write base + i for each bit i of the mask, in ascending order; return where the next one goes.
   Up to 32 numbers more are written behind, which mean nothing. */
static inline uint16_t *pw_list_bits_plain(uint64_t mask, uint16_t base, uint16_t *out) {
    for (int i = 0; i < 64; i++) {
        *out = (uint16_t)(base + i);
        out += mask >> i & 1;
    }
    return out;
}

/* Write eight ids of 16 bits as ids of 32. */
static inline void pw_widen_plain(const uint16_t *ids, int32_t *out) {
    for (int i = 0; i < 8; i++) out[i] = ids[i];
}

static inline int pw_same_key_plain(const pw_key *a, const pw_key *b) {
    return a->low == b->low && a->high == b->high;
}

/* ---- vector code ---- */

#if defined(PIECEWORK_SSE2) || defined(PIECEWORK_NEON)
/* From place `cut` on: a mask of a key's bytes without the last `cut`. */
static const uint8_t pw_key_masks[32] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

/* For each byte, the places of its bits, and how many they are. */
static uint8_t pw_bits[256][8], pw_n_bits[256];

static inline void pw_fill_tables(void) {
    for (int byte = 0; byte < 256; byte++) {
        int n = 0;
        for (int i = 0; i < 8; i++)
            if (byte >> i & 1) pw_bits[byte][n++] = (uint8_t)i;
        pw_n_bits[byte] = (uint8_t)n;
    }
}

/* Characters that need looking up mostly stand alone; where three stand together, there are more,
   and all are looked up. */
static inline int pw_are_many(uint64_t others) {
    return (others & others >> 1 & others >> 2) != 0;
}

/* Look up the characters that have a bit; return how many of them have no byte. */
#define PW_NARROW_FEW(size, type)                                                            \
    static inline size_t pw_narrow_few##size(const type *chars, uint64_t others,             \
                                             const pw_bytes *bytes, uint8_t *out) {          \
        size_t zeros = 0;                                                                    \
        for (; others; others &= others - 1) {                                               \
            int i = pw_lowest_bit(others);                                                   \
            out[i] = pw_byte_of(bytes, chars[i]);                                            \
            zeros += out[i] == 0;                                                            \
        }                                                                                    \
        return zeros;                                                                        \
    }
PW_NARROW_FEW(1, uint8_t)
PW_NARROW_FEW(2, uint16_t)
PW_NARROW_FEW(4, uint32_t)

/* The loop over all characters: 64 or 16 at a time, the last ones twice if need be. A set's
   pw_narrow16 makes U+0020 to U+007E bytes, and returns a bit for each of the others. */
#define PW_NARROW(size, type, set)                                                              \
    static inline size_t pw_narrow##size##_##set(const type *chars, size_t n,                   \
                                                 const pw_bytes *bytes, uint8_t *out) {         \
        size_t zeros = 0, step;                                                                 \
        uint64_t others;                                                                        \
        if (n < 16) return pw_narrow##size##_plain(chars, n, bytes, out);                       \
        for (size_t i = 0; i < n; i += step) {                                                  \
            step = 16;                                                                          \
            if (i + 16 > n) i = n - 16;                                                         \
            others = pw_narrow16_##size##_##set(chars + i, bytes->fold, out + i);               \
            for (; i + 64 <= n && step < 64; step += 16)                                        \
                others |= (uint64_t)pw_narrow16_##size##_##set(chars + i + step, bytes->fold,   \
                                                               out + i + step)                  \
                          << step;                                                              \
            zeros += pw_are_many(others)                                                        \
                         ? pw_narrow##size##_plain(chars + i, step, bytes, out + i)             \
                         : pw_narrow_few##size(chars + i, others, bytes, out + i);              \
        }                                                                                       \
        return zeros;                                                                           \
    }
#else
static inline void pw_fill_tables(void) {}
#endif

#if defined(PIECEWORK_SSE2)
#include "_vector_sse2.h"
#define PW_CHOSEN(name) name##_sse2
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9)
#include "_vector_avx512.h"
#define PIECEWORK_AVX512 1
#endif
#elif defined(PIECEWORK_NEON)
#include "_vector_neon.h"
#define PW_CHOSEN(name) name##_neon
#else
#define PW_CHOSEN(name) name##_plain
#endif

#define pw_widen PW_CHOSEN(pw_widen)
#define pw_load_key PW_CHOSEN(pw_load_key)
#define pw_cut_words PW_CHOSEN(pw_cut_words)
#define pw_same_key PW_CHOSEN(pw_same_key)

/* ---- the same for all ---- */

/* Requires  once, before all else, and before there are threads */
static inline void pw_prepare(void) {
    pw_fill_tables();
#ifdef PIECEWORK_AVX512
    pw_has_avx512 = pw_find_avx512();
#endif
}

static inline void pw_classify(const uint8_t *block, const pw_classes *classes, pw_masks *masks) {
    if (classes->guess_fails)
        pw_classify_plain(block, classes, masks);
#ifdef PIECEWORK_AVX512
    else if (pw_has_avx512)
        pw_classify_avx512(block, classes, masks);
#endif
    else
        PW_CHOSEN(pw_classify)(block, classes, masks);
}

#ifdef PIECEWORK_AVX512
#define PW_NARROW_CHOSEN(size, type)                                                  \
    static inline size_t pw_narrow##size(const type *chars, size_t n,                 \
                                         const pw_bytes *bytes, uint8_t *out) {       \
        if (pw_has_avx512) return pw_narrow##size##_avx512(chars, n, bytes, out);     \
        return PW_CHOSEN(pw_narrow##size)(chars, n, bytes, out);                      \
    }
PW_NARROW_CHOSEN(1, uint8_t)
PW_NARROW_CHOSEN(2, uint16_t)
PW_NARROW_CHOSEN(4, uint32_t)
#else
#define pw_narrow1 PW_CHOSEN(pw_narrow1)
#define pw_narrow2 PW_CHOSEN(pw_narrow2)
#define pw_narrow4 PW_CHOSEN(pw_narrow4)
#endif

static inline uint16_t *pw_list_bits(uint64_t mask, uint16_t base, uint16_t *out) {
#ifdef PIECEWORK_AVX512
    if (pw_has_avx512) return pw_list_bits_avx512(mask, base, out);
#endif
    return PW_CHOSEN(pw_list_bits)(mask, base, out);
}

#endif

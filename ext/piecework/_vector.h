/* Sixteen characters at a time: what the memo of words needs of a processor's vector unit.

   Each function is here twice, or more often: once for each instruction set, and once in plain C
   with the suffix _plain, which is what it means. The names without a suffix are those that the
   kernels call. */

#ifndef PIECEWORK_VECTOR_H
#define PIECEWORK_VECTOR_H

#include <stdint.h>
#include <string.h>

#if !defined(PIECEWORK_PLAIN) && (defined(__SSE2__) || defined(_M_X64))
#include <emmintrin.h>
#define PIECEWORK_SSE2 1
#endif

#define PW_BLOCK 64 /* bytes that are classified at a time */

/* What a byte can be. White space is none of these. */
#define PW_LETTER 1
#define PW_ISOLATED 2
#define PW_ODD 4     /* one of a word that the memo can't hold; always a letter, too */
#define PW_SPECIAL 8 /* a special token may begin here */

#define PW_N_EXCEPTIONS 2

/* The classes of all bytes. Vector code guesses that ASCII letters and digits and the bytes from
   0xC0 on are letters, that U+0020 is white space and that the rest of visible ASCII is isolated,
   and leaves it to the table what the others are: those below, those in between, and the
   exceptions, for which the guess is wrong. */
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

/* Characters to bytes: U+0001 to U+007F and U+00A0 to U+00FF as they are, U+2010 to U+202F to 0x80
   to 0x9F, all others to 0; and capitals to small letters where `fold` is 0x20 (else it is 0).
   Returns about how many bytes are 0: vector code may count some of the last 15 twice, and no
   more than 4,080. */
static inline size_t pw_narrow1_plain(const uint8_t *chars, size_t n, uint8_t fold,
                                      uint8_t *out) {
    size_t zeros = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t c = (chars[i] & 0xE0) == 0x80 ? 0 : chars[i];
        out[i] = c | ((uint8_t)(c - 'A') < 26 ? fold : 0);
        zeros += c == 0;
    }
    return zeros;
}

static inline uint8_t pw_narrow_char(uint32_t c) {
    if (c - 0x2010 < 0x20) return (uint8_t)(0x80 + (c - 0x2010));
    return c > 0xFF || (c & 0xE0) == 0x80 ? 0 : (uint8_t)c;
}

static inline size_t pw_narrow2_plain(const uint16_t *chars, size_t n, uint8_t fold,
                                      uint8_t *out) {
    size_t zeros = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t c = pw_narrow_char(chars[i]);
        out[i] = c | ((uint8_t)(c - 'A') < 26 ? fold : 0);
        zeros += c == 0;
    }
    return zeros;
}

static inline size_t pw_narrow4_plain(const uint32_t *chars, size_t n, uint8_t fold,
                                      uint8_t *out) {
    size_t zeros = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t c = pw_narrow_char(chars[i]);
        out[i] = c | ((uint8_t)(c - 'A') < 26 ? fold : 0);
        zeros += c == 0;
    }
    return zeros;
}

/* A number whose highest bits are as good as random. */
static inline uint64_t pw_hash(uint64_t low, uint64_t high) {
    return (low + (high << 32 | high >> 32)) * 0x9E3779B97F4A7C15u;
}

/* How many of a key's 16 bytes lie behind each word, 0 if the word is as long or longer. Lists the
   words that are longer; returns where the next one goes. Up to 7 numbers more are written behind
   `cuts`, and as many read. */
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

/* Make the key of a word, of whose 16 bytes the last `cut` lie behind it, and return its hash. */
static inline uint64_t pw_load_key_plain(const uint8_t *word, size_t cut, pw_key *key) {
    uint8_t bytes[16] = {0};
    memcpy(bytes, word, 16 - cut);
    memcpy(key, bytes, 16);
    return pw_hash(key->low, key->high);
}

/* Write base + i for each bit i of the mask, in ascending order; return where the next one goes.
   Up to 8 numbers more are written behind, which mean nothing. */
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

/* ---- SSE2 ---- */

#ifdef PIECEWORK_SSE2
static inline __m128i pw_in_range_sse2(__m128i v, char first, char n) {
    /* Bytes compare as signed ones: the range is moved to where these begin. */
    return _mm_cmpgt_epi8(_mm_set1_epi8((char)(-128 + n)),
                          _mm_add_epi8(v, _mm_set1_epi8((char)(-128 - first))));
}

static inline void pw_classify_sse2(const uint8_t *block, const pw_classes *classes,
                                    pw_masks *masks) {
    uint64_t letters = 0, visible = 0, sure = 0;
    const __m128i x0 = _mm_set1_epi8((char)classes->exceptions[0]);
    const __m128i x1 = _mm_set1_epi8((char)classes->exceptions[1]);
    for (int i = 0; i < PW_BLOCK; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(block + i));
        __m128i high = pw_in_range_sse2(v, (char)0xC0, 0x40);
        __m128i letter = pw_in_range_sse2(_mm_or_si128(v, _mm_set1_epi8(0x20)), 'a', 26);
        __m128i shown = pw_in_range_sse2(v, '!', '~' - '!' + 1);
        __m128i known = _mm_or_si128(shown, _mm_cmpeq_epi8(v, _mm_set1_epi8(0x20)));
        __m128i wrong = _mm_or_si128(_mm_cmpeq_epi8(v, x0), _mm_cmpeq_epi8(v, x1));
        letter = _mm_or_si128(_mm_or_si128(letter, high), pw_in_range_sse2(v, '0', 10));
        known = _mm_andnot_si128(wrong, _mm_or_si128(known, high));
        letters |= (uint64_t)(uint32_t)_mm_movemask_epi8(letter) << i;
        visible |= (uint64_t)(uint32_t)_mm_movemask_epi8(shown) << i;
        sure |= (uint64_t)(uint32_t)_mm_movemask_epi8(known) << i;
    }
    masks->letters = letters;
    masks->isolated = visible & ~letters;
    masks->unsure = ~sure;
}

static inline __m128i pw_fold_sse2(__m128i v, uint8_t fold) {
    return _mm_or_si128(
        v, _mm_and_si128(pw_in_range_sse2(v, 'A', 26), _mm_set1_epi8((char)fold)));
}

/* Count the zeros among the bytes of v, lane by lane; a lane counts to 255. */
static inline __m128i pw_count_zeros_sse2(__m128i counts, __m128i v) {
    __m128i is_zero = _mm_cmpeq_epi8(v, _mm_setzero_si128());
    return _mm_adds_epu8(counts, _mm_and_si128(is_zero, _mm_set1_epi8(1)));
}

static inline size_t pw_sum_sse2(__m128i counts) {
    __m128i sums = _mm_sad_epu8(counts, _mm_setzero_si128());
    return (size_t)_mm_cvtsi128_si32(sums) + (size_t)_mm_extract_epi16(sums, 4);
}

static inline __m128i pw_narrow16_1_sse2(const uint8_t *chars) {
    __m128i v = _mm_loadu_si128((const __m128i *)chars);
    __m128i is_c1 = _mm_cmpeq_epi8(_mm_and_si128(v, _mm_set1_epi8((char)0xE0)),
                                   _mm_set1_epi8((char)0x80));
    return _mm_andnot_si128(is_c1, v);
}

/* Eight 16-bit characters to what their bytes are, in 16 bits. */
static inline __m128i pw_narrow8_sse2(__m128i v) {
    const __m128i top11 = _mm_set1_epi16((short)0xFFE0), zero = _mm_setzero_si128();
    __m128i mark = _mm_sub_epi16(v, _mm_set1_epi16(0x2010));
    __m128i is_mark = _mm_cmpeq_epi16(_mm_and_si128(mark, top11), zero);
    __m128i is_c1 = _mm_cmpeq_epi16(_mm_and_si128(v, top11), _mm_set1_epi16(0x80));
    __m128i is_low = _mm_cmpeq_epi16(_mm_srli_epi16(v, 8), zero);
    mark = _mm_and_si128(is_mark, _mm_add_epi16(mark, _mm_set1_epi16(0x80)));
    return _mm_or_si128(mark, _mm_and_si128(_mm_andnot_si128(is_c1, is_low), v));
}

static inline __m128i pw_narrow16_2_sse2(const uint16_t *chars) {
    return _mm_packus_epi16(pw_narrow8_sse2(_mm_loadu_si128((const __m128i *)chars)),
                            pw_narrow8_sse2(_mm_loadu_si128((const __m128i *)(chars + 8))));
}

/* Four characters in 32 bits, those above U+FFFF to 0, and sign-extended so that they can be
   packed by signed saturation. */
static inline __m128i pw_low4_sse2(const uint32_t *chars) {
    __m128i v = _mm_loadu_si128((const __m128i *)chars);
    __m128i is_bmp = _mm_cmpeq_epi32(_mm_srli_epi32(v, 16), _mm_setzero_si128());
    return _mm_srai_epi32(_mm_slli_epi32(_mm_and_si128(v, is_bmp), 16), 16);
}

static inline __m128i pw_narrow16_4_sse2(const uint32_t *chars) {
    return _mm_packus_epi16(
        pw_narrow8_sse2(_mm_packs_epi32(pw_low4_sse2(chars), pw_low4_sse2(chars + 4))),
        pw_narrow8_sse2(_mm_packs_epi32(pw_low4_sse2(chars + 8), pw_low4_sse2(chars + 12))));
}

/* The loop over all characters: 16 at a time, the last ones twice if need be. */
#define PW_NARROW_SSE2(size, type)                                                        \
    static inline size_t pw_narrow##size##_sse2(const type *chars, size_t n, uint8_t fold, \
                                                uint8_t *out) {                           \
        __m128i counts = _mm_setzero_si128(), v;                                          \
        if (n < 16) return pw_narrow##size##_plain(chars, n, fold, out);                  \
        for (size_t i = 0; i + 16 <= n; i += 16) {                                        \
            v = pw_narrow16_##size##_sse2(chars + i);                                     \
            counts = pw_count_zeros_sse2(counts, v);                                      \
            _mm_storeu_si128((__m128i *)(out + i), pw_fold_sse2(v, fold));                \
        }                                                                                 \
        if (n % 16) {                                                                     \
            v = pw_narrow16_##size##_sse2(chars + n - 16);                                \
            counts = pw_count_zeros_sse2(counts, v);                                      \
            _mm_storeu_si128((__m128i *)(out + n - 16), pw_fold_sse2(v, fold));           \
        }                                                                                 \
        return pw_sum_sse2(counts);                                                       \
    }
PW_NARROW_SSE2(1, uint8_t)
PW_NARROW_SSE2(2, uint16_t)
PW_NARROW_SSE2(4, uint32_t)

static const uint8_t pw_key_masks[32] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

static inline uint32_t *pw_cut_words_sse2(const uint16_t *starts, const uint16_t *stops, size_t n,
                                          uint16_t *cuts, uint32_t *longer) {
    const __m128i zero = _mm_setzero_si128(), sixteen = _mm_set1_epi16(16);
    for (size_t i = 0; i < n; i += 8) {
        __m128i length = _mm_sub_epi16(_mm_loadu_si128((const __m128i *)(stops + i)),
                                       _mm_loadu_si128((const __m128i *)(starts + i)));
        __m128i behind = _mm_sub_epi16(sixteen, length);
        int below = _mm_movemask_epi8(_mm_cmplt_epi16(behind, zero));
        _mm_storeu_si128((__m128i *)(cuts + i), _mm_max_epi16(behind, zero));
        for (size_t k = i; below && k < n; k++, below >>= 2) {
            *longer = (uint32_t)k;
            longer += below & 1;
        }
    }
    return longer;
}

static inline uint64_t pw_load_key_sse2(const uint8_t *word, size_t cut, pw_key *key) {
    __m128i mask = _mm_loadu_si128((const __m128i *)(pw_key_masks + cut));
    __m128i v = _mm_and_si128(_mm_loadu_si128((const __m128i *)word), mask);
    _mm_storeu_si128((__m128i *)key, v);
    /* As pw_hash. */
    v = _mm_add_epi64(v, _mm_shuffle_epi32(v, _MM_SHUFFLE(0, 1, 2, 3)));
    return (uint64_t)_mm_cvtsi128_si64(v) * 0x9E3779B97F4A7C15u;
}

static inline int pw_same_key_sse2(const pw_key *a, const pw_key *b) {
    __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)a),
                                  _mm_loadu_si128((const __m128i *)b));
    return _mm_movemask_epi8(same) == 0xFFFF;
}

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

static inline uint16_t *pw_list_bits_sse2(uint64_t mask, uint16_t base, uint16_t *out) {
    __m128i bases = _mm_set1_epi16((short)base);
    const __m128i eight = _mm_set1_epi16(8), zero = _mm_setzero_si128();
    for (int i = 0; i < 64; i += 8) {
        size_t byte = mask >> i & 0xFF;
        __m128i bits = _mm_loadl_epi64((const __m128i *)pw_bits[byte]);
        _mm_storeu_si128((__m128i *)out,
                         _mm_add_epi16(bases, _mm_unpacklo_epi8(bits, zero)));
        bases = _mm_add_epi16(bases, eight);
        out += pw_n_bits[byte];
    }
    return out;
}

static inline void pw_widen_sse2(const uint16_t *ids, int32_t *out) {
    __m128i v = _mm_loadu_si128((const __m128i *)ids), zero = _mm_setzero_si128();
    _mm_storeu_si128((__m128i *)out, _mm_unpacklo_epi16(v, zero));
    _mm_storeu_si128((__m128i *)(out + 4), _mm_unpackhi_epi16(v, zero));
}

#define pw_classify_vector pw_classify_sse2
#define pw_widen pw_widen_sse2
#define pw_list_bits pw_list_bits_sse2
#define pw_narrow1 pw_narrow1_sse2
#define pw_narrow2 pw_narrow2_sse2
#define pw_narrow4 pw_narrow4_sse2
#define pw_load_key pw_load_key_sse2
#define pw_cut_words pw_cut_words_sse2
#define pw_same_key pw_same_key_sse2
#else
static inline void pw_fill_tables(void) {}

#define pw_classify_vector pw_classify_plain
#define pw_widen pw_widen_plain
#define pw_list_bits pw_list_bits_plain
#define pw_narrow1 pw_narrow1_plain
#define pw_narrow2 pw_narrow2_plain
#define pw_narrow4 pw_narrow4_plain
#define pw_load_key pw_load_key_plain
#define pw_cut_words pw_cut_words_plain
#define pw_same_key pw_same_key_plain
#endif

/* ---- the same for all ---- */

static inline void pw_classify(const uint8_t *block, const pw_classes *classes, pw_masks *masks) {
    if (classes->guess_fails)
        pw_classify_plain(block, classes, masks);
    else
        pw_classify_vector(block, classes, masks);
}

static inline int pw_lowest_bit(uint64_t mask) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(mask);
#else
    int i = 0;
    while (!(mask >> i & 1)) i++;
    return i;
#endif
}

static inline int pw_count_bits(uint64_t mask) {
    mask -= mask >> 1 & 0x5555555555555555u;
    mask = (mask & 0x3333333333333333u) + (mask >> 2 & 0x3333333333333333u);
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (int)(mask * 0x0101010101010101u >> 56);
}

#endif

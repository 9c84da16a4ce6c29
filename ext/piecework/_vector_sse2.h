/* The functions of _vector.h for x86-64, whose processors all have SSE2. Included by it alone. */

#ifndef PIECEWORK_VECTOR_SSE2_H
#define PIECEWORK_VECTOR_SSE2_H

#include <emmintrin.h>

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
        __m128i high = _mm_cmplt_epi8(v, _mm_setzero_si128());
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

/* Store sixteen bytes; return a bit for each that is not of U+0020 to U+007E. */
static inline uint32_t pw_narrow_bytes_sse2(__m128i v, uint8_t fold, uint8_t *out) {
    __m128i is_capital = pw_in_range_sse2(v, 'A', 26);
    int plain = _mm_movemask_epi8(pw_in_range_sse2(v, ' ', '~' - ' ' + 1));
    v = _mm_or_si128(v, _mm_and_si128(is_capital, _mm_set1_epi8((char)fold)));
    _mm_storeu_si128((__m128i *)out, v);
    return (uint32_t)plain ^ 0xFFFF;
}

static inline uint32_t pw_narrow16_1_sse2(const uint8_t *chars, uint8_t fold, uint8_t *out) {
    return pw_narrow_bytes_sse2(_mm_loadu_si128((const __m128i *)chars), fold, out);
}

/* What is no byte is saturated to 0x00 or 0xFF. */
static inline uint32_t pw_narrow16_2_sse2(const uint16_t *chars, uint8_t fold, uint8_t *out) {
    __m128i low = _mm_loadu_si128((const __m128i *)chars);
    __m128i high = _mm_loadu_si128((const __m128i *)(chars + 8));
    return pw_narrow_bytes_sse2(_mm_packus_epi16(low, high), fold, out);
}

static inline __m128i pw_low8_sse2(const uint32_t *chars) {
    return _mm_packs_epi32(_mm_loadu_si128((const __m128i *)chars),
                           _mm_loadu_si128((const __m128i *)(chars + 4)));
}

static inline uint32_t pw_narrow16_4_sse2(const uint32_t *chars, uint8_t fold, uint8_t *out) {
    __m128i v = _mm_packus_epi16(pw_low8_sse2(chars), pw_low8_sse2(chars + 8));
    return pw_narrow_bytes_sse2(v, fold, out);
}

PW_NARROW(1, uint8_t, sse2)
PW_NARROW(2, uint16_t, sse2)
PW_NARROW(4, uint32_t, sse2)

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
    return (uint64_t)_mm_cvtsi128_si64(v) * PW_HASH_FACTOR;
}

static inline int pw_same_key_sse2(const pw_key *a, const pw_key *b) {
    __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)a),
                                  _mm_loadu_si128((const __m128i *)b));
    return _mm_movemask_epi8(same) == 0xFFFF;
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

#endif

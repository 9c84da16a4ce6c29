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

static inline void pw_store_sse2(uint8_t *out, __m128i v) {
    _mm_storeu_si128((__m128i *)out, v);
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

PW_NARROW(pw_narrow1_any_sse2, 1, uint8_t, sse2, __m128i)
PW_NARROW(pw_narrow2_sse2, 2, uint16_t, sse2, __m128i)
PW_NARROW(pw_narrow4_sse2, 4, uint32_t, sse2, __m128i)

/* As above for texts of ASCII, which is most of them; any other one is done again. */
static inline size_t pw_narrow1_sse2(const uint8_t *chars, size_t n, uint8_t fold, uint8_t *out) {
    __m128i all = _mm_setzero_si128(), least = _mm_set1_epi8(-1), v;
    if (n < 16) return pw_narrow1_plain(chars, n, fold, out);
    for (size_t i = 0; i + 16 <= n; i += 16) {
        v = _mm_loadu_si128((const __m128i *)(chars + i));
        all = _mm_or_si128(all, v);
        least = _mm_min_epu8(least, v);
        pw_store_sse2(out + i, pw_fold_sse2(v, fold));
    }
    v = _mm_loadu_si128((const __m128i *)(chars + n - 16));
    all = _mm_or_si128(all, v);
    least = _mm_min_epu8(least, v);
    pw_store_sse2(out + n - 16, pw_fold_sse2(v, fold));
    least = _mm_cmpeq_epi8(least, _mm_setzero_si128());
    if (_mm_movemask_epi8(_mm_or_si128(all, least)) == 0) return 0;
    return pw_narrow1_any_sse2(chars, n, fold, out);
}

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

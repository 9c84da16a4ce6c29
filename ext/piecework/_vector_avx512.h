/* The functions of _vector.h that look at 64 bytes, for x86-64 processors with AVX-512 and its byte
   instructions (VBMI and VBMI2: Intel from 2019, AMD from 2022 on). Included by it alone. They are
   compiled whatever the processor, and called where it has these. */

#ifndef PIECEWORK_VECTOR_AVX512_H
#define PIECEWORK_VECTOR_AVX512_H

#include <immintrin.h>

#define PW_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")))

/* 1 if this processor, and its system, have what is needed. */
static int pw_has_avx512;

static inline int pw_find_avx512(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("popcnt");
}

PW_AVX512 static inline __mmask64 pw_in_range_avx512(__m512i v, char first, int n) {
    return _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, _mm512_set1_epi8(first)),
                                  _mm512_set1_epi8((char)n));
}

PW_AVX512 static void pw_classify_avx512(const uint8_t *block, const pw_classes *classes,
                                         pw_masks *masks) {
    __m512i v = _mm512_loadu_si512((const void *)block);
    __m512i space = _mm512_set1_epi8(0x20);
    uint64_t high = _mm512_movepi8_mask(v); /* from 0x80 on */
    uint64_t letters = high | pw_in_range_avx512(_mm512_or_si512(v, space), 'a', 26) |
                       pw_in_range_avx512(v, '0', 10);
    uint64_t shown = pw_in_range_avx512(v, '!', '~' - '!' + 1);
    uint64_t sure = shown | high | _mm512_cmpeq_epi8_mask(v, space);
    sure &= _mm512_cmpneq_epi8_mask(v, _mm512_set1_epi8((char)classes->exceptions[0]));
    sure &= _mm512_cmpneq_epi8_mask(v, _mm512_set1_epi8((char)classes->exceptions[1]));
    masks->letters = letters;
    masks->isolated = shown & ~letters;
    masks->unsure = ~sure;
}

PW_AVX512 static uint16_t *pw_list_bits_avx512(uint64_t mask, uint16_t base, uint16_t *out) {
    static const uint8_t places[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    __m512i found = _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512((const void *)places));
    __m512i bases = _mm512_set1_epi16((short)base);
    int n = (int)_mm_popcnt_u64(mask);
    __m512i low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(found));
    _mm512_storeu_si512((void *)out, _mm512_add_epi16(low, bases));
    if (n > 32) {
        __m512i high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(found, 1));
        _mm512_storeu_si512((void *)(out + 32), _mm512_add_epi16(high, bases));
    }
    return out + n;
}

/* Up to 64 characters: as bytes, those above U+00FF as 0xFF, and a bit for each of these. */
typedef struct {
    __m512i bytes;
    uint64_t above;
} pw_chars_avx512;

PW_AVX512 static inline pw_chars_avx512 pw_load1_avx512(const uint8_t *chars, __mmask64 mask) {
    pw_chars_avx512 loaded = {_mm512_maskz_loadu_epi8(mask, chars), 0};
    return loaded;
}

PW_AVX512 static inline pw_chars_avx512 pw_load2_avx512(const uint16_t *chars, __mmask64 mask) {
    const __m512i most = _mm512_set1_epi16(0xFF);
    __m512i low = _mm512_maskz_loadu_epi16((__mmask32)mask, chars);
    __m512i high = _mm512_maskz_loadu_epi16((__mmask32)(mask >> 32), chars + 32);
    pw_chars_avx512 loaded;
    loaded.above = _mm512_cmpgt_epu16_mask(low, most) |
                   (uint64_t)_mm512_cmpgt_epu16_mask(high, most) << 32;
    loaded.bytes = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtusepi16_epi8(low)),
                                      _mm512_cvtusepi16_epi8(high), 1);
    return loaded;
}

PW_AVX512 static inline pw_chars_avx512 pw_load4_avx512(const uint32_t *chars, __mmask64 mask) {
    const __m512i most = _mm512_set1_epi32(0xFF);
    pw_chars_avx512 loaded = {_mm512_setzero_si512(), 0};
    uint8_t bytes[64];
    for (int i = 0; i < 64; i += 16) {
        __m512i v = _mm512_maskz_loadu_epi32((__mmask16)(mask >> i), chars + i);
        loaded.above |= (uint64_t)_mm512_cmpgt_epu32_mask(v, most) << i;
        _mm_storeu_si128((__m128i *)(bytes + i), _mm512_cvtusepi32_epi8(v));
    }
    loaded.bytes = _mm512_loadu_si512((const void *)bytes);
    return loaded;
}

/* Characters up to U+00FF are looked up together. */
#define PW_NARROW_AVX512(size, type)                                                          \
    PW_AVX512 static size_t pw_narrow##size##_avx512(const type *chars, size_t n,             \
                                                     const pw_bytes *bytes, uint8_t *out) {   \
        const __m512i *table = (const __m512i *)(const void *)bytes->of_char;                 \
        __m512i t0 = _mm512_loadu_si512(table), t1 = _mm512_loadu_si512(table + 1);           \
        __m512i t2 = _mm512_loadu_si512(table + 2), t3 = _mm512_loadu_si512(table + 3);       \
        size_t zeros = 0, step;                                                               \
        for (size_t i = 0; i < n; i += step) {                                                \
            __mmask64 mask = n - i < 64 ? ((uint64_t)1 << (n - i)) - 1 : ~(uint64_t)0;        \
            pw_chars_avx512 loaded = pw_load##size##_avx512(chars + i, mask);                 \
            step = n - i < 64 ? n - i : 64;                                                   \
            if (pw_are_many(loaded.above)) {                                                  \
                zeros += pw_narrow##size##_plain(chars + i, step, bytes, out + i);            \
                continue;                                                                     \
            }                                                                                 \
            __m512i low = _mm512_permutex2var_epi8(t0, loaded.bytes, t1);                     \
            __m512i high = _mm512_permutex2var_epi8(t2, loaded.bytes, t3);                    \
            __m512i v = _mm512_mask_blend_epi8(_mm512_movepi8_mask(loaded.bytes), low, high); \
            _mm512_mask_storeu_epi8(out + i, mask, v);                                        \
            mask &= ~loaded.above;                                                            \
            zeros += (size_t)_mm_popcnt_u64(mask & _mm512_testn_epi8_mask(v, v));             \
            zeros += pw_narrow_few##size(chars + i, loaded.above, bytes, out + i);            \
        }                                                                                     \
        return zeros;                                                                         \
    }
PW_NARROW_AVX512(1, uint8_t)
PW_NARROW_AVX512(2, uint16_t)
PW_NARROW_AVX512(4, uint32_t)

#endif

/* The functions of _vector.h that look at 64 bytes, for x86-64 processors with AVX-512 and its byte
   instructions (VBMI2: Intel from 2019, AMD from 2022 on). Included by it alone. They are compiled
   whatever the processor, and called where it has these. */

#ifndef PIECEWORK_VECTOR_AVX512_H
#define PIECEWORK_VECTOR_AVX512_H

#include <immintrin.h>

#define PW_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")))

/* 1 if this processor, and its system, have what is needed. */
static int pw_has_avx512;

static inline int pw_find_avx512(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("popcnt");
}

PW_AVX512 static inline __mmask64 pw_in_range_avx512(__m512i v, char first, int n) {
    return _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, _mm512_set1_epi8(first)),
                                  _mm512_set1_epi8((char)n));
}

PW_AVX512 static void pw_classify_avx512(const uint8_t *block, const pw_classes *classes,
                                         pw_masks *masks) {
    __m512i v = _mm512_loadu_si512((const void *)block);
    __m512i space = _mm512_set1_epi8(0x20);
    uint64_t high = _mm512_cmpge_epu8_mask(v, _mm512_set1_epi8((char)0xC0));
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

#endif

/* The functions of _vector.h for 64-bit Arm (little-endian), whose processors all have NEON.
   Included by it alone. */

#ifndef PIECEWORK_VECTOR_NEON_H
#define PIECEWORK_VECTOR_NEON_H

#include <arm_neon.h>

static inline uint8x16_t pw_in_range_neon(uint8x16_t v, uint8_t first, uint8_t n) {
    return vcltq_u8(vsubq_u8(v, vdupq_n_u8(first)), vdupq_n_u8(n));
}

/* One bit for each byte of four vectors, each of which is 0 or 0xFF. NEON has no instruction for
   this: each byte keeps the bit of its place in eight, and three rounds of sums of neighbours bring
   those of eight bytes into one. */
static inline uint64_t pw_bits64_neon(const uint8x16_t *v) {
    const uint8x16_t place = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201ull));
    uint8x16_t low = vpaddq_u8(vandq_u8(v[0], place), vandq_u8(v[1], place));
    uint8x16_t high = vpaddq_u8(vandq_u8(v[2], place), vandq_u8(v[3], place));
    low = vpaddq_u8(low, high);
    low = vpaddq_u8(low, low);
    return vgetq_lane_u64(vreinterpretq_u64_u8(low), 0);
}

static inline void pw_classify_neon(const uint8_t *block, const pw_classes *classes,
                                    pw_masks *masks) {
    uint8x16_t letters[4], visible[4], sure[4];
    const uint8x16_t x0 = vdupq_n_u8(classes->exceptions[0]);
    const uint8x16_t x1 = vdupq_n_u8(classes->exceptions[1]);
    for (int i = 0; i < 4; i++) {
        uint8x16_t v = vld1q_u8(block + 16 * i);
        uint8x16_t high = vcgeq_u8(v, vdupq_n_u8(0x80));
        uint8x16_t letter = pw_in_range_neon(vorrq_u8(v, vdupq_n_u8(0x20)), 'a', 26);
        uint8x16_t known = pw_in_range_neon(v, ' ', '~' - ' ' + 1);
        uint8x16_t wrong = vorrq_u8(vceqq_u8(v, x0), vceqq_u8(v, x1));
        visible[i] = pw_in_range_neon(v, '!', '~' - '!' + 1);
        letters[i] = vorrq_u8(vorrq_u8(letter, high), pw_in_range_neon(v, '0', 10));
        sure[i] = vbicq_u8(vorrq_u8(known, high), wrong);
    }
    masks->letters = pw_bits64_neon(letters);
    masks->isolated = pw_bits64_neon(visible) & ~masks->letters;
    masks->unsure = ~pw_bits64_neon(sure);
}

/* Store sixteen bytes; return a bit for each that is not of U+0020 to U+007E. */
static inline uint32_t pw_narrow_bytes_neon(uint8x16_t v, uint8_t fold, uint8_t *out) {
    uint8x16_t plain = pw_in_range_neon(v, ' ', '~' - ' ' + 1);
    vst1q_u8(out, vorrq_u8(v, vandq_u8(pw_in_range_neon(v, 'A', 26), vdupq_n_u8(fold))));
    if (vminvq_u8(plain)) return 0;
    plain = vbicq_u8(vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201ull)), plain);
    plain = vpaddq_u8(plain, plain);
    plain = vpaddq_u8(plain, plain);
    plain = vpaddq_u8(plain, plain);
    return vgetq_lane_u16(vreinterpretq_u16_u8(plain), 0);
}

static inline uint32_t pw_narrow16_1_neon(const uint8_t *chars, uint8_t fold, uint8_t *out) {
    return pw_narrow_bytes_neon(vld1q_u8(chars), fold, out);
}

/* What is no byte is saturated to 0xFF. */
static inline uint32_t pw_narrow16_2_neon(const uint16_t *chars, uint8_t fold, uint8_t *out) {
    uint8x8_t low = vqmovn_u16(vld1q_u16(chars)), high = vqmovn_u16(vld1q_u16(chars + 8));
    return pw_narrow_bytes_neon(vcombine_u8(low, high), fold, out);
}

static inline uint8x8_t pw_low8_neon(const uint32_t *chars) {
    return vqmovn_u16(
        vcombine_u16(vqmovn_u32(vld1q_u32(chars)), vqmovn_u32(vld1q_u32(chars + 4))));
}

static inline uint32_t pw_narrow16_4_neon(const uint32_t *chars, uint8_t fold, uint8_t *out) {
    uint8x16_t v = vcombine_u8(pw_low8_neon(chars), pw_low8_neon(chars + 8));
    return pw_narrow_bytes_neon(v, fold, out);
}

PW_NARROW(1, uint8_t, neon)
PW_NARROW(2, uint16_t, neon)
PW_NARROW(4, uint32_t, neon)

static inline uint32_t *pw_cut_words_neon(const uint16_t *starts, const uint16_t *stops, size_t n,
                                          uint16_t *cuts, uint32_t *longer) {
    const uint16x8_t sixteen = vdupq_n_u16(16);
    for (size_t i = 0; i < n; i += 8) {
        uint16x8_t length = vsubq_u16(vld1q_u16(stops + i), vld1q_u16(starts + i));
        uint8x8_t is_longer = vmovn_u16(vcgtq_u16(length, sixteen));
        uint64_t below = vget_lane_u64(vreinterpret_u64_u8(is_longer), 0);
        vst1q_u16(cuts + i, vqsubq_u16(sixteen, length));
        for (size_t k = i; below && k < n; k++, below >>= 8) {
            *longer = (uint32_t)k;
            longer += below & 1;
        }
    }
    return longer;
}

static inline uint64_t pw_load_key_neon(const uint8_t *word, size_t cut, pw_key *key) {
    uint8x16_t v = vandq_u8(vld1q_u8(word), vld1q_u8(pw_key_masks + cut));
    uint64x2_t halves = vreinterpretq_u64_u8(v);
    uint64x2_t turned = vreinterpretq_u64_u32(vrev64q_u32(vreinterpretq_u32_u8(v)));
    vst1q_u8((uint8_t *)key, v);
    /* As pw_hash. */
    return vgetq_lane_u64(vaddq_u64(halves, vextq_u64(turned, turned, 1)), 0) * PW_HASH_FACTOR;
}

/* Keys lie in memory, and two pairs of general registers are compared sooner than a vector comes
   back into one. */
static inline int pw_same_key_neon(const pw_key *a, const pw_key *b) {
    return ((a->low ^ b->low) | (a->high ^ b->high)) == 0;
}

static inline uint16_t *pw_list_bits_neon(uint64_t mask, uint16_t base, uint16_t *out) {
    uint16x8_t bases = vdupq_n_u16(base);
    for (int i = 0; i < 64; i += 8) {
        size_t byte = mask >> i & 0xFF;
        vst1q_u16(out, vaddw_u8(bases, vld1_u8(pw_bits[byte])));
        bases = vaddq_u16(bases, vdupq_n_u16(8));
        out += pw_n_bits[byte];
    }
    return out;
}

static inline void pw_widen_neon(const uint16_t *ids, int32_t *out) {
    uint16x8_t v = vld1q_u16(ids);
    vst1q_s32(out, vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(v))));
    vst1q_s32(out + 4, vreinterpretq_s32_u32(vmovl_high_u16(v)));
}

#endif

"""Sixteen characters at a time; see _vector.h for what each of these means."""

from piecework._types cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from "_vector.h" nogil:
    enum:
        BLOCK "PW_BLOCK"
        LETTER "PW_LETTER"
        ISOLATED "PW_ISOLATED"
        ODD "PW_ODD"
        SPECIAL "PW_SPECIAL"
        VANISHES "PW_VANISHES"
        N_EXCEPTIONS "PW_N_EXCEPTIONS"

    ctypedef struct Bytes "pw_bytes":
        uint8_t[0x10000] of_char
        uint8_t fold

    ctypedef struct ByteClasses "pw_classes":
        uint8_t[256] of_byte
        uint8_t[2] exceptions
        bint guess_fails

    ctypedef struct Masks "pw_masks":
        uint64_t letters
        uint64_t isolated
        uint64_t unsure

    ctypedef struct Key "pw_key":
        uint64_t low
        uint64_t high

    void classify "pw_classify"(
        const uint8_t* block, const ByteClasses* classes, Masks* masks
    ) noexcept
    size_t narrow1 "pw_narrow1"(
        const uint8_t* chars, size_t n, const Bytes* bytes, uint8_t* out
    ) noexcept
    size_t narrow2 "pw_narrow2"(
        const uint16_t* chars, size_t n, const Bytes* bytes, uint8_t* out
    ) noexcept
    size_t narrow4 "pw_narrow4"(
        const uint32_t* chars, size_t n, const Bytes* bytes, uint8_t* out
    ) noexcept
    uint32_t* cut_words "pw_cut_words"(
        const uint16_t* starts, const uint16_t* stops, size_t n, uint16_t* cuts, uint32_t* longer
    ) noexcept
    uint64_t load_key "pw_load_key"(const uint8_t* word, size_t cut, Key* key) noexcept
    bint same_key "pw_same_key"(const Key* a, const Key* b) noexcept
    void widen "pw_widen"(const uint16_t* ids, int32_t* out) noexcept
    int lowest_bit "pw_lowest_bit"(uint64_t mask) noexcept
    uint16_t* list_bits "pw_list_bits"(uint64_t mask, uint16_t base, uint16_t* out) noexcept
    void prepare "pw_prepare"() noexcept
    int count_bits "pw_count_bits"(uint64_t mask) noexcept

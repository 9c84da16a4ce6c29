"""What the compiler and the processor can't know, and need not believe."""

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define piecework_prefetch(address) __builtin_prefetch(address)
    #define piecework_likely(condition) __builtin_expect(!!(condition), 1)
    #else
    #define piecework_prefetch(address) ((void)(address))
    #define piecework_likely(condition) (condition)
    #endif
    /* Compilers make a branch of a choice where they think that it pays. They can't if they
       don't know that a mask is 0 or -1. */
    static inline Py_ssize_t piecework_opaque(Py_ssize_t mask) {
    #if defined(__GNUC__) || defined(__clang__)
        __asm__("" : "+r"(mask));
    #endif
        return mask;
    }
    """
    # Mostly true: the code for this case comes first.
    bint likely "piecework_likely"(bint condition) noexcept nogil
    # Begin to load the cache line at `address`, which need not be valid.
    void prefetch "piecework_prefetch"(const void* address) noexcept nogil
    # The same mask, of which the compiler knows nothing.
    Py_ssize_t opaque "piecework_opaque"(Py_ssize_t mask) noexcept nogil

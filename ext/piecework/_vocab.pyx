"""Passes over a whole vocabulary: reading it from JSON, counting its ids.

In go str and dict, out come the same and numbers. What is unusual is left to the callers, who have
the time for it, and say what is wrong.
"""

from cpython.dict cimport PyDict_Next
from cpython.long cimport PyLong_CheckExact
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.object cimport PyObject
from cpython.unicode cimport (
    PyUnicode_CheckExact, PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ, PyUnicode_Substring,
)

from libc.string cimport memset

from json import loads

from piecework._types cimport int64_t, uint32_t, uint64_t


cdef extern from "Python.h":
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    long long PyLong_AsLongLongAndOverflow(object number, int* overflow) except? -1


# A place in a text.
cdef struct Scan:
    void* chars
    int kind
    Py_ssize_t at
    Py_ssize_t stop


def scan_ids(str text not None, Py_ssize_t start):
    """Read a JSON object of strings and natural numbers: a tokenizer.json's vocabulary.

    Parameters
    ----------
    text : str
        JSON.
    start : int
        Where the object begins; not negative.

    Returns
    -------
    ids : dict of str to int
        A repeated key has its last number, as in what json reads.
    stop : int
        The place behind the object.

    or None, where something else stands: an empty object, one of another kind, no valid JSON.

    Raises
    ------
    ValueError
        For a string that is no valid JSON.
    """
    cdef Scan scan = Scan(
        PyUnicode_DATA(text), PyUnicode_KIND(text), max(start, 0), PyUnicode_GET_LENGTH(text)
    )
    cdef dict ids = {}
    cdef Py_ssize_t first
    cdef bint escaped
    cdef int64_t number
    if not take(&scan, c"{"):
        return None
    while take(&scan, c'"'):
        first = scan.at
        if not skip_string(&scan, &escaped):
            return None
        token = PyUnicode_Substring(text, first, scan.at - 1)
        if escaped:
            token = loads(f'"{token}"')
        number = take_number(&scan) if take(&scan, c":") else -1
        if number < 0:
            return None
        ids[token] = number
        if not take(&scan, c","):
            return (ids, scan.at) if take(&scan, c"}") else None
    return None


cdef inline uint32_t here(const Scan* scan) noexcept:
    """Return the character at a place, or 0 at the end of the text: no JSON holds it."""
    return PyUnicode_READ(scan.kind, scan.chars, scan.at) if scan.at < scan.stop else 0


cdef inline void skip_space(Scan* scan) noexcept:
    while here(scan) == c" " or c"\t" <= here(scan) <= c"\n" or here(scan) == c"\r":
        scan.at += 1


cdef inline bint take(Scan* scan, uint32_t char) noexcept:
    """Go behind white space and this character, or say that another one stands there."""
    skip_space(scan)
    if here(scan) != char:
        return False
    scan.at += 1
    return True


cdef inline bint skip_string(Scan* scan, bint* escaped) noexcept:
    """Go behind the end of a string, or say that it has none or a control in it."""
    escaped[0] = False
    while here(scan) != c'"':
        if here(scan) == c"\\":
            escaped[0] = True
            scan.at += 1
        if here(scan) < 0x20:
            return False
        scan.at += 1
    scan.at += 1
    return True


cdef inline int64_t take_number(Scan* scan) noexcept:
    """Read a natural number of up to nine digits; -1 for what is none."""
    cdef int64_t number = 0
    cdef Py_ssize_t first
    skip_space(scan)
    first = scan.at
    while c"0" <= here(scan) <= c"9" and scan.at - first < 10:
        number = 10 * number + (here(scan) - c"0")
        scan.at += 1
    if not 1 <= scan.at - first <= 9 or (
        scan.at - first > 1 and PyUnicode_READ(scan.kind, scan.chars, first) == c"0"
    ):
        return -1
    return number  # a fraction or an exponent that follows is no comma, and no brace


def count_ids(dict ids not None, Py_ssize_t limit):
    """Count the ids of a vocabulary.

    Parameters
    ----------
    ids : dict
        Tokens and their ids.
    limit : int
        Ids must be below it.

    Returns
    -------
    highest : int
        The highest id; -1 if there is none.
    n_ids : int
        How many there are, each counted once.

    or None, if a key is no plain str or holds a surrogate, or a value is no plain int from 0 to
    limit - 1.
    """
    cdef Py_ssize_t at = 0, highest = -1, n_ids = 0
    cdef PyObject* token
    cdef PyObject* value
    cdef int overflow = 0
    cdef long long id_
    # One bit for each id. What no id comes near is never touched, and takes no memory.
    cdef uint64_t* seen = <uint64_t*>PyMem_RawCalloc((limit >> 6) + 1, sizeof(uint64_t))
    cdef uint64_t bit
    if seen == NULL:
        raise MemoryError
    try:
        while PyDict_Next(ids, &at, &token, &value):
            if not PyUnicode_CheckExact(<object>token) or holds_surrogate(<object>token):
                return None
            if not PyLong_CheckExact(<object>value):
                return None
            id_ = PyLong_AsLongLongAndOverflow(<object>value, &overflow)
            if overflow or not 0 <= id_ < limit:
                return None
            highest = max(highest, <Py_ssize_t>id_)
            bit = <uint64_t>1 << (id_ & 63)
            n_ids += not seen[id_ >> 6] & bit
            seen[id_ >> 6] |= bit
    finally:
        PyMem_RawFree(seen)
    return highest, n_ids


cdef inline bint holds_surrogate(object token) noexcept:
    cdef int kind = PyUnicode_KIND(token)
    cdef void* chars = PyUnicode_DATA(token)
    cdef Py_ssize_t i
    if kind == 1:
        return False
    for i in range(PyUnicode_GET_LENGTH(token)):
        if 0xD800 <= PyUnicode_READ(kind, chars, i) <= 0xDFFF:
            return True
    return False


def any_ends_in(list lines not None, str chars not None):
    """Say whether a line ends in one of some characters.

    Parameters
    ----------
    lines : list of str
    chars : str
    """
    cdef str line
    cdef bint[128] is_ascii_one
    cdef uint32_t char
    memset(is_ascii_one, 0, sizeof(is_ascii_one))
    for one in chars:
        if one.isascii():
            is_ascii_one[<uint32_t>ord(one)] = True
    for line in lines:
        if line:
            char = <uint32_t>line[len(line) - 1]
            if is_ascii_one[char] if char < 128 else line[len(line) - 1] in chars:
                return True
    return False

"""Norm(text) of MODEL_CARD.md, the form the vocabulary is made of.

embedding/tokenize.go does the same in the daemon.
"""

WORD_START = "▁"

# Length in characters from which a run is split at its capitals: CephOSDFlapping is, JavaScript and MySQL are words.
CAMEL_MIN = 11


def normalize(text: str) -> str:
    """Full-width to ASCII, lower case, no white space, WORD_START before every run of letters and digits."""
    raw = [_half_width(c) for c in text]
    low = [c.lower()[0] for c in raw]
    out: list[str] = []
    i = 0
    while i < len(low):
        if low[i].isspace() or low[i] < " ":
            i += 1
        elif not _in_word(low[i]):
            out.append(low[i])
            i += 1
        else:
            end = i + 1
            while end < len(low) and _in_word(low[end]):
                end += 1
            _append_word(out, raw, low, i, end)
            i = end
    return "".join(out)


def _append_word(out: list[str], raw: list[str], low: list[str], start: int, end: int) -> None:
    out.append(WORD_START)
    camel = end - start >= CAMEL_MIN
    for k in range(start, end):
        if camel and k > start and _is_upper(raw[k]):
            ends_acronym = k + 1 < end and "a" <= raw[k + 1] <= "z"
            if not _is_upper(raw[k - 1]) or ends_acronym:
                out.append(WORD_START)
        out.append(low[k])


def _half_width(c: str) -> str:
    if "\uff01" <= c <= "\uff5e":
        return chr(ord(c) - 0xFEE0)
    return " " if c in "\u3000\u00a0" else c


def _is_upper(c: str) -> bool:
    return "A" <= c <= "Z"


def _in_word(c: str) -> bool:
    # Chinese characters and kana (from 0x2E80) have no spaces between words, so a run of them is no word.
    if c < "\x80":
        return "a" <= c <= "z" or "0" <= c <= "9"
    return "\xc0" <= c < "\u2e80" and c.isalpha()

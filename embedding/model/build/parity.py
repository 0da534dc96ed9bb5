"""Writes the parity file: texts with the pieces and vectors that every implementation of the model must give."""

import json
import random
from pathlib import Path

import numpy as np

import kbs
import records
import settings
from examples import Encoder
from tokenize_reference import Tokenizer
from vocabulary import Entry

_TEXTS = 200
_OF_PAGES = 80
_LENGTHS = (60, 200, 700)  # characters

# What normalisation and the tokenizer could get wrong.
_EDGES = [
    "", "   ", "。", "a", "A", "怎么重启 nginx 服务", "How do I restart nginx?", "ＡＢＣ１２３　全角字符",
    "CephOSDFlapping", "kubernetesClusterAutoscalerNotWorking", "TiDB", "MySQL", "HTTPServerErrorRateHigh",
    "getHTTPResponseCode2XX", "pg_stat_activity", 'node_cpu_seconds_total{mode="idle"}',
    "error: failed to mount /dev/sda1: No such device (os error 19)",
    "x.509 certificate has expired or is not yet valid", "ERR_CONNECTION_REFUSED",
    "192.168.0.1:8080/api/v1/namespaces", "2024-01-31T23:59:59Z", "😀 表情符号 emoji 👍🏽", "繁體中文說明文件",
    "日本語のテキスト", "한국어 텍스트", "Привет мир", "Ünïcödé naïve café", "ﬁle ligature", "İstanbul",
    "line1\nline2\r\n\tline3\u00a0nbsp", "\u200b零宽空格\u200b", "#!/bin/bash\nset -euo pipefail",
    '<div class="x">HTML 标签</div>', "$$E=mc^2$$", "C++ 与 C# 的区别", "k8s 里 Pod 一直 CrashLoopBackOff",
    "OOMKilled 退出码 137", "磁盘空间不足 No space left on device", "数据库主从复制延迟",
    "ａｐｉ网关限流limit-count插件", "~~~~", "龘靐齉", "𠮷野家", "a" * 300, "中" * 300, "v1.2.3-rc.4+build.5",
    "foo_bar-baz.qux", "E2E测试", "ABCDEFGHIJKLMNOP", "abcDEFghiJKLmno", "IPv6", "5G", "ⅷ ① ½",
    "“引号” ‘single’ —dash…",
]  # fmt: skip


def write(model_file: Path, entries: list[Entry], out: Path) -> None:
    """Write the file, after the library's tokenizer and the reference have agreed on every text."""
    model = kbs.read(model_file)
    reference = Tokenizer(model)
    texts = _texts()
    lines = []
    for text, ids in zip(texts, Encoder(entries).ids(texts), strict=True):
        if reference.ids(text) != ids.tolist():
            raise SystemExit(f"the tokenizers disagree on {text!r}: {reference.ids(text)} and {ids.tolist()}")
        total = np.sum([model.row(i) for i in ids], axis=0) if len(ids) else np.zeros(model.dims)
        vector = total / (np.linalg.norm(total) + 1e-9)
        lines.append({"text": text, "ids": ids.tolist(), "vec": [round(float(v), 5) for v in vector]})
    out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} texts in {out.name}")


def _texts() -> list[str]:
    rng = random.Random(7)
    texts = list(_EDGES)
    pages, messages = records.read_pages(settings.PAGES), records.read_messages(settings.MESSAGES)
    for _ in range(_OF_PAGES):
        section = rng.choice(rng.choice(pages).sections)
        text = " > ".join(section.headings) + "\n" + rng.choice(section.paragraphs)
        texts.append(text[: rng.choice(_LENGTHS)])
    while len(texts) < _TEXTS:
        message = rng.choice(messages)
        texts.append(rng.choice([message.en, message.zh])[:300])
    return texts

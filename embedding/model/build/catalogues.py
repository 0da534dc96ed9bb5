"""Parallel messages of the unpacked packages: message catalogues, package descriptions -> messages.jsonl."""

import gettext
import io
import re
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator

import yaml

import records
import settings
from records import Message
from text import has_han, read_bytes, read_text, squeeze

_CHINESE_CATALOGUE = re.compile(r"zh_CN|zh_Hans|/zh/")


def build() -> None:
    """Read all catalogues and write their messages, each once."""
    seen: dict[tuple[str, str], Message] = {}
    for source, en, zh in _entries():
        message = _message(source, en, zh)
        if message:
            seen.setdefault((message.en, message.zh), message)
    records.write_lines(settings.MESSAGES, seen.values())
    counts = Counter(m.source for m in seen.values())
    print(f"{len(seen)} messages:", ", ".join(f"{s} {n}" for s, n in counts.most_common()))


def _entries() -> Iterator[tuple[str, str, str]]:
    yield from _deb_catalogues()
    yield from _wheel_catalogues()
    yield from _rancher()
    yield from _journal_catalogue()
    yield from _descriptions()


def _message(source: str, en: str, zh: str) -> Message | None:
    en, zh = _plain(en), _plain(zh)
    if len(en) <= 2 or len(zh) <= 1 or not has_han(zh) or has_han(en):
        return None
    return Message(source, en[:1200], zh[:800])


def _plain(text: str) -> str:
    """Without markup, placeholders and accelerator keys."""
    text = re.sub(r"<[^<>]{1,120}>", " ", text)
    text = re.sub(r"%\([a-zA-Z_]+\)[sd]|%-?\d*\$?[-#0-9.*l]*[sdiufxXcqQ]|\{[^{}]{0,40}\}", " ", text)
    text = re.sub(r"([(（]?)[_&~]([A-Za-z])", r"\1\2", text)
    return squeeze(re.sub(r"[(（][A-Z][)）]", "", text))


def _catalogue(data: bytes) -> Iterator[tuple[str, str]]:
    """The messages of a compiled catalogue; of plurals the singular, without context."""
    translations = gettext.GNUTranslations(io.BytesIO(data))
    for key, text in translations._catalog.items():  # gettext has no public way to list them
        singular = key[0] if isinstance(key, tuple) else key
        if isinstance(text, str):
            yield singular.split("\x04", 1)[-1], text


def _deb_catalogues() -> Iterator[tuple[str, str, str]]:
    for path in sorted(settings.UNPACKED.glob("*/**/*.mo")):
        name = str(path.relative_to(settings.UNPACKED))
        if _CHINESE_CATALOGUE.search(name) and "continents" not in name:  # names of cities
            for en, zh in _catalogue(read_bytes(path)):
                yield name.split("/")[0], en, zh


def _wheel_catalogues() -> Iterator[tuple[str, str, str]]:
    for wheel in sorted(settings.WHEELS.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if re.search(r"(zh_CN|/zh)/LC_MESSAGES/\w+\.mo$", name):
                    for en, zh in _catalogue(archive.read(name)):
                        yield wheel.name.split("-")[0], en, zh


def _rancher() -> Iterator[tuple[str, str, str]]:
    """Rancher's user interface: nested YAML with ICU plurals."""
    (path,) = settings.NPM.glob("rancher-shell-*.tgz")
    with tarfile.open(path) as archive:
        en, zh = (_flat(_rancher_yaml(archive, language)) for language in ("en-us", "zh-hans"))
    for key in (k for k in en if k in zh):
        yield "rancher-shell", _without_plurals(en[key]), _without_plurals(zh[key])


def _rancher_yaml(archive: tarfile.TarFile, language: str) -> dict:
    member = archive.extractfile(f"package/assets/translations/{language}.yaml")
    return yaml.load(member.read(), yaml.BaseLoader)  # makes nothing but strings


def _without_plurals(text: str) -> str:
    return re.sub(r"\{[^{}]*\{.*\}\s*\}", " ", text)


def _flat(tree: dict, prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}/{key}")
        else:
            flat[f"{prefix}/{key}"] = str(value)
    return flat


def _journal_catalogue() -> Iterator[tuple[str, str, str]]:
    """systemd's explanations of log messages, which have the same id in both languages."""
    folder = settings.UNPACKED / "systemd/usr/lib/systemd/catalog"
    entry = re.compile(r"^-- ([0-9a-f]{32})\n(.*?)(?=^-- |\Z)", re.M | re.S)
    en, zh = (dict(entry.findall(read_text(folder / name))) for name in ("systemd.catalog", "systemd.zh_CN.catalog"))
    fields = re.compile(r"@\w+@|^[A-Z][\w-]+: ", re.M)
    for key in (k for k in en if k in zh):
        yield "systemd", fields.sub("", en[key]), fields.sub("", zh[key])


def _descriptions() -> Iterator[tuple[str, str, str]]:
    """What Debian's packages are for: one line and a paragraph each."""
    en, zh = (_description_index(read_text(settings.DESCRIPTIONS[language])) for language in ("en", "zh_CN"))
    for key, (short, long) in zh.items():
        if key in en:
            yield "debian-descriptions", en[key][0], short
            yield "debian-descriptions", en[key][1], long


def _description_index(index: str) -> dict[tuple[str, str], tuple[str, str]]:
    """By package and checksum of the English text, so that outdated translations fall away."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for block in index.split("\n\n"):
        entry = re.match(r"Package: (\S+)\nDescription-md5: (\w+)\nDescription-\w+: (.*)", block, flags=re.S)
        if entry:
            short, _, long = entry[3].partition("\n")
            found[entry[1], entry[2]] = short, squeeze(re.sub(r"\n \.", " ", long))
    return found

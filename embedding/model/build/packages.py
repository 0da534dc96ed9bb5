"""Fetches the packages the model is made of and unpacks them. Nothing is installed on the machine."""

import hashlib
import os
import subprocess
from pathlib import Path

import settings


def fetch_debs() -> None:
    """Download the .deb files of packages.lock and the index of package descriptions, with apt state of our own."""
    environment = _private_apt()
    _run("apt-get", "-q", "update", env=environment)
    for language, path in settings.DESCRIPTIONS.items():
        _write_descriptions(language, path)
    settings.DEBS.mkdir(exist_ok=True)
    for line in settings.LOCK.read_text().splitlines():
        name, version, sha256 = line.split()
        if not _deb(name):
            _download_deb(name, version, environment)
        if hashlib.sha256(_deb(name).read_bytes()).hexdigest() != sha256:
            print(f"warning: {name} is not the locked {version}: the model will differ a little")


def _write_descriptions(language: str, path: Path) -> None:
    name = f"Translation-{language}".replace("_", "%5f")  # as apt escapes it
    lists = sorted(settings.CACHE.glob(f"apt/lists/*_i18n_{name}*"))
    if not lists:
        raise SystemExit(f"apt-get update brought no package descriptions in {language}")
    command = ["/usr/lib/apt/apt-helper", "cat-file", *map(str, lists)]
    path.write_bytes(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def _deb(name: str) -> Path | None:
    return next(settings.DEBS.glob(f"{name}_*.deb"), None)


def _download_deb(name: str, version: str, environment: dict[str, str]) -> None:
    """Point releases of Debian replace packages: where the locked version is gone, the current one serves."""
    for wanted in (f"{name}={version}", name):
        done = subprocess.run(
            ["apt-get", "-q", "download", wanted],
            cwd=settings.DEBS,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode == 0:
            return
    raise SystemExit(f"{name} can't be downloaded: see `apt-get download {name}`")


def _private_apt() -> dict[str, str]:
    """An environment in which apt has its own state: both languages' descriptions are needed, and root isn't asked."""
    root = settings.CACHE / "apt"
    for folder in ("lists/partial", "archives/partial", "parts"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    config = root / "apt.conf"
    config.write_text(
        f"""Dir::State::lists "{root}/lists";
Dir::Cache "{root}";
Dir::Etc::parts "{root}/parts"; // the machine's own may leave translations out
APT::Sandbox::User "root";
Acquire::Languages {{ "en"; "zh_CN"; }};
"""
    )
    return os.environ | {"APT_CONFIG": str(config)}


def fetch_others() -> None:
    """Download what comes from PyPI and npm."""
    settings.NPM.mkdir(exist_ok=True)
    _run("npm", "pack", "--silent", settings.NPM_SOURCE, cwd=settings.NPM)
    pip = str(settings.VENV / "bin/pip")
    _run(pip, "download", "-q", "--no-deps", "-d", str(settings.WHEELS), *settings.WHEEL_SOURCES)


def unpack() -> None:
    """Unpack every .deb into a folder of its name."""
    for deb in sorted(settings.DEBS.glob("*.deb")):
        folder = settings.UNPACKED / deb.name.split("_")[0]
        folder.mkdir(parents=True, exist_ok=True)
        _run("dpkg-deb", "-x", str(deb), str(folder))


def _run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    subprocess.run(command, cwd=cwd, env=env, check=True, stdout=subprocess.DEVNULL)

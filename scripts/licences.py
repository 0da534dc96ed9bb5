#!/usr/bin/env python3
"""The licences of the Go modules that are compiled in, in one text. Fails on a module without a licence, or with one that
is not known to allow what is done here: a binary that is handed on under other terms.

usage: licences.py GOOS/GOARCH...                          text to stdout
       licences.py --sbom FILE VERSION EPOCH GOOS/GOARCH   completes a CycloneDX file: licences, version, date
"""

import json
import os
import re
import subprocess
import sys
import time
import urllib.parse

KNOWN = {
    "Apache-2.0": r"Apache License Version 2\.0, January 2004",
    "MIT": r"Permission is hereby granted, free of charge, to any person obtaining a copy",
    "BSD-3-Clause": r"Redistribution and use in source and binary forms, with or without .*(Neither the name|may not be used to endorse)",
    "BSD-2-Clause": r"Redistribution and use in source and binary forms, with or without (?!.*(Neither the name|may not be used to endorse))",
    "Zlib": r"This software is provided 'as-is', without any express or implied",
}
# Words that a permissive licence does not contain. Found anywhere, a person has to look.
FOREIGN = r"GENERAL PUBLIC LICENSE|Mozilla Public License|Business Source|Server Side Public|Commons Clause|Eclipse Public|Creative Commons.{0,20}NonCommercial"
# Looked at by a person: why a text with foreign words, or a module without one, is in order.
EXCEPTIONS = {
    "github.com/milvus-io/milvus-proto/go-api/v2": "Apache-2.0",  # the file lies in the repository's root, outside of the module
}
NAMES = re.compile(r"^(un)?licen[cs]e|^copying|^notice|^patents$", re.IGNORECASE)


def packages(platform):
    goos, goarch = platform.split("/")
    env = dict(os.environ, GOOS=goos, GOARCH=goarch, CGO_ENABLED="0")
    text = subprocess.run(
        ["go", "list", "-deps", "-json=Dir,Module", "./cmd/knowledged"], env=env, check=True, capture_output=True, text=True
    ).stdout
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        package, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        module = package.get("Module")
        if module and not module.get("Main"):
            yield module, package["Dir"]


def texts(root, folder):
    """The licence files from a package's folder up to its module's: code that a module has copied brings its own."""
    while True:
        for name in sorted(os.listdir(folder)):
            file = os.path.join(folder, name)
            if NAMES.match(name) and os.path.isfile(file) and not name.endswith(".go"):
                yield os.path.relpath(file, root), open(file, encoding="utf-8", errors="replace").read()
        if os.path.samefile(folder, root):
            return
        folder = os.path.dirname(folder)


def collect(platforms):
    modules = {}
    for platform in platforms:
        for module, folder in packages(platform):
            found = modules.setdefault((module["Path"], module["Version"]), {})
            found.update(texts(module["Dir"], folder))
    goroot, version = subprocess.run(["go", "env", "GOROOT", "GOVERSION"], check=True, capture_output=True, text=True).stdout.split()
    modules["std", version] = {"LICENSE": open(os.path.join(goroot, "LICENSE"), encoding="utf-8").read()}
    return modules


def judge(modules):
    """The licences of each module, by its path; ends the program where a person has to look."""
    problems, licences = [], {}
    for (path, version), files in sorted(modules.items()):
        words = [" ".join(text.split()) for text in files.values()]
        ids = sorted({name for text in words for name, pattern in KNOWN.items() if re.search(pattern, text)})
        foreign = sorted({m.group(0) for text in words for m in re.finditer(FOREIGN, text, re.IGNORECASE)})
        if path in EXCEPTIONS:
            ids = [EXCEPTIONS[path]]
        elif not ids:
            problems.append(f"{path} {version}: no licence that is known, in {sorted(files) or 'no file'}")
        elif foreign:
            problems.append(f"{path} {version}: its texts speak of {', '.join(foreign)}")
        licences[path] = ids
    problems += [f"{path} is excepted and not compiled in" for path in sorted(set(EXCEPTIONS) - set(licences))]
    if problems:
        sys.exit("licences.py: look at these, then extend KNOWN or EXCEPTIONS:\n  " + "\n  ".join(problems))
    return licences


def complete(file, version, epoch, licences):
    bom = json.load(open(file, encoding="utf-8"))
    bom["metadata"]["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch)))
    old = bom["metadata"]["component"]["version"]
    text = json.dumps(bom).replace(f"knowledged@{old}", f"knowledged@{urllib.parse.quote(version)}").replace(old, version)
    bom = json.loads(text)
    for component in bom["components"]:
        component["licenses"] = [{"license": {"id": name}} for name in licences[component["name"]]]
    with open(file, "w", encoding="utf-8") as out:
        json.dump(bom, out, indent=1, sort_keys=True)
        out.write("\n")


def main():
    args = sys.argv[1:]
    if args[:1] == ["--sbom"]:
        complete(*args[1:4], judge(collect(args[4:])))
        return
    modules = collect(args)
    licences = judge(modules)
    print("knowledged contains the following Go modules; std is the standard library. The texts are below.\n")
    for path, version in sorted(modules):
        print(f"{path} {version}: {', '.join(licences[path])}")
    for (path, version), files in sorted(modules.items()):
        for name, text in sorted(files.items()):
            print(f"\n{'=' * 78}\n{path} {version}: {name}\n{'=' * 78}\n\n{text.strip()}")


if __name__ == "__main__":
    main()

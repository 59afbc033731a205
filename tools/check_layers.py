#!/usr/bin/env python3
"""Checks that the folders of src/ include each other only in the order that docs/design.md gives.

Usage: check_layers.py [REPOSITORY]
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

# What each folder may include from src/. Public headers live in include/ under the same first names: acl/acl_base.h is public.
ALLOWED = {
    "acl": {"acl"},
    "aclnn": {"aclnn", "acl"},
    "contract": {"contract", "aclnn", "acl"},
    "plan": {"plan", "aclnn", "acl"},
    "engine": {"engine", "plan", "aclnn", "acl"},
    "aclnnop": {"aclnnop", "engine", "plan", "contract", "aclnn", "acl"},
    "info": {"info", "aclnnop", "engine", "plan", "contract", "aclnn", "acl"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    faults = []
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in {".h", ".cc"}:
            continue
        folder = path.relative_to(root / "src").parts[0]
        if folder not in ALLOWED:
            faults.append(f"{path}: folder {folder} has no place in the order")
            continue
        for name in INCLUDE.findall(path.read_text()):
            target = name.split("/")[0]
            if not (root / "src" / name).exists() and not (root / "include" / name).exists():
                faults.append(f"{path}: includes {name}, which is neither in src/ nor in include/")
            elif (root / "src" / name).exists() and target not in ALLOWED[folder]:
                faults.append(f"{path}: {folder} must not include {name}")
            elif not (root / "src" / name).exists() and target == "aclnnop" and folder != "aclnnop":
                faults.append(f"{path}: {folder} must not know the operator header {name}")
    for path in sorted((root / "include").rglob("*.h")):
        for name in INCLUDE.findall(path.read_text()):
            if (root / "src" / name).exists():
                faults.append(f"{path}: a public header includes {name} from src/")
    print("\n".join(faults) if faults else "layers: in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

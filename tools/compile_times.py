#!/usr/bin/env python3
"""What a build costs in processor time, by file and by folder.

    compile_times.py launch LOG COMMAND...   a compiler launcher: runs COMMAND and notes its user and system time in LOG
    compile_times.py report LOG              prints the times by folder, and the files that take longest
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import os
import re
import resource
import subprocess
import sys


def launch(log, command):
    status = subprocess.call(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = command[command.index("-o") + 1] if "-o" in command[:-1] else command[-1]
    line = f"{used.ru_utime + used.ru_stime:.3f} {output}\n"
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, line.encode())  # in one piece: other compilers write there, too
    os.close(descriptor)
    return status


def source_of(output):
    """src/CMakeFiles/portacl_objects.dir/aclnnop/loss/kl_div.cc.o -> src/aclnnop/loss/kl_div.cc"""
    return re.sub(r"CMakeFiles/[^/]*\.dir/|\.o$", "", output)


def read_times(log):
    times = collections.Counter()
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            seconds, output = line.split(maxsplit=1)
            times[source_of(output.strip())] += float(seconds)
    return times


def report(log, files):
    times = read_times(log)
    folders = collections.defaultdict(list)
    for source, seconds in times.items():
        folders[os.path.dirname(source) or "."].append((seconds, source))
    total = sum(times.values())
    print(f"{'seconds':>8}  {'share':>5}  files  folder")
    sums = {folder: sum(seconds for seconds, _ in own) for folder, own in folders.items()}
    for folder in sorted(sums, key=sums.get, reverse=True):
        print(f"{sums[folder]:8.1f}  {sums[folder] / total:5.0%}  {len(folders[folder]):5}  {folder}")
    print(f"\n{'seconds':>8}  file")
    for seconds, source in sorted(((s, f) for f, s in times.items()), reverse=True)[:files]:
        print(f"{seconds:8.1f}  {source}")
    print(f"\n{total:8.1f}  seconds of processor time for {len(times)} files")


def main():
    if sys.argv[1:2] == ["launch"]:
        return launch(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["report"])
    parser.add_argument("log")
    parser.add_argument("--files", type=int, default=25, help="how many files to name")
    arguments = parser.parse_args()
    report(arguments.log, arguments.files)
    return 0


if __name__ == "__main__":
    sys.exit(main())

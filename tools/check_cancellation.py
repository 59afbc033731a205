#!/usr/bin/env python3
"""Checks that no thread can be cancelled (pthread_cancel) in the middle of a function of the library.

Usage: check_cancellation.py [REPOSITORY]

- What waits, and what reads or writes files, stands where a CancellationDeferred lives: in its scope or one around it.
  One line may say otherwise, with a comment "cancellable: WHY".
- Where a function of the program is called, whoever catches everything lets a ThreadUnwinding pass before.
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

# What POSIX and glibc call cancellation points, as far as a library like this one may use them.
POINT = re.compile(
    r"(?<![\w:>])(?:::)?(?:open|openat|creat|close|read|pread|readv|write|pwrite|writev|fcntl|fsync|msync|lockf|poll|ppoll"
    r"|select|pselect|nanosleep|clock_nanosleep|usleep|sleep|pause|sigtimedwait|sigwait|sigwaitinfo|sigsuspend|wait|waitpid|waitid"
    r"|sem_wait|sem_timedwait|pthread_join|pthread_testcancel|pthread_cond_\w*wait|accept|connect|recv\w*|send\w*|getrandom"
    r"|fopen|fclose|fread|fwrite|fgets|fputs|fprintf|printf|puts|fflush|getline|opendir|readdir|closedir|syslog|system)\s*\("
    r"|(?:\.|->)(?:wait|wait_for|wait_until|join)\s*\("
    r"|\bstd::(?:ifstream|ofstream|fstream|random_device|cout|cerr|this_thread::sleep_\w+|thread|jthread|future)\b")
GUARD = re.compile(r"\bCancellationDeferred\b(?!\s*\()")
EXCEPTION = re.compile(r"//\s*cancellable: \S")
# Functions of the program, and what calls them.
USER_CODE = re.compile(r"\b(?:function_|function|fn|cbFunc|CallInitCallbacks|CallFinalizeCallbacks|End)\s*\(")
CATCH_ALL = re.compile(r"\bcatch\s*\(\s*\.\.\.\s*\)")


def without_comments_and_texts(source: str) -> str:
    """The source with comments and literals blanked out, but for exceptions; positions stay."""
    def blank(match: re.Match) -> str:
        return re.sub(r"[^\n]", " ", match.group())
    # A mark between digits begins no literal.
    return re.sub(r'(?<=\d)\'(?=\d)|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, source, flags=re.DOTALL)


def points_without_guard(code: str) -> list[int]:
    """Where cancellation points stand that no CancellationDeferred covers."""
    events = [(m.start(), "guard") for m in GUARD.finditer(code)]
    events += [(m.start(), "point") for m in POINT.finditer(code)]
    events += [(i, c) for i, c in enumerate(code) if c in "{}"]
    found, scopes = [], [False]
    for position, event in sorted(events):
        if event == "{":
            scopes.append(scopes[-1])
        elif event == "}":
            scopes.pop()
        elif event == "guard":
            scopes[-1] = True
        elif not scopes[-1]:
            found.append(position)
    return found


def swallowed_unwindings(code: str) -> list[int]:
    """Where everything is caught that a function of the program throws, the end of its thread too."""
    found = []
    for catch in CATCH_ALL.finditer(code):
        # Back over the handlers before it, to the block that they belong to.
        end = code.rfind("}", 0, catch.start())
        handlers = ""
        while True:
            depth, begin = 0, end
            while begin >= 0:
                depth += {"}": 1, "{": -1}.get(code[begin], 0)
                if depth == 0:
                    break
                begin -= 1
            head = code[max(0, begin - 80):begin]
            handler = re.search(r"catch\s*\(([^()]*)\)\s*$", head)
            if not handler:
                break
            handlers += handler.group(1) + ";"
            end = code.rfind("}", 0, begin)
        if USER_CODE.search(code[begin:end]) and "ThreadUnwinding" not in handlers:
            found.append(catch.start())
    return found


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    faults, looked_at = [], 0
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in {".h", ".cc"} or path.relative_to(root / "src").parts[0] == "info":
            continue
        source = path.read_text()
        code = without_comments_and_texts(source)
        looked_at += len(POINT.findall(code))
        lines = source.splitlines()
        for position in points_without_guard(code):
            number = code.count("\n", 0, position)
            if not EXCEPTION.search(lines[number]):
                faults.append(f"{path}:{number + 1}: a thread could be cancelled here: {lines[number].strip()}")
        for position in swallowed_unwindings(code):
            number = code.count("\n", 0, position)
            faults.append(f"{path}:{number + 1}: a thread that a function of the program ends would not be unwound")
    if looked_at == 0:
        faults.append("nothing that waits was found: the rules have gone blind")
    print("\n".join(faults) if faults else f"cancellation: in order ({looked_at} places)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

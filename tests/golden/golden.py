#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands and the exact output that they must give, written down as a reader would see them.

usage: golden.py [--update] BENCHCTL FILE...

A FILE holds commands, `$ benchctl ARGUMENTS`, each followed by what it prints (standard output, then errors) and, when
it fails, `[exit N]`. They run in the folder of the FILE. --update writes what the commands print now.
"""
import difflib
import os
import shlex
import subprocess
import sys


def run(benchctl, command, folder):
    words = shlex.split(command)
    assert words[0] == "benchctl", command
    env = dict(os.environ, NO_COLOR="1", TZ="UTC")
    done = subprocess.run([benchctl] + words[1:], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, check=False)
    output = done.stdout.decode("utf-8", "backslashreplace")
    if output and not output.endswith("\n"):
        output += "[no newline at the end]\n"
    return f"$ {command}\n{output}" + (f"[exit {done.returncode}]\n" if done.returncode else "")


def check(benchctl, path, update):
    with open(path, encoding="utf-8") as f:
        expected = f.read()
    commands = [line[2:] for line in expected.split("\n") if line.startswith("$ ")]
    actual = "\n".join(run(benchctl, c, os.path.dirname(os.path.abspath(path))) for c in commands)
    if update:
        with open(path, "w", encoding="utf-8") as f:
            f.write(actual)
        return True
    if actual == expected and commands:
        return True
    sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), actual.splitlines(True), path, "what it prints now"))
    return False


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    arguments = [a for a in arguments if a != "--update"]
    if len(arguments) < 2:
        sys.exit(__doc__)
    results = [check(os.path.abspath(arguments[0]), path, update) for path in arguments[1:]]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()

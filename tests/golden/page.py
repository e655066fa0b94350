#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pages of the documentation that show commands and their output, held against what the commands print.

usage: page.py [--update] BENCHCTL PAGE...

In blocks marked ```console lines that begin with `$ ` are commands, run at the top of the repository; what follows is their
output, and `[exit N]` where they fail. --update writes what they print now.
"""
import difflib
import os
import re
import sys

from golden import run

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    arguments = [a for a in sys.argv[1:] if a != '--update']
    if len(arguments) < 2:
        sys.exit(__doc__)
    benchctl, good = os.path.abspath(arguments[0]), True
    for path in arguments[1:]:
        with open(path, encoding='utf-8') as f:
            text = f.read()

        def again(block):
            commands = [line[2:] for line in block.group(1).split('\n') if line.startswith('$ ')]
            return '```console\n' + '\n'.join(run(benchctl, c, TOP) for c in commands) + '```\n'

        now = re.sub(r'```console\n(.*?)```\n', again, text, flags=re.S)
        if '--update' in sys.argv:
            with open(path, 'w', encoding='utf-8') as f:
                f.write(now)
        elif now != text or '```console\n$ ' not in text:
            good = False
            sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), now.splitlines(True), path, 'what it prints now'))
    sys.exit(0 if good else 1)


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The laboratory's sources, without Java: the fifteen parity checks of part 19 hold across folders and across the branches
that examples/space/branches makes, and each kind of difference is found and named."""
import contextlib
import os
import re
import shutil
import sys

from e2e import TOP, command, has, main, same

DAO = 'src/main/java/dev/space/dao/SurveyDao.java'


def parity(lab, *more, code=0):
    return lab.benchctl('parity', lab.path('matrices/part19.yaml'), *more, code=code).stdout


def branches(lab, name):
    return command(lab.path('examples/space/branches'), lab.path(name))


@contextlib.contextmanager
def edited(lab, project, change):
    """The project's DAO with `change` made to its text, until the end of the with block."""
    name = 'examples/space/%s/%s' % (project, DAO)
    before = lab.read(name)
    after = change(before)
    same(after != before, True, 'there is something to change in ' + name)
    lab.write(name, after)
    yield
    lab.write(name, before)


def in_branches(lab, name):
    branches(lab, name)
    return '--set', 'parity.sources=refs', '--set', 'parity.repo=' + lab.path(name)


def the_sources_are_copied(lab):
    for part in ('examples/space', 'matrices'):
        shutil.copytree(os.path.join(TOP, part), lab.path(part), ignore=shutil.ignore_patterns('target'))
    os.mkdir(lab.path('scripts'))
    shutil.copy(os.path.join(TOP, 'scripts/common.sh'), lab.path('scripts'))


def both_ways_hold(lab):
    for more in ((), in_branches(lab, 'laid-out')):
        text = parity(lab, *more)
        same(len(re.findall('(?m)^ok ', text)), 15, text)


def the_branches_are_the_same_every_time(lab):
    first, again, elsewhere = (branches(lab, name).stdout for name in ('laid-out', 'laid-out', 'another'))
    same(len(first.splitlines()), 6, first)
    same(again, first)
    same(elsewhere, first)


def it_leaves_what_is_not_its_own(lab):
    lab.write('theirs/file', '')
    r = command(lab.path('examples/space/branches'), lab.path('theirs'), check=False)
    same(r.returncode, 3, r.stderr)
    has(r.stderr, 'not empty')
    same(os.listdir(lab.path('theirs')), ['file'])
    lab.write('another/note', '')
    r = command(lab.path('examples/space/branches'), lab.path('another'), check=False)
    same(r.returncode, 3, r.stderr)
    has(r.stderr, 'not committed')


def finds(lab, project, change, *said):
    """In folders and in branches alike."""
    with edited(lab, project, change):
        for more in ((), in_branches(lab, 'laid-out')):
            has(parity(lab, *more, code=4), *said)
    parity(lab)


def one_byte_is_found(lab):
    finds(lab, 'springboot/imperative-synth', lambda text: text.replace('survey', 'Survey', 1),
          'FAIL  imperative dao, micronaut and springboot', 'FAIL  imperative dao, quarkus and springboot', 'SurveyDao.java')


def one_constant_of_the_mirror_is_found(lab):
    finds(lab, 'quarkus/reactive-synth', lambda text: text.replace('from survey where id = $1"', 'from survey where id  = $1"', 1),
          'FAIL  reactive sql, micronaut and quarkus', 'FAIL  reactive sql, springboot and quarkus', 'SQL_FIND')


def two_bindings_of_the_mirror_are_found(lab):
    def swap(text):
        return re.sub(r'survey\.name\(\)(.*?)survey\.score\(\)', r'survey.score()\1survey.name()', text, count=1, flags=re.S)
    finds(lab, 'quarkus/reactive-synth', swap, 'FAIL  reactive bindings, micronaut and quarkus')


if __name__ == '__main__':
    sys.exit(main([the_sources_are_copied, both_ways_hold, the_branches_are_the_same_every_time, it_leaves_what_is_not_its_own,
                   one_byte_is_found, one_constant_of_the_mirror_is_found, two_bindings_of_the_mirror_are_found], images=()))

# SPDX-License-Identifier: MIT
"""A bundle brings its images, each layer once; without them it is still a bundle. (That they run elsewhere: test_rerun.)"""
import json
import os
import shutil
import sys

import e2e
from e2e import has, same

MATRIX = '''benchctl: 1
name: bringing
axes: {which: [app, other]}
trials: 1
retry: 0
app:
  image: benchctl-e2e/${which}:TAG
  memory: 64m
  port: 8080
  ready: {http: /health, timeout: 30s}
load: {adapter: idle, duration: 200ms}
'''


def index(lab, out):
    with open(lab.path(out + '/images/index.json')) as f:
        return json.load(f)['images']


def two_images(lab):
    """The second is the first with a file more: they share all layers but one."""
    lab.write('other/Dockerfile', 'FROM %s\nCOPY file /file\n' % lab.image('app'))
    lab.write('other/file', 'something of its own')
    for name in ('app', 'other'):
        e2e.docker('build', '-q', '-t', lab.image(name), lab.path(name))


def brought(lab):
    two_images(lab)
    matrix = lab.write('m.yaml', MATRIX.replace('TAG', lab.image('app').split(':')[1]))
    lab.run(matrix, 'one', '--with-images')
    found = index(lab, 'one')
    same(sorted(n for i in found for n in i['names']), sorted([lab.image('app'), lab.image('other')]), 'names')
    layers = {i['names'][0]: [l['digest'] for l in i['layers']] for i in found}
    shared = set(layers[lab.image('app')]) & set(layers[lab.image('other')])
    same(len(shared), len(layers[lab.image('app')]), 'layers that both have')
    blobs = {i['config']['digest'] for i in found} | {l for v in layers.values() for l in v}
    same(sorted(os.listdir(lab.path('one/images/blobs'))), sorted(b.replace(':', '-') for b in blobs), 'blobs')
    listed = lab.benchctl('bundle', 'list', lab.path('one.tar.zst'), '--format', 'json').stdout
    names = [m['name'] for m in json.loads(listed)]
    same(len([n for n in names if n.startswith('images/blobs/')]), len(blobs), 'blobs in the bundle')
    lab.nothing_left()


def the_same_bytes(lab):
    """Again from the engine, again without one, and from what was extracted."""
    first = open(lab.path('one.tar.zst'), 'rb').read()

    def expect_same(*argv, **kw):
        lab.benchctl('bundle', 'create', *argv, '--with-images', '-o', lab.path('two.tar.zst'), **kw)
        same(open(lab.path('two.tar.zst'), 'rb').read() == first, True, 'the same bytes: ' + ' '.join(argv))

    nowhere = {'DOCKER_HOST': 'unix:///nonexistent/socket'}
    expect_same(lab.path('one'), env=nowhere)
    shutil.rmtree(lab.path('one/images'))
    expect_same(lab.path('one'))
    lab.benchctl('bundle', 'extract', lab.path('one.tar.zst'), lab.path('out'))
    expect_same(lab.path('out'), env=nowhere)


def only_when_asked_for(lab):
    lab.benchctl('bundle', 'create', lab.path('one'), '-o', lab.path('lean.tar.zst'))
    same('images/' in lab.benchctl('bundle', 'list', lab.path('lean.tar.zst')).stdout, False, 'images')


def damaged(lab):
    blob = sorted(os.listdir(lab.path('out/images/blobs')))[0]
    with open(lab.path('out/images/blobs/' + blob), 'r+b') as f:
        f.write(b'X')
    os.remove(lab.path('two.tar.zst'))
    r = lab.benchctl('bundle', 'create', lab.path('out'), '--with-images', '-o', lab.path('two.tar.zst'),
                     env={'DOCKER_HOST': 'unix:///nonexistent/socket'}, code=None)
    if r.returncode not in (2, 3):
        raise AssertionError('exit status %d\n%s' % (r.returncode, r.stderr))
    same(os.path.exists(lab.path('two.tar.zst')), False, 'half a bundle')


def no_engine(lab):
    """They cannot be had any more: the error says so, and what is there stays."""
    shutil.rmtree(lab.path('one/images'))
    r = lab.benchctl('bundle', 'create', lab.path('one'), '--with-images', '--engine', 'unix:///nonexistent/socket',
                     code=3)
    has(r.stderr, '/nonexistent/socket')
    lab.benchctl('bundle', 'verify', lab.path('one.tar.zst'))
    same(os.path.exists(lab.path('one/images/index.json')), False, 'a list of nothing')


def no_room(lab):
    """The sweep is measured and its bundle written; that the images are not in it is the exit code."""
    os.mkdir(lab.path('disk'))
    if os.geteuid() != 0 or e2e.command('mount', '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', lab.path('disk'),
                                        check=False).returncode:
        print('skipped: no small file system here')
        return
    try:
        r = lab.run(lab.path('m.yaml'), 'disk/one', '--with-images', '--filter', 'which=app', code=3)
        has(r.stderr, 'the bundle is complete but for the images', 'has room for', 'bundle create')
        same('images/' in lab.benchctl('bundle', 'list', lab.path('disk/one.tar.zst')).stdout, False, 'images')
        same(os.path.exists(lab.path('disk/one/images')), False, 'leftovers')
    finally:
        e2e.command('umount', '-l', lab.path('disk'))
    lab.nothing_left()


if __name__ == '__main__':
    sys.exit(e2e.main([brought, the_same_bytes, only_when_asked_for, damaged, no_engine, no_room]))

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { openLibrary } from '../../resources/nativeLibrary.js';
import { openNvtx } from './nvtx.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-nvtx-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Replacement of NVIDIA's library that records its calls. */
const RECORDER = `
#include <string.h>
static char record[4096];
static int depth = 0;
int nvtxRangePushA(const char *message) { strcat(record, "+"); strcat(record, message); return depth++; }
int nvtxRangePop(void) { strcat(record, "-"); return --depth; }
const char *recorded(void) { return record; }
`;

const compiler = ['cc', 'gcc', 'clang'].find((name) => spawnSync(name, ['--version']).status === 0);

describe('NVTX', () => {
  it('pushes and pops ranges', { skip: compiler ? false : 'needs a C compiler' }, () => {
    const source = join(folder, 'recorder.c');
    const library = join(folder, 'recorder.so');
    writeFileSync(source, RECORDER);
    execFileSync(compiler ?? '', ['-shared', '-fPIC', '-o', library, source]);
    const nvtx = openNvtx(library);
    assert.ok(nvtx);
    nvtx.push("('x', 0)");
    nvtx.push('größe-1');
    nvtx.pop();
    nvtx.pop();
    const recorded = openLibrary([library], (handle): string => handle.func('const char *recorded()')());
    assert.equal(recorded, "+('x', 0)+größe-1--");
  });

  it('is undefined if the library lacks the functions', { skip: process.platform !== 'linux' }, () => {
    const source = join(folder, 'empty.c');
    if (compiler === undefined) return;
    writeFileSync(source, 'int nothing(void) { return 0; }\n');
    execFileSync(compiler, ['-shared', '-fPIC', '-o', join(folder, 'empty.so'), source]);
    assert.equal(openNvtx(join(folder, 'empty.so')), undefined);
  });
});

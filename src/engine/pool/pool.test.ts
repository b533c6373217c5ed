// Tests the places of a pool.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { compileGraph } from '../../graph/compile.js';
import { NO_VALUES } from '../../protocol/isolateMessages.js';
import { batchConstants } from '../batchValues.js';
import type { RunHandler } from './isolate.js';
import { Pool } from './pool.js';
import { ProcessIsolate } from './processIsolate.js';

it('a place whose process is being ended gets a new one', () => {
  const pool = new Pool('processes');
  const first = pool.isolate(0);
  first.terminate();
  assert.notEqual(pool.isolate(0), first);
  pool.terminate();
});

it('a process that still runs a task of a closed run is not free', {
  skip: process.platform === 'win32' && 'the task waits for a named pipe',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-pool-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const expression = "(path) => process.getBuiltinModule('node:fs').readFileSync(path, 'utf8')";
  const { constants, program } = compileGraph({ text: [readFileSync, pipe] }, ['text']);
  const ids = Int32Array.of(0);
  const ignore = (): void => undefined;
  const handler: RunHandler = {
    finished: ignore,
    fetched: ignore,
    fetchFailed: ignore,
    stolen: ignore,
    lost: ignore,
  };
  const isolate = new ProcessIsolate('processes-0', 0);
  try {
    assert.ok(isolate.isFree);
    isolate.open(
      { run: 1, program, functions: [{ type: 'source', name: 'read', expression }], maxOutstanding: 1 },
      handler,
    );
    isolate.dispatch({
      type: 'batch',
      run: 1,
      batch: 1,
      ids,
      publish: Uint8Array.of(1),
      keep: new Int32Array(0),
      inputs: NO_VALUES,
      constants: batchConstants({ constants, program }, ids),
      gather: [],
    });
    while (isolate.alive && isolate.executing === undefined) await pass(10);
    isolate.close(1);
    assert.ok(!isolate.isFree);
    writeFileSync(pipe, 'done');
    // A task that does not end in time ends with its process.
    while (isolate.alive && !isolate.isFree) await pass(10);
  } finally {
    isolate.terminate();
    rmSync(folder, { recursive: true });
  }
});

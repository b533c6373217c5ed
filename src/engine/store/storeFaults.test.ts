import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { LongpoleError } from '../../base/errors.js';
import fc from '../../base/properties.test.support.js';
import { noise } from '../../base/randomNumbers.test.support.js';
import { packedBytes } from '../../protocol/packedResult.js';
import { packResult } from '../worker/packResult.js';
import { gated, parent, putAll, setup, valueIn } from './store.test.support.js';

describe('Store on a disk that fails', () => {
  const isCode = (code: string) => (error: unknown) => error instanceof LongpoleError && error.code === code;

  it('loses nothing when the disk is full, reports it once, and tries again later', async () => {
    let full = true;
    const files = gated((action) => {
      if (action !== 'write' || !full) return undefined;
      return Promise.reject(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }));
    });
    const own = setup({ files, retryAfter: 5 });
    const value = noise(50_000);
    own.store.put(1, packResult(value));
    assert.equal(await own.store.spill(0), false);
    assert.equal(await own.store.spill(0), false);
    assert.deepEqual(
      own.errors.map(({ code }) => code),
      ['ERR_LONGPOLE_DISK_FULL'],
    );
    const { message } = own.errors[0]!;
    assert.match(
      message,
      /^0\.4 MB of results cannot be spilled to \S+: ENOSPC.* free there\. .*localDirectory/,
    );
    assert.ok(message.includes(`to ${own.directory}:`), message);
    assert.ok(own.store.spillPaused);
    assert.deepEqual(readdirSync(own.directory), []);
    full = false;
    own.clock += 5;
    assert.ok(!own.store.spillPaused);
    assert.equal(await own.store.spill(0), true);
    assert.deepEqual(await valueIn(own.store, 1), value);
    await own.store.close();
  });

  it('names a failure that is not a full disk', async () => {
    const files = gated((action) =>
      action === 'open'
        ? Promise.reject(Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' }))
        : undefined,
    );
    const own = setup({ files });
    own.store.put(1, packResult(noise(50_000)));
    assert.equal(await own.store.spill(0), false);
    assert.equal(own.store.spillFailure?.code, 'ERR_LONGPOLE_SPILL_WRITE');
    assert.match(own.store.spillFailure.message, /EROFS/);
    await own.store.close();
  });

  it('counts failed attempts, and clears the failure after a success', async () => {
    let full = true;
    const files = gated((action) =>
      action === 'write' && full ? Promise.reject(new Error('ENOSPC')) : undefined,
    );
    const own = setup({ files, retryAfter: 1 });
    own.store.put(1, packResult(noise(50_000)));
    for (const failures of [1, 2]) {
      assert.equal(await own.store.spill(0), false);
      assert.equal(own.store.spillFailures, failures);
      own.clock += 1;
    }
    assert.equal(own.errors.length, 1);
    full = false;
    assert.equal(await own.store.spill(0), true);
    assert.equal(own.store.spillFailure, undefined);
    await own.store.close();
  });

  it('writes as many results as there is room for', async () => {
    let room = 2;
    const files = gated((action) => {
      if (action === 'open' && room-- <= 0) return Promise.reject(new Error('ENOSPC'));
      // There is no room for a file with all results.
      return action === 'write' && room === 1 ? Promise.reject(new Error('ENOSPC')) : undefined;
    });
    const own = setup({ files });
    putAll(
      own.store,
      Array.from({ length: 4 }, () => noise(10_000)),
    );
    assert.equal(await own.store.spill(0), false);
    assert.deepEqual([own.store.memoryCount, own.store.spilledCount], [3, 1]);
    await own.store.close();
  });

  it('removes copies of results in memory when the disk is full', async () => {
    let full = false;
    const files = gated((action) =>
      action === 'write' && full ? Promise.reject(new Error('ENOSPC')) : undefined,
    );
    const { store, directory } = setup({ files });
    const value = noise(20_000);
    store.put(1, packResult(value));
    await store.spill(0);
    await store.get(1);
    store.put(2, packResult(noise(20_000)));
    full = true;
    store.get(1);
    assert.equal(await store.spill(packedBytes(packResult(value))), false);
    assert.deepEqual(await valueIn(store, 1), value);
    await store.close();
    assert.deepEqual(readdirSync(directory), []);
  });

  it('loses nothing on a real disk that is full', async (context: TestContext) => {
    const directory = join(parent, 'tiny');
    mkdirSync(directory);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]);
    if (mounted.status !== 0) {
      context.skip('only root may mount a file system');
      return;
    }
    try {
      const own = setup({}, directory);
      const values = Array.from({ length: 8 }, () => noise(30_000));
      putAll(own.store, values);
      assert.equal(await own.store.spill(0), false);
      assert.equal(own.errors.length, 1);
      const { cause } = own.errors[0]!;
      assert.ok(cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC');
      for (const [id, value] of values.entries()) assert.deepEqual(await valueIn(own.store, id), value);
      // Two results fit.
      for (let id = 2; id < 8; id++) own.store.delete(id);
      own.clock += 10;
      assert.equal(await own.store.spill(0), true);
      for (const id of [0, 1]) assert.deepEqual(await valueIn(own.store, id), values[id]);
      await own.store.close();
      assert.deepEqual(readdirSync(directory), []);
    } finally {
      spawnSync('umount', [directory]);
    }
  });

  it('names a missing, truncated or damaged file, and lacks the result afterwards', async () => {
    const damage: Record<string, (path: string) => void> = {
      missing: (path) => rmSync(path),
      short: (path) => truncateSync(path, 100_000),
      changed: (path) => {
        const bytes = readFileSync(path);
        bytes[200_000]! ^= 4;
        writeFileSync(path, bytes);
      },
      empty: (path) => writeFileSync(path, ''),
    };
    for (const [name, harm] of Object.entries(damage)) {
      const { store, directory, errors } = setup();
      store.put(1, packResult(noise(50_000)));
      await store.spill(0);
      const path = join(directory, readdirSync(directory)[0]!);
      harm(path);
      const reading = store.get(1);
      assert.ok(reading instanceof Promise, name);
      assert.equal(await store.read(1), undefined, name);
      await assert.rejects(reading, (error: unknown) => {
        assert.ok(isCode('ERR_LONGPOLE_SPILL_FILE')(error), name);
        assert.ok(error instanceof Error && error.message.includes(path), name);
        return true;
      });
      assert.equal(store.has(1), false);
      assert.deepEqual([store.managedBytes, store.spilledBytes, errors.length], [0, 0, 1]);
      await store.close();
    }
  });

  it('detects every changed bit', async () => {
    const values = [
      'a short result',
      new Float64Array(20_000),
      { noise: noise(10), text: 'ab'.repeat(20_000) },
    ];
    const { store, directory } = setup();
    putAll(store, values);
    await store.spill(0);
    const path = join(directory, readdirSync(directory)[0]!);
    const bytes = readFileSync(path);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (at, bit) => {
        const changed = Buffer.from(bytes);
        changed[at]! ^= 1 << bit;
        const other = setup();
        putAll(other.store, values);
        await other.store.spill(0);
        writeFileSync(join(other.directory, 'worker-0-1.spill'), changed);
        const outcomes = await Promise.allSettled(values.map((_, id) => valueIn(other.store, id)));
        const failed = outcomes.filter(({ status }) => status === 'rejected');
        assert.equal(failed.length, 1);
        outcomes.forEach((outcome, id) => {
          if (outcome.status === 'fulfilled') assert.deepEqual(outcome.value, values[id]);
          else assert.ok(isCode('ERR_LONGPOLE_SPILL_FILE')(outcome.reason), String(outcome.reason));
        });
        await other.store.close();
      }),
      { numRuns: 100 },
    );
    await store.close();
  });
});

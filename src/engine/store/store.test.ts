import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { noise } from '../../base/randomNumbers.test.support.js';
import { packedBytes } from '../../protocol/packedResult.js';
import { packResult, unpackResult } from '../worker/packResult.js';
import { gate, gated, putAll, setup, valueIn } from './store.test.support.js';

describe('Store', () => {
  it('keeps results in memory, and forgets them', async () => {
    const { store, directory } = setup();
    const packed = packResult({ a: noise(10_000) });
    store.put(7, packed);
    assert.ok(store.has(7) && !store.has(8));
    assert.equal(store.get(7), packed);
    assert.equal(store.get(8), undefined);
    assert.equal(store.managedBytes, packedBytes(packed));
    store.put(7, packResult(1));
    assert.ok(store.managedBytes < 100);
    store.delete(7);
    store.delete(7);
    assert.deepEqual([store.has(7), store.managedBytes, store.memoryCount], [false, 0, 0]);
    await store.close();
    assert.deepEqual(readdirSync(directory), []);
  });

  it('spills the least recently used results, and reads them back into shared memory', async () => {
    const { store, directory, intervals } = setup();
    const values = Array.from({ length: 5 }, () => noise(100_000));
    putAll(store, values);
    store.get(0);
    const one = store.managedBytes / 5;
    assert.equal(await store.spill(3 * one), true);
    assert.deepEqual([store.managedBytes, store.memoryCount, store.spilledCount], [3 * one, 3, 2]);
    assert.ok(store.spilledBytes >= 1_600_000 && store.spilledBytes < 1_601_000);
    assert.ok(!(store.get(0) instanceof Promise));
    assert.ok(store.get(1) instanceof Promise);
    assert.equal(store.get(1), store.get(1));
    const back = await store.get(1);
    assert.ok(back?.buffers[0]?.buffer instanceof SharedArrayBuffer);
    assert.deepEqual(unpackResult(back), values[1]);
    assert.deepEqual(await valueIn(store, 2), values[2]);
    assert.deepEqual([store.managedBytes, store.spilledBytes], [5 * one, 0]);
    const actions = intervals.map(({ action }) => action);
    assert.deepEqual(new Set(actions), new Set(['disk-write', 'disk-read']));
    const written = intervals.filter(({ action }) => action === 'disk-write');
    assert.ok(written.reduce((sum, { nbytes }) => sum + nbytes, 0) >= 1_600_000);
    await store.close();
    assert.deepEqual(readdirSync(directory), []);
  });

  it('writes a result once, however often it is spilled', async () => {
    const { store, intervals } = setup();
    store.put(1, packResult(noise(50_000)));
    for (let round = 0; round < 3; round++) {
      await store.spill(0);
      assert.equal(store.managedBytes, 0);
      await store.get(1);
    }
    const written = intervals.filter(({ action }) => action === 'disk-write').map(({ nbytes }) => nbytes);
    assert.ok(written.reduce((sum, nbytes) => sum + nbytes) < 401_000);
    await store.close();
  });

  it('compresses results that shrink', async () => {
    const { store, directory, intervals } = setup();
    const value = {
      zeros: new Float64Array(3_000_000),
      noise: noise(20_000),
      text: 'again and '.repeat(50_000),
    };
    store.put(3, packResult(value));
    await store.spill(0);
    const size = readdirSync(directory).reduce(
      (sum, name) => sum + readFileSync(join(directory, name)).length,
      0,
    );
    assert.equal(size, store.spilledBytes);
    assert.ok(size < 1_000_000, `${size} bytes`);
    assert.deepEqual(await valueIn(store, 3), value);
    for (const action of ['compress', 'decompress']) {
      const all = intervals.filter((interval) => interval.action === action);
      assert.ok(all.length >= 2 && all.every(({ task, nbytes }) => task === 3 && nbytes > 0));
    }
    await store.close();
  });

  it('puts small results into one file, and removes it after the last of them', async () => {
    const { store, directory } = setup();
    const value = (id: number): unknown => ({ id, name: `result ${id}`, list: [id, id] });
    for (let id = 0; id < 1000; id++) store.put(id, packResult(value(id)));
    await store.spill(0);
    assert.equal(readdirSync(directory).length, 1);
    assert.equal(store.spilledCount, 1000);
    for (const id of [0, 500, 999]) assert.deepEqual(await valueIn(store, id), value(id));
    for (let id = 0; id < 999; id++) store.delete(id);
    assert.equal(readdirSync(directory).length, 1);
    assert.deepEqual(await valueIn(store, 999), value(999));
    store.delete(999);
    await store.close();
    assert.deepEqual(readdirSync(directory), []);
  });

  it('keeps results that are used while they are written', async () => {
    const writing = gate();
    const reached = gate();
    const files = gated((action) => {
      if (action !== 'write') return undefined;
      reached.open();
      return writing.promise;
    });
    const { store } = setup({ files });
    const values = [noise(60_000), noise(60_000), noise(60_000)];
    putAll(store, values);
    const spilling = store.spill(0);
    await reached.promise;
    // During the write one result is used, one deleted and one replaced.
    assert.ok(!(store.get(0) instanceof Promise));
    store.delete(1);
    store.put(2, packResult('new'));
    const lower = store.spill(packedBytes(packResult('new')));
    writing.open();
    await Promise.all([spilling, lower]);
    assert.equal(store.has(1), false);
    assert.deepEqual(await valueIn(store, 0), values[0]);
    assert.equal(await valueIn(store, 2), 'new');
    await store.close();
  });

  it('a result that is deleted while it is read reaches earlier callers only', async () => {
    const reading = gate();
    const { store, directory } = setup({
      files: gated((action) => (action === 'read' ? reading.promise : undefined)),
    });
    const value = noise(60_000);
    store.put(1, packResult(value));
    await store.spill(0);
    const before = store.get(1);
    store.delete(1);
    assert.equal(store.get(1), undefined);
    reading.open();
    const packed = await before;
    assert.ok(packed !== undefined);
    assert.deepEqual(unpackResult(packed), value);
    assert.deepEqual([store.has(1), store.managedBytes, store.spilledBytes], [false, 0, 0]);
    await store.close();
    assert.deepEqual(readdirSync(directory), []);
  });

  it('closes during reads and writes', async () => {
    const { store, directory } = setup();
    for (let id = 0; id < 20; id++) store.put(id, packResult(noise(20_000)));
    await store.spill(packedBytes(packResult(noise(20_000))) * 10);
    const read = store.get(0);
    const spilling = store.spill(0);
    await store.close();
    await Promise.allSettled([read, spilling]);
    assert.deepEqual(readdirSync(directory), []);
    store.put(1, packResult(1));
    assert.equal(store.has(1), false);
  });

  it('returns the stored results after any sequence of calls', async () => {
    const small = fc.record({ kind: fc.constant('small' as const), size: fc.nat(300) });
    const large = fc.record({
      kind: fc.constant('large' as const),
      size: fc.integer({ min: 8192, max: 30_000 }),
    });
    const id = fc.nat(5);
    const call = fc.oneof(
      fc.record({ do: fc.constant('put' as const), id, value: fc.oneof(small, large) }),
      fc.record({ do: fc.constant('get' as const), id, wait: fc.boolean() }),
      fc.record({ do: fc.constant('delete' as const), id }),
      fc.record({ do: fc.constant('spill' as const), until: fc.nat(200_000), wait: fc.boolean() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 30 }), async (calls) => {
        const { store, directory, errors } = setup();
        const model = new Map<number, Float64Array>();
        const open: Promise<unknown>[] = [];
        for (const [number, step] of calls.entries()) {
          if (step.do === 'put') {
            const value = new Float64Array(step.value.size).fill(number);
            model.set(step.id, value);
            store.put(step.id, packResult(value));
          } else if (step.do === 'get') {
            const expected = model.get(step.id);
            assert.equal(store.has(step.id), expected !== undefined);
            if (expected === undefined) continue;
            const check = valueIn(store, step.id).then((value) => assert.deepEqual(value, expected));
            open.push(check);
            if (step.wait) await check;
          } else if (step.do === 'delete') {
            model.delete(step.id);
            store.delete(step.id);
          } else {
            const spilled = store.spill(step.until);
            open.push(spilled);
            if (step.wait) await spilled;
          }
        }
        await Promise.all(open);
        assert.equal(store.memoryCount + store.spilledCount, model.size);
        for (const [key, value] of model) assert.deepEqual(await valueIn(store, key), value);
        const bytes = [...model.values()].map((value) => packedBytes(packResult(value)));
        assert.equal(
          store.managedBytes,
          bytes.reduce((sum, nbytes) => sum + nbytes, 0),
        );
        assert.equal(store.spilledBytes, 0);
        assert.deepEqual(errors, []);
        await store.close();
        assert.deepEqual(readdirSync(directory), []);
      }),
      { numRuns: 60 },
    );
  });
});

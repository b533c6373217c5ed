import assert from 'node:assert/strict';
import { readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { noise } from '../../base/randomNumbers.test.support.js';
import type { WorkInterval } from '../../protocol/clusterObserver.js';
import { packedBytes } from '../../protocol/packedResult.js';
import { WorkerDigests } from '../metrics/workerDigests.js';
import { setup } from '../store/store.test.support.js';
import { packResult } from '../worker/packResult.js';
import { gatherInputs } from './gatherInputs.js';

const CAUSE = { prefix: 'sum', span: ['Alice', 'load'] };
/** Task 4 needs no input, task 5 needs the inputs 1 and 3. */
const RUN = {
  firstId: 100,
  program: { dependencyOffsets: Int32Array.of(0, 0, 0, 0, 0, 0, 2), dependencies: Int32Array.of(1, 3) },
  kinds: { kinds: [CAUSE], kindOf: new Int32Array(6) },
};
const IDS = Int32Array.of(4, 5);

test('reading the inputs of a task counts for its function and span, and spilling for none', async () => {
  const digests = new WorkerDigests();
  const { store } = setup({
    onInterval: (interval, cause) => digests.interval({ ...interval, worker: 0, thread: 0 }, cause),
  });
  const zeros = packResult(new Float64Array(3_000_000));
  store.put(1, zeros);
  store.put(2, packResult(noise(50_000)));
  await store.spill(0);
  const inMemory = packResult(noise(100));
  store.put(3, inMemory);
  const inputs = [1, 3].map((result) => ({
    id: result,
    result,
    key: `key ${result}`,
    nbytes: 8,
    from: 0,
    address: '',
  }));
  const fetch = async () => assert.fail('no input is on another worker');
  const { results, missing } = await gatherInputs(
    { store, fetch, digests, index: 0 },
    { interval: () => assert.fail('no input was transferred') },
    RUN,
    IDS,
    inputs,
  );
  assert.deepEqual([results.size, missing], [2, []]);
  // A client reads this result.
  await store.get(2);
  const keys = [...digests.ledger].map(([key]) => key.join());
  const of = (activity: string): string[] => keys.filter((key) => key.endsWith(`,${activity},bytes`)).sort();
  const caused = 'gather-dep,Alice/load,sum';
  assert.deepEqual(of('disk-read'), [`${caused},disk-read,bytes`, 'gather-dep,disk-read,bytes']);
  assert.deepEqual(of('decompress'), [`${caused},decompress,bytes`]);
  assert.deepEqual(of('memory-read'), [`${caused},memory-read,bytes`]);
  assert.deepEqual(of('disk-write'), ['memory-monitor,disk-write,bytes']);
  assert.deepEqual(of('compress'), ['memory-monitor,compress,bytes']);
  const read = digests.ledger.get(['gather-dep', 'Alice/load', 'sum', 'memory-read', 'bytes']);
  assert.equal(read, packedBytes(zeros) + packedBytes(inMemory));
  await store.close();
});

test('each transfer is an interval of the first task that needs one of its inputs', async () => {
  const { store } = setup();
  const [first, second] = [1, 3].map((result) => ({
    id: result,
    result,
    key: `key ${result}`,
    nbytes: 8,
    from: result,
    address: '',
  }));
  const gathered = [
    { inputs: [first!], nbytes: 8, start: 10, stop: 11 },
    { inputs: [second!], nbytes: 9, start: 10.5, stop: 12 },
  ];
  const found: WorkInterval[] = [];
  const results = new Map([1, 3].map((result) => [result, packResult(result)]));
  await gatherInputs(
    {
      store,
      fetch: async () => ({ results, missing: [], gathered }),
      digests: new WorkerDigests(),
      index: 7,
    },
    { interval: (interval) => found.push(interval) },
    RUN,
    IDS,
    [first!, second!],
  );
  const same = { worker: 7, thread: 0, action: 'transfer', task: 105 } as const;
  assert.deepEqual(found, [
    { ...same, start: 10, stop: 11, nbytes: 8 },
    { ...same, start: 10.5, stop: 12, nbytes: 9 },
  ]);
  await store.close();
});

test('an input that cannot be read back from disk is fetched from another worker', async () => {
  const { store, directory, errors } = setup();
  store.put(1, packResult(noise(50_000)));
  await store.spill(0);
  for (const name of readdirSync(directory)) truncateSync(join(directory, name));
  const input = { id: 1, result: 1, key: 'key', nbytes: 8, from: 0, address: '' };
  const found = packResult('found');
  const { results } = await gatherInputs(
    {
      store,
      fetch: async (inputs) => {
        assert.deepEqual(inputs, [input]);
        return { results: new Map([[1, found]]), missing: [], gathered: [] };
      },
      digests: new WorkerDigests(),
      index: 0,
    },
    { interval: () => undefined },
    RUN,
    IDS,
    [input],
  );
  assert.deepEqual([...results], [[1, found]]);
  // The store reports the error.
  assert.equal(errors.length, 1);
  await store.close();
});

// Tests that an isolate has the inputs of each task, although copies of results are evicted while batches wait.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import fc, { runs } from '../../base/properties.test.support.js';
import { DrivenWorker, type WorkerGraph } from './drivenWorker.test.support.js';

// The host polls its isolate only when a message arrives, so that a list of choices always leads to the same state.
beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
afterEach(() => mock.timers.reset());

test('a copy that is evicted while two batches need it and wait for other inputs is there for both', async () => {
  await using worker = new DrivenWorker({
    near: [],
    far: 'far',
    alsoFar: 'far',
    first: ['near', 'far'],
    second: ['near', 'alsoFar'],
  });
  worker.send(['near']);
  await worker.finish();
  worker.send(['first']);
  worker.send(['second']);
  worker.spill(['near']);
  await worker.settle();
  worker.answer();
  await worker.settle();
  worker.receive();
  worker.receive();
  await worker.finish();
  assert.deepEqual(worker.seen.slice(1), [
    { key: 'first', inputs: ['near', 'far'] },
    { key: 'second', inputs: ['near', 'alsoFar'] },
  ]);
});

test('a copy that is evicted while a batch waits leaves the isolate, even if the batch is taken back', async () => {
  await using worker = new DrivenWorker({ near: [], far: 'far', first: ['near', 'far'] });
  worker.send(['near']);
  await worker.finish();
  worker.send(['first']);
  worker.spill(['near']);
  worker.steal(['first']);
  await worker.finish();
  assert.deepEqual(await worker.kept(), []);
});

test('a copy that is evicted while its batch is in the queue of the isolate leaves the isolate', async () => {
  await using worker = new DrivenWorker({ near: [], first: ['near'], last: ['near'] });
  worker.send(['near']);
  await worker.finish();
  worker.spill(['near']);
  await worker.finish();
  worker.send(['first']);
  await worker.settle();
  worker.spill(['near']);
  await worker.finish();
  assert.deepEqual(await worker.kept(), []);
});

test('a copy leaves the isolate although a waiting batch contained its task until this was taken back', async () => {
  await using worker = new DrivenWorker({ near: [], far: 'far', last: ['far'], user: ['near'] });
  worker.send(['near', 'last']);
  worker.steal(['near']);
  await worker.settle();
  worker.send(['near']);
  worker.receive();
  await worker.settle();
  worker.deliver();
  await worker.settle();
  worker.spill(['near']);
  await worker.finish();
  assert.deepEqual(await worker.kept(), []);
});

/** Tasks that use earlier ones, by their distance in the list, and some of them a result of the peer. */
const graphs = fc
  .array(fc.record({ near: fc.array(fc.nat(4), { maxLength: 3 }), usesFar: fc.boolean() }), {
    minLength: 3,
    maxLength: 10,
  })
  .map((nodes): WorkerGraph => {
    const inputsOf = (index: number): string[] => {
      const { near, usesFar } = nodes[index]!;
      const earlier = near.flatMap((distance) => (distance < index ? [`task${index - 1 - distance}`] : []));
      return [...new Set(earlier), ...(usesFar ? [`far${index}`] : [])];
    };
    return Object.fromEntries([
      ...nodes.map((_node, index): [string, string[]] => [`task${index}`, inputsOf(index)]),
      ...nodes.map((_node, index): [string, 'far'] => [`far${index}`, 'far']),
    ]);
  });

/** Makes one of the possible moves. `choice` selects the move and its tasks. */
function step(worker: DrivenWorker, choice: number): void {
  const pick = <T>(list: readonly T[]): T[] => {
    const from = (choice >> 8) % list.length;
    return list.slice(from, from + 1 + ((choice >> 12) % 3));
  };
  const { ready, stored, stealable } = worker;
  const moves = [
    ...(ready.length > 0 ? [() => worker.send(pick(ready))] : []),
    ...(worker.canAnswer ? [() => worker.answer(choice >> 8)] : []),
    ...(worker.canReceive ? [() => worker.receive(), () => worker.receive()] : []),
    ...(worker.canDeliver ? [() => worker.deliver(), () => worker.deliver()] : []),
    ...(stored.length > 0 ? [() => worker.spill(pick(stored))] : []),
    ...(stealable.length > 0 && (choice & 128) === 0 ? [() => worker.steal(pick(stealable))] : []),
  ];
  moves[(choice & 127) % moves.length]?.();
}

test('every task sees its inputs, whatever is evicted, stolen and gathered meanwhile', async () => {
  const choices = fc.array(fc.nat(2 ** 16), { minLength: 20, maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(graphs, choices, async (graph, list) => {
      await using worker = new DrivenWorker(graph);
      for (const choice of list) {
        step(worker, choice);
        await worker.settle();
      }
      await worker.finish();
      assert.deepEqual(await worker.kept(), []);
      for (let left = worker.ready; left.length > 0; left = worker.ready) {
        worker.send(left.slice(0, 1));
        await worker.finish();
      }
      await worker.finish();
      for (const { key, inputs } of worker.seen) assert.deepEqual(inputs, graph[key], key);
      const tasks = Object.keys(graph).filter((key) => graph[key] !== 'far');
      assert.deepEqual(worker.seen.map(({ key }) => key).sort(), tasks.sort());
    }),
    { numRuns: runs(80) },
  );
});

test('a batch for an isolate that has ended meanwhile does not run', async () => {
  await using worker = new DrivenWorker({ a: [] });
  worker.send(['a'], 1);
  await worker.settle();
  assert.equal(worker.canReceive, false);
  worker.send(['a'], 0);
  await worker.finish();
  assert.deepEqual(worker.seen, [{ key: 'a', inputs: [] }]);
});

// Tests that an isolate has the inputs of each task, although copies of results are evicted while batches wait.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileGraph } from '../../graph/compile.js';
import { registerTasks } from '../../graph/taskRegistry.js';
import { NO_IDS, NO_VALUES } from '../../protocol/isolateMessages.js';
import type { PackedResult, ResultId } from '../../protocol/packedResult.js';
import { ModelProcess } from '../cluster/modelProcess.test.support.js';
import { packResult } from '../worker/packResult.js';
import type { GatherInput } from './hostTypes.js';

const BIG = [1, 2, 3];
const URL = 'model:evictions';

/** A worker with a peer that answers when the test says so. */
function openWorker(): {
  readonly worker: ModelProcess;
  idOf(key: string): number;
  readonly seen: readonly unknown[];
  dispatch(key: string, ...gathered: readonly string[]): void;
  answer(key: string): void;
  run(): Promise<void>;
} {
  const seen: unknown[] = [];
  const big = (): number[] => BIG;
  const use = (first: unknown, second: unknown): number => seen.push([first, second]);
  registerTasks(
    URL,
    new Map<string, (...args: never[]) => unknown>([
      ['big', big],
      ['use', use],
    ]),
  );
  const graph = {
    big: [big],
    far: [big],
    alsoFar: [big],
    first: [use, 'big', 'far'],
    second: [use, 'big', 'alsoFar'],
  };
  const { program, functions, ids } = compileGraph(graph, ['first', 'second']);
  const idOf = (key: string): number => ids.get(key) ?? -1;
  const asked = new Map<ResultId, () => void>();
  const worker = new ModelProcess(0, 'worker-0', {
    fetch: async (inputs) => {
      await Promise.all(
        inputs.map(({ result }) => new Promise<void>((resolve) => asked.set(result, resolve))),
      );
      const results = new Map<ResultId, PackedResult>(
        inputs.map(({ result, key }) => [result, packResult(key)]),
      );
      return { results, missing: [], gathered: [] };
    },
  });
  worker.host.open({
    run: 1,
    firstId: 0,
    program,
    functions: functions.map((fn) => ({ type: 'module', url: URL, name: fn === big ? 'big' : 'use' })),
    maxOutstanding: program.size,
    inlineBytes: 0,
    keys: null,
    timeout: 0,
    marks: false,
    kinds: { kindOf: new Int32Array(program.size), kinds: [{ prefix: 'x', span: ['default'] }] },
    shared: undefined,
  });
  let batch = 0;
  return {
    worker,
    idOf,
    seen,
    dispatch(key, ...gathered) {
      worker.host.dispatch(1, {
        batch: ++batch,
        ids: Int32Array.of(idOf(key)),
        publish: Uint8Array.of(1),
        keep: NO_IDS,
        inputs: NO_VALUES,
        constants: NO_VALUES,
        gather: gathered.map(
          (name): GatherInput => ({
            id: idOf(name),
            result: idOf(name),
            key: name,
            nbytes: 8,
            from: 1,
            address: '',
          }),
        ),
      });
    },
    answer: (key) => asked.get(idOf(key))?.(),
    async run() {
      for (let turn = 0; turn < 5; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        const { thread } = worker;
        assert.ok(thread);
        if (!thread.isStarted) thread.start();
        while (thread.inbox.length > 0) thread.receive();
        while (thread.outbox.length > 0) thread.deliver();
      }
    },
  };
}

test('a copy that is evicted while two batches need it and wait for other inputs is there for both', async (context) => {
  const { worker, idOf, seen, dispatch, answer, run } = openWorker();
  context.after(() => worker.host.terminate());
  dispatch('big');
  await run();
  dispatch('first', 'far');
  dispatch('second', 'alsoFar');
  await run();
  worker.host.spilled([idOf('big')]);
  answer('far');
  await run();
  answer('alsoFar');
  await run();
  assert.deepEqual(seen, [
    [BIG, 'far'],
    [BIG, 'alsoFar'],
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pushTo } from '../../base/lookUps.js';
import { compileGraph } from '../../graph/compile.js';
import { TASK_ERRED, TASK_MEMORY } from '../../protocol/clusterObserver.js';
import { completionColumns } from '../../protocol/completionLog.js';
import { KIND_ERROR, KIND_NUMBER, KIND_SKIPPED } from '../../protocol/resultKinds.js';
import { validateState } from '../scheduler/validate.test.support.js';
import { ClusterEngine } from './clusterEngine.js';
import { ClusterWorker } from './clusterWorker.js';
import { ModelProcess } from './modelProcess.test.support.js';

test('a task that ended in the report of a failure counts as finished, although no task needs its result any more', () => {
  const engine = new ClusterEngine({ threads: false, inlineBytes: 1024 });
  const name = 'a';
  const place = { index: 0, name, address: name, host: 'model', pid: 1, threads: 1 };
  const worker = new ClusterWorker(engine, { ...place, memoryLimit: 0, startTime: 0 }, () => undefined);
  const process = new ModelProcess(0, name);
  worker.host = process;
  engine.workers.set(0, worker);
  const ended = new Map<string, number[]>();
  engine.observe({
    tasksEnded: ({ computation, ids, states, count }) => {
      for (let row = 0; row < count; row++) pushTo(ended, computation.keys[ids[row]!]!, states[row]!);
    },
  });
  engine.handleEvent({ type: 'worker-added', worker: 0, name });
  const graph = { fails: [Math.max, 1], ends: [Math.max, 2], sum: [Math.max, 'fails', 'ends'] };
  const plan = compileGraph(graph, ['sum']);
  const functions = [{ type: 'global', path: 'Math.max', name: 'max' } as const];
  const computation = engine.add({ plan, functions, client: 'client' });
  const kinds = { fails: KIND_ERROR, sum: KIND_SKIPPED, ends: KIND_NUMBER };
  const columns = completionColumns(3);
  for (const [key, kind] of Object.entries(kinds)) {
    const id = plan.ids.get(key)!;
    columns.ids[columns.count] = id;
    columns.kinds[columns.count] = kind;
    columns.batches[columns.count++] = engine.scheduler.state.batchOf[computation.segment.base + id]!;
  }
  worker.finished(
    computation.info.number,
    columns,
    new Map([[plan.ids.get('fails')!, new Error('It fails.')]]),
  );
  assert.deepEqual(Object.fromEntries(ended), { fails: [TASK_ERRED], ends: [TASK_MEMORY] });
  validateState(engine.scheduler.state);
  engine.close();
  void process.host.terminate();
});

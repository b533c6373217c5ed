import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileGraph } from '../../graph/compile.js';
import { ClusterEngine } from './clusterEngine.js';

test('a cancelled result that is computed again stays requested when its old future is released', () => {
  const engine = new ClusterEngine({ threads: false, inlineBytes: 1024 });
  const plan = compileGraph({ input: [Math.max, 1], user: [Math.max, 'input'] }, ['input', 'user']);
  const functions = [{ type: 'global', path: 'Math.max', name: 'max' } as const];
  const computation = engine.add({ plan, functions, client: 'client' });
  const local = plan.ids.get('input')!;
  const [old, user] = [local, plan.ids.get('user')!].map((id) => engine.results.of(computation, id));
  for (const handle of [old!, user!]) handle.references++;
  engine.results.cancel([old!]);
  // As recreateTaskLocally requests an input of a failed task.
  const again = computation.want(local);
  again.references++;
  const id = computation.segment.base + local;
  engine.handleEvent({ type: 'results-wanted', ids: [id] });
  engine.results.release(old!);
  engine.results.flush();
  assert.equal(computation.handles.get(local), again);
  assert.equal(engine.scheduler.state.graph.requested[id], 1);
  assert.equal(engine.scheduler.stateName(id), 'queued');
  engine.close();
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { profileTree } from '../../analysis/profile.js';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { workerName } from '../../trace/trace.js';
import { chosenSamples } from './profileQuery.js';

it('the profile of a worker that was replaced, or replaced another of its name, has only its own samples', () => {
  const sample = (worker: string, time: number) => ({ worker, time, prefix: 'fit', stack: ['fit'] });
  const trace = syntheticTrace({
    workers: [
      { name: 'w0', stopped: 2 },
      { name: 'w1', started: 2 },
    ],
    samples: [sample('w0', 1), sample('w1', 2), sample('w1', 3)],
  });
  // A worker that replaces another has its name.
  trace.workers.name[1] = trace.workers.name[0]!;
  assert.equal(workerName(trace, 1), 'w0 (2)');
  const counts = [undefined, 0, 1].map((worker) => profileTree(trace, chosenSamples({}, worker)).count);
  assert.deepEqual(counts, [3, 1, 2]);
});

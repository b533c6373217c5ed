import assert from 'node:assert/strict';
import { it } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

/**
 * Two workers on two cores, whose threads have a core for half of the time. Other threads of the program use `beside` cores, and other
 * programs the rest.
 */
function crowded(beside: number, gc = 0) {
  const tasks = Array.from({ length: 20 }, (_, i) => ({
    ...{ key: `fit-${i}`, worker: `w${i % 2}`, submitted: 0, ready: 0, coreWait: 0.5 },
    ...{ started: Math.floor(i / 2), stopped: Math.floor(i / 2) + 1 },
  }));
  const resources = Array.from({ length: 101 }, (_, i) => [
    {
      time: i / 10,
      figures: { cpu: 100 + 100 * beside, host_cpu: 200, host_cores: 2, scheduler_core_time: 0 },
    },
    ...['w0', 'w1'].map((worker) => ({
      time: i / 10,
      worker,
      figures: { cpu: 50, gc_time: (gc * i) / 100 },
    })),
  ]);
  return findings(syntheticTrace({ tasks, resources: resources.flat() })).find(
    ({ code }) => code === 'cpu-oversubscription',
  );
}

it('other threads of the program, e.g. of another pool, are no other programs', () => {
  const own = crowded(1);
  assert.match(own?.title ?? '', /: more threads compute than there are cores$/);
  assert.match(own?.evidence.text ?? '', / that run no tasks, .* kept 1\.0 cores busy\.$/);
  assert.match(own?.advice ?? '', /^Let fewer threads compute at a time: workers, and other threads/);
  assert.match(crowded(0)?.title ?? '', /: other programs keep 1\.0 of 2 cores busy$/);
  assert.doesNotMatch(crowded(0)?.evidence.text ?? '', /that run no tasks/);
});

it('threads that collect garbage are no other threads of the program', () => {
  assert.doesNotMatch(crowded(0.6, 2)?.evidence.text ?? '', /that run no tasks/);
  assert.match(crowded(0.6)?.evidence.text ?? '', /that run no tasks/);
});

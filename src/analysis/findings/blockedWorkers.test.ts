import assert from 'node:assert/strict';
import { it } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

it('Dask workers whose event loop is blocked while tasks are sent to them are named, and a short wait is not', () => {
  const tasks = [0, 1, 2, 3].map((i) => {
    const started = i < 2 ? 0.2 * i : 0.2 * i + 1;
    const dispatched = 0.2 * i;
    return {
      key: `nap-${i}`,
      submitted: 0,
      ready: 0,
      dispatched,
      received: started,
      started,
      stopped: started + 0.2,
    };
  });
  const workers = [{ name: 'w0', address: 'tcp://10.0.0.1:4000', started: 0 }];
  const foundWith = (text: string) =>
    findings(
      syntheticTrace({ tasks, workers, events: [{ time: 1.4, worker: 'w0', topic: 'log-blocked', text }] }),
    ).find(({ code }) => code === 'blocked-workers');
  const found = foundWith('The event loop of the worker was blocked for 1.000 s.');
  assert.equal(found?.seconds.toFixed(1), '1.0');
  assert.match(
    found.title,
    /^1 worker did not answer for up to 1 s, because the event loop there was blocked/,
  );
  assert.equal(foundWith('Another text.'), undefined);
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { blockedText } from '../../protocol/eventTopics.js';
import { type SyntheticTask, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
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

it('a worker process that did not run while tasks were sent to it is named', () => {
  const tasks = [0, 1, 2, 3].map((i) => {
    const started = i < 2 ? i / 5 : i / 5 + 4;
    return { key: `nap-${i}`, submitted: 0, ready: 0, dispatched: i / 5, started, stopped: started + 0.2 };
  });
  const events = [{ time: 4.4, worker: 'w0', topic: 'log-blocked', text: blockedText(4) }];
  const found = findings(syntheticTrace({ tasks, events, workers: [{ name: 'w0' }] }))[0];
  assert.deepEqual([found?.code, found?.seconds.toFixed(1)], ['blocked-workers', '4.0']);
  assert.match(
    found?.title ?? '',
    /^1 worker did not answer for up to 4 s, because the process did not run$/,
  );
  assert.match(found?.advice ?? '', /^Look for a stopped process/);
});

it('a worker process that did not run costs its share of the run if other workers did its tasks', () => {
  const tasks = Array.from({ length: 11 }, (_, i) => {
    const [started, stopped] = i === 0 ? [0, 5] : [i - 1, i];
    return { key: `fit-${i}`, worker: i === 0 ? 'w1' : 'w0', submitted: 0, ready: 0, started, stopped };
  });
  const events = [{ time: 4.9, worker: 'w1', topic: 'log-blocked', text: blockedText(4) }];
  const workers = [{ name: 'w0' }, { name: 'w1' }];
  const all = findings(syntheticTrace({ tasks, events, workers }));
  assert.equal(all.find(({ code }) => code === 'blocked-workers')?.seconds.toFixed(1), '2.0');
});

it('a worker process that did not run costs nothing if no task waited', () => {
  const tasks = Array.from({ length: 10 }, (_, i) => ({
    ...{ key: `step-${i}`, worker: 'w0', submitted: 0, ready: i, started: i, stopped: i + 1 },
    needs: i === 0 ? [] : [`step-${i - 1}`],
  }));
  const events = [{ time: 6, worker: 'w1', topic: 'log-blocked', text: blockedText(4) }];
  const all = findings(syntheticTrace({ tasks, events, workers: [{ name: 'w0' }, { name: 'w1' }] }));
  assert.ok(!all.some(({ code }) => code === 'blocked-workers'));
});

it('the time in which a worker process did not run is no garbage collection, and hides none', () => {
  const gcFound = (length: number) => {
    const tasks = Array.from({ length: 12 }, (_, i) => ({
      ...{ key: `fit-${i}`, submitted: 0, ready: 0, started: i === 0 ? 0 : i + 4, stopped: i + 5 },
    }));
    const events = [{ time: 4.4, worker: 'w0', topic: 'log-blocked', text: blockedText(4) }];
    // One collection contains the stop. The others do not.
    const intervals = [
      { worker: 'w0', action: 'gc' as const, start: 0.4, stop: 4.4 },
      { worker: 'w0', action: 'gc' as const, start: 6, stop: 6 + length },
    ];
    const all = findings(syntheticTrace({ tasks, events, intervals, workers: [{ name: 'w0' }] }));
    assert.ok(all.some(({ code }) => code === 'blocked-workers'));
    return all.find(({ code }) => code === 'garbage-collection')?.evidence.numbers['gcSeconds'];
  };
  assert.equal(gcFound(0.1), undefined);
  assert.equal(gcFound(5), 5);
});

it('a worker process that reads large arguments from its pipe is not stopped, and the run waited for these arguments', () => {
  const times = { submitted: 0, ready: 0, dispatched: 0, received: 5, started: 5 };
  const tasks = [{ key: 'use-0', ...times, stopped: 5.2 }];
  const events = [{ time: 4.5, worker: 'w0', topic: 'log-blocked', text: blockedText(4) }];
  const workers = [{ name: 'w0', address: 'process://w0', started: -1 }];
  const codes = (key: string, nbytes = 120e6, later: readonly SyntheticTask[] = []) => {
    const sent = { worker: 'w0', what: 'scatter' as const, keys: [key], nbytes, start: 0, stop: 0.3 };
    return findings(syntheticTrace({ tasks: [...tasks, ...later], events, workers, transfers: [sent] }));
  };
  const [own, ...others] = codes('use-0');
  assert.deepEqual([own?.code, own?.seconds.toFixed(1), others], ['oversized-arguments', '5.0', []]);
  // Arguments of another task explain nothing.
  assert.equal(codes('fit-0')[0]?.code, 'blocked-workers');
  // No process needs seconds to read a megabyte.
  assert.equal(codes('use-0', 1e6)[0]?.code, 'blocked-workers');
  // The task ran again later, because its result was lost.
  const again = { ...times, ready: 6, dispatched: 6, received: 9, started: 9 };
  const repeated = codes('use-0', 120e6, [{ key: 'use-0', ...again, stopped: 9.2, attempt: 2 }]);
  const [sent] = repeated.filter(({ code }) => code === 'oversized-arguments');
  assert.equal(sent?.seconds.toFixed(1), '5.0');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MetricSample } from '../../../protocol/clusterObserver.js';
import { WaitMeter } from './waitMeter.js';

test('the seconds of all leases in use count while tasks wait for a semaphore', async () => {
  let now = 100;
  const samples = new Map<string, number>();
  const metric = ({ activity, value }: MetricSample): void => void samples.set(activity, value);
  const meter = new WaitMeter({
    hasObservers: true,
    clock: () => now,
    notify: (call) => call({ metric }),
  });
  const { signal } = new AbortController();
  const caller = { key: 'fit-1', prefix: 'fit', stopped: signal, ended: signal };
  let resolve = (_: boolean): void => assert.fail();
  const promise = new Promise<boolean>((granted) => {
    resolve = granted;
  });
  const [semaphore, lock] = [
    meter.during('Semaphore', 's', caller, promise, 3),
    meter.during('Lock', 'l', caller, promise, 1),
  ];
  now = 102;
  resolve(true);
  await Promise.all([semaphore, lock]);
  meter.close();
  assert.deepEqual(Object.fromEntries(samples), {
    "wait for Semaphore 's'": 2,
    "contended Semaphore 's'": 2,
    "held Semaphore 's'": 6,
    "wait for Lock 'l'": 2,
    "contended Lock 'l'": 2,
  });
});

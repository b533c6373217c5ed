// Calls of shared objects that wait: they keep the program alive, and a dump names their callers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Event, Lock, Queue, Semaphore } from 'longpole';
import { packageUrl, runProgram, withFolder } from '../support/programs.js';
import { c } from './coordinationTasks.js';
import { unused, waiting } from './sharedObjects.js';
import { clusterTest } from './support.js';

test('a call of a shared object keeps the program alive while it waits', async () => {
  await withFolder(async (folder) => {
    const { code, stdout } = await runProgram(
      folder,
      `import { connect, Event, Lock, Queue, Semaphore, Variable } from ${JSON.stringify(packageUrl('index'))};
      await connect({ workers: 1 });
      const [lock, semaphore, event, value, queue] = [new Lock('a'), new Semaphore('a'), new Event('a'), new Variable('a'), new Queue('a')];
      // Such a timer does not keep the program alive.
      const later = (fn) => void setTimeout(fn, 100).unref();
      await lock.acquire();
      await semaphore.acquire();
      later(() => lock.release());
      console.log('lock', await lock.acquire());
      later(() => semaphore.release());
      console.log('semaphore', await semaphore.acquire());
      later(() => event.set());
      console.log('event', await event.wait());
      later(() => value.set(1));
      console.log('variable', await value.get());
      later(() => queue.put(2));
      console.log('queue', await queue.get());
      // Nothing waits any more, so the program ends although its client is open and holds a lock.`,
    );
    assert.deepEqual(stdout.trimEnd().split('\n'), [
      'lock true',
      'semaphore true',
      'event true',
      'variable 1',
      'queue 2',
    ]);
    assert.equal(code, 0);
  });
});

clusterTest(
  'a dump names the holders, the waiting calls and the items of shared objects',
  async (setting) => {
    const { client, cluster, folder } = setting;
    const { name } = client;
    const lock = new Lock('lock', { client });
    const pool = new Semaphore('pool', { max: 2, client });
    const queue = new Queue<number>('queue', { client, maxSize: 2 });
    const event = new Event('event', { client });
    await lock.acquire();
    await pool.acquire();
    const ends = event.wait();
    await waiting(cluster, 'Event.wait');
    const waitsForLock = client.submit(c.waitForLock, folder, { key: 'waits-for-lock' });
    await waiting(cluster, 'Lock.acquire');
    const produces = client.submit(c.produce, 3, { key: 'produces' });
    await waiting(cluster, 'Queue.put');
    const dump = await client.dump();
    assert.deepEqual(
      dump.shared.map(({ waits, ...object }) => ({
        ...object,
        waits: waits.map(({ method, caller }) => `${method} of ${caller}`),
      })),
      [
        { what: 'Event', name: 'event', holders: [], items: 0, waits: [`wait of ${name}`] },
        { what: 'Lock', name: 'lock', holders: [name], items: 0, waits: ['acquire of waits-for-lock'] },
        { what: 'Queue', name: 'queue', holders: [], items: 2, waits: ['put of produces'] },
        { what: 'Semaphore', name: 'pool', holders: [name], items: 0, waits: [] },
      ],
    );
    const brief = dump.brief();
    assert.match(
      brief,
      /^ {2}Lock 'lock': held by client-\d+; waits: acquire of waits-for-lock for [\d.]+ s$/m,
    );
    assert.match(brief, /^ {2}Queue 'queue': 2 items; waits: put of produces for [\d.]+ s$/m);
    assert.match(brief, /^ {2}Semaphore 'pool': held by client-\d+$/m);
    await lock.release();
    await pool.release();
    await event.set();
    await queue.get({ batch: 3 });
    await Promise.all([ends, waitsForLock, produces]);
    await event.clear();
    await unused(cluster);
    assert.deepEqual((await client.dump()).shared, []);
  },
);

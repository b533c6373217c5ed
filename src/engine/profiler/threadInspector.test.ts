import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { type InspectorChannel, inspectThread, whenThreadIsQuiet } from './threadInspector.js';

/** Starts a thread in an endless loop. */
async function spinning(name: string): Promise<Worker> {
  const worker = new Worker(
    "require('node:worker_threads').parentPort.postMessage('up'); let sum = 0; for (;;) sum += Math.sqrt(sum + 1);",
    { eval: true, name },
  );
  await once(worker, 'message');
  return worker;
}

test('a thread ends even if it is terminated during a request of the inspector', async () => {
  for (let round = 0; round < 10; round++) {
    const name = `asked-${round}`;
    const worker = await spinning(name);
    const channel = await new Promise<InspectorChannel>((resolve) => inspectThread(name, resolve));
    // Without the wait for the answer most of these threads would run for ever.
    channel.send('Runtime.evaluate', { expression: 'let q = 0; for (let k = 0; k < 3e5; k++) q += k; q' });
    const exited = once(worker, 'exit');
    const order: string[] = [];
    channel.send('Runtime.evaluate', { expression: '1' }, () => order.push('answered'));
    await new Promise<void>((resolve) =>
      whenThreadIsQuiet(
        name,
        () => {
          order.push('quiet');
          void worker.terminate();
          resolve();
        },
        300_000,
      ),
    );
    await exited;
    assert.deepEqual(order, ['answered', 'quiet']);
  }
});

test('a thread without requests is quiet at once', () => {
  let quiet = false;
  whenThreadIsQuiet(
    'unknown',
    () => {
      quiet = true;
    },
    300_000,
  );
  assert.ok(quiet);
});

test('threads that end while the inspector is being opened do not crash the process', async () => {
  const program = `
    const { once } = require('node:events');
    const { Worker } = require('node:worker_threads');
    // Node 20 crashes if a thread ends while the inspector lists the threads, so all wait until the inspector has seen
    // them.
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const body = \`const { parentPort, workerData } = require('node:worker_threads');
      parentPort.postMessage('up');
      while (Atomics.load(workerData, 0) === 0);\`;
    const workers = Array.from(
      { length: 6 },
      (_, i) => new Worker(body, { eval: true, name: 'brief-' + i, workerData: gate }),
    );
    const ended = Promise.all(workers.map((worker) => once(worker, 'exit')));
    const up = Promise.all(workers.map((worker) => once(worker, 'message')));
    const inspector = import(${JSON.stringify(new URL('./threadInspector.js', import.meta.url).href)});
    Promise.all([inspector, up]).then(async ([{ inspectThread }]) => {
      for (const index of workers.keys()) {
        inspectThread('brief-' + index, (channel) => {
          channel.send('Runtime.evaluate', { expression: 'process.exit(3)' });
          for (const end = Date.now() + 60; Date.now() < end; );
          if (index === workers.length - 1) setImmediate(() => Atomics.store(gate, 0, 1));
        });
      }
      console.log((await ended).length + ' ended');
    });
  `;
  const runs = Array.from({ length: 3 }, () =>
    promisify(execFile)(process.execPath, ['--eval', program], { timeout: 300_000 }),
  );
  for (const { stdout } of await Promise.all(runs)) assert.equal(stdout.trim(), '6 ended');
});

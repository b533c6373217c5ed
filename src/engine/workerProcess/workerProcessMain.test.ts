// Tests a worker process that another program has started, as on a Dask cluster.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { FromWorker } from '../../protocol/workerMessages.js';
import { epochOffsetMs } from '../worker/isolateClock.js';
import { encodeMessage, MessageDecoder } from './messageCodec.js';

const ENTRY = fileURLToPath(new URL('./workerProcessMain.js', import.meta.url));
/** No thread beside the main thread can start. */
const NO_THREADS = `--import=data:text/javascript,${encodeURIComponent(
  "import { isMainThread } from 'node:worker_threads'; if (!isMainThread) throw new Error('no thread');",
)}`;

test('a worker process on a Dask cluster ends if none of its isolates can start', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'longpole-test-'));
  const child = spawn(process.execPath, [NO_THREADS, ENTRY], {
    env: { ...process.env, LONGPOLE_CHANNEL: '3' },
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const { stdin } = child;
  assert.ok(stdin);
  stdin.on('error', () => undefined);
  stdin.write(
    encodeMessage({
      ...{ type: 'birth', index: 0, name: 'worker-0', epochOffsetMs: epochOffsetMs(), memoryLimit: 0 },
      ...{ thresholds: {}, profile: undefined, directory, token: 'secret', network: undefined },
    }),
  );
  const decoder = new MessageDecoder<FromWorker>();
  const reasons: string[] = [];
  const output = child.stdio[3];
  assert.ok(output instanceof Readable);
  for await (const chunk of output)
    for (const { message } of decoder.push(chunk))
      if (message.type === 'giving-up') reasons.push(message.why);
  await ended;
  rmSync(directory, { recursive: true });
  assert.match(reasons.join(), /no thread/);
});

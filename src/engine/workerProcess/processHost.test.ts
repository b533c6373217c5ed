import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToWorker } from '../../protocol/workerMessages.js';
import type { HostEvents } from '../host/hostTypes.js';
import { clientOf } from '../transfer/peers.test.support.js';
import { ProcessHost } from './processHost.js';
import type { ChannelEvents } from './workerChannel.js';

const ignore = (): void => undefined;
const EVENTS: HostEvents = {
  ready: ignore,
  finished: ignore,
  restarted: ignore,
  noteFull: ignore,
  lost: ignore,
  fetched: ignore,
  fetchFailed: ignore,
  stolen: ignore,
  gatherFailed: ignore,
  timedOut: ignore,
  asked: ignore,
  paused: ignore,
  warning: ignore,
  transfer: ignore,
  interval: ignore,
  memory: ignore,
  metrics: ignore,
  profile: ignore,
  event: ignore,
};
const BIRTH: Extract<ToWorker, { type: 'birth' }> = {
  type: 'birth',
  index: 0,
  name: 'worker-0',
  memoryLimit: 0,
  epochOffsetMs: 0,
  thresholds: {},
  profile: undefined,
  directory: '',
  token: 'secret',
  network: undefined,
};

test('a process keeps the program alive until it has ended, even if it answers an earlier call meanwhile', async () => {
  let keepsAlive = true;
  let process: ChannelEvents | undefined;
  const host = new ProcessHost(
    {
      open: (events) => {
        process = events;
        return {
          pid: 1,
          connected: true,
          send: ignore,
          kill: ignore,
          ref: () => {
            keepsAlive = true;
          },
          unref: () => {
            keepsAlive = false;
          },
        };
      },
      birth: BIRTH,
      clock: () => 0,
      client: clientOf().client,
      transferLogs: () => ({ outgoingTransferLog: [], incomingTransferLog: [] }),
      ttl: false,
      ended: ignore,
    },
    EVENTS,
  );
  assert.ok(process !== undefined);
  process.message({ type: 'ready', address: '', pid: 1 });
  assert.equal(keepsAlive, false, 'it is idle');
  const flushed = host.flush();
  const ended = host.terminate();
  process.message({ type: 'called', call: 1, value: undefined, error: undefined });
  await flushed;
  assert.equal(keepsAlive, true);
  process.ended(new Error('The test is over.'));
  await ended;
});

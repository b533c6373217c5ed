import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toErrorInfo } from '../../protocol/errorInfo.js';
import { type Batch, NO_IDS, NO_VALUES } from '../../protocol/isolateMessages.js';
import type { ToWorker } from '../../protocol/workerMessages.js';
import type { HostEvents } from '../host/hostTypes.js';
import { clientOf } from '../transfer/peers.test.support.js';
import { ProcessHost } from './processHost.js';
import type { ChannelEvents, OpenChannel } from './workerChannel.js';

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

/** Starts a host of a process that the test plays. */
function startHost(channel: Partial<ReturnType<OpenChannel>>): {
  readonly host: ProcessHost;
  readonly process: ChannelEvents;
} {
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
          ref: ignore,
          unref: ignore,
          ...channel,
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
  return { host, process };
}

test('a process keeps the program alive until it has ended, even if it answers an earlier call meanwhile', async () => {
  let keepsAlive = true;
  const { host, process } = startHost({
    ref: () => {
      keepsAlive = true;
    },
    unref: () => {
      keepsAlive = false;
    },
  });
  assert.equal(keepsAlive, false, 'it is idle');
  const flushed = host.flush();
  const ended = host.terminate();
  process.message({ type: 'called', call: 1, value: undefined, error: undefined });
  await flushed;
  assert.equal(keepsAlive, true);
  process.ended(new Error('The test is over.'));
  await ended;
});

test('a batch names the isolate for which it is, so that one that has ended meanwhile leaves no batch to the next', async () => {
  const isolates: (number | undefined)[] = [];
  const note = (message: ToWorker): void => {
    if (message.type === 'batch') isolates.push(message.isolate);
    else if (message.type === 'several') message.messages.forEach(note);
  };
  const { host, process } = startHost({ send: note });
  const batch: Batch = {
    type: 'batch',
    run: 1,
    batch: 1,
    ids: Int32Array.of(0),
    publish: Uint8Array.of(1),
    keep: NO_IDS,
    inputs: NO_VALUES,
    constants: NO_VALUES,
    gather: [],
  };
  host.dispatch(batch);
  process.message({
    type: 'restarted',
    running: undefined,
    error: toErrorInfo(new Error('The worker thread ended.')),
    isWanted: false,
  });
  host.dispatch(batch);
  const ended = host.terminate();
  process.ended(new Error('The test is over.'));
  await ended;
  assert.deepEqual(isolates, [0, 1]);
});

// Entry point of a worker process. Its main thread runs no tasks, so that it answers the cluster, the peers and the
// isolate while a task runs.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { serialize } from 'node:v8';
import { type Handlers, handle } from '../../base/handlers.js';
import { pushTo } from '../../base/lookUps.js';
import type { Transfer } from '../../protocol/clusterObserver.js';
import { toErrorInfo } from '../../protocol/errorInfo.js';
import type { GatherInput, PackedResult, ResultId } from '../../protocol/packedResult.js';
import { unpackRun, unpackWorkerBatch } from '../../protocol/shortWorkerMessages.js';
import {
  deliver,
  type FromWorker,
  type MessageOf,
  type MissingInput,
  type ToWorker,
  type TransferLogs,
  type WorkerOrders,
} from '../../protocol/workerMessages.js';
import { processRss } from '../../resources/processRss.js';
import { ClockOffset } from '../clockOffset.js';
import type { FetchFromPeers, Gathered, HostFacts } from '../host/hostTypes.js';
import { ThreadHost } from '../host/threadHost.js';
import { WorkerDigests } from '../metrics/workerDigests.js';
import { Store } from '../store/store.js';
import { failedFetches, unreachableText } from '../transfer/failedFetches.js';
import { OpenTransfers } from '../transfer/openTransfers.js';
import { PeerClient } from '../transfer/peerClient.js';
import { PeerServer } from '../transfer/peerServer.js';
import { isolateClock } from '../worker/isolateClock.js';
import { notCloneable } from '../worker/notCloneable.js';
import { killThisProcess, sendLast, sendToParent } from '../worker/parentChannel.js';
import { correctedEvents } from './correctedEvents.js';
import { openParentChannel } from './parentChannel.js';
import { vitalsFile, writeVitals } from './vitalsFile.js';

/** Time between two heartbeats, which also compare the clocks, in milliseconds. The first ones follow at once. */
const HEARTBEAT_MS = 500;
const FIRST_HEARTBEATS = 5;
/** Time in which the end of the cluster is noticed, in milliseconds. */
const ENDING_MS = 500;

type Birth = Extract<ToWorker, { type: 'birth' }>;

const channel = openParentChannel();

const send = (message: FromWorker): void => sendToParent(channel, message);

const giveUp = (why: string): void => sendLast(channel, { type: 'giving-up', why }, end);

class WorkerProcess {
  readonly #birth: Birth;
  readonly #offset = new ClockOffset();
  readonly #clock: () => number;
  readonly #store: Store;
  readonly #digests = new WorkerDigests();
  readonly #server: PeerServer;
  readonly #client: PeerClient;
  /** Fetches from peers in progress. */
  readonly #incoming = new OpenTransfers();
  readonly #host: ThreadHost;
  /** Number of answered heartbeats. */
  #answers = 0;
  #transferLogs: TransferLogs = { incomingTransferLog: [], outgoingTransferLog: [] };

  readonly #handlers: Handlers<Exclude<ToWorker, MessageOf<WorkerOrders>>> = {
    several: ({ messages }) => {
      for (const each of messages) this.handle(each);
    },
    birth: () => {},
    open: ({ run }) => this.#host.open(unpackRun(run)),
    batch: (batch) => this.#host.dispatch(unpackWorkerBatch(batch)),
    take: ({ call, gather, what }) => this.#answer(call, this.#host.take(gather, what)),
    flush: ({ call }) => this.#answer(call, this.#host.flush()),
    dump: ({ call }) => this.#answer(call, this.#host.dump()),
    call: ({ call, fn, transferLogs, context, tasksWait }) => {
      this.#transferLogs = transferLogs;
      this.#answer(call, this.#host.call(fn, context, tasksWait));
    },
    clock: ({ sent, remote }) => {
      this.#offset.add({ sent, remote, received: this.#clock() });
      // The first heartbeats follow one another, because simultaneous ones would share one delay.
      if (++this.#answers < FIRST_HEARTBEATS) this.#beat();
    },
    'peer-gone': ({ address }) => this.#client.forget(address),
    end: () => process.exit(0),
  };

  constructor(birth: Birth) {
    this.#birth = birth;
    const { index, name, epochOffsetMs, memoryLimit, directory, token, thresholds, profile, network } = birth;
    this.#clock = isolateClock(epochOffsetMs);
    const now = (): number => this.#correct(this.#clock());
    const events = correctedEvents(send, (time) => this.#correct(time), giveUp);
    const file = (part: string): string => join(directory, part);
    const unique = `${name}-${index}`;
    this.#store = new Store({
      file,
      name: unique,
      now,
      onInterval: (interval, cause) => {
        const known = { ...interval, worker: index, thread: 0 };
        this.#digests.interval(known, cause);
        send({ type: 'interval', args: [known] });
      },
      onError: (error) => events.event('store', error.message),
      onSpillFailed: (error) => events.warning('spill-failed', error.message),
      onSpilled: (result) => this.#host.spilled([result]),
    });
    const common = { token, worker: index, now } as const;
    const onTransfer = (transfer: Transfer): void => {
      this.#digests.transfer(transfer);
      send({ type: 'transfer', args: [transfer] });
    };
    const { accept: onMessages } = channel;
    const serving = { source: this.#store, file, name: unique, network, onTransfer, onMessages };
    this.#server = new PeerServer({ ...common, ...serving });
    const server = this.#server;
    this.#client = new PeerClient({ ...common, onTransfer });
    const facts: HostFacts = {
      name,
      // The port is known once the server listens.
      get address() {
        return server.address;
      },
      pid: process.pid,
      memoryLimit,
      localDirectory: directory,
      nthreads: 1,
    };
    this.#host = new ThreadHost(
      {
        facts,
        index,
        store: this.#store,
        epochOffsetMs,
        clock: now,
        thresholds,
        digests: this.#digests,
        profile,
        fetch: processPeers(this.#client, this.#incoming),
        processBytes: processRss,
        giveUp,
        transferLogs: () => this.#transferLogs,
      },
      events,
    );
    writeVitals(vitalsFile(birth), () => this.#host.vitals);
    void this.#begin();
  }

  handle(message: ToWorker): void {
    if ('call' in message) send({ type: 'call-taken', call: message.call });
    if ('args' in message) {
      deliver<WorkerOrders, keyof WorkerOrders>(this.#host, message);
      return;
    }
    handle(this.#handlers, message.type, message);
  }

  #answer(call: number, answer: Promise<unknown>): void {
    const fail = (error: unknown): void =>
      send({ type: 'called', call, value: undefined, error: toErrorInfo(error) });
    answer.then((value) => {
      try {
        // The channel silently turns a Blob into an empty object, so check first.
        serialize(value);
        send({ type: 'called', call, value, error: undefined });
      } catch (error) {
        fail(notCloneable(error));
      }
    }, fail);
  }

  async #begin(): Promise<void> {
    const address = await this.#server.listen().catch(async (error: unknown) => {
      // A cluster that ends removes its folder. This process ends with it, before it prints an error.
      await setTimeout(ENDING_MS);
      throw error;
    });
    // Tasks would wait for the isolate while other workers could run them.
    await this.#host.started;
    send({ type: 'ready', address, pid: process.pid });
    this.#beat();
    setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
  }

  #beat(): void {
    const incoming = this.#incoming;
    const outgoing = this.#server.open;
    const link = {
      latency: this.#offset.latency,
      incomingBytes: incoming.nbytes,
      incomingCount: incoming.count,
      outgoingBytes: outgoing.nbytes,
      outgoingCount: outgoing.count,
    };
    const answers = this.#answers;
    send({ type: 'heartbeat', sent: this.#clock(), answers, link, occupied: this.#host.isOccupied });
  }

  /**
   * Converts a time to the scheduler's clock. An offset within the round trip is noise, so the clocks count as equal.
   */
  #correct(time: number): number {
    const { offset, roundTrip } = this.#offset;
    return Math.abs(offset) <= roundTrip || Number.isNaN(roundTrip) ? time : time + offset;
  }

  /** Deletes the files of this process in the directory of the cluster. */
  clean(): void {
    const { directory, name, index } = this.#birth;
    for (const file of readdirSync(directory))
      if (file.startsWith(`${name}-${index}`)) rmSync(join(directory, file), { force: true });
  }
}

let worker: WorkerProcess | undefined;

function clean(): void {
  try {
    worker?.clean();
  } catch {
    // The directory was already deleted, or the cluster deletes it.
  }
}

/** Ends this process. Its results are useless. */
function end(): void {
  clean();
  killThisProcess();
}

// The end of the channel is that of the parent.
channel.receive((message) => {
  if (message.type === 'birth') worker = new WorkerProcess(message);
  else worker?.handle(message);
}, end);
process.on('exit', clean);

/** @param open gauge of the fetches in progress */
function processPeers(client: PeerClient, open: OpenTransfers): FetchFromPeers {
  const failed = failedFetches((...args) => send({ type: 'event', args }));
  return async (inputs, what) => {
    const results = new Map<ResultId, PackedResult>();
    const missing: MissingInput[] = [];
    const gathered: Gathered[] = [];
    const byAddress = new Map<string, GatherInput[]>();
    for (const input of inputs) pushTo(byAddress, input.address, input);
    await Promise.all(
      Array.from(byAddress, async ([address, wanted]) => {
        const peer = wanted[0]!.from;
        const transfer = open.begin(wanted.reduce((sum, { nbytes }) => sum + nbytes, 0));
        try {
          const ids = wanted.map(({ result }) => result);
          const fetched = await client.fetch(address, ids, { peer, what });
          for (const [result, one] of fetched.results) results.set(result, one);
          const inputs = wanted.filter(({ result }) => fetched.results.has(result));
          for (const input of wanted) if (!fetched.results.has(input.result)) missing.push(input);
          const { nbytes, start, stop } = fetched;
          if (inputs.length > 0) gathered.push({ inputs, nbytes, start, stop });
        } catch (error) {
          failed(address, wanted.length, error);
          const unreachable = unreachableText(error);
          for (const input of wanted) missing.push({ ...input, unreachable });
        } finally {
          transfer.end();
        }
      }),
    );
    return { results, missing, gathered };
  };
}

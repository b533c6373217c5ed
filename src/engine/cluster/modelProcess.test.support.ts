// A worker process of the model: the real host and the real program of an isolate. The model decides when a channel
// delivers a message. Messages are not copied, because neither side changes a sent message.
import { EventEmitter } from 'node:events';
import type { Batch, FromIsolate, IsolateBirth, ToIsolate } from '../../protocol/isolateMessages.js';
import type { PackedResult } from '../../protocol/packedResult.js';
import {
  packRun,
  packWorkerBatch,
  unpackRun,
  unpackWorkerBatch,
} from '../../protocol/shortWorkerMessages.js';
import {
  deliver,
  type FromWorker,
  type ToWorker,
  type WorkerOrders,
  type WorkerRun,
} from '../../protocol/workerMessages.js';
import type { FetchFromPeers, ProcessDump, WorkerHost } from '../host/hostTypes.js';
import { ThreadHost } from '../host/threadHost.js';
import { WorkerDigests } from '../metrics/workerDigests.js';
import type { IsolateThread } from '../pool/isolateThread.js';
import { Store } from '../store/store.js';
import { IsolateRuntime } from '../worker/isolateRuntime.js';
import { correctedEvents } from '../workerProcess/correctedEvents.js';

const ENDED = { type: 'ended' } as const;
export type FromProcess = FromWorker | typeof ENDED;
/** Types of messages that do not affect the order of the others. */
const UNORDERED: ReadonlySet<string> = new Set(['memory', 'metrics', 'interval', 'profile', 'event']);

/** A thread that starts, receives and sends when the model decides. */
export class ModelThread extends EventEmitter implements IsolateThread {
  readonly inbox: ToIsolate[] = [];
  readonly outbox: (FromIsolate | { readonly type: 'exit' })[] = [];
  isOver = false;
  #runtime: IsolateRuntime | undefined;
  readonly #birth: IsolateBirth;

  constructor(birth: IsolateBirth) {
    super();
    this.#birth = birth;
  }

  get isStarted(): boolean {
    return this.#runtime !== undefined;
  }

  postMessage(message: ToIsolate): void {
    if (!this.isOver) this.inbox.push(message);
  }

  /** Starts the program of the isolate, without metering, which would load an addon. */
  start(): void {
    const host = {
      post: (message: FromIsolate): void => void this.outbox.push(message),
      receive: (): ToIsolate | undefined => this.inbox.shift(),
    };
    this.#runtime = new IsolateRuntime(host, { ...this.#birth, metered: false });
    this.emit('message', { type: 'ready', time: 0 });
  }

  receive(): void {
    const message = this.inbox.shift();
    if (message !== undefined) this.#runtime?.handle(message);
  }

  deliver(): void {
    const message = this.outbox.shift();
    if (message?.type === 'exit') this.emit('exit', 1);
    else if (message !== undefined) this.emit('message', message);
  }

  /** Ends the thread from within. Its sent messages arrive before its exit. */
  die(): void {
    this.isOver = true;
    this.inbox.length = 0;
    this.outbox.push({ type: 'exit' });
  }

  async terminate(): Promise<void> {
    this.isOver = true;
    this.inbox.length = 0;
    this.outbox.length = 0;
  }

  ref(): void {}
  unref(): void {}
}

const NO_PEERS: FetchFromPeers = async (inputs) => ({
  results: new Map(),
  missing: [...inputs],
  gathered: [],
});

function newStore(name: string): Store {
  return new Store({ file: (file) => file, name, now: () => 0 });
}

/** A worker process and its two channels. Mirrors processHost and workerProcessMain, message by message. */
export class ModelProcess implements WorkerHost {
  readonly name: string;
  readonly pid = 1;
  readonly vitals = '';
  readonly running = undefined;
  readonly inbox: ToWorker[] = [];
  readonly outbox: FromProcess[] = [];
  readonly host: ThreadHost;
  thread: ModelThread | undefined;
  /** Number of ended isolates that the scheduler knows. */
  isolate = 0;
  isOver = false;

  constructor(index: number, name: string, fetch: FetchFromPeers = NO_PEERS, store: Store = newStore(name)) {
    this.name = name;
    const facts = { name, address: name, pid: 1, memoryLimit: 0, localDirectory: '', nthreads: 1 };
    const send = (message: FromWorker): void => {
      if (!this.isOver && !UNORDERED.has(message.type)) this.outbox.push(message);
    };
    this.host = new ThreadHost(
      {
        facts,
        index,
        epochOffsetMs: 0,
        store,
        fetch,
        transferLogs: () => {
          throw new Error('Nothing in the model calls a function on a worker.');
        },
        clock: () => 0,
        thresholds: {},
        digests: new WorkerDigests(),
        profile: undefined,
        processBytes: () => 0,
        giveUp: () => undefined,
        startThread: (birth) => {
          this.thread = new ModelThread(birth);
          return this.thread;
        },
      },
      correctedEvents(
        send,
        (time) => time,
        (why) => send({ type: 'giving-up', why }),
      ),
    );
    send({ type: 'ready', address: name, pid: 1 });
  }

  #post(message: ToWorker): void {
    if (!this.isOver) this.inbox.push(message);
  }

  open(run: WorkerRun): void {
    this.#post({ type: 'open', run: packRun(run) });
  }

  dispatch(batch: Batch): void {
    this.#post(packWorkerBatch(batch, this.isolate));
  }

  readonly release = (...args: WorkerOrders['release']) => this.#post({ type: 'release', args });
  readonly fetch = (...args: WorkerOrders['fetch']) => this.#post({ type: 'fetch', args });
  readonly steal = (...args: WorkerOrders['steal']) => this.#post({ type: 'steal', args });
  readonly cancel = (...args: WorkerOrders['cancel']) => this.#post({ type: 'cancel', args });
  readonly close = (...args: WorkerOrders['close']) => this.#post({ type: 'close', args });
  readonly answer = (...args: WorkerOrders['answer']) => this.#post({ type: 'answer', args });

  drop(): void {}

  /** Passes the next message to the host, as a worker process does. */
  receive(): void {
    const { host } = this;
    const message = this.inbox.shift();
    if (message === undefined) return;
    if ('args' in message) deliver<WorkerOrders, keyof WorkerOrders>(host, message);
    else if (message.type === 'open') host.open(unpackRun(message.run));
    else if (message.type === 'batch') host.dispatch(unpackWorkerBatch(message));
  }

  /** Kills the process. Its sent messages arrive before its exit. */
  die(): void {
    this.isOver = true;
    this.inbox.length = 0;
    if (this.thread !== undefined) this.thread.isOver = true;
    this.outbox.push(ENDED);
    void this.host.terminate();
  }

  get isOccupied(): boolean {
    return this.host.isOccupied;
  }

  async take(): Promise<number[]> {
    return [];
  }

  async give(): Promise<ReadonlyMap<number, PackedResult>> {
    return new Map();
  }

  async flush(): Promise<void> {}

  async call(): Promise<unknown> {
    return undefined;
  }

  async dump(): Promise<ProcessDump> {
    const inside = await this.host.dump();
    return { state: 'connected', sent: [], received: [], calls: [], threads: [], inside };
  }

  async terminate(): Promise<void> {}
}

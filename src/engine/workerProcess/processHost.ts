// The cluster's side of a worker process: calls become messages, and messages become events.

import { deserialize, serialize } from 'node:v8';
import { messageOf } from '../../base/errors.js';
import { type Handlers, handle } from '../../base/handlers.js';
import type { Transfer } from '../../protocol/clusterObserver.js';
import { fromErrorInfo } from '../../protocol/errorInfo.js';
import { blockedText, WORKER_BLOCKED } from '../../protocol/eventTopics.js';
import { type FewFinishedTasks, type FinishedTasks, unpackFinished } from '../../protocol/finishedTasks.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import type { Batch, Several } from '../../protocol/isolateMessages.js';
import type { GatherInput, PackedResult, ResultId } from '../../protocol/packedResult.js';
import { packRun, packWorkerBatch } from '../../protocol/shortWorkerMessages.js';
import {
  type CallContext,
  deliver,
  type ExecutingTask,
  type FromWorker,
  hasEnded,
  type MessageOf,
  type ToWorker,
  type TransferLogs,
  type WorkerLink,
  type WorkerOrders,
  type WorkerReports,
  type WorkerRun,
} from '../../protocol/workerMessages.js';
import { threadStates } from '../../resources/processTree.js';
import { type HostEvents, isHostDump, type ProcessDump, type WorkerHost } from '../host/hostTypes.js';
import { sendBatch } from '../host/sendBatch.js';
import { UnmeasuredTime } from '../metrics/unmeasuredTime.js';
import { MessageLog } from '../pool/messageLog.js';
import { Outbox } from '../pool/outbox.js';
import { PendingCalls } from '../pool/pendingCalls.js';
import { heartbeatPauses, SilenceWatch } from '../silence.js';
import { workerStartError } from '../taskFailure.js';
import { type FetchFailed, failedFetches, unreachableText } from '../transfer/failedFetches.js';
import type { PeerClient } from '../transfer/peerClient.js';
import { vitalsFile } from './vitalsFile.js';
import type { ChannelEvents, OpenChannel, WorkerChannel } from './workerChannel.js';

/** Heartbeats after which a call that the process has not taken is rejected; about a minute. */
const MAX_HEARTBEATS = 120;
/** Time limit for the end of a process after the message `end`, in milliseconds. */
const END_MS = 1000;
/** Time limit for a dump, in milliseconds. The process may wait a second for its isolate. */
const DUMP_MS = 3000;
/** Time limit for a flush, in milliseconds. A native call of the isolate may delay it. */
const FLUSH_MS = 10_000;
/** Time limit for the first message of a process, in seconds. Many processes may start at once on a full machine. */
const START_SECONDS = 60;

export interface ProcessHostOptions {
  /** Starts the process. */
  readonly open: OpenChannel;
  readonly birth: Extract<ToWorker, { type: 'birth' }>;
  readonly clock: () => number;
  /** Fetches stored results for the client. */
  readonly client: PeerClient;
  readonly transferLogs: () => TransferLogs;
  /** Seconds after which a process that sends or receives nothing is killed; false: never. */
  readonly ttl: number | false;
  /** Called when the process has ended. */
  readonly ended: () => void;
}

export class ProcessHost implements WorkerHost {
  readonly name: string;
  readonly vitals: string;
  /** Peer links reported by the last heartbeat. */
  link: WorkerLink | undefined;
  readonly #options: ProcessHostOptions;
  readonly #events: HostEvents;
  readonly #failed: FetchFailed;
  readonly #channel: WorkerChannel;
  readonly #outbox = new Outbox<ToWorker>((message) => this.#send(message));
  readonly #sent = new MessageLog();
  readonly #received = new MessageLog();
  readonly #calls = new PendingCalls(MAX_HEARTBEATS);
  readonly #open = new Set<number>();
  /** Task time that the process has not reported. */
  readonly #time = new UnmeasuredTime();
  running: ExecutingTask | undefined;
  readonly #silence: SilenceWatch;
  readonly #exited: Promise<void>;
  #exit: () => void = () => undefined;
  #hasEnded = false;
  /** Whether this side waits for the end of the process. */
  #isEnding = false;
  /** Number of isolates of the process that have ended, as far as this side knows. */
  #isolate = 0;
  #address = '';
  #started = false;
  /** Number of answered heartbeats, as the last heartbeat states it. */
  #answers = -1;
  readonly #pauseBefore = heartbeatPauses();
  /** Value of the last heartbeat. */
  #isOccupied = true;
  #cause: Error | undefined;

  readonly #handlers: Handlers<Exclude<FromWorker, MessageOf<WorkerReports>>> = {
    ready: ({ address }) => this.#ready(address),
    heartbeat: ({ sent, answers, link, occupied }) => {
      // A process that receives nothing does no work, although it sends heartbeats.
      if (answers > this.#answers) this.#silence.received();
      this.#answers = answers;
      this.link = link;
      this.#isOccupied = occupied;
      const pause = this.#pauseBefore(sent);
      if (pause > 0) this.#events.event(WORKER_BLOCKED, blockedText(pause));
      this.#calls.occasion(this.name, () => this.dump());
      this.#outbox.post({ type: 'clock', sent, remote: this.#options.clock() });
    },
    finished: (message) => this.#finished(message),
    running: ({ task }) => {
      this.running = task;
    },
    restarted: ({ running, error, isWanted }) => {
      this.running = undefined;
      this.#isolate++;
      this.#events.restarted(running, fromErrorInfo(error), isWanted);
    },
    full: ({ why, still }) => this.#events.noteFull(why && fromErrorInfo(why), still),
    'call-taken': ({ call }) => this.#calls.taken(call),
    called: (message) => this.#calls.answer(message),
    'giving-up': ({ why }) => {
      this.#cause = new Error(why);
    },
  };

  readonly release = (...args: WorkerOrders['release']) => this.#outbox.post({ type: 'release', args });
  readonly drop = (...args: WorkerOrders['drop']) => this.#outbox.post({ type: 'drop', args });
  readonly fetch = (...args: WorkerOrders['fetch']) => this.#outbox.post({ type: 'fetch', args });
  readonly steal = (...args: WorkerOrders['steal']) => this.#outbox.post({ type: 'steal', args });
  readonly cancel = (...args: WorkerOrders['cancel']) => this.#outbox.post({ type: 'cancel', args });
  readonly answer = (...args: WorkerOrders['answer']) => this.#outbox.post({ type: 'answer', args });

  constructor(options: ProcessHostOptions, events: HostEvents) {
    this.name = options.birth.name;
    this.vitals = vitalsFile(options.birth);
    this.#options = options;
    this.#events = events;
    this.#failed = failedFetches((...args) => events.event(...args));
    this.#silence = new SilenceWatch(options.ttl, START_SECONDS, () => this.#silent());
    this.#exited = new Promise((resolve) => {
      this.#exit = resolve;
    });
    const channelEvents: ChannelEvents = {
      message: (message) => this.#receive(message),
      ended: (cause) => {
        this.#hasEnded = true;
        this.#exit();
        this.#ended(this.#cause ?? cause);
      },
    };
    this.#channel = options.open(channelEvents, options.birth.token);
    this.#outbox.post(options.birth);
  }

  /** Id of the process; -1 if it could not be started or runs on another machine. */
  get pid(): number {
    return this.#channel.pid;
  }

  get isOccupied(): boolean {
    return this.#isOccupied || this.#calls.size > 0;
  }

  open(run: WorkerRun): void {
    this.#open.add(run.run);
    this.#time.opened(run.run, run.kinds);
    this.#channel.ref();
    this.#outbox.postLater({ type: 'open', run: packRun(run) });
  }

  dispatch(batch: Batch): void {
    sendBatch(
      batch,
      (cloneable) => this.#outbox.post(packWorkerBatch(cloneable, this.#isolate)),
      (value) => deserialize(serialize(value)),
    );
  }

  close(run: number): void {
    this.#open.delete(run);
    this.#time.closed(run, this.running?.run === run);
    this.#outbox.postLater({ type: 'close', args: [run] });
    this.#unrefIfIdle();
  }

  async take(gather: readonly GatherInput[], what: Transfer['what']): Promise<ResultId[]> {
    try {
      const missing = await this.#ask(`take ${gather.length} results`, (call) => ({
        type: 'take',
        call,
        gather,
        what,
      }));
      return Array.isArray(missing) ? missing.map(Number) : [];
    } catch {
      // The process has ended and has taken nothing.
      return gather.map(({ result }) => result);
    }
  }

  async give(inputs: readonly GatherInput[]): Promise<ReadonlyMap<ResultId, PackedResult>> {
    try {
      const ids = inputs.map(({ result }) => result);
      const peer = this.#options.birth.index;
      const { results } = await this.#options.client.fetch(this.#address, ids, { peer, what: 'gather' });
      return results;
    } catch (error) {
      if (unreachableText(error) !== undefined) throw error;
      this.#failed(this.#address, inputs.length, error);
      return new Map();
    }
  }

  async flush(): Promise<void> {
    // A worker that has died, or does not answer, has nothing more to report.
    await this.#ask('flush', (call) => ({ type: 'flush', call }), FLUSH_MS).catch(() => undefined);
  }

  call(fn: FunctionRef, context?: CallContext, tasksWait = false): Promise<unknown> {
    const transferLogs = this.#options.transferLogs();
    return this.#ask(`call ${fn.name}`, (call) => {
      // The channel silently turns a Blob into an empty object, so check first.
      serialize(context);
      return { type: 'call', call, fn, transferLogs, context, tasksWait };
    });
  }

  async dump(): Promise<ProcessDump> {
    const { connected } = this.#channel;
    const calls = this.#calls.dump();
    const [sent, received] = [this.#sent.dump(), this.#received.dump()];
    const threads = threadStates(this.pid);
    const state = connected ? (this.#started ? 'connected' : 'starting') : 'disconnected';
    const asked = this.#ask('dump', (call) => ({ type: 'dump', call }), DUMP_MS);
    const inside = await asked.then(
      (dump) => (isHostDump(dump) ? dump : 'It sent an unknown answer.'),
      messageOf,
    );
    return { state, sent, received, calls, threads, inside };
  }

  /** Reports the death of another worker, so that fetches from it fail at once. */
  peerGone(address: string): void {
    this.#outbox.post({ type: 'peer-gone', address });
  }

  async terminate(): Promise<void> {
    if (this.#hasEnded) return;
    this.#isEnding = true;
    this.#outbox.post({ type: 'end' });
    const timer = setTimeout(() => this.#channel.kill(), END_MS);
    this.#channel.ref();
    await this.#exited;
    clearTimeout(timer);
  }

  #ask(what: string, message: (call: number) => ToWorker, limitMs?: number): Promise<unknown> {
    const answer = this.#calls.ask(this.name, what, (call) => this.#outbox.post(message(call)), limitMs);
    this.#channel.ref();
    return answer.finally(() => this.#unrefIfIdle());
  }

  /** Unrefs the channel of an idle process, which must not keep the program alive, unless the program waits for its end. */
  #unrefIfIdle(): void {
    if (this.#isEnding || !this.#started || this.#open.size > 0 || this.#calls.size > 0) return;
    this.#channel.unref();
  }

  #send(message: ToWorker | Several<ToWorker>): void {
    this.#channel.send(message);
    this.#sent.note(message);
  }

  /** Kills a process that sends or receives nothing. It may be stopped and unable to handle a message. */
  #silent(): void {
    const ttl = Number(this.#options.ttl);
    const seconds = this.#started ? ttl : Math.max(ttl, START_SECONDS);
    const why = seconds === ttl ? ' (the setting worker-ttl)' : '';
    this.#cause ??= new Error(`its process sent or received nothing for ${seconds} s${why}`);
    this.#channel.kill();
  }

  #receive(message: FromWorker): void {
    this.#received.note(message);
    if ('args' in message) {
      this.#reported(message);
      return;
    }
    handle(this.#handlers, message.type, message);
  }

  #reported(report: MessageOf<WorkerReports>): void {
    if (report.type === 'metrics') this.#time.measured(report.args[1]);
    deliver<WorkerReports, keyof WorkerReports>(this.#events, report);
  }

  #ready(address: string): void {
    const { name, memoryLimit, directory } = this.#options.birth;
    this.#address = address;
    this.#started = true;
    this.#silence.received();
    this.#events.ready({ name, address, pid: this.pid, memoryLimit, localDirectory: directory, nthreads: 1 });
    this.#unrefIfIdle();
  }

  #finished(message: FinishedTasks | FewFinishedTasks): void {
    const { columns, arrived } = unpackFinished(message);
    if (hasEnded(this.running, message.run, columns)) this.running = undefined;
    this.#time.ended(message.run, columns);
    this.#events.finished(message.run, columns, arrived);
  }

  #ended(cause: Error): void {
    this.#silence.close();
    this.#calls.abandon(this.name, cause);
    this.#options.ended();
    const now = this.#options.clock();
    this.#events.metrics(this.#time.died(this.running, 'failed', now), now);
    this.#events.lost(this.#started ? cause : workerStartError(this.name, cause));
  }
}

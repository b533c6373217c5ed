// The channel to a worker process that another program started, possibly on another machine. A batch waits for a lease of
// one of the cluster's threads, up to a time limit. Messages travel over a direct connection when there is one. The channel requests leases from the first batch until the process is
// idle. During a lease, the cluster counts the thread as busy. Between leases, other tasks can use the thread.
import type { Socket } from 'node:net';
import { serialize } from 'node:v8';
import type { FunctionRef } from '../../protocol/functionRef.js';
import type { Several } from '../../protocol/isolateMessages.js';
import type { RemoteProcess, RemoteProcessEvents } from '../../protocol/remoteProcess.js';
import type { FromWorker, ToWorker } from '../../protocol/workerMessages.js';
import { connectToPeer } from '../transfer/peerSocket.js';
import { encodeHello, encodeMessages } from '../transfer/transferMessages.js';
import { encodeMessage } from './messageCodec.js';
import { RoutedMessages } from './routedMessages.js';
import type { ChannelEvents, OpenChannel, WorkerChannel } from './workerChannel.js';

type Message = ToWorker | Several<ToWorker>;

export interface RemoteChannelOptions {
  readonly start: (events: RemoteProcessEvents) => RemoteProcess;
  /** Bundles the modules of functions. Undefined if they are bundled. Never rejects. */
  readonly bundle: (functions: readonly FunctionRef[]) => Promise<unknown> | undefined;
  /** Returns a function with the bundle of its module. */
  readonly locate: (fn: FunctionRef) => FunctionRef;
  /** Whether the process runs on this machine, so that its id is valid here. */
  readonly isLocal: boolean;
}

/**
 * Time for which a batch waits for a lease, in milliseconds. After it the batch runs without one, so that no task waits
 * for ever.
 */
const LEASE_MS = 5000;
/** Idle heartbeats after which a lease is returned. */
const IDLE_HEARTBEATS = 2;
/** Time after which a killed process counts as ended without a confirmation by the cluster, in milliseconds. */
const KILL_MS = 1000;
/** Heartbeats between an attempt to connect that failed and the next one. */
const RETRY_HEARTBEATS = 20;
/** Types of messages that may overtake others, which may wait for a lease. */
const URGENT: ReadonlySet<string> = new Set(['clock', 'peer-gone', 'dump', 'flush', 'end']);

interface Entry {
  /** Encoded message; undefined while modules are bundled. */
  bytes: Buffer | undefined;
  readonly isBatch: boolean;
}

export function remoteChannel(options: RemoteChannelOptions): OpenChannel {
  return (events, token) => new RemoteChannel(options, events, token);
}

class RemoteChannel implements WorkerChannel {
  readonly #options: RemoteChannelOptions;
  readonly #events: ChannelEvents;
  readonly #process: RemoteProcess;
  readonly #token: string;
  readonly #messages = new RoutedMessages<FromWorker>(
    (packet) => this.#process.send(packet),
    (message) => this.#received(message),
  );
  readonly #queue: Entry[] = [];
  #lease: 'none' | 'requested' | 'held' = 'none';
  /** Whether the next lease was requested while this one is held. */
  #isRenewing = false;
  #leaseTimer: NodeJS.Timeout | undefined;
  #killTimer: NodeJS.Timeout | undefined;
  /** Whether the cluster did not grant a lease in time. */
  #overdue = false;
  /** Consecutive idle heartbeats. */
  #idle = 0;
  /** Number of files that were sent before the last message. */
  #files = 0;
  /** Address of the process for direct connections. */
  #address: string | undefined;
  #connection: Socket | undefined;
  /** Heartbeats until the next attempt to connect. */
  #retryIn = 0;
  pid = -1;
  /** Whether the process was asked to end. */
  #isEnding = false;
  #hasEnded = false;

  constructor(options: RemoteChannelOptions, events: ChannelEvents, token: string) {
    this.#options = options;
    this.#token = token;
    this.#events = events;
    this.#process = options.start({
      data: (bytes) => this.#messages.receive(bytes),
      leased: () => this.#leased(),
      leaseOver: () => this.#leaseOver(),
      leaseEnds: () => this.#leaseEnds(),
      ended: (cause) => this.#ended(cause),
    });
  }

  get connected(): boolean {
    return !this.#hasEnded;
  }

  send(message: Message): void {
    if (this.#hasEnded) return;
    if (message.type === 'end') this.#isEnding = true;
    if (URGENT.has(message.type)) {
      this.#transmit(encodeMessage(message));
      return;
    }
    const bundled = this.#options.bundle(functionsOf(message));
    const isBatch = parts(message).some(({ type }) => type === 'batch');
    const entry: Entry = { bytes: undefined, isBatch };
    if (bundled === undefined) entry.bytes = encodeMessage(this.#located(message));
    else {
      // A message that cannot be copied must throw here.
      serialize(message);
      void bundled.then(() => {
        entry.bytes = encodeMessage(this.#located(message));
        this.#flush();
      });
    }
    this.#queue.push(entry);
    this.#flush();
  }

  kill(): void {
    this.#process.kill();
    this.#killTimer ??= setTimeout(() => this.#ended(new Error('The worker process was killed.')), KILL_MS);
  }

  ref(): void {
    this.#process.ref();
  }

  unref(): void {
    this.#process.unref();
  }

  /** Returns the message with the functions as the worker finds them. */
  #located(message: Message): Message {
    const { locate } = this.#options;
    if (message.type === 'several')
      return { type: 'several', messages: message.messages.map((part) => this.#located(part)) };
    if (message.type === 'open')
      return { ...message, run: { ...message.run, functions: message.run.functions.map(locate) } };
    return message.type === 'call' ? { ...message, fn: locate(message.fn) } : message;
  }

  #flush(): void {
    for (let entry = this.#queue[0]; entry?.bytes !== undefined; entry = this.#queue[0]) {
      if (entry.isBatch) {
        if (this.#lease !== 'held' && !this.#overdue) {
          this.#askForLease();
          return;
        }
        this.#idle = 0;
      }
      this.#transmit(entry.bytes);
      this.#queue.shift();
    }
  }

  /** Sends an encoded message. It must not arrive before the files that were sent earlier. */
  #transmit(packet: Buffer): void {
    const { files } = this.#process;
    this.#messages.send(packet, files !== this.#files);
    this.#files = files;
  }

  #connect(): void {
    if (this.#address === undefined || this.#connection !== undefined || this.#retryIn-- > 0) return;
    const connection = messageConnection(this.#address, this.#token);
    this.#connection = connection;
    // The process of the cluster keeps this program alive, see `ref`.
    connection.unref();
    this.#messages.connect(connection, (wasUsed) => {
      this.#connection = undefined;
      this.#retryIn = wasUsed ? 0 : RETRY_HEARTBEATS;
      // The Dask worker confirms the end, too, unless it is stopped.
      if (wasUsed && this.#isEnding) this.#ended(new Error('The worker process ended on request.'));
    });
  }

  #askForLease(): void {
    if (this.#lease !== 'none') return;
    this.#process.lease();
    this.#awaitLease();
  }

  #awaitLease(): void {
    this.#lease = 'requested';
    this.#leaseTimer = setTimeout(() => {
      this.#overdue = true;
      this.#flush();
    }, LEASE_MS);
  }

  #leased(): void {
    clearTimeout(this.#leaseTimer);
    this.#lease = 'held';
    this.#isRenewing = false;
    this.#overdue = false;
    this.#flush();
  }

  /** Requests the next lease in time, so that batches do not wait between two leases. */
  #leaseEnds(): void {
    if (this.#hasEnded || this.#lease !== 'held' || this.#idle > 0) return;
    this.#isRenewing = true;
    this.#process.lease();
  }

  #leaseOver(): void {
    if (this.#lease === 'held') this.#lease = 'none';
    if (this.#hasEnded) return;
    if (this.#isRenewing) this.#awaitLease();
    else if (this.#idle === 0) this.#askForLease();
    this.#isRenewing = false;
  }

  #heartbeat(occupied: boolean): void {
    this.#idle = occupied || this.#queue.length > 0 ? 0 : this.#idle + 1;
    if (this.#idle < IDLE_HEARTBEATS || this.#lease === 'none') return;
    clearTimeout(this.#leaseTimer);
    this.#lease = 'none';
    this.#isRenewing = false;
    this.#process.release();
  }

  #received(message: FromWorker): void {
    if (message.type === 'ready') {
      if (this.#options.isLocal) this.pid = message.pid;
      this.#address = message.address;
      this.#connect();
    }
    if (message.type === 'heartbeat') {
      this.#heartbeat(message.occupied);
      this.#connect();
    }
    this.#events.message(message);
  }

  #ended(cause: Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#leaseTimer);
    clearTimeout(this.#killTimer);
    this.#queue.length = 0;
    this.#address = undefined;
    this.#connection?.destroy();
    this.#events.ended(cause);
  }
}

function parts(message: Message): readonly Message[] {
  return message.type === 'several' ? message.messages.flatMap(parts) : [message];
}

function functionsOf(message: Message): FunctionRef[] {
  return parts(message).flatMap((part) =>
    part.type === 'open' ? part.run.functions : part.type === 'call' ? [part.fn] : [],
  );
}

/** Requests a connection for messages. The worker process sends the first bytes. */
function messageConnection(address: string, token: string): Socket {
  const socket = connectToPeer(address, token);
  socket.write(encodeHello({ worker: -1, token }));
  socket.write(encodeMessages());
  return socket;
}

// The WebSockets of a server: who is connected, and what they get: the rows of a cluster as they come, or all of a trace.
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { CROWDED_CODE, decodePageMessage, parseResumePoint } from '../protocol/viewMessages.js';
import { wholeTrace } from './catchUp.js';
import type { ViewerLimits } from './limits.js';
import { LiveHub, type ViewerHandle } from './liveHub.js';
import { opening } from './opening.js';
import { Outlet, type OutletSocket } from './outlet.js';
import type { DashboardSource, LiveSource, RecordedSource } from './source.js';

const NORMAL = 1000;
const POLICY = 1008;
/** Between two looks whether a page that reads a recorded trace has room. */
const LOOK_MS = 50;

export interface Stream {
  readonly viewers: number;
  /** `connection`: what the socket lies on. */
  connect(socket: WebSocket, connection: Duplex, query: URLSearchParams): void;
  close(reason: string): void;
}

export function streamOf(source: DashboardSource, limits: ViewerLimits): Stream {
  return source.kind === 'live' ? new LiveStream(source, limits) : new RecordedStream(source, limits);
}

/** Sockets that are open, and what every kind of stream does with them. */
class Connections {
  readonly #open = new Set<WebSocket>();
  readonly #most: number;

  /** `most`: sockets at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#open.size;
  }

  /** True where there are enough: then the socket is closed with a sentence for the page. */
  refuse(socket: WebSocket): boolean {
    if (this.size < this.#most) return false;
    socket.on('error', () => socket.terminate());
    socket.close(
      CROWDED_CODE,
      `This dashboard has reached its limit of open pages (${this.#most}). Close another one.`,
    );
    return true;
  }

  add(socket: WebSocket, begin: () => ViewerHandle): void {
    this.#open.add(socket);
    let handle: ViewerHandle | undefined;
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      this.#open.delete(socket);
      handle?.leave();
    });
    socket.on('message', (data, isBinary) => {
      const message =
        isBinary || !Buffer.isBuffer(data) ? undefined : decodePageMessage(data.toString('utf8'));
      if (message === undefined) socket.close(POLICY, 'A page says pause or resume.');
      else if (message.type === 'pause') handle?.pause();
      else handle?.resume();
    });
    handle = begin();
  }

  close(): void {
    for (const socket of this.#open) socket.close(NORMAL);
    this.#open.clear();
  }
}

class LiveStream implements Stream {
  readonly #hub: LiveHub;
  readonly #connections: Connections;

  constructor(source: LiveSource, limits: ViewerLimits) {
    this.#hub = new LiveHub(source, limits);
    this.#connections = new Connections(limits.maxViewers);
  }

  get viewers(): number {
    return this.#connections.size;
  }

  connect(socket: WebSocket, connection: Duplex, query: URLSearchParams): void {
    if (this.#connections.refuse(socket)) return;
    const from = parseResumePoint(query.get('epoch'), query.get('cursor'));
    this.#connections.add(socket, () => this.#hub.add(new PageSocket(socket, connection), from));
  }

  close(reason: string): void {
    this.#hub.close(reason);
    this.#connections.close();
  }
}

/** Each page gets the whole trace, as fast as it takes it. */
class RecordedStream implements Stream {
  readonly #source: RecordedSource;
  readonly #limits: ViewerLimits;
  readonly #epoch = randomUUID();
  readonly #connections: Connections;

  constructor(source: RecordedSource, limits: ViewerLimits) {
    this.#source = source;
    this.#limits = limits;
    this.#connections = new Connections(limits.maxViewers);
  }

  get viewers(): number {
    return this.#connections.size;
  }

  connect(socket: WebSocket, connection: Duplex): void {
    if (this.#connections.refuse(socket)) return;
    this.#connections.add(socket, () => this.#send(new PageSocket(socket, connection)));
  }

  #send(socket: OutletSocket): ViewerHandle {
    const { title, facts, trace } = this.#source;
    const outlet = new Outlet(socket, this.#limits);
    const begin = { source: 'recorded', title, facts, epoch: this.#epoch, resumed: false } as const;
    outlet.send(...opening(begin));
    let paused = false;
    const look = setInterval(() => {
      if (!paused && !outlet.dropIfStuck()) outlet.pump();
    }, LOOK_MS).unref();
    outlet.stream(wholeTrace(trace), () => clearInterval(look));
    return {
      pause: () => {
        paused = true;
      },
      resume: () => {
        paused = false;
      },
      leave: () => {
        clearInterval(look);
        outlet.stop();
      },
    };
  }

  close(): void {
    this.#connections.close();
  }
}

// A page's WebSocket together with the connection below it: messages that go out together leave in one system call. Each
// call costs some 20 µs, most of what sending costs, and is paid for every page.

class PageSocket implements OutletSocket {
  readonly #socket: WebSocket;
  readonly #connection: Duplex;

  constructor(socket: WebSocket, connection: Duplex) {
    this.#socket = socket;
    this.#connection = connection;
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  send(...messages: readonly (string | Uint8Array)[]): void {
    this.#connection.cork();
    for (const message of messages) this.#socket.send(message);
    this.#connection.uncork();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }
}

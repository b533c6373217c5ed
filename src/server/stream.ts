// Sends traces over the WebSockets of a server: the new rows of a cluster, or a whole recorded trace.
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { CROWDED_CODE, decodePageMessage, parseResumePoint } from '../protocol/viewMessages.js';
import { wholeTrace } from './catchUp.js';
import { LiveHub, type ViewerHandle } from './liveHub.js';
import { opening } from './opening.js';
import { Outlet, type OutletSocket, type ViewerLimits } from './outlet.js';
import type { DashboardSource, RecordedSource } from './source.js';

const NORMAL = 1000;
const POLICY = 1008;
/** Milliseconds between two polls whether the socket of a page has room for more of a recorded trace. */
const POLL_MS = 50;

type Sender = Pick<LiveHub, 'add' | 'close' | 'end'>;

/** Sends a source to the pages that connect. */
export class Stream {
  readonly #open = new Set<WebSocket>();
  readonly #most: number;
  readonly #sender: Sender;

  constructor(source: DashboardSource, limits: ViewerLimits) {
    this.#most = limits.maxViewers;
    this.#sender = source.kind === 'live' ? new LiveHub(source, limits) : recordedSender(source, limits);
  }

  get viewers(): number {
    return this.#open.size;
  }

  /** Notifies all pages, also those that connect later, that the run is over. */
  over(reason: string): void {
    this.#sender.end(reason);
  }

  /**
   * Starts to send, or closes the socket with a message for the page if too many sockets are open. `connection` is the
   * TCP connection below the socket.
   */
  connect(socket: WebSocket, connection: Duplex, query: URLSearchParams): void {
    socket.on('error', () => socket.terminate());
    if (this.#open.size >= this.#most) {
      socket.close(
        CROWDED_CODE,
        `This dashboard has reached its limit of open pages (${this.#most}). Close another one.`,
      );
      return;
    }
    this.#open.add(socket);
    let handle: ViewerHandle | undefined;
    socket.on('close', () => {
      this.#open.delete(socket);
      handle?.leave();
    });
    socket.on('message', (data, isBinary) => {
      const message =
        isBinary || !Buffer.isBuffer(data) ? undefined : decodePageMessage(data.toString('utf8'));
      if (message === undefined) socket.close(POLICY, 'Expected a pause or resume message.');
      else if (message.type === 'pause') handle?.pause();
      else handle?.resume();
    });
    const from = parseResumePoint(query.get('epoch'), query.get('cursor'));
    handle = this.#sender.add(pageSocket(socket, connection), from);
  }

  close(reason: string): void {
    this.#sender.close(reason);
    for (const socket of this.#open) socket.close(NORMAL);
    this.#open.clear();
  }
}

function recordedSender(source: RecordedSource, limits: ViewerLimits): Sender {
  const epoch = randomUUID();
  return { add: (socket) => sendWhole(socket, source, epoch, limits), close: () => {}, end: () => {} };
}

/** Sends the whole trace to a page, as fast as the page reads it. */
function sendWhole(
  socket: OutletSocket,
  { title, facts, trace }: RecordedSource,
  epoch: string,
  limits: ViewerLimits,
): ViewerHandle {
  const outlet = new Outlet(socket, limits);
  outlet.send(
    ...opening({ source: 'recorded', title, facts, epoch, resumed: false, damage: trace.damage ?? null }),
  );
  let [paused, isSent] = [false, false];
  // Continues until the page has read everything, because a page that reads nothing must not keep its place.
  const timer = setInterval(() => {
    if (isSent && socket.bufferedAmount === 0) clearInterval(timer);
    else if (!outlet.dropIfStuck() && !paused) outlet.pump();
  }, POLL_MS).unref();
  outlet.stream(wholeTrace(trace), () => {
    isSent = true;
  });
  return {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
    },
    leave: () => {
      clearInterval(timer);
      outlet.stop();
    },
  };
}

/**
 * Returns a page's WebSocket with the connection below it. Messages of one call leave in one system call, because a system call
 * takes some 20 µs per page, most of the cost of sending.
 */
function pageSocket(socket: WebSocket, connection: Duplex): OutletSocket {
  return {
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    get readyState() {
      return socket.readyState;
    },
    send(...messages) {
      connection.cork();
      for (const message of messages) socket.send(message);
      connection.uncork();
    },
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
  };
}

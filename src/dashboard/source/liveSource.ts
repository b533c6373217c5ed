// Receives a trace from a server over a WebSocket: a live trace as it grows, or a recorded trace at once. If the
// connection breaks, the source reconnects and continues at the last cursor.
import {
  type BeginMessage,
  CROWDED_CODE,
  decodeViewMessage,
  encodePageMessage,
  livePath,
  type ViewMessage,
} from '../../protocol/viewMessages.js';
import { totalsFromJson } from '../../trace/recording/totalsJson.js';
import { LiveTables } from './liveTables.js';
import { type SourceSink, serverUrl, type TraceSource } from './traceSource.js';

/** Milliseconds before the first reconnection, and the longest pause between attempts. */
const FIRST_RETRY = 500;
const LAST_RETRY = 10_000;
/** Attempts in a row, over some seconds, after which the page says that the program has probably ended. */
const FEW_ATTEMPTS = 3;
/** Shortest pause between two updates in milliseconds, and the pause as a multiple of the duration of an update. */
const MIN_INTERVAL = 100;
const COST_FACTOR = 6;
/** Longest pause. A longer duration was measured while the computer slept or was very busy. */
const MAX_INTERVAL = 5000;

export class LiveSource implements TraceSource {
  readonly #base: string;
  #sink: SourceSink | undefined;
  #socket: WebSocket | undefined;
  #tables = new LiveTables(true);
  #begin: BeginMessage | undefined;
  /** Connections in a row that the server did not accept, on which the pause before the next one depends. */
  #refused = -1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pending: ReturnType<typeof setTimeout> | undefined;
  #interval = MIN_INTERVAL;
  #whole = false;
  readonly #onVisible = (): void => this.#sendVisibility();

  /** `base` is the address of the page. */
  constructor(base: string) {
    this.#base = base;
  }

  start(sink: SourceSink): void {
    this.#sink = sink;
    sink.status('loading');
    document.addEventListener('visibilitychange', this.#onVisible);
    this.#connect();
  }

  close(): void {
    this.#whole = true;
    document.removeEventListener('visibilitychange', this.#onVisible);
    clearTimeout(this.#timer);
    clearTimeout(this.#pending);
    this.#socket?.close();
  }

  #connect(): void {
    const { cursor } = this.#tables;
    const epoch = this.#begin?.epoch;
    const path = livePath(epoch === undefined || cursor === undefined ? undefined : { epoch, cursor });
    const url = serverUrl(path, this.#base);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    socket.onmessage = ({ data }: MessageEvent<unknown>) => this.#onMessage(data);
    socket.onclose = ({ code, reason }) => this.#onClose(socket, code === CROWDED_CODE ? reason : '');
    socket.onopen = () => this.#sendVisibility();
  }

  /** `reason` is the message of the server, or empty if the connection broke. */
  #onClose(socket: WebSocket, reason: string): void {
    if (socket !== this.#socket || this.#whole) return;
    this.#refused++;
    this.#sink?.status('lost', reason === '' ? this.#endedText() : reason);
    const pause = Math.min(LAST_RETRY, FIRST_RETRY * 2 ** this.#refused);
    this.#timer = setTimeout(() => this.#connect(), pause);
  }

  /** A program that is killed sends no last message. */
  #endedText(): string {
    if (this.#refused < FEW_ATTEMPTS) return '';
    return `Nothing answers at ${new URL(this.#base).host}, so the program has probably ended.`;
  }

  #onMessage(data: unknown): void {
    let message: ViewMessage;
    try {
      message = decodeViewMessage(data instanceof ArrayBuffer ? new Uint8Array(data) : String(data));
    } catch (error) {
      this.close();
      this.#sink?.fail(error);
      return;
    }
    this.#take(message);
  }

  #take(message: ViewMessage): void {
    switch (message.type) {
      case 'begin':
        if (message.resumed) this.#tables.forgetStaged();
        else this.#tables = new LiveTables(message.source === 'live');
        if (this.#begin !== undefined && this.#begin.epoch !== message.epoch) this.#restart();
        this.#begin = message;
        this.#refused = -1;
        this.#sink?.status(message.source === 'live' ? 'live' : 'loading');
        return;
      case 'schema':
        this.#tables.setSchema(message.table, message.bytes);
        return;
      case 'table':
        this.#tables.add(message);
        return;
      case 'cursor':
        this.#tables.reach(message.cursor);
        break;
      case 'truncated':
        this.#tables.skip(message.missed);
        return;
      case 'totals':
        this.#tables.totals = message;
        break;
      case 'sums':
        this.#tables.sums = totalsFromJson(message.totals);
        break;
      case 'complete':
      case 'closed':
        this.#whole = true;
        clearTimeout(this.#pending);
        this.#update();
        if (message.type === 'complete') this.#sink?.status('whole');
        else this.#sink?.status(message.complete ? 'whole' : 'cut', message.reason);
        return;
    }
    // The pieces of a recorded trace are shown only when it is complete.
    if (this.#begin?.source === 'live') this.#pending ??= setTimeout(() => this.#update(), this.#interval);
  }

  /** Another program answers at the same address. An update of the earlier one, if it is pending, is dropped. */
  #restart(): void {
    clearTimeout(this.#pending);
    this.#pending = undefined;
    this.#sink?.restart();
  }

  #update(): void {
    this.#pending = undefined;
    const begin = this.#begin;
    if (begin === undefined) return;
    const before = performance.now();
    const { totals } = this.#tables;
    this.#sink?.update({
      trace: this.#tables.trace(begin.damage ?? undefined),
      title: begin.title,
      facts: begin.facts,
      live: begin.source === 'live' && !this.#whole ? totals : undefined,
    });
    const wanted = (performance.now() - before) * COST_FACTOR;
    this.#interval = Math.min(MAX_INTERVAL, Math.max(MIN_INTERVAL, wanted));
  }

  /** Pauses the server's messages while the page is hidden. */
  #sendVisibility(): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#socket.send(
      encodePageMessage({ type: document.visibilityState === 'hidden' ? 'pause' : 'resume' }),
    );
  }
}

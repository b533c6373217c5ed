// Test support for the dashboard's server: a cluster that plays a script step by step, and a page that collects
// messages.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { ClusterObserver } from '../protocol/clusterObserver.js';
import {
  type BeginMessage,
  CURSOR_TABLES,
  decodeViewMessage,
  encodePageMessage,
  livePath,
  type PageMessage,
  type ResumePoint,
  type TableMessage,
  type ViewCursor,
  type ViewMessage,
  type ViewTextMessage,
} from '../protocol/viewMessages.js';
import {
  copyOf,
  type PlayedScript,
  playScript,
  type ScriptOptions,
} from '../trace/live/clusterScript.test.support.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import { TableBytes } from '../trace/recording/tableBytes.test.support.js';
import type { Trace } from '../trace/trace.js';
import { cursorOf } from './catchUp.js';
import type { OutletSocket } from './outlet.js';
import type { PageFile } from './pageFiles.js';
import type { LiveSource } from './source.js';

/** A page without a script. */
export const TEST_PAGE: PageFile = {
  html: Buffer.from('<!doctype html><title>dashboard</title>'),
  contentSecurityPolicy: "default-src 'none'; connect-src 'self'",
};

type Step = (observer: ClusterObserver) => void;

/** A cluster without workers. Each step of a script is played when the test calls `play`. */
export class ScriptedCluster {
  readonly played: PlayedScript;
  readonly trace: LiveTrace;
  readonly #steps: Step[] = [];
  #next = 0;

  constructor(options: ScriptOptions, trace: LiveTrace = new LiveTrace()) {
    this.trace = trace;
    this.played = playScript(recorderOf(this.#steps), options);
  }

  get steps(): number {
    return this.#steps.length;
  }

  /** Plays the next `count` steps; by default all remaining ones. */
  play(count = Number.POSITIVE_INFINITY): void {
    const end = Math.min(this.#steps.length, this.#next + count);
    for (; this.#next < end; this.#next++) this.#steps[this.#next]!(this.trace);
  }

  source(): LiveSource {
    const none = new Map<string, number>();
    return {
      kind: 'live',
      title: 'scripted',
      facts: { Node: process.version },
      trace: this.trace,
      clock: () => 1_790_000_000,
      cpuClock: () => undefined,
      processing: () => new Set(),
      isComputing: () => this.#next % 2 === 1,
      status: () => ({
        time: 1_790_000_000,
        states: { memory: this.#next },
        workers: [],
        running: [],
        progress: [],
        graphStart: 0,
      }),
      figures: () => ({
        totals: this.trace.totals,
        clients: 1,
        clientsAdded: 1,
        clientsRemoved: 0,
        desiredWorkers: 0,
        tasks: none,
        tasksForgotten: 0,
        workers: [],
        metrics: [],
        stimuli: new Map(),
        thread: { eventLoopDelay: 0, longestTick: 0, ticks: 0, gcSeconds: 0 },
      }),
    };
  }
}

/** Returns an observer that records every call as a step. */
function recorderOf(steps: Step[]): ClusterObserver {
  return {
    computationAdded: (one) => void steps.push((observer) => observer.computationAdded?.(one)),
    computationForgotten: (one) => void steps.push((observer) => observer.computationForgotten?.(one)),
    tasksEnded: (runs) => {
      const copy = copyOf(runs);
      steps.push((observer) => observer.tasksEnded?.(copy));
    },
    workerAdded: (one) => void steps.push((observer) => observer.workerAdded?.(one)),
    workerRemoved: (one, time, reason) =>
      void steps.push((observer) => observer.workerRemoved?.(one, time, reason)),
    interval: (one) => void steps.push((observer) => observer.interval?.(one)),
    transfer: (one) => void steps.push((observer) => observer.transfer?.(one)),
    memory: (one) => void steps.push((observer) => observer.memory?.(one)),
    resources: (one) => void steps.push((observer) => observer.resources?.(one)),
    metric: (one) => void steps.push((observer) => observer.metric?.(one)),
    event: (one) => void steps.push((observer) => observer.event?.(one)),
  };
}

/** A socket with a `bufferedAmount` that the test controls. */
export class HeldSocket implements OutletSocket {
  bufferedAmount = 0;
  readonly readyState = 1;
  readonly sent: string[] = [];
  ended = '';

  send(...messages: readonly (string | Uint8Array)[]): void {
    for (const message of messages) {
      this.bufferedAmount += message.length;
      this.sent.push(String(message));
    }
  }

  close(code: number): void {
    this.ended = `closed ${code}`;
  }

  terminate(): void {
    this.ended = 'terminated';
  }
}

/** Does what the page in a browser does: connects, collects tables, and reconnects at its resume point. */
export class TestPage {
  readonly tables = new TableBytes();
  readonly texts: ViewTextMessage[] = [];
  readonly bytes: Uint8Array[] = [];
  cursor: ViewCursor | undefined;
  epoch = '';
  isRecorded = false;
  #waiting: { readonly is: (message: ViewMessage) => boolean; readonly done: () => void }[] = [];
  #socket: WebSocket | undefined;
  #hasSchemas = false;
  /** Rows that become valid with the next message `cursor`. */
  #staged: TableMessage[] = [];

  /** Connects to the server with this `link`. Resolves when the stream has begun. */
  async connect(link: string, from?: ResumePoint): Promise<void> {
    const { origin, search } = new URL(link);
    const path = livePath(from);
    const query = search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${search.slice(1)}`;
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/${query}`, { origin });
    this.#socket = socket;
    const begun = this.until(({ type }) => type === 'begin');
    socket.on('message', (data, isBinary) => {
      if (!Buffer.isBuffer(data)) return;
      this.#take(decodeViewMessage(isBinary ? data : data.toString('utf8')));
    });
    const failed = new Promise<never>((_resolve, reject) => {
      socket.once('error', reject);
    });
    await Promise.race([begun, failed]);
    failed.catch(() => undefined);
  }

  get point(): ResumePoint | undefined {
    return this.cursor === undefined ? undefined : { epoch: this.epoch, cursor: this.cursor };
  }

  #take(message: ViewMessage): void {
    if (message.type === 'schema') {
      if (!this.#hasSchemas) this.tables.add(message.table, [message.bytes]);
    } else if (message.type === 'table') {
      this.#hasSchemas = true;
      this.bytes.push(message.bytes.slice());
      if (this.#staged.push(message) > 0 && this.isRecorded) this.#commit();
    } else {
      this.texts.push(message);
      if (message.type === 'begin') this.#begin(message);
      if (message.type === 'cursor') {
        this.cursor = message.cursor;
        this.#commit();
      }
    }
    this.#waiting = this.#waiting.filter(({ is, done }) => {
      if (!is(message)) return true;
      done();
      return false;
    });
  }

  #begin({ epoch, source }: BeginMessage): void {
    this.epoch = epoch;
    this.isRecorded = source === 'recorded';
    this.#staged = [];
  }

  #commit(): void {
    for (const { table, bytes } of this.#staged) this.tables.add(table, [bytes]);
    this.#staged = [];
  }

  /** Resolves at the next message for which `is` returns true. */
  until(is: (message: ViewMessage) => boolean): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ is, done });
    });
  }

  /** Resolves when the page has all rows of the time of its connection. */
  async hasBegun(): Promise<void> {
    while (this.cursor === undefined) await this.until(({ type }) => type === 'cursor');
  }

  /** Resolves when the page has the newest row of every table of the trace. */
  async caughtUp(trace: LiveTrace): Promise<void> {
    const isThere = (): boolean => {
      const { cursor } = this;
      const now = cursorOf(trace);
      return cursor !== undefined && CURSOR_TABLES.every((name) => cursor[name] === now[name]);
    };
    while (!isThere()) await this.until(({ type }) => type === 'cursor');
  }

  send(message: PageMessage | string): void {
    this.#socket?.send(typeof message === 'string' ? message : encodePageMessage(message));
  }

  /** Resolves when the server has received all earlier messages, and the page everything that was sent until then. */
  async roundTrip(): Promise<void> {
    const socket = this.#socket;
    assert.ok(socket !== undefined);
    const answer = once(socket, 'pong');
    socket.ping();
    await answer;
  }

  /** Stops reading from the network. */
  stopReading(): void {
    this.#socket?.pause();
  }

  resumeReading(): void {
    this.#socket?.resume();
  }

  /** Resolves with the close code of the connection. */
  async ended(): Promise<number> {
    const socket = this.#socket;
    if (socket === undefined || socket.readyState === WebSocket.CLOSED) return 0;
    const [code]: unknown[] = await once(socket, 'close');
    return Number(code);
  }

  async leave(): Promise<void> {
    const ended = this.ended();
    this.#socket?.terminate();
    await ended;
  }

  trace(): Trace {
    return this.tables.trace();
  }
}

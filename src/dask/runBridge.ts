// The process of the bridge that runs TypeScript on a Dask cluster. It exchanges frames with this process, see
// python/longpole_dask/node_tap.py. The process ends with its input, and therefore with this program.
import { Socket } from 'node:net';
import { LongpoleError } from '../base/errors.js';
import { fieldOf } from '../base/json.js';
import { SplitBytes } from '../base/splitBytes.js';
import { CONNECTION_LOST } from '../protocol/eventTopics.js';
import type { RemoteProcess, RemoteProcessEvents } from '../protocol/remoteProcess.js';
import { bridgeEndedError, bridgeOutputError, lastLine, REPORT, versionsError } from './bridgeErrors.js';
import { type PythonOptions, PythonProcess, UnsuitedPython, withPython } from './pythonProcess.js';
import type { WorkerFile } from './workerFiles.js';

/** The address is `dask` for a new cluster on this machine. */
export interface RunBridgeOptions extends PythonOptions {
  /** Node on the workers. */
  readonly node: string | undefined;
  readonly more: readonly string[];
  /** Receives each event after the start of the bridge. */
  readonly onEvent: (event: RunBridgeEvent) => void;
  /** Called if the bridge ends before `close`. */
  readonly onLost: (error: LongpoleError) => void;
}

type Hello = Extract<RunBridgeEvent, { type: 'hello' }>;

/** Exit code of a Python without distributed. */
const NO_DISTRIBUTED = 3;
export class RunBridge {
  readonly #options: RunBridgeOptions;
  readonly #python: PythonProcess<Hello>;
  readonly #processes = new Map<number, { readonly worker: string; readonly events: RemoteProcessEvents }>();
  readonly #holds = new Set<number>();
  readonly #closed: Promise<void>;
  #isStarted = false;
  #isClosing = false;
  #next = 1;
  #files = 0;
  #reason: LongpoleError | undefined;
  #unanswered: readonly string[] | undefined;

  /**
   * Starts a bridge with the first Python that has `distributed`. Resolves when all present workers can run Node.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_PYTHON, ERR_LONGPOLE_DASK_CONNECT, ERR_LONGPOLE_DASK_VERSION,
   *   ERR_LONGPOLE_DASK_NODE, ERR_LONGPOLE_DASK_BRIDGE
   */
  static async start(options: RunBridgeOptions): Promise<{ bridge: RunBridge; hello: Hello }> {
    return withPython(options.python, async (python) => {
      const bridge = new RunBridge(python, options);
      return { bridge, hello: await bridge.#python.attached };
    });
  }

  private constructor(python: string, options: RunBridgeOptions) {
    this.#options = options;
    const { node, more } = options;
    const named = node === undefined ? [] : ['--node', node];
    this.#python = new PythonProcess(python, options, ['longpole_dask.run', ...named, ...more], (error) => {
      this.#reason = error;
    });
    const frames = new SplitBytes(HEAD_BYTES);
    this.#python.child.stdout.on('data', (bytes: Buffer) => {
      try {
        for (const [head, payload] of frames.push(bytes))
          this.#take(head.getUint8(4), head.getUint32(5), payload);
      } catch (error) {
        // The bridge cleans up on the cluster and ends.
        this.#reason ??= bridgeOutputError(options.address, error);
        this.#python.end();
      }
    });
    this.#closed = this.#python.closed.then((code) => this.#ended(code));
  }

  /** Starts Node on a worker. The file `entry` must have been sent before. */
  process(
    worker: string,
    entry: string,
    env: Readonly<Record<string, string>>,
    events: RemoteProcessEvents,
  ): RemoteProcess {
    const number = this.#next++;
    this.#processes.set(number, { worker, events });
    this.#hold(number, true);
    this.#send(KIND.start, number, Buffer.from(JSON.stringify({ worker, entry, env, cwd: process.cwd() })));
    const files = (): number => this.#files;
    return {
      get files() {
        return files();
      },
      send: (bytes) => this.#send(KIND.data, number, bytes),
      kill: () => this.#send(KIND.kill, number),
      lease: () => this.#send(KIND.lease, number),
      release: () => this.#send(KIND.release, number),
      ref: () => this.#hold(number, true),
      unref: () => this.#hold(number, false),
    };
  }

  /** Sends a file to every worker that runs Node now or later, ahead of later messages. */
  file({ name, bytes }: WorkerFile): void {
    const path = Buffer.from(name);
    const head = Buffer.alloc(2);
    head.writeUInt16BE(path.length);
    this.#files++;
    this.#send(KIND.file, 0, Buffer.concat([head, path, bytes]));
  }

  /**
   * Ends all processes on the cluster and the bridge. Resolves when the bridge has ended, at most 25 s later.
   *
   * @returns (resolves) names of the Dask workers that did not answer, so that processes may be left there; empty if the
   *   scheduler did not answer; undefined if all answered
   */
  async close(): Promise<readonly string[] | undefined> {
    this.#isClosing = true;
    this.#python.end();
    this.#python.child.ref();
    await this.#closed;
    return this.#unanswered;
  }

  #send(kind: number, process: number, payload: Uint8Array = new Uint8Array(0)): void {
    const { stdin } = this.#python.child;
    if (this.#isClosing || !stdin.writable) return;
    stdin.write(frameHead(kind, process, payload.byteLength));
    stdin.write(payload);
  }

  #hold(process: number, held: boolean): void {
    if (held) this.#holds.add(process);
    else this.#holds.delete(process);
    this.#refer(this.#holds.size > 0 || !this.#isStarted);
  }

  /** Sets whether the bridge keeps the program alive. */
  #refer(alive: boolean): void {
    const { child } = this.#python;
    for (const one of [child, child.stdin, child.stdout, child.stderr]) {
      if (one !== child && !(one instanceof Socket)) continue;
      if (alive) one.ref();
      else one.unref();
    }
  }

  #take(kind: number, process: number, payload: Uint8Array): void {
    if (kind === KIND.event) {
      this.#event(readEvent(payload));
      return;
    }
    const events = this.#processes.get(process)?.events;
    if (kind === KIND.data) events?.data(payload);
    else if (kind === KIND.leased) events?.leased();
    else if (kind === KIND.leaseOver) events?.leaseOver();
    else if (kind === KIND.leaseEnds) events?.leaseEnds();
    else if (kind === KIND.ended) this.#processEnded(process, new Error(Buffer.from(payload).toString()));
  }

  #event(event: RunBridgeEvent): void {
    const { address } = this.#options;
    if (event.type === 'refused') this.#reason = refusal(address, event.code, event.text);
    if (event.type === 'closed' && !this.#isClosing)
      this.#reason = new LongpoleError(
        'ERR_LONGPOLE_DASK_CONNECT',
        `${CONNECTION_LOST}${address} was lost: ${event.reason}. ` +
          'Check that the scheduler runs, connect again, and submit the unfinished tasks again.',
      );
    if (event.type === 'hello') {
      this.#isStarted = true;
      this.#python.attach(event);
      this.#refer(this.#holds.size > 0);
      return;
    }
    if (event.type === 'unanswered') this.#unanswered = event.workers;
    // The processes of a worker that has left end after the worker.
    this.#options.onEvent(event);
    if (event.type !== 'left') return;
    for (const [process, { worker }] of [...this.#processes])
      if (worker === event.address)
        this.#processEnded(process, new Error(`The Dask worker has left: ${event.why}.`));
  }

  #processEnded(process: number, cause: Error): void {
    const found = this.#processes.get(process);
    this.#processes.delete(process);
    this.#holds.delete(process);
    found?.events.ended(cause);
  }

  #ended(code: number | null): void {
    const { stderr } = this.#python;
    if (code === NO_DISTRIBUTED || stderr.includes('No module named longpole_dask'))
      this.#python.fail(new UnsuitedPython(lastLine(stderr)));
    const error = this.#reason ?? bridgeEndedError(this.#options.address, code, stderr);
    this.#python.fail(error);
    if (this.#isStarted && !this.#isClosing) this.#options.onLost(error);
    for (const process of [...this.#processes.keys()]) this.#processEnded(process, error);
  }
}

function refusal(address: string, code: string, text: string): LongpoleError {
  if (code === 'versions') return versionsError(address, text);
  if (code === 'node')
    return new LongpoleError(
      'ERR_LONGPOLE_DASK_NODE',
      `The cluster at ${address} cannot run TypeScript: ${text}. Install Node there, or pass its path as the option node, ` +
        'as --node, or as LONGPOLE_NODE in the environment of the worker.',
    );
  return new LongpoleError('ERR_LONGPOLE_DASK_CONNECT', `${address} cannot be used: ${text}.`);
}

/**
 * Kinds of frames: length, kind, number of the process, and bytes of that length. Frames of the kind `data` are sent in
 * both directions. python/longpole_dask/node_tap.py has the same definitions.
 */
const KIND = {
  start: 0,
  data: 1,
  kill: 2,
  file: 3,
  lease: 4,
  release: 5,
  event: 0,
  ended: 2,
  leased: 4,
  leaseOver: 5,
  leaseEnds: 6,
} as const;

const HEAD_BYTES = 9;

/** A Dask worker with Node. */
export interface DaskWorkerFacts {
  readonly address: string;
  /** Output of `node --version`. */
  readonly node: string;
  readonly threads: number;
  /** Memory limit in bytes; 0 for no limit. */
  readonly memory: number;
  readonly directory: string;
  readonly name: string;
  readonly resources: Readonly<Record<string, number>>;
  /** Where the ids of its processes count, as in `ownPlace`. */
  readonly place: string;
}

export type RunBridgeEvent =
  /** `host` is the address under which the workers reach this machine. */
  | {
      readonly type: 'hello';
      readonly scheduler: string;
      readonly host: string;
      readonly workers: readonly DaskWorkerFacts[];
    }
  | { readonly type: 'joined'; readonly worker: DaskWorkerFacts }
  /** The worker closes when its processes have ended, or after a few seconds. */
  | { readonly type: 'leaving'; readonly address: string }
  | { readonly type: 'left'; readonly address: string; readonly why: string }
  | { readonly type: 'warning'; readonly text: string }
  /** The connection to the scheduler broke. The bridge tries to connect again for this time. */
  | { readonly type: 'disconnected'; readonly seconds: number }
  | { readonly type: 'reconnected' }
  /** Workers that did not answer at the end; none if the scheduler did not answer. */
  | { readonly type: 'unanswered'; readonly workers: readonly string[] }
  | { readonly type: 'refused'; readonly code: string; readonly text: string }
  | { readonly type: 'closed'; readonly reason: string };

function frameHead(kind: number, process: number, length: number): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(length);
  head.writeUInt8(kind, 4);
  head.writeUInt32BE(process, 5);
  return head;
}

/**
 * Reads an event. Checks only its type, because the bridge is part of this package.
 *
 * @throws LongpoleError ERR_LONGPOLE_DASK_BRIDGE
 */
function readEvent(payload: Uint8Array): RunBridgeEvent {
  const event: unknown = JSON.parse(Buffer.from(payload).toString());
  if (isEvent(event)) return event;
  throw new LongpoleError(
    'ERR_LONGPOLE_DASK_BRIDGE',
    `The bridge to Dask sent an event without a type. ${REPORT}`,
  );
}

function isEvent(value: unknown): value is RunBridgeEvent {
  return fieldOf(value, 'type') !== undefined;
}

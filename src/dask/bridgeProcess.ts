// The process of the bridge that observes a Dask cluster: its start, its rows, and its end. The process ends with its
// input, and therefore with this process. The cluster removes the plugins of the bridge when its connection closes.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { LongpoleError, sentenceOf } from '../base/errors.js';
import type { DaskRow, RefusedRow } from '../protocol/daskRows.js';
import { bridgeEndedError, noPythonError, notReadyError, REPORT, versionsError } from './bridgeErrors.js';
import { FrameReader } from './frameReader.js';
import { bridgeEnvironment, pythonCandidates } from './pythonPrograms.js';
import { type DaskSecurity, securityEnvironment } from './schedulerAddress.js';

export interface BridgeOptions {
  /** Address of the scheduler; see schedulerAddress. */
  readonly address: string;
  readonly security?: DaskSecurity | undefined;
  /** Python to use. Default: see `pythonCandidates`. */
  readonly python?: string | undefined;
  /** Seconds to connect, and to register each plugin. */
  readonly timeout: number;
  /** Receives every row. An exception ends the bridge. */
  readonly onRow: (row: DaskRow) => void;
}

/** How a bridge ended. */
export interface BridgeEnd {
  /** `asked` if this process ended the bridge; else a sentence about the cluster or the bridge. */
  readonly reason: string;
  /** Error of the bridge, or of a row that cannot be read. */
  readonly error?: LongpoleError;
}

/** Seconds in which Python must start. */
const START = 30;
/** Seconds in which Python must remove its plugins and end. */
const END = 25;
const STDERR_KEPT = 4000;

/** An attached bridge. */
export class DaskBridge {
  readonly ended: Promise<BridgeEnd>;
  readonly #attempt: Attempt;

  private constructor(attempt: Attempt, ended: Promise<BridgeEnd>) {
    this.#attempt = attempt;
    this.ended = ended;
  }

  /**
   * Starts a bridge with the first Python that has `distributed`.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_PYTHON, ERR_LONGPOLE_DASK_CONNECT, ERR_LONGPOLE_DASK_VERSION,
   *   ERR_LONGPOLE_DASK_BRIDGE
   */
  static async start(options: BridgeOptions): Promise<DaskBridge> {
    const tried: string[] = [];
    for (const python of pythonCandidates(options.python)) {
      const attempt = new Attempt(python, options);
      const outcome = await attempt.started;
      if (outcome === 'attached') return new DaskBridge(attempt, attempt.ended);
      if (outcome instanceof LongpoleError) throw outcome;
      tried.push(`${python}: ${outcome}`);
    }
    throw noPythonError(tried);
  }

  /** Removes the plugins from the cluster and ends the process. Resolves when it has ended, at most 25 s later. */
  close(): Promise<BridgeEnd> {
    this.#attempt.stop();
    return this.ended;
  }
}

/** One process of the bridge. */
class Attempt {
  /** `attached`; or a text if this Python is not suitable; or an error if another Python would fail, too. */
  readonly started: Promise<'attached' | LongpoleError | string>;
  readonly ended: Promise<BridgeEnd>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #options: BridgeOptions;
  readonly #reader = new FrameReader();
  #stderr = '';
  #refused: RefusedRow | undefined;
  #reason: string | undefined;
  #error: LongpoleError | undefined;
  #missing: string | undefined;
  #attached = false;
  #over = false;
  #timer: NodeJS.Timeout;
  #onStart: (outcome: 'attached' | LongpoleError | string) => void = () => {};
  #onEnd: (end: BridgeEnd) => void = () => {};

  constructor(python: string, options: BridgeOptions) {
    this.#options = options;
    this.started = new Promise((resolve) => {
      this.#onStart = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.#onEnd = resolve;
    });
    this.#child = spawn(
      python,
      ['-B', '-m', 'longpole_dask', options.address, '--timeout', String(options.timeout)],
      {
        stdio: ['pipe', 'pipe', 'pipe'],
        env: { ...bridgeEnvironment(), ...securityEnvironment(options.security) },
      },
    );
    const child = this.#child;
    // The process may have ended before this process closes its input.
    child.stdin.on('error', () => {});
    child.stdout.on('data', (bytes: Buffer) => this.#read(bytes));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT);
    });
    child.on('error', (error) => {
      this.#missing = error.message;
      if (child.pid === undefined) this.#close(null);
    });
    child.on('close', (code) => this.#close(code));
    const seconds = START + 3 * options.timeout;
    this.#timer = setTimeout(() => this.#late(seconds), seconds * 1000);
  }

  stop(): void {
    if (this.#over) return;
    this.#child.stdin.end();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#child.kill('SIGKILL'), END * 1000);
  }

  #late(seconds: number): void {
    this.#error = notReadyError(this.#options.address, seconds);
    this.#child.kill('SIGKILL');
  }

  #read(bytes: Uint8Array): void {
    if (this.#error !== undefined) return;
    try {
      for (const row of this.#reader.push(bytes)) this.#take(row);
    } catch (error) {
      this.#error =
        error instanceof LongpoleError
          ? error
          : new LongpoleError(
              'ERR_LONGPOLE_DASK_BRIDGE',
              `The output of the bridge to ${this.#options.address} could not be processed: ${sentenceOf(error)} ${REPORT}`,
              { cause: error },
            );
      // Closes the input of the bridge. The bridge then removes its plugins from the Dask cluster and ends.
      this.stop();
    }
  }

  #take(row: DaskRow): void {
    if (row.type === 'refused') this.#refused = row;
    if (row.type === 'closed') this.#reason = row.reason;
    this.#options.onRow(row);
    if (row.type !== 'hello') return;
    this.#attached = true;
    clearTimeout(this.#timer);
    this.#onStart('attached');
  }

  #close(code: number | null): void {
    clearTimeout(this.#timer);
    this.#over = true;
    const error = this.#error ?? this.#failure(code);
    if (!this.#attached) {
      this.#onStart(this.#missing ?? this.#unsuited() ?? error ?? this.#unexplained(code));
    }
    const reason = this.#reason ?? error?.message ?? 'asked';
    this.#onEnd(error === undefined ? { reason } : { reason, error });
  }

  /** Returns why this Python is not suitable; undefined if another Python would fail, too. */
  #unsuited(): string | undefined {
    if (this.#refused?.code === 'distributed') return this.#refused.text;
    return this.#stderr.includes('No module named longpole_dask') ? 'it does not read PYTHONPATH' : undefined;
  }

  #failure(code: number | null): LongpoleError | undefined {
    const { address } = this.#options;
    const refused = this.#refused;
    if (refused?.code === 'versions') {
      return versionsError(address, refused.text);
    }
    if (refused !== undefined) {
      return new LongpoleError(
        'ERR_LONGPOLE_DASK_CONNECT',
        `${address} cannot be observed: ${refused.text}.`,
      );
    }
    return code === 0 && this.#reason !== undefined ? undefined : this.#unexplained(code);
  }

  #unexplained(code: number | null): LongpoleError {
    return bridgeEndedError(this.#options.address, code, this.#stderr);
  }
}

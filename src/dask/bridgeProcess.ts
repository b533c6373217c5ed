// The process of the bridge that observes a Dask cluster: its start, its rows, and its end. The process ends with its
// input, and therefore with this process. The cluster removes the plugins of the bridge when its connection closes.
import { LongpoleError } from '../base/errors.js';
import { SplitBytes } from '../base/splitBytes.js';
import { damagedRow } from '../protocol/daskCells.js';
import { type DaskRow, parseDaskRow } from '../protocol/daskRows.js';
import { unpackValue } from '../trace/formats/dasf/msgpack.js';
import { bridgeEndedError, bridgeOutputError, versionsError } from './bridgeErrors.js';
import { type PythonOptions, PythonProcess, UnsuitedPython, withPython } from './pythonProcess.js';

export interface BridgeOptions extends PythonOptions {
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

export class DaskBridge {
  readonly ended: Promise<BridgeEnd>;
  readonly #options: BridgeOptions;
  readonly #python: PythonProcess<void>;
  readonly #rows = frameReader();
  #refused: DaskRow<'refused'> | undefined;
  #reason: string | undefined;
  #error: LongpoleError | undefined;

  /**
   * Starts a bridge with the first Python that has `distributed`.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_PYTHON, ERR_LONGPOLE_DASK_CONNECT, ERR_LONGPOLE_DASK_VERSION,
   *   ERR_LONGPOLE_DASK_BRIDGE
   */
  static start(options: BridgeOptions): Promise<DaskBridge> {
    return withPython(options.python, async (python) => {
      const bridge = new DaskBridge(python, options);
      await bridge.#python.attached;
      return bridge;
    });
  }

  private constructor(python: string, options: BridgeOptions) {
    this.#options = options;
    this.#python = new PythonProcess(python, options, ['longpole_dask'], (error) => {
      this.#error = error;
    });
    this.#python.child.stdout.on('data', (bytes: Buffer) => this.#read(bytes));
    this.ended = this.#python.closed.then((code) => this.#end(code));
  }

  /** Removes the plugins from the cluster and ends the process. Resolves when it has ended, at most 25 s later. */
  close(): Promise<BridgeEnd> {
    this.#python.end();
    return this.ended;
  }

  #read(bytes: Uint8Array): void {
    if (this.#error !== undefined) return;
    try {
      for (const row of this.#rows(bytes)) this.#take(row);
    } catch (error) {
      this.#error = bridgeOutputError(this.#options.address, error);
      // Closes the input of the bridge. The bridge then removes its plugins from the Dask cluster and ends.
      void this.close();
    }
  }

  #take(row: DaskRow): void {
    if (row.type === 'refused') this.#refused = row;
    if (row.type === 'closed') this.#reason = row.reason;
    this.#options.onRow(row);
    if (row.type === 'hello') this.#python.attach();
  }

  #end(code: number | null): BridgeEnd {
    const error = this.#error ?? this.#failure(code);
    const unsuited = this.#unsuited();
    this.#python.fail(
      unsuited === undefined ? (error ?? this.#unexplained(code)) : new UnsuitedPython(unsuited),
    );
    const reason = this.#reason ?? error?.message ?? 'asked';
    return error === undefined ? { reason } : { reason, error };
  }

  /** Returns why this Python is not suitable; undefined if another Python would fail, too. */
  #unsuited(): string | undefined {
    if (this.#refused?.code === 'distributed') return this.#refused.text;
    return this.#python.stderr.includes('No module named longpole_dask')
      ? 'it does not read PYTHONPATH'
      : undefined;
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
    return bridgeEndedError(this.#options.address, code, this.#python.stderr);
  }
}

/** Size of a frame's length, big-endian. */
const HEADER = 4;
/** Maximum number of bytes in a frame, more than a graph of ten million tasks needs. A longer frame is damaged. */
const MAX_FRAME = 2 ** 30;

/**
 * Returns a reader of the bridge's frames: a length, and a list of rows in msgpack of that length. It receives bytes,
 * yields the rows of all complete frames, and throws ERR_LONGPOLE_DASK_BRIDGE for damaged ones.
 */
export function frameReader(): (bytes: Uint8Array) => Generator<DaskRow> {
  const frames = new SplitBytes(HEADER);
  return function* (bytes) {
    for (const [, frame] of frames.push(bytes, checkLength)) yield* rowsOf(frame);
  };
}

function checkLength(length: number): void {
  if (length > MAX_FRAME) damagedRow(`a frame of ${length} bytes`);
}

function* rowsOf(frame: Uint8Array): Generator<DaskRow> {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const value = unpackValue(frame, view, 0, frame.length);
  if (!Array.isArray(value)) damagedRow('a frame is not a list of rows');
  for (const row of value) yield parseDaskRow(row);
}

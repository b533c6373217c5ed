// The Python process of a bridge, which needs `distributed` in the version of the cluster. It ends with its input, and
// therefore with this process.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { FILES_ADVICE, LongpoleError } from '../base/errors.js';
import { killChild } from '../base/killChild.js';
import { type DaskSecurity, securityEnvironment } from './schedulerAddress.js';

export interface PythonOptions {
  /** Address of the scheduler; see schedulerAddress. */
  readonly address: string;
  readonly security?: DaskSecurity | undefined;
  /** Python to use. Default: see `pythonCandidates`. */
  readonly python?: string | undefined;
  /** Seconds to connect, and to register each plugin. */
  readonly timeout: number;
}

/** Folder beside `dist/` in the package. */
const PYTHON_PACKAGES = fileURLToPath(new URL('../../python', import.meta.url));

/** Error of a Python that is not suitable, while another one may be. */
export class UnsuitedPython extends Error {}

/** Seconds in which Python must start, in addition to the time to connect. */
const START_SECONDS = 30;
/** Milliseconds in which Python must clean up on the cluster and end. */
const END_MS = 25_000;
const STDERR_KEPT = 4000;

/**
 * Starts a bridge with the first suitable Python.
 *
 * @throws (rejects) LongpoleError ERR_LONGPOLE_PYTHON, and other errors of `start` than UnsuitedPython
 */
export async function withPython<T>(
  named: string | undefined,
  start: (python: string) => Promise<T>,
): Promise<T> {
  const tried: string[] = [];
  for (const python of pythonCandidates(named)) {
    try {
      return await start(python);
    } catch (error) {
      if (!(error instanceof UnsuitedPython)) throw error;
      tried.push(`${python}: ${error.message}`);
    }
  }
  throw new LongpoleError(
    'ERR_LONGPOLE_PYTHON',
    `No Python with distributed was found (${tried.join('; ')}). Pass the Python of your cluster as the option python, as ` +
      '--python, or as LONGPOLE_PYTHON. Or install distributed: python3 -m pip install distributed.',
  );
}

/** `Hello` is what a bridge reports when it is attached. */
export class PythonProcess<Hello> {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** End of the error output. */
  stderr = '';
  /** Resolves when the bridge is attached. Rejects with UnsuitedPython, or with the error of `fail`. */
  readonly attached: Promise<Hello>;
  /** Resolves with the exit code when the process has ended or could not start; null: a signal killed it. */
  readonly closed: Promise<number | null>;
  #attach: (hello: Hello) => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  #timer: NodeJS.Timeout;
  #isOver = false;

  /**
   * Calls `onLate` before the process is killed because it is not attached in time.
   *
   * @throws LongpoleError ERR_LONGPOLE_DASK_BRIDGE if this process has too many open files
   */
  constructor(
    python: string,
    { address, security, timeout }: PythonOptions,
    [module, ...more]: readonly [module: string, ...more: string[]],
    onLate: (error: LongpoleError) => void,
  ) {
    this.child = spawn(python, ['-B', '-m', module, address, '--timeout', String(timeout), ...more], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...bridgeEnvironment(), ...securityEnvironment(security) },
    });
    checkStreams(this.child, address);
    // The process may have ended before this process writes or closes its input.
    this.child.stdin.on('error', () => {});
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-STDERR_KEPT);
    });
    this.attached = new Promise((resolve, reject) => {
      this.#attach = resolve;
      this.#fail = reject;
    });
    this.closed = new Promise((resolve) => {
      const close = (code: number | null): void => {
        this.#isOver = true;
        clearTimeout(this.#timer);
        resolve(code);
      };
      this.child.on('error', (error) => {
        this.fail(new UnsuitedPython(error.message));
        if (this.child.pid === undefined) close(null);
      });
      this.child.on('close', close);
    });
    const seconds = START_SECONDS + 3 * timeout;
    this.#timer = setTimeout(() => {
      onLate(
        new LongpoleError(
          'ERR_LONGPOLE_DASK_CONNECT',
          `The bridge to ${address} was not ready within ${seconds} s. Try again when the scheduler is idle.`,
        ),
      );
      killChild(this.child, 'SIGKILL');
    }, seconds * 1000);
  }

  /** Call this when the bridge is attached. */
  attach(hello: Hello): void {
    clearTimeout(this.#timer);
    this.#attach(hello);
  }

  /** Call this when the bridge cannot be attached. Has no effect afterwards. */
  fail(error: Error): void {
    this.#fail(error);
  }

  /** Closes the input. The bridge then cleans up on the cluster and ends, or is killed after 25 s. */
  end(): void {
    if (this.#isOver) return;
    this.child.stdin.end();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => killChild(this.child, 'SIGKILL'), END_MS);
  }
}

/**
 * Node makes no streams if the limit of open files is reached, and reports the reason only later.
 *
 * @throws LongpoleError ERR_LONGPOLE_DASK_BRIDGE
 */
function checkStreams(child: ChildProcess, address: string): void {
  if (child.stdin) return;
  // Without a listener, the later report would end the program.
  child.on('error', () => {});
  throw new LongpoleError(
    'ERR_LONGPOLE_DASK_BRIDGE',
    `The bridge to ${address} could not be started, because too many files are open (EMFILE or ENFILE). ${FILES_ADVICE}`,
  );
}

/**
 * Returns the candidates in the order in which to try them.
 *
 * @param named Python from the caller; default: LONGPOLE_PYTHON of the environment. Either is the only candidate
 */
function pythonCandidates(named?: string): readonly string[] {
  const one = named ?? process.env['LONGPOLE_PYTHON'] ?? '';
  if (one !== '') return [one];
  const own = ['bin/python', 'Scripts/python.exe'].map((file) => join('.venv', file)).filter(existsSync);
  return [...own, 'python3', 'python'];
}

/** Returns the environment of this program with the path of the package of the bridges. */
function bridgeEnvironment(): NodeJS.ProcessEnv {
  const { PYTHONPATH } = process.env;
  return {
    ...process.env,
    PYTHONPATH: [PYTHON_PACKAGES, ...(PYTHONPATH ? [PYTHONPATH] : [])].join(delimiter),
  };
}

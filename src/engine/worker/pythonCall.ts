// Calls of Python functions on the Dask worker that started this process. The call is a task of Dask: it waits for a
// thread of the worker there, and the isolate waits for its answer here.
import type { Socket } from 'node:net';
import { LongpoleError } from '../../base/errors.js';
import { notDask } from '../../graph/pythonName.js';
import { setHidden } from '../../protocol/errorInfo.js';
import { PYTHON_SOCKET_VARIABLE } from '../../protocol/remoteProcess.js';
import { contextMeter } from './contextMeter.js';
import type { TaskCallable } from './evaluator.js';
import { type MessageHead, readMessages, sendMessage } from './pythonMessages.js';
import { decodeValue, encodeValues } from './pythonValues.js';

const NOTHING = { tree: null, buffers: [] } as const;

/** Milliseconds in which this process ends after its Dask worker, unless the worker lives and only the file of its socket is gone. */
const ENDING_MS = 30_000;
/** Errors of a connection to a process that has ended. Others are those of this process, e.g. too many open files. */
const ENDED: readonly unknown[] = ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE'];

/** Error of Python. `kind` is its cause: the function raised, the import failed, or the result has no counterpart. */
interface PythonFailure {
  readonly kind: 'raised' | 'import' | 'value';
  readonly name: string;
  readonly message: string;
  readonly traceback: string;
}

/** First part of an answer. Times are seconds. */
interface AnswerHead extends MessageHead {
  readonly value?: unknown;
  readonly error?: PythonFailure;
  /** Time since Dask has started the task. */
  readonly since: number;
  readonly cpu: number;
  readonly deserialize: number;
  readonly serialize: number;
}

/** Returns a function that starts a call of a Python function. */
export function pythonCallable(target: string): TaskCallable {
  return (...args) => new PythonCall(target, args);
}

/** A call, which `begin` starts. Without `begin` it starts when it is awaited, and has no key. */
export class PythonCall implements PromiseLike<unknown> {
  readonly #target: string;
  readonly #args: readonly unknown[];
  #result: Promise<unknown> | undefined;
  /** Milliseconds on `performance.now()` at which Dask started the task. */
  #started = Number.NaN;

  constructor(target: string, args: readonly unknown[]) {
    this.#target = target;
    this.#args = args;
  }

  begin(key: string): void {
    this.#result ??= this.#call(key);
    // The caller may attach its handler later.
    this.#result.catch(() => undefined);
  }

  // biome-ignore lint/suspicious/noThenProperty: tasks may await the call
  then<R = unknown, E = never>(
    onFulfilled?: ((value: unknown) => R | PromiseLike<R>) | null,
    onRejected?: ((reason: unknown) => E | PromiseLike<E>) | null,
  ): Promise<R | E> {
    this.begin(this.#target);
    return Promise.resolve(this.#result).then(onFulfilled, onRejected);
  }

  /** Returns the time before now at which Dask started the task, in seconds; NaN if Dask did not start the task. */
  get secondsSinceStart(): number {
    return (performance.now() - this.#started) / 1000;
  }

  async #call(key: string): Promise<unknown> {
    const [process = '', path] = splitOnce(globalThis.process.env[PYTHON_SOCKET_VARIABLE] ?? '');
    if (path === undefined) throw notDask(this.#target);
    const encoded = encodeValues(this.#args, (index) => `Argument ${index + 1} of ${this.#target}`);
    const { connect } = await import('node:net');
    const socket = connect(path);
    try {
      sendMessage(socket, { process: Number(process), key }, NOTHING);
      sendMessage(socket, { target: this.#target }, encoded);
      return await this.#answer(socket, async (cause) => {
        await untilAlive(connect(path));
        const what = `The Dask worker closed the connection during ${this.#target}.`;
        throw new LongpoleError('ERR_LONGPOLE_DASK_BRIDGE', `${what} Look into the log of the worker.`, {
          cause,
        });
      });
    } finally {
      socket.destroy();
    }
  }

  async #answer(socket: Socket, lost: (cause?: unknown) => Promise<never>): Promise<unknown> {
    const answers = readMessages<AnswerHead>(socket, (head) => {
      this.#started = performance.now() - head.since * 1000;
    });
    const { value: answer } = await answers.next().catch(lost);
    if (answer === undefined) return lost();
    const { head, buffers } = answer;
    contextMeter.digestMetric('thread-cpu', head.cpu, 'seconds');
    contextMeter.digestMetric('deserialize', head.deserialize, 'seconds');
    contextMeter.digestMetric('serialize', head.serialize, 'seconds');
    if (head.error !== undefined) throw errorOf(head.error);
    return decodeValue(head.value, buffers);
  }
}

/**
 * Resolves when the Dask worker answers, or cannot be asked. If it has ended, it never answers: this process ends as well,
 * and the cluster runs its tasks again. A task that failed before would not run again.
 */
async function untilAlive(socket: Socket): Promise<void> {
  try {
    sendMessage(socket, { key: null }, NOTHING);
    await new Promise((resolve) => {
      socket.once('data', resolve).on('error', (error) => {
        if (!('code' in error && ENDED.includes(error.code))) resolve(error);
      });
      setTimeout(resolve, ENDING_MS).unref();
    });
  } finally {
    socket.destroy();
  }
}

function errorOf({ kind, name, message, traceback }: PythonFailure): Error {
  const raised = new Error(message);
  setHidden(raised, 'name', name);
  // The traceback is to Python what the stack is here.
  setHidden(raised, 'stack', `${name}: ${message}\n${traceback}`);
  if (kind === 'raised') return raised;
  const code = kind === 'import' ? 'ERR_LONGPOLE_PYTHON_IMPORT' : 'ERR_LONGPOLE_PYTHON_VALUE';
  return new LongpoleError(code, message, traceback === '' ? {} : { cause: raised });
}

function splitOnce(text: string): readonly [string, string | undefined] {
  const at = text.indexOf(':');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

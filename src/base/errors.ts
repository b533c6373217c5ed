// Every error that Longpole throws on purpose is a LongpoleError with a stable code. The catalogue below is the one
// list of codes; docs/errors.md explains each, and a test checks that both agree.
import { shortened, visibleText } from './visibleText.js';

/** Longest message in characters. A longer message, e.g. with a key of a megabyte, is shortened in the middle. */
const LONGEST_MESSAGE = 10_000;

/** Most stack frames of this package between a call of the program and an error of the call. */
const CALL_DEPTH = 40;

/** The property of `Error` with which V8 limits the frames of a stack. It may be missing or constant. */
const LIMIT = 'stackTraceLimit';

/** One general sentence for each code. The message of an error says what happened to which task. */
export const ERROR_CODES = {
  ERR_LONGPOLE_ABORTED: 'The computation was cancelled through its AbortSignal.',
  ERR_LONGPOLE_ASYNC_IN_SYNC: 'A task returned a promise under getSync, which cannot wait.',
  ERR_LONGPOLE_BUNDLE: 'The modules of tasks could not be bundled for the workers of a Dask cluster.',
  ERR_LONGPOLE_CLOSED: 'The client, its cluster or the observation of a Dask cluster is closed.',
  ERR_LONGPOLE_CONFIG: 'A setting does not exist or cannot have its value.',
  ERR_LONGPOLE_CYCLE: 'The graph has a cycle.',
  ERR_LONGPOLE_DASHBOARD: 'The dashboard cannot listen at its address.',
  ERR_LONGPOLE_DASK_BRIDGE: 'The bridge to a Dask cluster failed.',
  ERR_LONGPOLE_DASK_CONNECT: 'A Dask scheduler does not answer, or accepts no plugins.',
  ERR_LONGPOLE_DASK_NODE: 'A worker of a Dask cluster has no Node, or one that is too old.',
  ERR_LONGPOLE_DASK_VERSION: 'A Dask cluster runs another version of Python, or an older one of distributed.',
  ERR_LONGPOLE_DATA_LOST: 'Scattered data no longer exists and cannot be computed again.',
  ERR_LONGPOLE_DISK_FULL: 'Results do not fit into memory, and the disk for the rest is full.',
  ERR_LONGPOLE_FREE_VARIABLE: 'A function without a module uses a variable from outside itself.',
  ERR_LONGPOLE_FUTURE: 'A future was cancelled or released, or belongs to another cluster.',
  ERR_LONGPOLE_INSTALLATION: 'A package that Longpole needs cannot be found.',
  ERR_LONGPOLE_INTERNAL: 'Longpole broke one of its own invariants. Please report it.',
  ERR_LONGPOLE_INVALID_ARGUMENT: 'An argument or option has the wrong type or value.',
  ERR_LONGPOLE_INVALID_GRAPH: 'The graph is not a plain object or a Map of keys.',
  ERR_LONGPOLE_KILLED_WORKER: 'A task ended its workers as often as allowedFailures permits.',
  ERR_LONGPOLE_LOCAL_DIRECTORY: 'The directory for the files of workers cannot be created.',
  ERR_LONGPOLE_LOCK_TIMEOUT: 'Another process kept writing to the same file.',
  ERR_LONGPOLE_MEMORY_LIMIT: 'Results do not fit into memory.',
  ERR_LONGPOLE_MODULE_TASK: 'A worker could not find a task function in its module.',
  ERR_LONGPOLE_NO_CLIENT: 'No client is connected, and the code does not run in a task of a cluster.',
  ERR_LONGPOLE_NOT_ACQUIRED: 'A lock or semaphore was released by a task or client that has not acquired it.',
  ERR_LONGPOLE_NOT_CLONEABLE: 'An argument or result cannot be copied between isolates.',
  ERR_LONGPOLE_NOT_DASK: 'A task in Python was sent to a scheduler that is not Dask.',
  ERR_LONGPOLE_NOT_SHIPPABLE: 'A function has no source text that could be sent to another isolate.',
  ERR_LONGPOLE_PAGE_DATA: 'The data of an HTML page is damaged, incomplete or of another version.',
  ERR_LONGPOLE_PAGE_FILE: 'An HTML page could not be written.',
  ERR_LONGPOLE_PEER: 'A result could not be fetched from another worker.',
  ERR_LONGPOLE_PIPELINE_STEP: 'A step of a pipeline failed.',
  ERR_LONGPOLE_PYTHON: 'No Python with distributed was found.',
  ERR_LONGPOLE_PYTHON_IMPORT: 'A Dask worker cannot import the function of a task in Python.',
  ERR_LONGPOLE_PYTHON_VALUE: 'A value has no counterpart in Python or in TypeScript.',
  ERR_LONGPOLE_RESULT_BYTES: 'The bytes of a result are damaged.',
  ERR_LONGPOLE_SPILL_FILE: 'A result that had been spilled to disk cannot be read back.',
  ERR_LONGPOLE_SPILL_WRITE: 'Results cannot be spilled to disk.',
  ERR_LONGPOLE_STALLED: 'Workers are connected but do not do what the scheduler requested.',
  ERR_LONGPOLE_TASK: 'A task threw.',
  ERR_LONGPOLE_TASK_CLIENT: 'A task called a method of the client that only the client of the program has.',
  ERR_LONGPOLE_TASK_TIMEOUT: 'A task ran longer than its timeout.',
  ERR_LONGPOLE_TIMEOUT: 'A call of a shared object reached its time limit.',
  ERR_LONGPOLE_TRACE_FILE: 'A trace file could not be read or written.',
  ERR_LONGPOLE_TRACE_FORMAT: 'A file has no trace format that Longpole can read.',
  ERR_LONGPOLE_TRACE_VERSION: 'A trace was recorded by a newer Longpole.',
  ERR_LONGPOLE_UNKNOWN_KEY: 'A requested key is not in the graph.',
  ERR_LONGPOLE_UNPACKED_SIZE: 'The packed data of a file unpacks to more bytes than the limit allows.',
  ERR_LONGPOLE_UNREACHABLE: 'A worker does not answer on the network, although it is up.',
  ERR_LONGPOLE_WORKER_LOST: 'A worker ended before it answered a request.',
  ERR_LONGPOLE_WORKER_START: 'A worker could not be started, or ended again and again before it ran a task.',
} as const satisfies Record<`ERR_LONGPOLE_${string}`, string>;

export type ErrorCode = keyof typeof ERROR_CODES;

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);
}

/**
 * Base class of the errors that Longpole throws on purpose. `code` names the kind of error and does not change between
 * versions; docs/errors.md explains each code. `message` is for people and may change. A message of more than 10,000
 * characters is shortened in the middle. The stack begins with the call of Longpole that the program made, if it made one.
 */
export class LongpoleError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    const limit: unknown = Reflect.get(Error, LIMIT);
    // The errors of tasks have the stack of the task.
    const isOfCall = new.target === LongpoleError && typeof limit === 'number' && limit > 0;
    if (isOfCall) Reflect.set(Error, LIMIT, Math.max(limit, CALL_DEPTH));
    // Messages name keys and files, which may contain any character.
    super(visibleText(shortened(message, LONGEST_MESSAGE)), options);
    if (isOfCall) Reflect.set(Error, LIMIT, limit);
    this.name = new.target.name;
    this.code = code;
    if (isOfCall) beginAtCall(this, limit);
  }
}

/** Removes the frames above the program's call from a stack. Errors for reports of bugs keep them. */
function beginAtCall(error: LongpoleError, limit: number): void {
  const { stack, code } = error;
  const head = String(error);
  // `Error.prepareStackTrace` of the program may return anything.
  if (typeof stack !== 'string' || !stack.startsWith(head)) return;
  const lines = stack.slice(head.length).split('\n').slice(1);
  const folders = lines.map(folderOf);
  const program = folders.findIndex((folder) => folder !== undefined && folder !== folders[0]);
  const from = code === 'ERR_LONGPOLE_INTERNAL' ? 0 : Math.max(program - 1, 0);
  error.stack = [head, ...lines.slice(from, from + limit)].join('\n');
}

/** Returns the folder of the code of a stack frame; undefined for code of Node and V8. */
function folderOf(frame: string): string | undefined {
  const [, file = ''] = /([^\s(]*):\d+:\d+\)?$/.exec(frame) ?? [];
  return file === '' || file.startsWith('node:') || file === '<anonymous>'
    ? undefined
    : file.replace(/[^/\\]*$/, '');
}

/** Returns the error for an argument or option with a wrong type or value. */
export function invalidArgument(message: string): LongpoleError {
  return new LongpoleError('ERR_LONGPOLE_INVALID_ARGUMENT', message);
}

/** Returns the error for a future that was released or cancelled, or that another client made. */
export function unusableFuture(message: string, options?: { cause?: unknown }): LongpoleError {
  return new LongpoleError('ERR_LONGPOLE_FUTURE', message, options);
}

/** Returns the error for a broken invariant of Longpole itself. `what` is a whole sentence. */
export function internalError(what: string, options?: { cause?: unknown }): LongpoleError {
  const message = `${what} This is a bug in Longpole; please report it with this message.`;
  return new LongpoleError('ERR_LONGPOLE_INTERNAL', message, options);
}

export function messageOf(thrown: unknown): string {
  return isError(thrown) ? thrown.message : String(thrown);
}

/** Returns the message of a thrown value with a full stop. Messages of Node and V8 end with or without one. */
export function sentenceOf(thrown: unknown): string {
  const message = messageOf(thrown).trimEnd();
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** What to do if too many files are open. */
export const FILES_ADVICE = 'Close files and connections, or raise the limit, e.g. with: ulimit -n 1024.';

/** Returns what to do about a failed call of the system: `otherwise`, unless too many files are open, or Node's permissions forbid the call. */
export function adviceFor(cause: unknown, otherwise: string): string {
  const message = messageOf(cause);
  // Node names the option that gives a permission.
  if (/\bUse --allow-/.test(message)) return 'Pass this option to Node.';
  return /\bE[MN]FILE\b/.test(message) ? FILES_ADVICE : otherwise;
}

/** Returns the error for a value that cannot be copied. `what` is the beginning of its message, `instead` the end. */
export function notCopyable(what: string, reason: unknown, instead: string): LongpoleError {
  const message = `${what}: ${cloneText(reason, instead)}`;
  return new LongpoleError('ERR_LONGPOLE_NOT_CLONEABLE', message, { cause: reason });
}

/** Returns why a value could not be copied, and what to do: `instead`, unless an `await` was forgotten. */
export function cloneText(reason: unknown, instead: string): string {
  const why = sentenceOf(reason);
  return `${why} ${why.startsWith('#<Promise> ') ? 'Await the promise, and use its value.' : instead}`;
}

/** Most causes to follow. An error may be its own cause. */
const MAX_CAUSES = 8;

/**
 * Makes V8 convert the stacks of an error and of its causes to text. Until a stack is read, its error holds every
 * function of the stack and the object of each call. An error made by `future.cancel()` would otherwise keep its
 * Future from the garbage collector, because the handle of the result keeps the error.
 */
export function releaseStack(error: unknown): void {
  let cause = error;
  try {
    for (let depth = 0; isError(cause) && depth < MAX_CAUSES; depth++) {
      Reflect.get(cause, 'stack');
      cause = cause.cause;
    }
  } catch {
    // The program may have defined `stack` and `cause` as getters that throw.
  }
}

/**
 * Reports that a task failed. `code` is the code of the thrown error if it is one of Longpole's, otherwise
 * ERR_LONGPOLE_TASK. Failures without a thrown value have other codes, e.g. ERR_LONGPOLE_TASK_TIMEOUT (the task exceeded
 * its `timeout`) or ERR_LONGPOLE_NOT_CLONEABLE (an argument cannot be copied).
 *
 * `cause` is the thrown value, with the stack of the isolate that ran the task. For other failures it is the underlying
 * error, if there is one.
 */
export class TaskError extends LongpoleError {
  /** Key of the task. */
  readonly key: string;
  /** Name of the task's function. */
  readonly function: string;
  /** Name of the worker that ran the task, e.g. `threads-0`; `main` if an argument could not be copied. */
  readonly worker: string;

  constructor(
    where: { key: string; function: string; worker: string },
    message: string,
    options?: { cause?: unknown; code?: ErrorCode },
  ) {
    super(options?.code ?? 'ERR_LONGPOLE_TASK', message, options);
    this.key = where.key;
    this.function = where.function;
    this.worker = where.worker;
  }
}

/** Reports that a worker ended during the task `attempts` times. The task is not tried again. */
export class KilledWorkerError extends TaskError {
  readonly attempts: number;

  constructor(
    where: { key: string; function: string; worker: string },
    attempts: number,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(where, message, { ...options, code: 'ERR_LONGPOLE_KILLED_WORKER' });
    this.attempts = attempts;
  }
}

/**
 * Returns whether a value is an Error of any realm, or a DOMException. Under Jest this package and the program run in a
 * separate realm, and errors that Node throws are instances of another Error class.
 */
export function isError(value: unknown): value is Error {
  if (value instanceof Error) return true;
  const text = Object.prototype.toString.call(value);
  return text === '[object Error]' || text === '[object DOMException]';
}

const ANOTHER = 'or pass another path.';

/** Codes of the system that have a plain reason and a remedy. */
const REASONS: Readonly<Record<string, readonly [why: string, advice: string]>> = {
  ENOSPC: ['the disk is full.', `Free space on the disk, ${ANOTHER}`],
  EDQUOT: ['your disk quota is used up.', `Free space, ${ANOTHER}`],
  EACCES: ['permission denied.', `Change the permissions of its folder, ${ANOTHER}`],
  EPERM: ['permission denied.', `Change the permissions of its folder, ${ANOTHER}`],
  EROFS: ['its file system is read-only.', 'Pass a path on another file system.'],
  ENOENT: ['its folder does not exist.', `Create the folder, ${ANOTHER}`],
  ENOTDIR: ['a part of its path is a file, not a folder.', 'Pass another path.'],
  EEXIST: ['a file has the name of a folder that it needs.', 'Pass another path.'],
  EISDIR: ['it is a folder.', 'Pass the path of a file.'],
};

/** Returns a message: which file cannot be written, why, and what to do. */
export function notWrittenText(file: string, cause: unknown): string {
  const code = isError(cause) && 'code' in cause ? String(cause.code) : '';
  const [why, advice] = REASONS[code] ?? [
    sentenceOf(cause),
    adviceFor(cause, 'Correct this, or pass another path.'),
  ];
  return `${file} cannot be written: ${why} ${advice}`;
}

/** Returns the error for a trace, an event file or an export that cannot be written. */
export function notWrittenError(file: string, cause: unknown): LongpoleError {
  return new LongpoleError('ERR_LONGPOLE_TRACE_FILE', notWrittenText(file, cause), { cause });
}

/** Returns what `read` returns, or `otherwise` if it throws. */
export function attempt<T, O>(read: () => T, otherwise: O): T | O {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

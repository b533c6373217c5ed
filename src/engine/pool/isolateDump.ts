// The dump of an isolate's thread. The inspector requests it, so the thread answers also while a task runs. A thread in
// a long native call or without a core does not answer; the system's state of the thread distinguishes the two.

import { fieldOf } from '../../base/json.js';
import { VITALS } from '../../protocol/isolateMessages.js';
import { NATIVE_CELL } from '../../protocol/mailbox.js';
import { LOADING } from '../../resources/nativeGuard.js';
import { threadState } from '../../resources/processTree.js';
import { inspectThread } from '../profiler/threadInspector.js';
import { DUMP_EXPRESSION, type IsolateAnswer } from '../worker/inspectorHooks.js';
import type { MessageCount } from './messageLog.js';
import type { CallDump } from './pendingCalls.js';

/** Time limit for the thread's answer, in milliseconds. */
const PATIENCE_MS = 1000;

export interface IsolateDump {
  readonly thread: string;
  readonly state: 'starting' | 'running' | 'ended';
  /** Whether the thread is loading a native addon. */
  readonly loadsAddon: boolean;
  /** Seconds since the last turn of its event loop; undefined before the first turn. */
  readonly turned: number | undefined;
  /** Calls without an answer. */
  readonly calls: readonly CallDump[];
  readonly sent: readonly MessageCount[];
  readonly received: readonly MessageCount[];
  /**
   * Open runs, each with the local id of the running task (-1: none) and the number of completions that the host has
   * not read.
   */
  readonly runs: readonly { readonly run: number; readonly running: number; readonly unread: number }[];
  /** State of the thread according to the system, e.g. `S ep_poll`. */
  readonly system: string;
  /** The answer of the thread, or why there is none. */
  readonly inside: IsolateAnswer | string;
}

/** The fields that the host fills in. */
type KnownOfThread = Pick<IsolateDump, 'thread' | 'state' | 'calls' | 'sent' | 'received' | 'runs'>;

/**
 * Completes a dump with the thread's answer and the system's state. Takes a second without an answer. Never rejects.
 */
export async function dumpThread(
  known: KnownOfThread,
  vitals: Float64Array,
  mailbox: Int32Array,
): Promise<IsolateDump> {
  return {
    ...known,
    loadsAddon: Atomics.load(mailbox, NATIVE_CELL) === LOADING,
    turned: secondsSinceTurn(vitals),
    system: threadState(`self/task/${vitals[VITALS.thread]}`),
    inside: await askThread(known.thread),
  };
}

/** Returns the seconds since the last turn of an isolate's event loop; undefined before the first turn. */
export function secondsSinceTurn(vitals: Float64Array): number | undefined {
  const turnedAt = vitals[VITALS.turned]!;
  return turnedAt === 0 ? undefined : Math.round(Date.now() - turnedAt * 1000) / 1000;
}

/** Describes a thread that does not answer. */
export function threadStanding(vitals: Float64Array): string {
  const state = threadState(`self/task/${vitals[VITALS.thread]}`) || 'it has no known thread';
  return `${state}, its event loop ${vitals[VITALS.turned] === 0 ? 'never turned' : 'turned'}`;
}

/** Requests the dump of the thread with this name. Never rejects. */
function askThread(name: string): Promise<IsolateAnswer | string> {
  return new Promise((resolve) => {
    const late = setTimeout(
      () =>
        resolve(`It did not answer within ${PATIENCE_MS / 1000} s: it is in a native call or has no core.`),
      PATIENCE_MS,
    );
    const answered = (result: unknown): void => {
      clearTimeout(late);
      resolve(standingOf(result) ?? 'It has not started or is ending.');
    };
    inspectThread(
      name,
      (thread) =>
        thread.send('Runtime.evaluate', { expression: DUMP_EXPRESSION, returnByValue: true }, answered),
      PATIENCE_MS,
    );
  });
}

function standingOf(answer: unknown): IsolateAnswer | undefined {
  const value = fieldOf(fieldOf(answer, 'result'), 'value');
  return typeof value === 'string' ? JSON.parse(value) : undefined;
}

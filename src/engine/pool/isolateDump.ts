// What a thread says about itself when its cluster is dumped, asked through the inspector: V8 answers in the middle of a
// task, too. A thread in a long native call, or without a core, does not answer; its state in the system says which.
import { NATIVE_CELL, VITALS_THREAD, VITALS_TURNED } from '../../protocol/isolateMessages.js';
import { LOADING } from '../../resources/nativeGuard.js';
import { readProc } from '../../resources/processTree.js';
import { inspectThread } from '../profiler/threadInspector.js';
import { DUMP_EXPRESSION, type IsolateAnswer } from '../worker/dumpHook.js';
import type { MessageCount } from './messageLog.js';
import type { CallDump } from './pendingCalls.js';

/** How long a thread may take to answer, in milliseconds. */
const PATIENCE_MS = 1000;

export interface IsolateDump {
  readonly thread: string;
  readonly state: 'starting' | 'running' | 'ended';
  /** It loads a native addon. */
  readonly loadsAddon: boolean;
  /** Seconds since its event loop turned; undefined before the first turn. */
  readonly turned: number | undefined;
  /** Calls that wait for an answer. */
  readonly calls: readonly CallDump[];
  readonly sent: readonly MessageCount[];
  readonly received: readonly MessageCount[];
  /** Open runs: the task that runs, by local id, or -1, and completions that the host has not taken. */
  readonly runs: readonly { readonly run: number; readonly running: number; readonly unread: number }[];
  /** The system's state of the thread, e.g. `S ep_poll`. */
  readonly system: string;
  /** What it says of itself, or why it says nothing. */
  readonly inside: IsolateAnswer | string;
}

/** What a host knows of its thread. */
type KnownOfThread = Pick<IsolateDump, 'thread' | 'state' | 'calls' | 'sent' | 'received' | 'runs'>;

/** Adds what the thread and the system say. Takes a second if the thread does not answer. Never rejects. */
export async function dumpThread(
  known: KnownOfThread,
  vitals: Float64Array,
  mailbox: Int32Array,
): Promise<IsolateDump> {
  return {
    ...known,
    loadsAddon: Atomics.load(mailbox, NATIVE_CELL) === LOADING,
    turned: secondsSinceTurn(vitals),
    system: threadState(vitals[VITALS_THREAD]!),
    inside: await askThread(known.thread),
  };
}

/** Seconds since the event loop of an isolate turned; undefined before the first turn. */
export function secondsSinceTurn(vitals: Float64Array): number | undefined {
  const turnedAt = vitals[VITALS_TURNED]!;
  return turnedAt === 0 ? undefined : Math.round(Date.now() - turnedAt * 1000) / 1000;
}

/** What is known of a thread that says nothing, as text. */
export function threadStanding(vitals: Float64Array): string {
  const state = threadState(vitals[VITALS_THREAD]!) || 'it has no thread that is known';
  return `${state}, its event loop ${vitals[VITALS_TURNED] === 0 ? 'never turned' : 'turned'}`;
}

/** The state of a thread of this process, by the system's number; empty where there is no /proc. */
function threadState(thread: number): string {
  const stat = readProc(`self/task/${thread}/stat`);
  if (thread === 0 || stat === undefined) return '';
  const state = stat.replace(/^.*\) /s, '').slice(0, 1);
  return `${state} ${readProc(`self/task/${thread}/wchan`) ?? ''}`.trim();
}

/** What the thread of this name says about itself. Never rejects. */
function askThread(name: string): Promise<IsolateAnswer | string> {
  return new Promise((resolve) => {
    const late = setTimeout(
      () => resolve(`It did not answer within ${PATIENCE_MS / 1000} s: a native call, or no core.`),
      PATIENCE_MS,
    );
    const answered = (result: unknown): void => {
      clearTimeout(late);
      resolve(standingOf(result) ?? 'It has not begun, or it ends.');
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
  if (typeof answer !== 'object' || answer === null || !('result' in answer)) return undefined;
  const { result } = answer;
  if (typeof result !== 'object' || result === null || !('value' in result)) return undefined;
  return typeof result.value === 'string' ? JSON.parse(result.value) : undefined;
}

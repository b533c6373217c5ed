// The dump of a cluster in at most 40 lines for short logs: the first tasks, the first waiting calls, shared objects,
// and a line per worker.
import { visibleName } from '../../base/visibleText.js';
import type { HostDump, ProcessDump } from '../host/hostTypes.js';
import type { WaitDump } from '../openWaits.js';
import type { IsolateDump } from '../pool/isolateDump.js';
import type { MessageCount } from '../pool/messageLog.js';
import type { CallDump } from '../pool/pendingCalls.js';
import { sharedLine } from './coordination/sharedDump.js';
import type { DumpFields, TaskDump, WorkerDump } from './dumpTypes.js';

const MAX_TASKS = 5;
const MAX_WAITS = 8;
const MAX_SHARED = 4;
const MAX_WORKERS = 16;
/** Types of messages that are shown for each direction, the newest first. */
const MAX_TYPES = 6;
const MAX_STACK_FRAMES = 3;
/** Most characters of a line, which may name several keys. */
const LONGEST_LINE = 2000;

export function briefDump({ counts, tasks, more, workers, waits, shared }: DumpFields): string {
  const unfinished = tasks.length + more;
  const states = Object.entries(counts).map(([state, count]) => `${state} ${count}`);
  return [
    `tasks: ${states.join(', ') || 'none'}`,
    ...firstOf(tasks.map(taskLine), MAX_TASKS, unfinished),
    waits.length === 0 ? 'no call of a client waits' : 'calls of clients that wait:',
    ...firstOf(waits.map(waitLine), MAX_WAITS),
    ...(shared.length === 0 ? [] : ['shared objects:', ...firstOf(shared.map(sharedLine), MAX_SHARED)]),
    'workers:',
    ...firstOf(workers.map(workerLine), MAX_WORKERS),
  ].join('\n');
}

function firstOf(lines: readonly string[], max: number, all = lines.length): string[] {
  const shown = lines.slice(0, max).map((line) => `  ${visibleName(line, LONGEST_LINE)}`);
  return all > shown.length ? [...shown, `  and ${all - shown.length} more`] : shown;
}

function taskLine({ key, state, worker, waitsFor }: TaskDump): string {
  const where = worker === undefined ? '' : ` at ${worker}`;
  return `${key} is ${state}${where}${waitsFor.length === 0 ? '' : `, waits for ${waitsFor.join(', ')}`}`;
}

function waitLine({ what, subject, count, age }: WaitDump): string {
  return `${what}(${subject})${count === 1 ? '' : ` and ${count - 1} more`}, ${age} s`;
}

function workerLine({ name, pid, state, runs, scheduler, host }: WorkerDump): string {
  const left = scheduler?.batches.reduce((sum, batch) => sum + batch.left, 0) ?? 0;
  return [
    `${name} ${state} pid ${pid}`,
    runs === undefined ? 'runs nothing' : `runs ${runs.key} for ${runs.seconds.toFixed(1)} s`,
    `has ${left} tasks, ${scheduler?.placed ?? 0} placed, steal ${scheduler?.steal ?? '-'}`,
    'inside' in host ? processText(host) : isolateText(host),
  ].join('; ');
}

function processText({ state, calls, sent, received, inside }: ProcessDump): string {
  return [
    `process ${state}`,
    ...callsText(calls),
    `sent ${messagesText(sent)}`,
    `received ${messagesText(received)}`,
    typeof inside === 'string' ? inside : isolateText(inside),
  ].join('; ');
}

function isolateText({
  isolate: { state, turned, calls, sent, received, system, inside },
}: HostDump): string {
  return [
    `isolate ${[state, system].join(' ').trim()}${turned === undefined ? '' : `, turned ${turned} s ago`}`,
    ...callsText(calls),
    `sent ${messagesText(sent)}`,
    `received ${messagesText(received)}`,
    standingText(inside),
  ].join('; ');
}

function standingText(inside: IsolateDump['inside']): string {
  if (typeof inside === 'string') return inside;
  const { busy, inTask, queue, runs, stack } = inside;
  const loading = runs.filter(({ loaded }) => !loaded).length;
  const at = stack.slice(0, MAX_STACK_FRAMES).map((line) => line.replace(/\(?\S*\/([^/)]+)\)?$/, '$1'));
  return [
    inTask ? 'in a task' : busy ? 'busy' : 'idle',
    `${queue.length} batches`,
    ...(loading === 0 ? [] : [`${loading} runs load functions`]),
    ...at,
  ].join(', ');
}

function callsText(calls: readonly CallDump[]): string[] {
  const [oldest] = calls;
  return oldest === undefined ? [] : [`${calls.length} calls wait: ${oldest.what} ${oldest.age} s`];
}

function messagesText(messages: readonly MessageCount[]): string {
  const shown = messages.slice(0, MAX_TYPES).map(({ type, count, age }) => `${type}×${count} ${age}s`);
  return shown.join(' ') || 'nothing';
}

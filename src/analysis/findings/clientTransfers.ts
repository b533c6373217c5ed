// Data that the client sends to the workers or fetches from them, and the two findings about it.
import { bytesText, countText, secondsText } from '../../base/words.js';
import { preparingSpans } from '../preparingSpans.js';
import { passedResults, programTransfers, recordsTransfers, transferSpans } from '../programTransfers.js';
import { overlapSeconds, type Span } from '../spans.js';
import type { Facts, Rule } from './finding.js';

export interface ClientTransfers {
  /** Rows of transfers, largest first. */
  readonly rows: readonly number[];
  readonly nbytes: number;
  /** Seconds in which such a transfer ran and the critical path did not compute. */
  readonly onPath: number;
}

/**
 * Returns the transfers of arguments and results of the program. `scatter`: to the workers; `gather`: from them; `pass`: of
 * results that workers of a local run use, in both directions, of which `nbytes` are sent.
 */
export function clientTransfers(facts: Facts, what: 'scatter' | 'gather' | 'pass'): ClientTransfers {
  const { nbytes } = facts.trace.transfers;
  const passed = passedResults(facts.trace);
  const both = new Set([...passed.received, ...passed.sent]);
  const rows =
    what === 'pass' ? [...both] : programTransfers(facts.trace, what).filter((row) => !both.has(row));
  rows.sort((a, b) => nbytes[b]! - nbytes[a]!);
  return {
    rows,
    nbytes: (what === 'pass' ? passed.sent : rows).reduce((sum, row) => sum + nbytes[row]!, 0),
    onPath: rows.length === 0 ? 0 : overlapSeconds(waits(facts), transferSpans(facts.trace, rows)),
  };
}

export function clientSpans(facts: Facts, what: 'scatter' | 'gather'): Span[] {
  return transferSpans(facts.trace, programTransfers(facts.trace, what));
}

/** Kinds of path parts without a running task and without another known cause. */
const WAITS = ['transfer', 'waiting for the scheduler', 'client time', 'unknown'] as const;

/** Returns the parts of the path that a transfer of the client may explain, in order of time. */
function waits(facts: Facts): Span[] {
  const { firstStart } = facts;
  // Before the first task the path shows 'worker start', but transfers at that time may be the cause.
  const early = [...facts.parts('worker start')].filter(({ start }) => start < firstStart);
  return [...WAITS.flatMap((kind) => [...facts.parts(kind)]), ...early].sort((a, b) => a.start - b.start);
}

/** Minimum number of bytes in total. Small results travel inside the message that their task has finished. */
export const MIN_BYTES = 1e6;
/** Ratio of sent to fetched bytes, from which the client may have sent back the fetched data. */
const SENT_BACK = 0.5;

/**
 * The client fetched results that later tasks used on the workers, or that the client sent back. Such results could
 * have stayed on the workers. The cost is the part of the critical path with nothing but these transfers, in both directions if
 * the client sent back as much as it had fetched.
 */
export const gatheredResults: Rule = (facts) => {
  const { rows, nbytes, onPath } = clientTransfers(facts, 'gather');
  if (nbytes < MIN_BYTES) return undefined;
  const again = usedAgain(facts, rows);
  const sent = bytesSentBack(facts, rows);
  if (again.length === 0 && sent < SENT_BACK * nbytes) return undefined;
  const isBack = sendsBack(facts);
  const both = [...clientSpans(facts, 'gather'), ...clientSpans(facts, 'scatter')];
  const seconds = isBack ? overlapSeconds(waits(facts), both) : onPath;
  return {
    code: 'gathered-results',
    title: `The client fetched ${bytesText(nbytes)} of results that the workers used again`,
    seconds,
    confidence: 'medium',
    text: isBack
      ? `The critical path waited ${secondsText(seconds)} while the client fetched results and sent ${bytesText(sent)} back to the workers.`
      : `The critical path waited ${secondsText(seconds)} until the client had received and unpacked results. ${again.length > 0 ? `Later tasks used ${countText(again.length, 'result')}` : `The client then sent ${bytesText(sent)} to the workers`}.`,
    numbers: { nbytes, transfers: rows.length, usedAgain: again.length, sentBackBytes: sent },
    tasks: again.length > 0 ? again.slice(0, 5) : keysOf(facts, rows),
    question: 'transfers-by-pair',
    advice:
      'Keep intermediate results on the workers: persist them, pass futures to the next step, and fetch only the last result.',
  };
};

/** Returns whether the client sent about as much to the workers as it had fetched before, so that both are the same data. */
function sendsBack(facts: Facts): boolean {
  const { rows, nbytes } = clientTransfers(facts, 'gather');
  const sent = bytesSentBack(facts, rows);
  return nbytes >= MIN_BYTES && sent >= SENT_BACK * nbytes && nbytes >= SENT_BACK * sent;
}

/** Returns the first key of each transfer that has keys, at most five. */
export function keysOf({ trace: { transfers, keys } }: Facts, rows: readonly number[]): string[] {
  return rows
    .filter((row) => transfers.keyOffsets[row + 1]! > transfers.keyOffsets[row]!)
    .slice(0, 5)
    .map((row) => keys.get(transfers.keys[transfers.keyOffsets[row]!]!));
}

/** Returns the bytes that the client sent after the first of these results had arrived. */
function bytesSentBack(facts: Facts, rows: readonly number[]): number {
  const { stop, start, nbytes } = facts.trace.transfers;
  const first = rows.reduce((earliest, row) => Math.min(earliest, stop[row]!), Number.POSITIVE_INFINITY);
  const sent = clientTransfers(facts, 'scatter').rows.filter((row) => start[row]! >= first);
  return sent.reduce((sum, row) => sum + nbytes[row]!, 0);
}

/** Returns the keys of fetched results that tasks needed which were submitted after the fetch. */
function usedAgain({ trace }: Facts, rows: readonly number[]): string[] {
  const { transfers, tasks, keys } = trace;
  const fetched = new Map<number, number>();
  for (const row of rows) {
    for (let i = transfers.keyOffsets[row]!; i < transfers.keyOffsets[row + 1]!; i++) {
      const key = transfers.keys[i]!;
      fetched.set(key, Math.min(fetched.get(key) ?? Number.POSITIVE_INFINITY, transfers.stop[row]!));
    }
  }
  const used = new Set<number>();
  for (let row = 0; row < tasks.length; row++) {
    for (let edge = tasks.dependencyOffsets[row]!; edge < tasks.dependencyOffsets[row + 1]!; edge++) {
      const key = tasks.dependencies[edge]!;
      const time = fetched.get(key);
      const later = tasks.submitted[row]! >= 0 ? tasks.submitted[row]! : tasks.started[row]!;
      if (time !== undefined && later >= time) used.add(key);
    }
  }
  return [...used].map((key) => keys.get(key));
}

/** Share of the cost from which the packing of arguments is mentioned. */
const MIN_PACKING = 0.1;
/** Largest time in seconds in which Longpole prepares a task without large arguments. */
const PREPARING = 200e-6;

/**
 * The run waited while the client sent large arguments or closures to the workers. The cost is the part of the critical
 * path with nothing but these transfers, or in which the program's thread packed the arguments. Arguments that were results
 * before are reported as gathered results.
 */
export const oversizedArguments: Rule = (facts) => {
  const { rows, nbytes, onPath } = clientTransfers(facts, 'scatter');
  if (nbytes < MIN_BYTES || sendsBack(facts)) return undefined;
  const sending = transferSpans(facts.trace, rows);
  const both = overlapSeconds(waits(facts), [...sending, ...preparingSpans(facts.trace)]);
  const packing = Math.max(0, both - onPath - PREPARING * facts.tasks);
  const largest = rows[0] === undefined ? 0 : facts.trace.transfers.nbytes[rows[0]]!;
  const isLocal = !recordsTransfers(facts.trace);
  return {
    code: 'oversized-arguments',
    title: `The run waited while the ${isLocal ? "program's thread" : 'client'} sent ${bytesText(nbytes)} of arguments`,
    seconds: onPath + packing,
    confidence: 'medium',
    text: `The critical path waited ${secondsText(onPath)} for ${countText(rows.length, 'transfer')} from the ${isLocal ? 'program' : 'client'}, the largest with ${bytesText(largest)}${packing >= MIN_PACKING * (onPath + packing) ? `, and ${secondsText(packing)} while the program's thread prepared the tasks and packed their arguments` : ''}.`,
    numbers: { nbytes, transfers: rows.length, largestBytes: largest, packingSeconds: packing },
    tasks: keysOf(facts, rows),
    question: 'transfers-by-type',
    advice: isLocal
      ? 'Load data inside the tasks (pass a path instead of the content), or pass typed arrays on SharedArrayBuffers, which threads do not copy. A cluster, await connect(), copies a scattered value once for each worker.'
      : 'Load data inside the tasks (pass a path instead of the content), or scatter a large value once and pass its future.',
  };
};

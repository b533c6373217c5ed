// Two rules about workers whose memory was short.
import { sumOf } from '../../base/lookUps.js';
import { bytesText, countText, secondsText } from '../../base/words.js';
import { ACTIONS } from '../../protocol/clusterObserver.js';
import { MEMORY_TARGET } from '../simulation/conditions.js';
import { spilledResults, spilledText, spillSeconds } from '../spilledResults.js';
import { pausesOf, restartsOf } from '../workerLives.js';
import type { Facts, Rule } from './finding.js';

/**
 * Workers paused because their memory was short, and the critical path waited for these workers. The cost is the time
 * in which the path waited for paused workers, for the disk, or for the new threads of workers that were restarted meanwhile.
 */
export const memoryBound: Rule = (facts) => {
  const paused = facts.onPath('paused');
  if (paused === 0) return undefined;
  const disk = facts.onPath('disk');
  const pauses = [...pausesOf(facts.trace).values()].flat();
  const { limit, enough, advice } = memoryNeeded(facts);
  const spilled = spilledBytes(facts);
  const { count, seconds: restarting } = restartedWhilePaused(facts);
  const restarted =
    count === 0
      ? ''
      : ` ${countText(count, 'time')}, the thread of a worker was replaced, because its memory stayed beyond its limit${restarting > 0 ? `; the path waited ${secondsText(restarting)} for new threads` : ''}.`;
  const waits = [disk > 0 ? 'for disks' : '', restarting > 0 ? 'for new threads' : ''].filter(
    (text) => text !== '',
  );
  return {
    code: 'memory-bound',
    title: `Memory was short: the run waited ${secondsText(paused + disk + restarting)} ${['for paused workers', ...waits].join(' and ')}`,
    seconds: paused + disk + restarting,
    confidence: 'high',
    text: `Workers made ${countText(pauses.length, 'pause')}. The critical path waited ${secondsText(paused)} for them${disk > 0 ? `, and ${secondsText(disk)} for disks` : ''}. ${spilled > 0 ? spilledText(facts.trace) : 'No results'} were written to disk.${restarted}`,
    numbers: {
      pausedSeconds: paused,
      diskSeconds: disk,
      pauses: pauses.length,
      restarts: count,
      restartSeconds: restarting,
      spilledBytes: spilled,
      memoryLimit: limit,
      enoughBytes: enough,
    },
    tasks: facts.pathTasks('paused'),
    question: 'memory-by-prefix',
    advice,
  };
};

/** Returns the number of threads that were replaced while their worker was paused, and the seconds of the path for new ones. */
function restartedWhilePaused(facts: Facts): { readonly count: number; readonly seconds: number } {
  const { worker } = facts.trace.tasks;
  const times = new Map<number, number[]>();
  for (const [row, pauses] of pausesOf(facts.trace)) {
    const inside = (time: number) => pauses.some(({ start, stop }) => start <= time && time <= stop);
    times.set(row, (restartsOf(facts.trace).get(row) ?? []).filter(inside));
  }
  let seconds = 0;
  for (const { start, stop, row } of facts.parts('worker start'))
    if (row >= 0 && times.get(worker[row]!)?.some((time) => time <= start)) seconds += stop - start;
  return { count: [...times.values()].flat().length, seconds };
}

/**
 * Memory was short, and the critical path waited for the disk while results were spilled or read back. Costs this time, or on
 * Dask the time in which the workers spilled results, because they start no task meanwhile.
 */
export const spillBound: Rule = (facts) => {
  const writing = facts.isDask ? spillSeconds(facts.trace) : 0;
  const seconds = Math.max(facts.onPath('disk'), writing / new Set(facts.lanes.worker).size);
  const spilled = spilledBytes(facts);
  if (seconds === 0 || spilled === 0) return undefined;
  const { limit, enough, advice } = memoryNeeded(facts);
  return {
    code: 'spill-bound',
    title: `Memory was short: ${spilledText(facts.trace)} were written to disk`,
    seconds,
    confidence: facts.isDask ? 'medium' : 'high',
    text:
      writing === 0
        ? `The critical path waited ${secondsText(seconds)} for the disk.`
        : `The workers wrote for ${secondsText(writing)} in total. A Dask worker starts no task while it writes.`,
    numbers: {
      spilledBytes: spilled,
      memoryLimit: limit,
      enoughBytes: enough,
      diskSeconds: diskSeconds(facts),
    },
    tasks: facts.pathTasks('disk'),
    question: 'memory-by-prefix',
    advice,
  };
};

/** Returns the bytes that were written to disk. Dask's workers have metrics of them, and no intervals. */
function spilledBytes({ trace, isDask }: Facts): number {
  return isDask ? spilledResults(trace).nbytes : trace.totals.spilled;
}

function diskSeconds({ trace }: Facts): number {
  const { action, start, stop } = trace.intervals;
  const isDisk = (row: number) => ACTIONS[action[row]!]?.startsWith('disk') === true;
  return sumOf(action.keys(), (row) => (isDisk(row) ? stop[row]! - start[row]! : 0));
}

/**
 * Ratio of a process's memory to its limit, from which its results are spilled. @source Dask's `distributed.worker.memory.spill`
 */
const SPILL = 0.7;
/** Ratio of other memory to that of results, from which results are not the reason why memory is short. */
const FEW_RESULTS = 4;

/**
 * Returns the memory limit of a worker, and the least limit at which no worker might have spilled results or paused. With more
 * memory, a process collects garbage less often, so it may need more than this.
 */
function memoryNeeded({ trace }: Facts): {
  /** Smallest memory limit of a worker, bytes; 0 if no worker has a limit. */
  readonly limit: number;
  readonly enough: number;
  readonly advice: string;
} {
  const limits = trace.workers.memoryLimit.filter((one) => one > 0);
  const limit = limits.length === 0 ? 0 : Math.min(...limits);
  const { length, managed, unmanaged, spilled } = trace.memory;
  // Results on disk may be compressed.
  const { ratio } = spilledResults(trace);
  let [enough, ofResults, others] = [0, 0, 0];
  for (let row = 0; row < length; row++) {
    const held = (managed[row]! || 0) + (spilled[row]! || 0) * ratio;
    enough = Math.max(enough, held / MEMORY_TARGET, (held + (unmanaged[row]! || 0)) / SPILL);
    ofResults = Math.max(ofResults, held);
    others = Math.max(others, unmanaged[row]! || 0);
  }
  const less =
    others > FEW_RESULTS * ofResults
      ? `keep less in tasks and in variables of their modules: results took at most ${bytesText(ofResults)}`
      : 'use smaller blocks';
  const advice =
    enough > limit && limit > 0
      ? `Raise the memory limit per worker from ${bytesText(limit)} to at least ${bytesText(enough)}, or ${less}.`
      : 'Raise the memory limit, use smaller blocks, or reduce results early that stay in memory for long.';
  return { limit, enough, advice };
}

import { countText, secondsText } from '../../base/words.js';
import { pausesOf } from '../pauses.js';
import { restartsOf } from '../restarts.js';
import { spilledText } from '../spilledResults.js';
import type { Facts, Rule } from './finding.js';
import { memoryNeeded } from './memoryNeeded.js';

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
  const { spilled } = facts.trace.totals;
  const { count, seconds: restarting } = restartedWhilePaused(facts);
  const restarted =
    count === 0
      ? ''
      : ` ${countText(count, 'time')}, the thread of a worker was replaced, because its memory stayed beyond its limit; the path waited ${secondsText(restarting)} for new threads.`;
  const waits = [disk > 0 ? 'for disks' : '', restarting > 0 ? 'for new threads' : ''].filter(
    (text) => text !== '',
  );
  return {
    code: 'memory-bound',
    title: `Memory was short: the run waited ${secondsText(paused + disk + restarting)} ${['for paused workers', ...waits].join(' and ')}`,
    seconds: paused + disk + restarting,
    confidence: 'high',
    evidence: {
      text: `Workers made ${countText(pauses.length, 'pause')}. The critical path waited ${secondsText(paused)} for them${disk > 0 ? `, and ${secondsText(disk)} for disks` : ''}. ${spilledText(facts.trace)} were written to disk.${restarted}`,
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
    },
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

import { countText, secondsText } from '../../base/words.js';
import { type BlockedWorker, unexplainedSpans } from '../blockedSpans.js';
import { overlapSeconds } from '../spans.js';
import type { Facts, Rule } from './finding.js';

/**
 * Worker processes did not run, or the event loops of Dask workers were blocked, so that these neither received tasks nor
 * reported results. The cost is the part of the path that waited for them. A process that reads large arguments is another finding.
 */
export const blockedWorkers: Rule = (facts) => {
  const blocked = unexplainedSpans(facts.trace);
  if (blocked.length === 0) return undefined;
  const seconds = Math.max(secondsOnPath(facts, blocked), facts.isDask ? 0 : lostSeconds(facts, blocked));
  if (seconds === 0) return undefined;
  const workers = new Set(blocked.map(({ worker }) => worker)).size;
  const worst = Math.max(...blocked.map(({ start, stop }) => stop - start));
  return {
    code: 'blocked-workers',
    title: `${countText(workers, 'worker')} did not answer for up to ${secondsText(worst)}, because ${facts.isDask ? 'the event loop there was blocked' : 'the process did not run'}`,
    seconds,
    confidence: 'medium',
    text: `${facts.isDask ? 'The event loops of workers were blocked' : 'Worker processes paused'} ${countText(blocked.length, 'time')}. ${facts.isDask ? `Tasks on the critical path waited ${secondsText(seconds)} meanwhile: such a worker` : 'Such a worker computes nothing, and'} neither receives tasks nor reports results.`,
    numbers: { worstDelaySeconds: worst, workers, times: blocked.length },
    tasks: facts.pathTasks('waiting for the scheduler'),
    question: 'queueing',
    advice: facts.isDask
      ? "Look for modules that tasks import, plugins of the workers, calls of 'client.run', and tasks that hold the GIL for long in compiled code. A stopped process looks the same."
      : 'Look for a stopped process (SIGSTOP, a debugger), and a machine that slept or has no free memory.',
  };
};

/**
 * Returns the seconds of the path in which tasks waited for the scheduler, which had sent them, and those of tasks on such a
 * worker. The event loop of a Dask worker is not that of its tasks.
 */
function secondsOnPath(facts: Facts, blocked: readonly BlockedWorker[]): number {
  const { kind, start, stop, row, length } = facts.path.columns;
  const waiting = facts.kindNumber('waiting for the scheduler');
  const { worker } = facts.trace.tasks;
  let seconds = 0;
  for (let part = 0; part < length; part++) {
    const isSent = kind[part] === waiting;
    const spans = blocked.filter((one) => isSent || (!facts.isDask && worker[row[part]!] === one.worker));
    seconds += overlapSeconds([{ start: start[part]!, stop: stop[part]! }], spans);
  }
  return seconds;
}

/**
 * Returns the time of the run that all workers together lost while tasks waited: without it, the others would have had less to
 * do.
 */
function lostSeconds(facts: Facts, blocked: readonly BlockedWorker[]): number {
  const idle = [...facts.parts('client time')];
  const lost = blocked.map((span) => {
    const seconds = overlapSeconds([span], [facts.path]) - overlapSeconds(idle, [span]);
    return seconds * facts.queuedBetween(span.start, span.stop, 1);
  });
  return lost.reduce((sum, seconds) => sum + seconds, 0) / facts.workers;
}

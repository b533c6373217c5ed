import { largestOf, oncePer, sumOf } from '../../base/lookUps.js';
import { integerText, percentText, secondsText } from '../../base/words.js';
import { eventsOf, type Trace } from '../../trace/trace.js';
import { coreUseOf } from '../coreUse.js';
import type { Facts, Rule } from './finding.js';
import { sampledShares, shareSeconds } from './sampledShares.js';
import { schedulingSeconds } from './schedulerThread.js';

/** Share of the samples of a prefix from which its tasks count as printing. */
const MIN_SHARE = 0.2;
/**
 * Lines per task from which the program's thread, which writes or records them, is busier with lines than with tasks. A line takes it about
 * 10 µs, and a task 200 µs at most.
 */
const MANY_LINES = 100;

export const PRINT_LESS =
  'Print less in tasks: return what the program needs, write the rest to a file, or print a summary of each task.';

/** Returns the share of samples in which tasks print, by prefix, if it is large. */
const printingShares = oncePer((trace: Trace) =>
  // The inspector wraps the functions of `console` in `consoleCall`. Isolates replace `process.stdout.write` by `recordedWrite`.
  sampledShares(
    trace,
    MIN_SHARE,
    (name, file) =>
      file.startsWith('node:internal/console/') ||
      (name === 'consoleCall' && file === '') ||
      name === 'recordedWrite',
  ),
);

/** Returns the number of recorded lines that tasks printed, if the program's thread was busier with them than with tasks; otherwise 0. */
export const manyLines = oncePer((facts: Facts): number => {
  let lines = 0;
  for (const { worker } of eventsOf(facts.trace, 'stdout', 'stderr')) if (worker >= 0) lines++;
  return lines >= MANY_LINES * facts.tasks ? lines : 0;
});

/**
 * Tasks print very much. The cost is the time in which tasks call `console`, without waits for a core, and that in which the path waits for
 * the scheduler, because its thread writes or records the lines.
 */
export const consoleOutput: Rule = (facts) => {
  const { trace, lanes } = facts;
  const { prefix } = trace.tasks;
  const shares = printingShares(trace);
  const printed = shareSeconds(facts, shares);
  const lines = manyLines(facts);
  const worst = largestOf(printed);
  if (worst === undefined && lines === 0) return undefined;
  const seconds = sumOf(printed.values(), (one) => one);
  const waited = lines > 0 ? schedulingSeconds(facts).usual : 0;
  const name = worst === undefined ? '' : facts.prefixName(worst[0]);
  const onThreads = `According to the samples of their threads, tasks printed for ${secondsText(seconds)}.`;
  const onScheduler = `The program's thread, which also sends tasks to the workers, wrote or recorded ${integerText(lines)} lines or more.${waited > 0 ? ` The critical path waited ${secondsText(waited)} for it.` : ''}`;
  return {
    code: 'console-output',
    title:
      worst === undefined
        ? `Tasks print ${integerText(lines)} lines or more, which the program's thread writes or records`
        : `Tasks of '${name}' print to the console for ${percentText(shares.get(worst[0])!)} of their time`,
    seconds: facts.secondsOfRun(seconds * (1 - coreUseOf(trace).lost)) + waited,
    confidence: 'medium',
    text: [...(worst === undefined ? [] : [onThreads]), ...(lines > 0 ? [onScheduler] : [])].join(' '),
    numbers: { printedSeconds: seconds, lines, schedulerSeconds: waited, workers: facts.workers },
    tasks: facts.keys(lanes.spans.rows.filter((row) => worst === undefined || prefix[row] === worst[0])),
    question: 'critical-path',
    advice: PRINT_LESS,
  };
};

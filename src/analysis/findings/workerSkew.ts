import { percentText, secondsText } from '../../base/words.js';
import { profilerSeconds } from '../profilerStarts.js';
import { coveredSeconds } from '../workerBalance.js';
import type { Facts, Rule } from './finding.js';

/** Share of the threads that idle while the path waits for one, from where it counts as skew. */
const MIN_IDLE = 0.2;
/** The busiest thread has at least this many times the mean. */
const MIN_SKEW = 1.25;

/**
 * Tasks waited for their worker while other workers had nothing to do. Costs the share of that wait that idle threads
 * could have taken.
 */
export const workerSkew: Rule = (facts) => {
  const { workers, lanes, trace } = facts;
  if (workers < 2) return undefined;
  const busy = Float64Array.from({ length: lanes.count }, (_, lane) => ownSeconds(facts, lane));
  const mean = busy.reduce((sum, seconds) => sum + seconds, 0) / workers;
  const most = Math.max(...busy);
  if (most < MIN_SKEW * mean) return undefined;
  const seconds = Math.min(avoidableWait(facts), most - mean);
  const lane = busy.indexOf(most);
  const row = lanes.worker[lane]!;
  const name = row < 0 ? '' : trace.strings.get(trace.workers.name[row]!);
  return {
    code: 'worker-skew',
    title: `Tasks queued at '${name}' while other workers had nothing to do`,
    seconds,
    confidence: 'medium',
    evidence: {
      text: `'${name}' computed ${secondsText(most)}, the mean is ${secondsText(mean)}; ${percentText(behindSeconds(facts) / facts.makespan)} of the critical path waits for a worker that is busy.`,
      numbers: { busiestSeconds: most, meanSeconds: mean, workers },
      tasks: facts.pathTasks('waiting for a worker'),
      question: 'worker-balance',
    },
    advice:
      'Take away what binds tasks to a worker (options, inputs that only it has), or divide the data more evenly.',
  };
};

/** Of the path, without what it waits for workers that start. */
function behindSeconds({ path }: Facts): number {
  return path.behind.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Seconds in which tasks of a lane ran, and its profiler did not start. */
function ownSeconds({ trace, lanes, path }: Facts, lane: number): number {
  const rows = lanes.spans.rows.subarray(lanes.offsets[lane]!, lanes.offsets[lane + 1]!);
  const starting = profilerSeconds(trace, lanes.worker[lane]!, path.start, path.stop);
  return Math.max(0, coveredSeconds(trace, rows) - starting);
}

/** Seconds of waiting for a worker, as far as others idled meanwhile and could have had the task earlier. */
function avoidableWait(facts: Facts): number {
  const { latency, report, transferLatency } = facts.conditions;
  // To learn of a task and to tell of its result.
  const elsewhere = 2 * (latency + report + transferLatency);
  const there = allStarted(facts);
  let seconds = 0;
  for (const part of facts.parts('waiting for a worker')) {
    // Workers that are starting could not have had it.
    const [start, stop] = [Math.max(part.start, there), part.stop];
    if (!(stop > start)) continue;
    const idle = 1 - facts.runningBetween(start, stop) / facts.workers;
    if (idle >= MIN_IDLE) seconds += idle * Math.max(0, stop - start - elsewhere);
  }
  return seconds;
}

/** When the last worker began that had been sent a task before any ran: until then it was starting. */
function allStarted({ trace, lanes, firstStart }: Facts): number {
  const { dispatched, started } = trace.tasks;
  let last = firstStart;
  for (let lane = 0; lane < lanes.count; lane++) {
    const row = lanes.spans.rows[lanes.offsets[lane]!]!;
    if (dispatched[row]! <= firstStart) last = Math.max(last, started[row]!);
  }
  return last;
}

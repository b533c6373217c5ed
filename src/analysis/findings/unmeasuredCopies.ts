import { percentText, secondsText } from '../../base/words.js';
import type { Facts, Finding } from './finding.js';
import { hasCpuMetrics } from './noncpu.js';

/** Seconds between two tasks that the engine alone does not need. */
const LONG = 1e-3;
/** Share of the tasks whose results must be objects. */
const MOST = 0.5;

/** Mean duration of a task and seconds between two tasks of a thread, and what they cost. */
interface Between {
  readonly mean: number;
  readonly overhead: number;
  readonly seconds: number;
}

/**
 * Explains a long time between tasks by their results. Local schedulers do not record the size of a result, nor the time
 * in which it is copied. Returns undefined if that is recorded, or if most results are numbers or strings.
 */
export function unmeasuredCopies(facts: Facts, { mean, overhead, seconds }: Between): Finding | undefined {
  if (facts.isDask || overhead < LONG || hasCpuMetrics(facts.trace)) return undefined;
  const { count, type } = objects(facts);
  if (count < MOST * facts.tasks) return undefined;
  return {
    code: 'serialization-bound',
    title: `${secondsText(overhead)} pass between two tasks of ${secondsText(mean)}, probably to copy their results`,
    seconds,
    confidence: 'medium',
    evidence: {
      text: `${percentText(overhead / (overhead + mean))} of the threads' time passes between tasks. ${percentText(count / facts.tasks)} of the results are objects, most of type ${type}. Local schedulers do not measure their size, nor the time to copy them to other workers.`,
      numbers: { tasks: facts.tasks, meanSeconds: mean, overheadSeconds: overhead, workers: facts.workers },
      tasks: facts.keys(facts.lanes.spans.rows.subarray(0, 5)),
      question: 'time-by-prefix',
    },
    advice:
      'If the results are large, return less data, or create and use them in one task. If they are small, join many tasks into one. A cluster, await connect(), measures what results cost.',
  };
}

/** Returns the number of results that are objects, and the type that most of them have. */
function objects({ trace: { tasks, strings }, lanes }: Facts): { count: number; type: string } {
  const counts = new Map<number, number>();
  for (const row of lanes.spans.rows) {
    const type = tasks.resultType[row]!;
    // The types of other values begin with a small letter, e.g. `number`.
    if (type >= 0 && /^[A-Z]/.test(strings.get(type))) counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  let [count, most] = [0, 0];
  let name = '';
  for (const [type, times] of counts) {
    count += times;
    if (times <= most) continue;
    most = times;
    name = strings.get(type);
  }
  return { count, type: name };
}

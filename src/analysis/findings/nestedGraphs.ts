import { addTo, getOrMake, sumOf } from '../../base/lookUps.js';
import { countText, crewText, percentText, secondsText } from '../../base/words.js';
import { NESTED_CONTEXT } from '../../protocol/metrics.js';
import type { Facts, Rule } from './finding.js';

/** Sums over the graphs that tasks of a prefix ran, by unit. */
interface NestedGraphs {
  readonly prefix: string;
  readonly sums: ReadonlyMap<string, number>;
}

/**
 * Tasks of a local scheduler call `compute()`, which runs another graph on workers of its own. The trace has the number of these tasks
 * and workers, and no more. The cost is the part of the critical path that waits for these graphs: an upper limit.
 */
export const nestedGraphs: Rule = (facts) => {
  const [worst] = nestedByPrefix(facts).sort((a, b) => of(b, 'seconds') - of(a, 'seconds'));
  if (worst === undefined) return undefined;
  const { prefix } = worst;
  const rows = facts.rowsOf(new Set([prefix]));
  const [graphs, seconds] = [of(worst, 'count'), of(worst, 'seconds')];
  const share = Math.min(1, seconds / sumOf(rows, (row) => facts.trace.tasks.duration[row]!));
  const tasks = countText(Math.round(of(worst, 'tasks') / graphs), 'task');
  const threads = crewText(Math.round(of(worst, 'workers') / graphs), 1);
  const onPath = facts.path.byPrefix
    .filter((one) => one.prefix === prefix)
    .flatMap(({ parts }) => parts)
    .filter(({ kind }) => kind === 'compute' || kind === 'awaiting');
  return {
    code: 'nested-graphs',
    title: `Tasks of '${prefix}' run graphs of their own, of ${tasks} on ${threads} each: ${percentText(share)} of their time`,
    seconds: share * sumOf(onPath, ({ seconds: part }) => part),
    confidence: 'medium',
    text: `${countText(graphs, 'call')} of compute() inside tasks of '${prefix}' took ${secondsText(seconds)} in total. Each worker starts workers of its own for them. What these waited for is not recorded.`,
    numbers: {
      graphs,
      nestedSeconds: seconds,
      nestedTasks: of(worst, 'tasks'),
      nestedWorkers: of(worst, 'workers') / graphs,
    },
    tasks: facts.keys(rows),
    question: 'critical-path',
    advice: `Make the tasks that '${prefix}' computes its inputs, so that all tasks share the workers. Or connect() first: compute() inside a task of a cluster runs on the same cluster, and is recorded.`,
  };
};

function of({ sums }: NestedGraphs, unit: string): number {
  return sums.get(unit) ?? 0;
}

function nestedByPrefix({ trace }: Facts): NestedGraphs[] {
  const byPrefix = new Map<string, Map<string, number>>();
  for (const { context, prefix, unit, value } of trace.totals.metrics)
    if (context === NESTED_CONTEXT)
      addTo(
        getOrMake(byPrefix, prefix, () => new Map()),
        unit,
        value,
      );
  return Array.from(byPrefix, ([prefix, sums]) => ({ prefix, sums }));
}

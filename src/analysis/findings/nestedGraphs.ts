import { addTo, getOrMake, sumOf } from '../../base/lookUps.js';
import { countText, crewText, percentText, secondsText } from '../../base/words.js';
import { NESTED_CONTEXT } from '../../protocol/metrics.js';
import type { Facts, Rule } from './finding.js';

/**
 * Tasks of a local scheduler call `compute()`, which runs another graph on workers of its own. The trace has the number of these tasks
 * and workers, and no more. The cost is the part of the critical path that waits for these graphs: an upper limit.
 */
export const nestedGraphs: Rule = (facts) => {
  const byPrefix = [...nestedByPrefix(facts)];
  const [worst] = byPrefix.sort(([, a], [, b]) => of(b, 'seconds') - of(a, 'seconds'));
  if (worst === undefined) return undefined;
  const [prefix, sums] = worst;
  const rows = facts.rowsOf(new Set([prefix]));
  const [graphs, seconds] = [of(sums, 'count'), of(sums, 'seconds')];
  const share = Math.min(1, seconds / sumOf(rows, (row) => facts.trace.tasks.duration[row]!));
  const tasks = countText(Math.round(of(sums, 'tasks') / graphs), 'task');
  const threads = crewText(Math.round(of(sums, 'workers') / graphs), 1);
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
      nestedTasks: of(sums, 'tasks'),
      nestedWorkers: of(sums, 'workers') / graphs,
    },
    tasks: facts.keys(rows),
    question: 'critical-path',
    advice: `Make the tasks that '${prefix}' computes its inputs, so that all tasks share the workers. Or connect() first: compute() inside a task of a cluster runs on the same cluster, and is recorded.`,
  };
};

function of(sums: ReadonlyMap<string, number>, unit: string): number {
  return sums.get(unit) ?? 0;
}

/** Returns sums over the graphs that tasks of a prefix ran, by prefix and unit. */
function nestedByPrefix({ trace }: Facts): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const byPrefix = new Map<string, Map<string, number>>();
  for (const { context, prefix, unit, value } of trace.totals.metrics)
    if (context === NESTED_CONTEXT)
      addTo(
        getOrMake(byPrefix, prefix, () => new Map()),
        unit,
        value,
      );
  return byPrefix;
}

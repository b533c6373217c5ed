// The dependency graph of groups or prefixes of tasks. Cost: one pass over runs and edges.
import { skippedRows } from '../../analysis/skippedTasks.js';
import { earlierRuns } from '../../analysis/taskCounts.js';
import { failedRows } from '../../analysis/taskErrors.js';
import { getOrMake } from '../../base/lookUps.js';
import { type Trace, textOf } from '../../trace/trace.js';

export interface GroupNode {
  readonly name: string;
  readonly prefix: string;
  /** Row of the group's last run. */
  readonly last: number;
  /** Number of tasks. A task that did not run because another one failed does not count. */
  readonly count: number;
  /** Number of tasks that failed and did not run again. */
  readonly erred: number;
  readonly seconds: number;
  readonly nbytes: number;
  /** Number of groups whose results this group needs. */
  readonly needs: number;
}

export interface GroupGraph {
  readonly nodes: readonly GroupNode[];
  /** Indices into `nodes`: the needed node, then the node that needs it. */
  readonly edges: readonly (readonly [number, number])[];
}

export function groupGraph(trace: Trace, by: 'group' | 'prefix' = 'group'): GroupGraph {
  const { tasks, keys, strings } = trace;
  const names = by === 'group' ? keys : strings;
  const places = new Map<number, number>();
  const nodes: { -readonly [K in keyof GroupNode]: GroupNode[K] }[] = [];
  const placeOf = new Int32Array(tasks.length);
  const [skipped, earlier, failed] = [skippedRows(trace), earlierRuns(trace), failedRows(trace)];
  for (let row = 0; row < tasks.length; row++) {
    const group = tasks[by][row]!;
    const place = getOrMake(places, group, () => {
      const named = { name: textOf(names, group), prefix: textOf(strings, tasks.prefix[row]) };
      return nodes.push({ ...named, last: row, count: 0, erred: 0, seconds: 0, nbytes: 0, needs: 0 }) - 1;
    });
    placeOf[row] = place;
    const node = nodes[place]!;
    if (!skipped.has(row) && !earlier.has(row)) node.count++;
    node.last = row;
    if (failed.has(row)) node.erred++;
    if (tasks.duration[row]! > 0) node.seconds += tasks.duration[row]!;
    if (tasks.nbytes[row]! > 0) node.nbytes += tasks.nbytes[row]!;
  }
  return { nodes, edges: edgesOf(trace, placeOf, nodes) };
}

function edgesOf({ tasks }: Trace, placeOf: Int32Array, nodes: { needs: number }[]): [number, number][] {
  const seen = new Set<number>();
  const edges: [number, number][] = [];
  for (let row = 0; row < tasks.length; row++) {
    const to = placeOf[row]!;
    for (let edge = tasks.dependencyOffsets[row]!; edge < tasks.dependencyOffsets[row + 1]!; edge++) {
      const producer = tasks.dependencyRows[edge]!;
      if (producer < 0) continue;
      const from = placeOf[producer]!;
      const name = from * nodes.length + to;
      if (from === to || seen.has(name)) continue;
      seen.add(name);
      edges.push([from, to]);
      nodes[to]!.needs++;
    }
  }
  return edges;
}

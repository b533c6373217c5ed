// Groups of tasks: how many, how long, how large, and which groups they need.

import { formatBytes, formatCount, formatDuration } from '../model/format.js';
import type { GroupGraph, GroupNode } from '../model/groupGraph.js';
import { prefixColors } from '../model/prefixColors.js';
import { GraphView } from '../views/graphView.js';
import { Empty, Panel } from '../views/parts.js';
import { useAnswer } from '../views/useAnswer.js';
import type { PageProps } from './pageProps.js';
import { GROUPS } from './questions.js';

/** Groups that are drawn; the table has all. */
export const MOST_DRAWN = 150;
const MOST_ROWS = 500;

export function GroupsPage({ state, update }: PageProps) {
  const { trace } = update;
  const graph = useAnswer(trace, GROUPS);
  if (graph === undefined) return <p class="loading">Putting tasks into groups…</p>;
  return (
    <div class="scroll">
      <div class="panels">
        <Panel title="Groups" note="from a group lines lead to those that need it" wide>
          {graph.nodes.length === 0 ? (
            <Empty>No task has ended yet.</Empty>
          ) : graph.nodes.length > MOST_DRAWN ? (
            <Empty>
              {formatCount(graph.nodes.length)} groups are too many to draw; the table below has them. Tuple
              keys such as <code>key('sum-1f3a', 0)</code> put tasks that belong together into one group.
            </Empty>
          ) : (
            <GroupsGraph
              graph={graph}
              state={state}
              update={update}
              onNode={(row) => state.selectRow(row)}
              action="shows the last task of a group in the task stream"
            />
          )}
        </Panel>
        <Panel title="By group" note={`${formatCount(graph.nodes.length)} groups`} wide>
          <GroupTable nodes={graph.nodes} />
        </Panel>
      </div>
    </div>
  );
}

const shortened = (name: string): string => (name.length > 24 ? `${name.slice(0, 23)}…` : name);

type GraphProps = Pick<PageProps, 'state' | 'update'> & {
  readonly graph: GroupGraph;
  /** Gets the row of the last run of the group. */
  readonly onNode: (row: number) => void;
  /** What it does with it. */
  readonly action: string;
};

/** Groups or prefixes as a graph, with how far they are while the run goes on. */
export function GroupsGraph({ graph, state, update: { trace, live }, onNode, action }: GraphProps) {
  const colors = prefixColors(trace, state.view.scheme.value);
  const nodesOf = new Map<string, number>();
  for (const { prefix } of graph.nodes) nodesOf.set(prefix, (nodesOf.get(prefix) ?? 0) + 1);
  const progress = new Map(live?.progress.map((row) => [row.prefix, row]));
  const countOf = ({ prefix, count }: GroupNode): string => {
    // The scheduler counts by prefix: of a group alone it is known where the prefix has no other.
    const row = nodesOf.get(prefix) === 1 ? progress.get(prefix) : undefined;
    return row === undefined
      ? formatCount(count)
      : `${formatCount(row.finished + row.erred + row.cancelled)} / ${formatCount(row.total)}`;
  };
  return (
    <GraphView
      nodes={graph.nodes.map((node) => ({
        name: `${node.name}: ${formatCount(node.count)} runs, ${formatDuration(node.seconds)}`,
        label: `${shortened(node.name)} · ${countOf(node)}`,
        color: colors(node.prefix),
      }))}
      edges={graph.edges}
      onNode={(i) => onNode(graph.nodes[i]!.last)}
      action={action}
    />
  );
}

function GroupTable({ nodes }: { readonly nodes: readonly GroupNode[] }) {
  const sorted = [...nodes].sort((a, b) => b.seconds - a.seconds).slice(0, MOST_ROWS);
  return (
    <div class="table-scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Group</th>
            {['Tasks', 'Erred', 'Computed', 'Results', 'Needs groups'].map((title) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((node) => (
            <tr key={node.name}>
              <td class="code">{node.name}</td>
              <td class="number">{formatCount(node.count)}</td>
              <td class="number">{formatCount(node.erred)}</td>
              <td class="number">{formatDuration(node.seconds)}</td>
              <td class="number">{formatBytes(node.nbytes)}</td>
              <td class="number">{formatCount(node.needs)}</td>
            </tr>
          ))}
        </tbody>
        {nodes.length < 2 ? null : <AllGroups nodes={nodes} />}
      </table>
    </div>
  );
}

function AllGroups({ nodes }: { readonly nodes: readonly GroupNode[] }) {
  const sum = (of: (node: GroupNode) => number): number => nodes.reduce((all, node) => all + of(node), 0);
  return (
    <tfoot>
      <tr>
        <th scope="row">All</th>
        <td class="number">{formatCount(sum(({ count }) => count))}</td>
        <td class="number">{formatCount(sum(({ erred }) => erred))}</td>
        <td class="number">{formatDuration(sum(({ seconds }) => seconds))}</td>
        <td class="number">{formatBytes(sum(({ nbytes }) => nbytes))}</td>
        <td />
      </tr>
    </tfoot>
  );
}

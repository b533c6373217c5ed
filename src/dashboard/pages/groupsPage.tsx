// Groups of tasks: counts, seconds, sizes of results, and the groups that they need.

import { prefixesOfUnknownSize, recordsTransfers } from '../../analysis/programTransfers.js';
import { countsOf } from '../../base/lookUps.js';
import { countText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';
import { formatBytes, formatCount, formatDuration } from '../model/format.js';
import type { GroupGraph, GroupNode } from '../model/groupGraph.js';
import { prefixColors } from '../model/palette.js';
import { GraphView } from '../views/graphView.js';
import { Empty, Panel, Panels } from '../views/parts.js';
import { type Column, RowTable } from '../views/tables.js';
import { useAnalysis } from '../views/useAnalysis.js';
import { GROUPS } from './analyses.js';
import { hasNoTasks, NoTasks } from './noTasks.js';
import type { PageProps } from './pageProps.js';

/** Largest number of groups that are drawn. The table lists more. */
export const MAX_DRAWN = 150;
const MAX_ROWS = 500;

export function GroupsPage({ state, update }: PageProps) {
  const { trace } = update;
  const graph = useAnalysis(trace, GROUPS);
  if (hasNoTasks(trace)) return <NoTasks update={update} />;
  if (graph === undefined) return <p class="loading">Grouping tasks…</p>;
  return (
    <Panels>
      <Panel title="Groups" note="lines lead from a group to the groups that need it" wide>
        {graph.nodes.length > MAX_DRAWN ? (
          <Empty>
            {formatCount(graph.nodes.length)} groups are too many to draw; the table below lists them. To put
            tasks into one group, use tuple keys such as <code>key('sum-1f3a', 0)</code>.
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
      <Panel title="By group" note={groupsNote(graph, state, trace)} wide>
        <GroupTable nodes={graph.nodes} trace={trace} />
      </Panel>
    </Panels>
  );
}

/** The table counts the runs whose rows the page has, unlike the heading and the progress of live groups. */
function groupsNote({ nodes }: GroupGraph, { view }: PageProps['state'], { tasks, evicted }: Trace): string {
  const isPart = evicted.tasks > 0 || view.model.receiving !== undefined;
  return `${countText(nodes.length, 'group')}${isPart ? ` of the ${formatCount(tasks.length)} runs that the page has` : ''}`;
}

const shortened = (name: string): string => (name.length > 24 ? `${name.slice(0, 23)}…` : name);

interface GraphProps extends PageProps {
  readonly graph: GroupGraph;
  /** Receives the row of the last run of the clicked group. */
  readonly onNode: (row: number) => void;
  /** Effect of `onNode` for screen readers. */
  readonly action: string;
}

/** Groups or prefixes as a graph, with their progress during a live run. */
export function GroupsGraph({ graph, state, update: { trace, live }, onNode, action }: GraphProps) {
  const colors = prefixColors(trace, state.view.scheme.value);
  const nodesOf = countsOf(graph.nodes.map(({ prefix }) => prefix));
  const progress = new Map(live?.progress.map((row) => [row.prefix, row]));
  const countOf = ({ prefix, count, erred: failed }: GroupNode): string => {
    // The scheduler counts tasks by prefix. The progress of a group is known only if it is the only group of its
    // prefix.
    const row = nodesOf.get(prefix) === 1 ? progress.get(prefix) : undefined;
    const erred = row?.erred ?? failed;
    const erredText = erred > 0 ? `, ${formatCount(erred)} erred` : '';
    return row === undefined
      ? `${formatCount(count)}${erredText}`
      : `${formatCount(row.finished + row.erred + row.cancelled)} / ${formatCount(row.total)}${erredText}`;
  };
  return (
    <GraphView
      nodes={graph.nodes.map((node) => ({
        name: `${node.name}: ${countText(node.count, 'task')}, ${formatDuration(node.seconds)}`,
        label: `${shortened(node.name)} · ${countOf(node)}`,
        color: colors(node.prefix),
      }))}
      edges={graph.edges}
      onNode={(i) => onNode(graph.nodes[i]!.last)}
      action={action}
    />
  );
}

function GroupTable({ nodes, trace }: { readonly nodes: readonly GroupNode[]; readonly trace: Trace }) {
  const isMeasured = recordsTransfers(trace);
  const unknown = prefixesOfUnknownSize(trace);
  const column = (
    title: string,
    of: (node: GroupNode) => number,
    text: (value: number) => string,
  ): Column<GroupNode> => ({
    title,
    class: 'number',
    cell: (node) => text(of(node)),
    all: nodes.length < 2 ? undefined : text(nodes.reduce((all, node) => all + of(node), 0)),
  });
  return (
    <RowTable
      rows={[...nodes].sort((a, b) => b.seconds - a.seconds).slice(0, MAX_ROWS)}
      keyOf={({ name }) => name}
      columns={[
        { title: 'Group', class: 'code', cell: ({ name }) => name },
        column('Tasks', ({ count }) => count, formatCount),
        column('Erred', ({ erred }) => erred, formatCount),
        column('Time of tasks', ({ seconds }) => seconds, formatDuration),
        column(
          'Results',
          ({ prefix, nbytes }) => (unknown.has(prefix) ? Number.NaN : nbytes),
          (bytes) => (isMeasured || bytes > 0 ? formatBytes(bytes) : '–'),
        ),
        { title: 'Groups needed', class: 'number', cell: ({ needs }) => formatCount(needs) },
      ]}
    />
  );
}

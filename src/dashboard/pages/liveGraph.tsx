// The current graph of a live run as a whole. As on Dask's graph page, the colour of a task is its state.
import type { ComponentChildren } from 'preact';
import type { OpenGraph } from '../../protocol/openGraph.js';
import type { Trace } from '../../trace/trace.js';
import { currentGraph, GRAPH_STATES, graphEdges } from '../model/currentGraph.js';
import { formatCount } from '../model/format.js';
import { slotColor } from '../model/palette.js';
import { GraphView } from '../views/graphView.js';
import { Button, ColorKey } from '../views/parts.js';
import type { ShellState } from '../views/shellState.js';
import type { PageProps } from './pageProps.js';

/** Most tasks that have labels. */
const MAX_LABELS = 200;

interface Props extends PageProps {
  readonly filter: ComponentChildren;
  /** Rows of the current graph's tasks. */
  readonly rows: readonly number[];
  readonly open: OpenGraph;
  readonly onChosen: (key: string) => void;
}

interface ShowProps {
  readonly state: ShellState;
  readonly trace: Trace;
  readonly row: number;
}

/** A button that shows a task in the task stream. */
export function ShowInStream({ state, trace: { tasks }, row }: ShowProps) {
  const key = tasks.keyOf(row);
  return (
    <Button
      text={`Show ${key.length > 28 ? `${key.slice(0, 27)}…` : key} in the task stream`}
      onClick={() => state.selectRow(row)}
    />
  );
}

export function LiveGraph({ state, update: { trace }, filter, rows, open, onChosen }: Props) {
  const scheme = state.view.scheme.value;
  const tasks = currentGraph(trace, rows, open);
  const parts = GRAPH_STATES.flatMap(({ state: one, name, slot }) => {
    const count = tasks.filter((task) => task.state === one).length;
    return count > 0 ? [{ name: `${formatCount(count)} ${name}`, color: slotColor(slot, scheme) }] : [];
  });
  const colors = new Map(GRAPH_STATES.map(({ state: one, slot }) => [one, slotColor(slot, scheme)]));
  const names = new Map(GRAPH_STATES.map(({ state: one, name }) => [one, name]));
  return (
    <>
      {filter}
      <div class="filters">
        <span class="muted">{formatCount(tasks.length)} tasks; the colour of a task is its state</span>
        <ColorKey parts={parts} />
        {rows.length === 0 ? null : <ShowInStream state={state} trace={trace} row={rows.at(-1)!} />}
      </div>
      <div class="graph">
        <GraphView
          nodes={tasks.map((task) => ({
            name: `${task.key}, ${names.get(task.state)}`,
            label: tasks.length > MAX_LABELS ? '' : task.prefix,
            color: colors.get(task.state) ?? 'transparent',
          }))}
          edges={graphEdges(tasks)}
          onNode={(place) => {
            const task = tasks[place];
            if (task?.row !== undefined) onChosen(task.key);
          }}
          action="selects a task that has ended"
        />
      </div>
    </>
  );
}

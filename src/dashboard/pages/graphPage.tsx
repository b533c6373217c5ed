// The graph of tasks. Up to 5,000 tasks are drawn as a whole, those of a running graph with their states. A larger graph
// starts with its groups, or with its prefixes if there are too many groups. A click shows the tasks around the last task
// of a group, and then around the clicked task.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ran } from '../../analysis/lanes.js';
import { countsOf } from '../../base/lookUps.js';
import { countText } from '../../base/words.js';
import { TASK_ERRED } from '../../protocol/clusterObserver.js';
import { GRAPH_PATH, isOpenGraph, MAX_OPEN, type OpenGraph } from '../../protocol/openGraph.js';
import { inputRows, lastRowOf, type Trace, textOf } from '../../trace/trace.js';
import { currentGraph, GRAPH_STATES, graphEdges } from '../model/currentGraph.js';
import { computingRows, dependents } from '../model/flows.js';
import { formatCount } from '../model/format.js';
import { ACTIVITY_SLOTS, prefixColors, type Scheme, slotColor } from '../model/palette.js';
import { runsText } from '../model/runsText.js';
import { serverUrl } from '../source/traceSource.js';
import { GraphView } from '../views/graphView.js';
import { Button, ColorKey } from '../views/parts.js';
import { useAnalysis } from '../views/useAnalysis.js';
import { CRITICAL_PATH, GROUPS, PREFIX_GRAPH } from './analyses.js';
import { GroupsGraph, MAX_DRAWN } from './groupsPage.js';
import { NoTasks } from './noTasks.js';
import type { PageProps, TaskProps } from './pageProps.js';

/** Largest graph that is drawn as a whole, in tasks. */
const WHOLE = MAX_OPEN;
/** Tasks of a larger graph that are drawn around the chosen task. */
const WINDOW = 400;
const MAX_LABELS = 200;

export function GraphPage(props: PageProps) {
  const { view } = props.state;
  const { node = '', all = '' } = props.state.choices.value;
  const chosen = node === '' ? undefined : node;
  const setChosen = (key: string | undefined) => props.state.choose('node', key ?? '');
  const { tasks } = props.update.trace;
  const query = view.query.value.trim();
  // A new search replaces the clicked task.
  const before = useRef(query);
  useEffect(() => {
    if (query !== '' && query !== before.current) setChosen(undefined);
    before.current = query;
  }, [query]);
  const isOpen = chosen === undefined && query === '';
  const { live, trace } = props.update;
  const isCurrent = isOpen && live !== undefined && all !== 'yes';
  const open = useOpenGraph(isCurrent, trace.evicted.tasks + tasks.length);
  if (tasks.length === 0 && !(isCurrent && open !== undefined && open.count > 0)) {
    return <NoTasks update={props.update} />;
  }
  const since = isOpen ? (live?.graphStart ?? 0) : 0;
  const whole = Array.from({ length: tasks.length }, (_, row) => row);
  const current = since === 0 ? whole : whole.filter((row) => tasks.submitted[row]! >= since);
  const rows = all === 'yes' ? whole : current;
  // The groups are always those of all tasks.
  const isLarge = current.length + (open?.count ?? 0) > WHOLE;
  const filter = isLarge ? null : <CurrentGraph {...props} isPart={current.length < tasks.length} />;
  if (isCurrent && open !== undefined && !isLarge)
    return <LiveGraph {...props} filter={filter} rows={current} open={open} onChosen={setChosen} />;
  if (rows.length === 0) return filter;
  if ((rows.length > WHOLE || isLarge) && isOpen)
    return <ByGroup {...props} filter={filter} onTask={(row) => setChosen(tasks.keyOf(row))} />;
  return <TaskGraph {...props} filter={filter} graph={rows} chosen={chosen} onChosen={setChosen} />;
}

/** A switch between the tasks of the current graph of a live run and all tasks. */
function CurrentGraph({ state, update: { live }, isPart }: PageProps & { readonly isPart: boolean }) {
  const showsAll = state.choices.value['all'] === 'yes';
  if (live === undefined || !(isPart || showsAll)) return null;
  return (
    <div class="filters">
      <label>
        <input
          type="checkbox"
          checked={!showsAll}
          onChange={(event) => state.choose('all', event.currentTarget.checked ? '' : 'yes')}
        />{' '}
        Only the current graph
      </label>
      <span class="muted">the tasks that were submitted since all earlier tasks ended</span>
    </div>
  );
}

interface ByGroupProps extends PageProps {
  readonly filter: ComponentChildren;
  readonly onTask: (row: number) => void;
}

function ByGroup({ state, update, filter, onTask }: ByGroupProps) {
  const { trace } = update;
  const groups = useAnalysis(trace, GROUPS);
  const prefixes = useAnalysis(trace, PREFIX_GRAPH);
  if (groups === undefined || prefixes === undefined) return <p class="loading">Grouping tasks…</p>;
  const byPrefix = groups.nodes.length > MAX_DRAWN;
  return (
    <>
      {filter}
      <div class="filters">
        <span class="muted">
          {countText(trace.tasks.length, 'task')}, by {byPrefix ? 'prefix' : 'group'}. Click a node to see the
          tasks around its last task, or search for a key.
        </span>
      </div>
      <div class="graph">
        <GroupsGraph
          graph={byPrefix ? prefixes : groups}
          state={state}
          update={update}
          onNode={onTask}
          action="shows the tasks around the last task of a node"
        />
      </div>
    </>
  );
}

interface TaskGraphProps extends PageProps {
  readonly filter: ComponentChildren;
  /** Rows of the tasks that are shown, or among which those around the chosen task are shown. */
  readonly graph: readonly number[];
  readonly chosen: string | undefined;
  readonly onChosen: (key: string | undefined) => void;
}

function TaskGraph({ state, update: { trace }, filter, graph, chosen, onChosen }: TaskGraphProps) {
  const { tasks } = trace;
  const centre = centreOf(trace, chosen, state.view.query.value);
  const whole = graph.length <= WHOLE;
  const rows = whole ? graph : neighbourhood(trace, centre, WINDOW);
  const path = useAnalysis(trace, CRITICAL_PATH);
  const onPath = useMemo(() => new Set(path === undefined ? [] : computingRows(path)), [path]);
  const colors = prefixColors(trace, state.view.scheme.value);
  const text = (row: number): string => textOf(trace.strings, tasks.prefix[row]);
  const isErred = (row: number): boolean => tasks.state[row] === TASK_ERRED;
  const erred = rows.filter(isErred).length;
  const color = (row: number): string =>
    isErred(row) ? slotColor(ACTIVITY_SLOTS.erred, state.view.scheme.value) : colors(text(row));
  return (
    <>
      {filter}
      <div class="filters">
        <span class="muted">
          {whole
            ? `${runsText(trace, rows)}; thick edges and rings mark the critical path`
            : `${formatCount(rows.length)} of ${formatCount(tasks.length)} tasks, around ${tasks.keyOf(centre)}. Click a task to see the tasks around it, or search for a key.`}
        </span>
        <ShowInStream state={state} trace={trace} row={centre} />
        {whole ? null : (
          <Button
            text="Show groups"
            onClick={() => {
              state.view.setQuery('');
              onChosen(undefined);
            }}
          />
        )}
      </div>
      <PrefixColors names={rows.map(text)} color={colors} erred={erred} scheme={state.view.scheme.value} />
      <div class="graph">
        <GraphView
          nodes={rows.map((row) => ({
            name: tasks.keyOf(row),
            label: rows.length > MAX_LABELS ? '' : text(row),
            color: color(row),
            strong: row === centre,
            critical: onPath.has(row),
          }))}
          edges={graphEdges(rows.map((id) => ({ id, dependencies: inputRows(tasks, id) })))}
          onNode={(i) => onChosen(tasks.keyOf(rows[i]!))}
          action={whole ? 'selects a task' : 'shows the tasks around a task'}
          followsFocus={chosen !== undefined}
        />
      </div>
    </>
  );
}

/** Prefixes in the colour key above the graph, most tasks first. */
const MAX_PREFIXES = 12;

interface PrefixColorsProps {
  readonly names: readonly string[];
  readonly color: (prefix: string) => string;
  /** Number of failed tasks, which have a colour of their own. */
  readonly erred: number;
  readonly scheme: Scheme;
}

function PrefixColors({ names, color, erred, scheme }: PrefixColorsProps) {
  const counts = countsOf(names);
  const shown = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MAX_PREFIXES);
  const others = counts.size - shown.length;
  const parts = shown.map(([name, count]) => ({ name: `${name} ${formatCount(count)}`, color: color(name) }));
  if (erred > 0)
    parts.push({
      name: `erred ${formatCount(erred)}, of all prefixes`,
      color: slotColor(ACTIVITY_SLOTS.erred, scheme),
    });
  if (others > 0) parts.push({ name: `and ${formatCount(others)} more`, color: 'transparent' });
  return (
    <div class="filters">
      <ColorKey parts={parts} />
    </div>
  );
}

/** Returns the row of the clicked task, of the last match of the search, or of the last task. */
function centreOf({ tasks }: Trace, chosen: string | undefined, query: string): number {
  const wanted = query.trim().toLowerCase();
  if (chosen === undefined && wanted === '') return tasks.length - 1;
  const isCentre = (key: string): boolean =>
    chosen === undefined ? key.toLowerCase().includes(wanted) : key === chosen;
  return lastRowOf(tasks, isCentre) ?? tasks.length - 1;
}

/** Returns the rows of at most `most` tasks around a task: its dependencies and dependents, breadth first. */
function neighbourhood(trace: Trace, centre: number, most: number): number[] {
  const { offsets, targets: rows } = dependents(trace);
  const found = new Set([centre]);
  for (const row of found) {
    if (found.size >= most) break;
    const near = [...inputRows(trace.tasks, row), ...rows.subarray(offsets[row]!, offsets[row + 1]!)];
    for (const one of near) if (one >= 0 && found.size < most) found.add(one);
  }
  return [...found].sort((a, b) => a - b);
}

interface LiveGraphProps extends PageProps {
  readonly filter: ComponentChildren;
  /** Rows of the current graph's tasks. */
  readonly rows: readonly number[];
  readonly open: OpenGraph;
  readonly onChosen: (key: string) => void;
}

function ShowInStream({ state, trace, row }: TaskProps) {
  if (!ran(trace, row)) return null;
  const key = trace.tasks.keyOf(row);
  return (
    <Button
      text={`Show ${key.length > 28 ? `${key.slice(0, 27)}…` : key} in the task stream`}
      onClick={() => state.selectRow(row)}
    />
  );
}

/** The current graph of a live run as a whole. As on Dask's graph page, the colour of a task is its state. */
function LiveGraph({ state, update: { trace }, filter, rows, open, onChosen }: LiveGraphProps) {
  const scheme = state.view.scheme.value;
  const tasks = currentGraph(trace, rows, open);
  const states = GRAPH_STATES.map((one) => ({ ...one, color: slotColor(one.slot, scheme) }));
  const parts = states.flatMap(({ state: one, name, color }) => {
    const count = tasks.filter((task) => task.state === one).length;
    return count > 0 ? [{ name: `${formatCount(count)} ${name}`, color }] : [];
  });
  const byState = new Map(states.map((one) => [one.state, one]));
  return (
    <>
      {filter}
      <div class="filters">
        <span class="muted">{countText(tasks.length, 'task')}; the colour of a task is its state</span>
        <ColorKey parts={parts} />
        {rows.length === 0 ? null : <ShowInStream state={state} trace={trace} row={rows.at(-1)!} />}
      </div>
      <div class="graph">
        <GraphView
          nodes={tasks.map((task) => ({
            name: `${task.key}, ${byState.get(task.state)?.name}`,
            label: tasks.length > MAX_LABELS ? '' : task.prefix,
            color: byState.get(task.state)?.color ?? 'transparent',
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

/** Milliseconds between two requests. */
const INTERVAL = 500;

/**
 * Returns the newest answer whose rows the page has received, so that each task is in the answer or has a row. Returns
 * undefined before the first answer.
 *
 * @param rows number of received rows of tasks
 */
function useOpenGraph(isWanted: boolean, rows: number): OpenGraph | undefined {
  /** Answers, oldest first. */
  const [answers, setAnswers] = useState<readonly OpenGraph[]>([]);
  useEffect(() => {
    setAnswers([]);
    if (!isWanted) return undefined;
    const stopped = new AbortController();
    const ask = async (): Promise<void> => {
      if (document.visibilityState === 'hidden') return;
      const response = await fetch(serverUrl(GRAPH_PATH, location.href), { signal: stopped.signal });
      const answer: unknown = response.ok ? await response.json() : undefined;
      if (isOpenGraph(answer)) setAnswers((earlier) => [...earlier, answer]);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = (): void => {
      // Without an answer, the page keeps the newest one. The page itself reports a lost connection.
      ask()
        .catch(() => undefined)
        .finally(() => {
          if (!stopped.signal.aborted) timer = setTimeout(follow, INTERVAL);
        });
    };
    follow();
    return () => {
      stopped.abort();
      clearTimeout(timer);
    };
  }, [isWanted]);
  const newest = Math.max(
    0,
    answers.findLastIndex((answer) => answer.rows <= rows),
  );
  useEffect(() => {
    if (newest > 0) setAnswers((list) => list.slice(newest));
  }, [newest, answers.length]);
  return answers[newest];
}

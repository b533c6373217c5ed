// The task stream in full size, with the legend and details of the selected task.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { recordsTransfers } from '../../analysis/programTransfers.js';
import { countText } from '../../base/words.js';
import { TASK_STATES } from '../../protocol/clusterObserver.js';
import { inputRows, newestMentions, type Trace, textOf } from '../../trace/trace.js';
import { THEMES } from '../canvas/theme.js';
import { dependentsOf } from '../model/flows.js';
import { formatBytes, formatClock, formatCount, formatDuration } from '../model/format.js';
import { lifecycleSteps } from '../model/lifecycle.js';
import { Button } from '../views/parts.js';
import { Plots } from '../views/plots.js';
import { Fact, SideBar } from '../views/sideBar.js';
import { useAnalysis, useFlows } from '../views/useAnalysis.js';
import { CRITICAL_PATH } from './analyses.js';
import type { PageProps, TaskProps } from './pageProps.js';

export function StreamPage(props: PageProps) {
  return (
    <>
      <PathSwitch state={props.state} trace={props.update.trace} />
      <RunPage {...props} />
    </>
  );
}

/**
 * The plots of a run over time, stacked as by Dask's `visualize`: the task stream, CPU and memory, results
 * in the cache. The side bar has the legend and details of the selected task. Reports of `visualize` and of a
 * MemorySampler open this page first.
 */
export function RunPage({ state, update }: PageProps) {
  useFlows(state, update.trace);
  return (
    <div class="body">
      <Plots state={state.view} />
      <SideBar state={state.view} more={(row) => <TaskMore state={state} trace={update.trace} row={row} />} />
    </div>
  );
}

/** A switch that shows or hides the critical path, and the seconds of computing on the path. */
function PathSwitch({ state, trace }: Omit<TaskProps, 'row'>) {
  const [shown, setShown] = useState(true);
  const path = useAnalysis(trace, CRITICAL_PATH);
  useEffect(() => {
    state.view.path.value = shown ? path : undefined;
    return () => {
      state.view.path.value = undefined;
    };
  }, [state, path, shown]);
  if (path === undefined || !(path.makespan > 0)) return null;
  const computing = path.byKind.find(({ kind }) => kind === 'compute')?.seconds ?? 0;
  return (
    <div class="filters">
      <label>
        <input type="checkbox" checked={shown} onChange={(event) => setShown(event.currentTarget.checked)} />{' '}
        Critical path
      </label>
      <span class="muted">
        the line marks the tasks that the end of the run waited for: they computed for{' '}
        {formatDuration(computing)} of {formatDuration(path.makespan)}
      </span>
    </div>
  );
}

/** Entries of a list before "and n more". */
const MAX_ENTRIES = 12;

function TaskMore({ state, trace, row }: TaskProps) {
  const { tasks, strings } = trace;
  if (row >= tasks.length) return null;
  const theme = THEMES[state.view.scheme.value];
  const facts: readonly (readonly [string, string])[] = [
    ['State', TASK_STATES[tasks.state[row]!] ?? ''],
    ['Result', tasks.nbytes[row]! > 0 ? formatBytes(tasks.nbytes[row]!) : ''],
    ['Type', textOf(strings, tasks.resultType[row])],
    ['Function', textOf(strings, tasks.functionName[row])],
    ['Span', textOf(strings, tasks.span[row])],
    ['Core wait', tasks.coreWait[row]! > 0 ? formatDuration(tasks.coreWait[row]!) : ''],
    ['Attempt', tasks.attempt[row]! > 1 ? formatCount(tasks.attempt[row]!) : ''],
  ];
  return (
    <div class="task-more">
      <dl>
        {facts
          .filter(([, value]) => value !== '')
          .map(([name, value]) => (
            <Fact key={name} name={name} value={value} />
          ))}
      </dl>
      <h3>Lifecycle</h3>
      <dl>
        {lifecycleSteps(trace, row).map(({ name, time, previous }) => (
          <Fact
            key={name}
            name={name}
            value={formatClock(time)}
            extra={
              previous !== undefined && time >= previous.time
                ? `+ ${formatDuration(time - previous.time)}`
                : undefined
            }
          />
        ))}
      </dl>
      <ProfileLink state={state} trace={trace} row={row} />
      <TaskList
        state={state}
        trace={trace}
        title="Needs"
        color={theme.needs}
        rows={[...inputRows(tasks, row)].filter((one) => one >= 0)}
      />
      <TaskList
        state={state}
        trace={trace}
        title="Needed by"
        color={theme.neededBy}
        rows={dependentsOf(trace, row)}
      />
      <Log trace={trace} row={row} />
    </div>
  );
}

function Log({ trace, row }: Omit<TaskProps, 'state'>) {
  const { transferCount, lines } = useMemo(() => taskLog(trace, trace.tasks.keyOf(row)), [trace, row]);
  return (
    <>
      {transferCount === 0 ? null : (
        <p class="muted">
          The result was transferred {transferCount === 1 ? 'once' : `${formatCount(transferCount)} times`}.
        </p>
      )}
      {lines.length === 0 ? null : (
        <>
          <h3>Log</h3>
          {lines.map(({ time, topic, text }, i) => (
            <pre key={i} class="stack">
              {formatClock(time)} {topic}: {text}
            </pre>
          ))}
        </>
      )}
    </>
  );
}

function ProfileLink({ state, trace: { tasks, strings, samples }, row }: TaskProps) {
  const prefix = tasks.prefix[row]!;
  if (samples.length === 0 || prefix < 0) return null;
  const key = strings.get(prefix);
  const id = tasks.id[row]!;
  return (
    <p class="choices">
      {samples.task.includes(id) ? (
        <Button
          text="Profile of this task"
          class="quiet"
          onClick={() => state.showProfile({ key, task: id })}
        />
      ) : null}
      <Button text={`Profile of all ${key} tasks`} class="quiet" onClick={() => state.showProfile({ key })} />
    </p>
  );
}

interface ListProps extends Omit<TaskProps, 'row'> {
  readonly title: string;
  /** Colour of the flows between the selected task and the listed tasks. */
  readonly color: string;
  readonly rows: readonly number[];
}

function TaskList({ state, trace, title, color, rows }: ListProps) {
  if (rows.length === 0) return null;
  const { nbytes } = trace.tasks;
  const missing = recordsTransfers(trace) ? 0 : Number.NaN;
  const bytes = rows.reduce((sum, row) => sum + (nbytes[row]! >= 0 ? nbytes[row]! : missing), 0);
  return (
    <>
      <h3>
        <span class="flow-key" style={{ background: color }} />
        {title} {countText(rows.length, 'task')}
        {bytes > 0 ? `, ${formatBytes(bytes)}` : ''}
      </h3>
      <ul>
        {rows.slice(0, MAX_ENTRIES).map((row) => (
          <li key={row}>
            <Button text={trace.tasks.keyOf(row)} class="link code" onClick={() => state.selectRow(row)} />
          </li>
        ))}
      </ul>
      {rows.length > MAX_ENTRIES ? (
        <p class="muted">and {formatCount(rows.length - MAX_ENTRIES)} more</p>
      ) : null}
    </>
  );
}

const MAX_LINES = 20;
const MAX_CHARACTERS = 2000;

/** Returns the transfers of a result, and the newest events that mention its key. Cost: one pass over both tables. */
function taskLog(trace: Trace, key: string) {
  const { transfers, keys } = trace;
  let transferCount = 0;
  for (let row = 0; row < transfers.length; row++) {
    // Both workers record a transfer between them, so the outgoing side is skipped.
    if (transfers.direction[row] === 1 && transfers.peer[row]! >= 0) continue;
    for (let at = transfers.keyOffsets[row]!; at < transfers.keyOffsets[row + 1]!; at++)
      if (keys.get(transfers.keys[at]!) === key) transferCount++;
  }
  return { transferCount, lines: newestMentions(trace, key, MAX_LINES, MAX_CHARACTERS) };
}

// The workers: their properties and their work. A chosen worker has its running task and its transfers, too.

import { mostTogether } from '../../analysis/workerLives.js';
import { rowsWhere } from '../../base/groups.js';
import { countText } from '../../base/words.js';
import { STEALING } from '../../protocol/eventTopics.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace, textOf, workerName } from '../../trace/trace.js';
import { formatBytes, formatClock, formatCount, formatDate, formatDuration } from '../model/format.js';
import { Button, Empty, Panel } from '../views/parts.js';
import { RowTable, TableView } from '../views/tables.js';
import { useAnalysis } from '../views/useAnalysis.js';
import { STOLEN_WORK, WORKER_BALANCE } from './analyses.js';
import { hasNoTasks } from './noTasks.js';
import type { PageProps } from './pageProps.js';
import { TimePage } from './timePages.js';

export function WorkersPage(props: PageProps) {
  const { state, update } = props;
  const { trace } = update;
  const balance = useAnalysis(trace, WORKER_BALANCE);
  return (
    <TimePage {...props}>
      <Panel
        title="Workers"
        note={state.worker.value === undefined ? 'click a worker to see it alone' : <AllWorkers {...props} />}
        wide
      >
        <WorkerTable {...props} />
      </Panel>
      {state.worker.value === undefined ? null : <OneWorker {...props} worker={state.worker.value} />}
      <Panel title="Work by thread" empty={hasNoTasks(trace) && 'No task has run on a worker yet.'} wide>
        <TableView table={balance} caption="Work by thread" sums={['Tasks', 'Computed (s)', 'Idle (s)']} />
      </Panel>
      <Stealing {...props} />
    </TimePage>
  );
}

const NO_STEALS =
  'No worker took tasks of another worker. A worker without work does so if the other has tasks waiting. Local schedulers do not.';

/** The tasks that workers without work took from other workers. */
function Stealing({ state, update: { trace } }: PageProps) {
  const table = useAnalysis(trace, STOLEN_WORK);
  if (table === undefined) return null;
  const steals = table.rows.reduce((sum, row) => sum + Number(row['Steals']), 0);
  return (
    <Panel
      title="Work stealing"
      note={
        steals === 0 ? undefined : (
          <Button text="Show events" class="quiet" onClick={() => showEvents(state)} />
        )
      }
      empty={steals === 0 && NO_STEALS}
      wide
    >
      <TableView table={table} caption="Stolen tasks by pair" sums={['Steals', 'Tasks', 'Expected (s)']} />
    </Panel>
  );
}

function showEvents(state: PageProps['state']): void {
  state.go('events');
  state.choose('topic', STEALING);
}

function AllWorkers({ state }: PageProps) {
  return <Button text="Show all" class="quiet" onClick={() => state.showWorker(undefined)} />;
}

function WorkerTable({ state, update: { trace } }: PageProps) {
  const { workers, strings, totals } = trace;
  const chosen = state.worker.value;
  const choose = (row: number) => state.showWorker(chosen === row ? undefined : row);
  const sum = (values: ArrayLike<number>): number =>
    Array.from(values).reduce((all, value) => all + Math.max(0, value || 0), 0);
  const together = (values: ArrayLike<number>): number =>
    mostTogether(trace, (row) => Math.max(0, values[row] || 0));
  const sums = {
    threads: together(workers.threads),
    limit: together(workers.memoryLimit),
    busy: sum(totals.busy),
  };
  const all = (text: string): string | undefined => (workers.length < 2 ? undefined : text);
  if (workers.length === 0)
    return <Empty>No worker has joined yet. Start workers, e.g. with cluster.scale(2).</Empty>;
  return (
    <RowTable
      rows={Array.from({ length: workers.length }, (_, row) => row)}
      attributes={(row) => ({
        class: 'clickable',
        'aria-selected': chosen === row,
        onClick: () => choose(row),
      })}
      columns={[
        {
          title: 'Name',
          cell: (row) => (
            <Button
              text={workerName(trace, row)}
              class="link"
              aria-pressed={chosen === row}
              onClick={(event) => {
                event.stopPropagation();
                choose(row);
              }}
            />
          ),
        },
        { title: 'Host', cell: (row) => textOf(strings, workers.host[row]) },
        { title: 'Address', class: 'code', cell: (row) => textOf(strings, workers.address[row]) },
        {
          title: 'Process',
          class: 'number',
          cell: (row) => (workers.pid[row]! > 0 ? String(workers.pid[row]) : '–'),
        },
        {
          title: 'Threads',
          class: 'number',
          cell: (row) => (workers.threads[row]! > 0 ? formatCount(workers.threads[row]!) : '–'),
          all: all(sums.threads > 0 ? formatCount(sums.threads) : '–'),
        },
        {
          title: 'Memory limit',
          class: 'number',
          cell: (row) => (workers.memoryLimit[row]! > 0 ? formatBytes(workers.memoryLimit[row]!) : 'none'),
          all: all(sums.limit > 0 ? formatBytes(sums.limit) : ''),
        },
        {
          title: 'Time of tasks',
          class: 'number',
          cell: (row) => formatDuration(totals.busy[row] ?? 0),
          all: all(formatDuration(sums.busy)),
        },
        {
          ...{ title: 'Joined', class: 'number', cell: (row: number) => clockOf(workers.started[row]!) },
          hint: (row) => dateOf(workers.started[row]!),
        },
        {
          title: 'Left',
          class: 'reason',
          hint: (row) => dateOf(workers.stopped[row]!),
          cell: (row) =>
            workers.stopped[row]! > 0
              ? `${clockOf(workers.stopped[row]!)} ${textOf(strings, workers.reason[row])}`
              : '–',
        },
      ]}
    />
  );
}

const clockOf = (time: number): string => (time > 0 ? formatClock(time) : '–');
const dateOf = (time: number): string | undefined => (time > 0 ? formatDate(time) : undefined);

interface WorkerProps extends PageProps {
  readonly worker: number;
}

function OneWorker(props: WorkerProps) {
  return (
    <>
      <RunningNow {...props} />
      <Transfers {...props} direction="incoming" title="Received" />
      <Transfers {...props} direction="outgoing" title="Sent" />
    </>
  );
}

/** The running tasks of a worker, each with its newest sampled call stack. */
function RunningNow({ update: { trace, live }, worker }: WorkerProps) {
  if (live === undefined) return null;
  const running = live.running.filter((one) => one.worker === worker);
  const secondsSince = (time: number): string => formatDuration(Math.max(0, live.time - time));
  return (
    <Panel
      title="Running now"
      empty={running.length === 0 && 'The worker runs no task, or only short tasks.'}
      wide
    >
      {running.map(({ id, key, started }) => {
        const stack = callStackOf(trace, worker, id);
        return (
          <section key={id}>
            <p>
              <span class="code">{key}</span> for {secondsSince(started)}
            </p>
            {stack === undefined ? (
              <p class="muted">
                The profiler has no call stack of this task yet. It reports once per second.
              </p>
            ) : (
              <>
                <p class="muted">Call stack {secondsSince(stack.time)} ago, innermost first</p>
                <pre class="stack">{stack.lines.join('\n')}</pre>
              </>
            )}
          </section>
        );
      })}
    </Panel>
  );
}

interface TransfersProps extends WorkerProps {
  readonly direction: 'incoming' | 'outgoing';
  readonly title: string;
}

function Transfers({ update: { trace }, worker, direction, title }: TransfersProps) {
  const { transfers } = trace;
  const rows = transfersOf(trace, worker, direction);
  return (
    <Panel
      title={title}
      note={rows.length === 0 ? undefined : `${countText(rows.length, 'transfer')}, newest first`}
      empty={
        rows.length === 0 && `This worker has ${direction === 'incoming' ? 'received' : 'sent'} no data.`
      }
    >
      <RowTable
        rows={rows.slice(0, MAX_ENTRIES)}
        columns={[
          { title: 'Start', cell: (row) => formatClock(transfers.start[row]!) },
          {
            title: direction === 'incoming' ? 'From' : 'To',
            cell: (row) => (transfers.peer[row]! < 0 ? 'client' : workerName(trace, transfers.peer[row]!)),
          },
          { title: 'Kind', cell: (row) => TRANSFER_KINDS[transfers.what[row]!] ?? '' },
          { title: 'Keys', class: 'code', cell: (row) => keysText(trace, row) },
          { title: 'Bytes', class: 'number', cell: (row) => formatBytes(transfers.nbytes[row]!) },
          { title: 'Compressed', class: 'number', cell: (row) => formatBytes(transfers.compressed[row]!) },
          {
            title: 'Requests ahead',
            class: 'number',
            // NaN if it is not measured.
            cell: (row) => (Number.isNaN(transfers.ahead[row]!) ? '' : formatCount(transfers.ahead[row]!)),
          },
          {
            title: 'Duration',
            class: 'number',
            cell: (row) => formatDuration(transfers.stop[row]! - transfers.start[row]!),
          },
        ]}
      />
    </Panel>
  );
}

const MAX_ENTRIES = 200;

/** Returns the rows of a worker's transfers in one direction, newest first. */
function transfersOf({ transfers }: Trace, worker: number, direction: (typeof DIRECTIONS)[number]): number[] {
  const side = DIRECTIONS.indexOf(direction);
  const isWanted = (row: number) => transfers.worker[row] === worker && transfers.direction[row] === side;
  return [...rowsWhere(transfers.length, isWanted)].reverse();
}

/** Returns the first key of a transfer, and the number of others. */
function keysText({ transfers, keys }: Trace, row: number): string {
  const [from, to] = [transfers.keyOffsets[row]!, transfers.keyOffsets[row + 1]!];
  const key = to > from ? keys.get(transfers.keys[from]!) : '';
  return to - from > 1 ? `${key} and ${formatCount(to - from - 1)} more` : key;
}

/** Returns the newest sampled call stack of a task on a worker, innermost function first; undefined without samples. */
function callStackOf(
  { samples, frames, strings }: Trace,
  worker: number,
  task: number,
): { readonly time: number; readonly lines: readonly string[] } | undefined {
  for (let row = samples.length - 1; row >= 0; row--) {
    if (samples.worker[row] !== worker || samples.task[row] !== task) continue;
    const lines: string[] = [];
    let line = samples.line[row]!;
    for (let at = samples.frame[row]!; at >= 0; at = frames.parent[at]!) {
      const place = textOf(strings, frames.file[at]);
      const where = line > 0 ? line : frames.line[at]!;
      lines.push(
        `${textOf(strings, frames.functionName[at]) || '(anonymous)'}${place === '' ? '' : ` (${place}:${where})`}`,
      );
      line = 0;
    }
    return { time: samples.time[row]!, lines };
  }
  return undefined;
}

// The workers: who they are and what they had to do; of the one that is chosen also what it runs now and what it moved.

import type { Trace } from '../../trace/trace.js';
import { formatBytes, formatClock, formatCount, formatDate, formatDuration } from '../model/format.js';
import { callStackOf, transferLog } from '../model/workerLog.js';
import { Empty, Panel, TableView } from '../views/parts.js';
import { useAnswer } from '../views/useAnswer.js';
import type { PageProps } from './pageProps.js';
import { WORKER_BALANCE } from './questions.js';
import { TimePage } from './timePages.js';

export function WorkersPage(props: PageProps) {
  const { state, update } = props;
  const { trace } = update;
  const balance = useAnswer(trace, WORKER_BALANCE);
  return (
    <TimePage {...props}>
      <Panel
        title="Workers"
        note={state.worker.value === undefined ? 'click one to see it alone' : <AllWorkers {...props} />}
        wide
      >
        <WorkerTable {...props} />
      </Panel>
      {state.worker.value === undefined ? null : <OneWorker {...props} worker={state.worker.value} />}
      <Panel title="What each thread had to do" wide>
        {balance === undefined ? null : (
          <TableView table={balance} caption="Work by thread" sums={['Tasks', 'Computed (s)', 'Idle (s)']} />
        )}
      </Panel>
    </TimePage>
  );
}

function AllWorkers({ state }: PageProps) {
  return (
    <button type="button" class="quiet" onClick={() => state.showWorker(undefined)}>
      Show all
    </button>
  );
}

function WorkerTable({ state, update: { trace } }: PageProps) {
  const { workers, strings, totals } = trace;
  const text = (id: number): string => (id < 0 ? '' : strings.get(id));
  if (workers.length === 0) return <Empty>No worker has come yet.</Empty>;
  return (
    <div class="table-scroll">
      <table>
        <thead>
          <tr>
            {['Name', 'Host', 'Address'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
            {['Process', 'Threads', 'Memory limit', 'Computed', 'Came'].map((title) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
            <th scope="col">Went</th>
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: workers.length }, (_, row) => (
            <tr
              key={row}
              class="clickable"
              aria-selected={state.worker.value === row}
              onClick={() => state.showWorker(state.worker.value === row ? undefined : row)}
            >
              <td>
                <button
                  type="button"
                  class="link"
                  aria-pressed={state.worker.value === row}
                  onClick={(event) => {
                    event.stopPropagation();
                    state.showWorker(state.worker.value === row ? undefined : row);
                  }}
                >
                  {text(workers.name[row]!)}
                </button>
              </td>
              <td>{text(workers.host[row]!)}</td>
              <td class="code">{text(workers.address[row]!)}</td>
              <td class="number">{workers.pid[row]! > 0 ? String(workers.pid[row]) : '–'}</td>
              <td class="number">{workers.threads[row]! > 0 ? formatCount(workers.threads[row]!) : '–'}</td>
              <td class="number">
                {workers.memoryLimit[row]! > 0 ? formatBytes(workers.memoryLimit[row]!) : 'none'}
              </td>
              <td class="number">{formatDuration(totals.busy[row] ?? 0)}</td>
              <td class="number" title={dateOf(workers.started[row]!)}>
                {clockOf(workers.started[row]!)}
              </td>
              <td class="reason" title={dateOf(workers.stopped[row]!)}>
                {workers.stopped[row]! > 0
                  ? `${clockOf(workers.stopped[row]!)} ${text(workers.reason[row]!)}`
                  : '–'}
              </td>
            </tr>
          ))}
        </tbody>
        <AllWorkersRow trace={trace} />
      </table>
    </div>
  );
}

const clockOf = (time: number): string => (time > 0 ? formatClock(time) : '–');
const dateOf = (time: number): string | undefined => (time > 0 ? formatDate(time) : undefined);

function AllWorkersRow({ trace: { workers, totals } }: { readonly trace: Trace }) {
  if (workers.length < 2) return null;
  const sum = (values: ArrayLike<number>): number =>
    Array.from(values).reduce((all, value) => all + Math.max(0, value || 0), 0);
  const limit = sum(workers.memoryLimit);
  return (
    <tfoot>
      <tr>
        <th scope="row">All</th>
        <td colSpan={3} />
        <td class="number">{formatCount(sum(workers.threads))}</td>
        <td class="number">{limit > 0 ? formatBytes(limit) : ''}</td>
        <td class="number">{formatDuration(sum(totals.busy))}</td>
        <td colSpan={2} />
      </tr>
    </tfoot>
  );
}

type WorkerProps = PageProps & { readonly worker: number };

function OneWorker(props: WorkerProps) {
  return (
    <>
      {props.update.live === undefined ? null : <RunningNow {...props} />}
      <Transfers {...props} direction="incoming" title="Received" />
      <Transfers {...props} direction="outgoing" title="Sent" />
    </>
  );
}

/** The task that a worker runs, and its call stack as the profiler saw it last. */
function RunningNow({ update: { trace, live }, worker }: WorkerProps) {
  const running = live?.running.find((one) => one.worker === worker);
  const stack = running === undefined ? undefined : callStackOf(trace, worker, running.id);
  return (
    <Panel title="Running now" wide>
      {running === undefined || live === undefined ? (
        <Empty>It runs no task that takes longer than a moment.</Empty>
      ) : (
        <>
          <p>
            <span class="code">{running.key}</span> for{' '}
            {formatDuration(Math.max(0, live.time - running.started))}
          </p>
          {stack === undefined ? (
            <p class="muted">The profiler has told no call stack of it yet: it does once a second.</p>
          ) : (
            <>
              <p class="muted">
                Call stack {formatDuration(Math.max(0, live.time - stack.time))} ago, innermost first
              </p>
              <pre class="stack">{stack.lines.join('\n')}</pre>
            </>
          )}
        </>
      )}
    </Panel>
  );
}

function Transfers({
  update: { trace },
  worker,
  direction,
  title,
}: WorkerProps & { readonly direction: 'incoming' | 'outgoing'; readonly title: string }) {
  const { entries, count } = transferLog(trace, worker, direction);
  return (
    <Panel title={title} note={count === 0 ? undefined : `${formatCount(count)} transfers, newest first`}>
      {entries.length === 0 ? (
        <Empty>Nothing was {direction === 'incoming' ? 'sent to' : 'taken from'} this worker.</Empty>
      ) : (
        <div class="table-scroll">
          <table>
            <thead>
              <tr>
                {['Start', direction === 'incoming' ? 'From' : 'To', 'What', 'Keys'].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
                {['Bytes', 'Compressed', 'Ahead', 'Took'].map((name) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {entries.map(({ start, stop, peer, what, key, keys, nbytes, compressed, ahead }, i) => (
                <tr key={i}>
                  <td>{formatClock(start)}</td>
                  <td>{peer}</td>
                  <td>{what}</td>
                  <td class="code">
                    {key}
                    {keys > 1 ? ` and ${formatCount(keys - 1)} more` : ''}
                  </td>
                  <td class="number">{formatBytes(nbytes)}</td>
                  <td class="number">{formatBytes(compressed)}</td>
                  <td class="number">{Number.isNaN(ahead) ? '' : formatCount(ahead)}</td>
                  <td class="number">{formatDuration(stop - start)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

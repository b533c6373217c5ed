// What happened beside tasks, and what went wrong: texts as they came, never as HTML.
import { TASK_ERRED } from '../../protocol/clusterObserver.js';
import type { Trace } from '../../trace/trace.js';
import { formatClock, formatCount } from '../model/format.js';
import { Empty, Panel } from '../views/parts.js';
import type { PageProps } from './pageProps.js';

const MOST_EVENTS = 1000;
/** Topics of events that tell of an error. */
export const ERROR_TOPIC = /err|lost|killed|fail/i;

export interface Line {
  readonly time: number;
  readonly worker: string;
  readonly topic: string;
  readonly text: string;
}

/** Newest first, at most 1,000. */
export function linesOf(trace: Trace, wanted: (topic: string, row: number) => boolean): Line[] {
  const { events, strings, workers } = trace;
  const text = (id: number | undefined): string => (id === undefined || id < 0 ? '' : strings.get(id));
  const lines: Line[] = [];
  for (let row = events.length - 1; row >= 0 && lines.length < MOST_EVENTS; row--) {
    const topic = text(events.topic[row]);
    if (!wanted(topic, row)) continue;
    const worker = events.worker[row]!;
    const name = worker < 0 ? 'scheduler' : text(workers.name[worker]);
    lines.push({ time: events.time[row]!, worker: name, topic, text: text(events.text[row]) });
  }
  return lines;
}

export function EventsPage({ state, update: { trace } }: PageProps) {
  const { topic = '' } = state.choices.value;
  const topics = new Set<string>();
  for (const id of trace.events.topic) if (id >= 0) topics.add(trace.strings.get(id));
  const lines = linesOf(trace, (one) => topic === '' || one === topic);
  return (
    <>
      {topics.size < 2 ? null : (
        <div class="filters">
          <label>
            Topic
            <select value={topic} onChange={(event) => state.choose('topic', event.currentTarget.value)}>
              <option value="">all</option>
              {[...topics].sort().map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        </div>
      )}
      <div class="scroll">
        <div class="panels">
          <Panel title="Events" note={`newest first, ${formatCount(trace.events.length)} in the trace`} wide>
            {lines.length === 0 ? (
              <Empty>Nothing was told: workers that come and go, restarts and warnings appear here.</Empty>
            ) : (
              <Lines lines={lines} />
            )}
          </Panel>
        </div>
      </div>
    </>
  );
}

function Lines({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <div class="table-scroll">
      <table>
        <thead>
          <tr>
            {['Time', 'From', 'Topic', 'Text'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ time, worker, topic, text }, i) => (
            <tr key={i}>
              <td>{formatClock(time)}</td>
              <td>{worker}</td>
              <td>{topic}</td>
              <td class="text">
                <LongText text={text} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The first line; the others, as of a stack, once somebody asks. */
function LongText({ text }: { readonly text: string }) {
  const end = text.indexOf('\n');
  if (end < 0) return <span class="text">{text}</span>;
  return (
    <details>
      <summary>{text.slice(0, end)}</summary>
      <pre class="stack">{text.slice(end + 1)}</pre>
    </details>
  );
}

export function ErrorsPage({ state, update: { trace } }: PageProps) {
  const rows: number[] = [];
  for (let row = trace.tasks.length - 1; row >= 0 && rows.length < MOST_EVENTS; row--)
    if (trace.tasks.state[row] === TASK_ERRED) rows.push(row);
  const lines = linesOf(trace, (topic) => ERROR_TOPIC.test(topic));
  const erred = trace.totals.states[TASK_ERRED] ?? 0;
  const runs = trace.totals.states.reduce((sum, count) => sum + count, 0);
  return (
    <div class="scroll">
      <div class="panels">
        <Panel title="Tasks that failed" note={`${formatCount(erred)} of ${formatCount(runs)} runs`} wide>
          {rows.length === 0 ? (
            <Empty>No task has failed.</Empty>
          ) : (
            <Erred state={state} trace={trace} rows={rows} errors={messagesOf(lines)} />
          )}
        </Panel>
        {lines.length === 0 ? null : (
          <Panel title="What was told of errors" wide>
            {lines.map(({ time, worker, topic, text }, i) => (
              <article key={i} class="finding">
                <div class="muted">
                  {formatClock(time)}
                  <br />
                  {worker}
                </div>
                <div>
                  <h3>{topic}</h3>
                  <pre class="stack">{text}</pre>
                </div>
              </article>
            ))}
          </Panel>
        )}
      </div>
    </div>
  );
}

/** What a failure begins with: `Task 'key' (function f, worker w) failed. `. */
const FAILURE = /^Task '(.+?)' \(function [^)]*\) failed\. (.*)/;

/** Key → its last error in one line, of those that were told. */
function messagesOf(lines: readonly Line[]): Map<string, string> {
  const messages = new Map<string, string>();
  for (const { text } of lines) {
    const [, key = '', message = ''] = FAILURE.exec(text) ?? [];
    if (key !== '' && !messages.has(key)) messages.set(key, message);
  }
  return messages;
}

function Erred({
  state,
  trace,
  rows,
  errors,
}: {
  readonly state: PageProps['state'];
  readonly trace: Trace;
  readonly rows: readonly number[];
  /** By key. */
  readonly errors: ReadonlyMap<string, string>;
}) {
  const { tasks, strings, workers } = trace;
  const text = (id: number | undefined): string => (id === undefined || id < 0 ? '' : strings.get(id));
  return (
    <div class="table-scroll">
      <table>
        <thead>
          <tr>
            {['Time', 'Task', 'Error', 'Worker'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
            <th scope="col" class="number">
              Attempt
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row}>
              <td>{formatClock(tasks.stopped[row]! || tasks.acknowledged[row]!)}</td>
              <td class="code">
                <button
                  type="button"
                  class="link code"
                  title="Show it in the task stream"
                  onClick={() => state.selectRow(row)}
                >
                  {tasks.keyOf(row)}
                </button>
              </td>
              <td class="text">{errors.get(tasks.keyOf(row)) ?? `in ${text(tasks.functionName[row])}`}</td>
              <td>{text(workers.name[tasks.worker[row]!])}</td>
              <td class="number">{formatCount(tasks.attempt[row]!)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

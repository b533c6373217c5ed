// The pages of events, errors and logs. Texts of the trace are shown as text, never as HTML.
import { deadRows, failedTaskCount } from '../../analysis/taskErrors.js';
import { countText } from '../../base/words.js';
import { TASK_ERRED } from '../../protocol/clusterObserver.js';
import { STEALING } from '../../protocol/eventTopics.js';
import { newestEvents, type Trace, textOf, workerName } from '../../trace/trace.js';
import { formatClock, formatCount } from '../model/format.js';
import { Button, Choice, Panel, Panels, withAll } from '../views/parts.js';
import { RowTable } from '../views/tables.js';
import type { PageProps } from './pageProps.js';

const MAX_EVENTS = 1000;
const NO_EVENTS = 'There are no events. Workers that join or leave, restarts and warnings appear here.';
const ERROR_TOPIC = /(?<!std)err|lost|killed|fail/i;
/** Topics of output that tasks printed, which is on the Logs page. */
const OUTPUT_TOPIC = /^std(out|err)$/;
/** Topics of many events, which are shown if they are chosen. */
const FREQUENT = new Set<string>([STEALING]);

interface Line {
  readonly time: number;
  readonly worker: string;
  readonly topic: string;
  readonly text: string;
}

/** Name of the process that reported an event. */
function sourceOf(trace: Trace, worker: number): string {
  return worker < 0 ? 'scheduler' : workerName(trace, worker);
}

/** Returns the newest events first, at most 1,000. */
function linesOf(trace: Trace, wanted: (topic: string, row: number) => boolean): Line[] {
  const { events, strings } = trace;
  const lines: Line[] = [];
  for (const row of newestEvents(trace)) {
    if (lines.length === MAX_EVENTS) break;
    const topic = textOf(strings, events.topic[row]);
    if (!wanted(topic, row)) continue;
    const worker = sourceOf(trace, events.worker[row]!);
    lines.push({ time: events.time[row]!, worker, topic, text: textOf(strings, events.text[row]) });
  }
  return lines;
}

/** Whether events of this topic are shown only if it is chosen. */
function isOmitted(topic: string): boolean {
  return OUTPUT_TOPIC.test(topic) || FREQUENT.has(topic);
}

export function EventsPage({ state, update: { trace } }: PageProps) {
  const { topic = '' } = state.choices.value;
  const topics = new Set<string>();
  for (const id of trace.events.topic) if (id >= 0) topics.add(trace.strings.get(id));
  const omitted = [...topics].filter(isOmitted).sort();
  const lines = linesOf(trace, (one) => (topic === '' ? !isOmitted(one) : one === topic));
  return (
    <>
      {topics.size < 2 && !FREQUENT.has([...topics][0] ?? '') ? null : (
        <div class="filters">
          <Choice
            label="Topic"
            value={topic}
            options={withAll(
              omitted.length === 0 ? 'all' : `all except ${omitted.join(', ')}`,
              [...topics].sort(),
            )}
            onChoice={(value) => state.choose('topic', value)}
          />
        </div>
      )}
      <Panels>
        <Panel
          title="Events"
          note={`newest first, ${formatCount(lines.length)} of ${formatCount(trace.events.length)} in the trace`}
          empty={lines.length === 0 && NO_EVENTS}
          wide
        >
          <Lines lines={lines} />
        </Panel>
      </Panels>
    </>
  );
}

function Lines({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <RowTable
      rows={lines}
      columns={[
        { title: 'Time', cell: ({ time }) => formatClock(time) },
        { title: 'From', cell: ({ worker }) => worker },
        { title: 'Topic', cell: ({ topic }) => topic },
        { title: 'Text', class: 'text', cell: ({ text }) => <LongText text={text} /> },
      ]}
    />
  );
}

/** The first line of a text. The other lines, e.g. of a stack, can be unfolded. */
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
  const dead = new Set(deadRows(trace));
  const rows: number[] = [];
  for (let row = trace.tasks.length - 1; row >= 0 && rows.length < MAX_EVENTS; row--)
    if (trace.tasks.state[row] === TASK_ERRED || dead.has(row)) rows.push(row);
  const lines = linesOf(trace, (topic) => ERROR_TOPIC.test(topic));
  const failed = (trace.totals.states[TASK_ERRED] ?? 0) + dead.size;
  const runs = trace.totals.states.reduce((sum, count) => sum + count, 0);
  return (
    <Panels>
      <Panel
        title="Failed tasks"
        note={`${countText(failedTaskCount(trace), 'task')}, ${formatCount(failed)} of ${countText(runs, 'run')}`}
        empty={rows.length === 0 && 'No task has failed.'}
        wide
      >
        <Erred state={state} trace={trace} rows={rows} errors={messagesOf(lines)} />
      </Panel>
      {lines.length === 0 ? null : (
        <Panel title="Events about errors" wide>
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
    </Panels>
  );
}

/** Message of a failed task, e.g. `Task 'key' (function f, worker w) failed. `, or of one that died with its worker. */
const FAILURE = /^Task '(.+?)' \(function [^)]*\) (?:failed\. )?(.*)/;

/** Returns the last error of each key in one line. */
function messagesOf(lines: readonly Line[]): Map<string, string> {
  const messages = new Map<string, string>();
  for (const { text } of lines) {
    const [, key = '', message = ''] = FAILURE.exec(text) ?? [];
    if (key !== '' && !messages.has(key)) messages.set(key, message);
  }
  return messages;
}

interface ErredProps {
  readonly state: PageProps['state'];
  readonly trace: Trace;
  readonly rows: readonly number[];
  readonly errors: ReadonlyMap<string, string>;
}

function Erred({ state, trace, rows, errors }: ErredProps) {
  const { tasks, strings } = trace;
  return (
    <RowTable
      rows={rows}
      keyOf={(row) => row}
      columns={[
        { title: 'Time', cell: (row) => formatClock(tasks.stopped[row]! || tasks.acknowledged[row]!) },
        {
          title: 'Task',
          class: 'code',
          cell: (row) => (
            <Button
              text={tasks.keyOf(row)}
              class="link code"
              title="Show the task"
              onClick={() => state.selectRow(row)}
            />
          ),
        },
        {
          title: 'Error',
          class: 'text',
          cell: (row) =>
            errors.get(tasks.keyOf(row)) ?? `in function ${textOf(strings, tasks.functionName[row])}`,
        },
        {
          title: 'Worker',
          cell: (row) => (tasks.worker[row]! < 0 ? '' : workerName(trace, tasks.worker[row]!)),
        },
        { title: 'Attempt', class: 'number', cell: (row) => formatCount(tasks.attempt[row]!) },
      ]}
    />
  );
}

/** The log of scheduler and workers, oldest entries first. Filters restrict it to one of them, or to problems. */
export function LogsPage({ state, update: { trace } }: PageProps) {
  const { 'from-worker': source = '', problems = '' } = state.choices.value;
  const onlyProblems = problems !== '';
  const { events, strings } = trace;
  const sources = [...new Set(events.worker)].sort((a, b) => a - b);
  const from = sources.find((worker) => sourceOf(trace, worker) === source);
  const query = state.view.query.value.trim().toLowerCase();
  const isFound = (row: number): boolean =>
    query === '' || (events.text[row]! >= 0 && strings.get(events.text[row]!).toLowerCase().includes(query));
  const lines = linesOf(
    trace,
    (topic, row) =>
      (from === undefined || events.worker[row] === from) &&
      (!onlyProblems || ERROR_TOPIC.test(topic)) &&
      isFound(row),
  ).reverse();
  return (
    <>
      <div class="filters">
        <Choice
          label="From"
          value={from === undefined ? '' : source}
          options={withAll(
            'scheduler and workers',
            sources.map((one) => sourceOf(trace, one)),
          )}
          onChoice={(value) => state.choose('from-worker', value)}
        />
        <label>
          <input
            type="checkbox"
            checked={onlyProblems}
            onChange={(event) => state.choose('problems', event.currentTarget.checked ? 'only' : '')}
          />
          Only problems
        </label>
      </div>
      <Panels>
        <Panel
          title="Log"
          note={`${formatCount(lines.length)} of ${formatCount(events.length)} entries`}
          empty={
            lines.length === 0 &&
            (events.length === 0
              ? 'The log is empty. Failures, restarts and warnings appear here.'
              : 'No entry matches. Choose another worker, or clear the search.')
          }
          wide
        >
          <pre class="log">
            {lines
              .map(({ time, worker, topic, text }) => `${formatClock(time)} ${worker} ${topic}: ${text}`)
              .join('\n')}
          </pre>
        </Panel>
      </Panels>
    </>
  );
}

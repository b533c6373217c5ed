// The log of scheduler and workers, oldest entries first. Filters restrict it to one of them, or to problems.
import { workerName } from '../../trace/names.js';
import { formatClock, formatCount } from '../model/format.js';
import { Choice, Panel, Panels, withAll } from '../views/parts.js';
import { ERROR_TOPIC, linesOf } from './logPages.js';
import type { PageProps } from './pageProps.js';

const SCHEDULER = -1;

export function LogsPage({ state, update: { trace } }: PageProps) {
  const { 'from-worker': source = '', problems = '' } = state.choices.value;
  const onlyProblems = problems !== '';
  const { events, strings } = trace;
  const sources = [...new Set(events.worker)].sort((a, b) => a - b);
  const nameOf = (worker: number): string => (worker === SCHEDULER ? 'scheduler' : workerName(trace, worker));
  const from = sources.find((worker) => nameOf(worker) === source);
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
          options={withAll('scheduler and workers', sources.map(nameOf))}
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

// Pages that are an analysis and its picture: compute time by key, time by action.
import { formatBytes, formatCount, formatDuration } from '../model/format.js';
import { kindColor } from '../model/kindColors.js';
import { prefixColors } from '../model/prefixColors.js';
import { Bars, Empty, Panel, TableView } from '../views/parts.js';
import { useAnswer } from '../views/useAnswer.js';
import type { PageProps } from './pageProps.js';
import { QUEUEING, TIME_BY_ACTION, TIME_BY_PREFIX } from './questions.js';

const MOST_BARS = 30;
/** Columns of the table of prefixes of which a sum says something. */
export const PREFIX_SUMS = ['Duration (s)', 'Share (%)', 'Tasks', 'Erred', 'Results (MB)'];

export function ComputePage({ state, update }: PageProps) {
  const { trace } = update;
  const table = useAnswer(trace, TIME_BY_PREFIX);
  const waits = useAnswer(trace, QUEUEING);
  const colors = prefixColors(trace, state.view.scheme.value);
  const totals = [...trace.totals.prefixes.values()]
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, MOST_BARS);
  return (
    <div class="scroll">
      <div class="panels">
        <Panel
          title="Compute time by key"
          note={
            trace.samples.length === 0
              ? 'seconds in tasks, by prefix'
              : 'seconds in tasks, by prefix; click one for its profile'
          }
          wide
        >
          {totals.length === 0 ? (
            <Empty>No task has ended yet.</Empty>
          ) : (
            <Bars
              rows={totals.map(({ prefix, seconds, count }) => ({
                name: prefix,
                parts: [{ name: prefix, value: seconds, color: colors(prefix) }],
                label: `${formatDuration(seconds)} · ${formatCount(count)}`,
                ...(trace.samples.length === 0 ? {} : { onClick: () => state.showProfile({ key: prefix }) }),
              }))}
            />
          )}
        </Panel>
        <Panel title="By prefix" wide>
          {table === undefined ? null : (
            <TableView table={table} caption="Seconds by prefix" sums={PREFIX_SUMS} />
          )}
        </Panel>
        <Panel title="Where tasks wait" note="median seconds between two stations" wide>
          {waits === undefined ? null : <TableView table={waits} caption="Waiting by prefix" />}
        </Panel>
      </div>
    </div>
  );
}

export function ActionsPage({ state, update }: PageProps) {
  const { trace } = update;
  const table = useAnswer(trace, TIME_BY_ACTION);
  const scheme = state.view.scheme.value;
  const actions = [...trace.totals.actions].sort((a, b) => b.seconds - a.seconds);
  return (
    <div class="scroll">
      <div class="panels">
        <Panel title="Aggregate time by action" note="all workers together" wide>
          {actions.length === 0 ? (
            <Empty>No worker has done anything yet.</Empty>
          ) : (
            <Bars
              rows={actions.map(({ action, seconds, nbytes }) => ({
                name: action,
                parts: [{ name: action, value: seconds, color: kindColor(action, scheme) }],
                label: `${formatDuration(seconds)}${nbytes > 0 ? ` · ${formatBytes(nbytes)}` : ''}`,
              }))}
            />
          )}
        </Panel>
        <Panel title="By action" wide>
          {table === undefined ? null : <TableView table={table} caption="Seconds by action" />}
        </Panel>
      </div>
    </div>
  );
}

// Pages with one analysis as bars and as a table: compute time by key, time by action.
import { taskCounts } from '../../analysis/taskCounts.js';
import { formatBytes, formatCount, formatDuration } from '../model/format.js';
import { kindColor, prefixColors } from '../model/palette.js';
import { Bars, Panel, Panels } from '../views/parts.js';
import { TableView } from '../views/tables.js';
import { useAnalysis } from '../views/useAnalysis.js';
import { QUEUEING, TIME_BY_ACTION, TIME_BY_PREFIX } from './analyses.js';
import { hasNoTasks, NoTasks } from './noTasks.js';
import type { DrawnProps, PageProps } from './pageProps.js';

const MAX_BARS = 30;
/** Columns of the table of prefixes whose sum is meaningful. */
export const PREFIX_SUMS = ['Duration (s)', 'Share (%)', 'Tasks', 'Erred', 'Results (MB)'];

export function ComputePage({ state, update }: PageProps) {
  const { trace } = update;
  const table = useAnalysis(trace, TIME_BY_PREFIX);
  const waits = useAnalysis(trace, QUEUEING);
  const colors = prefixColors(trace, state.view.scheme.value);
  if (hasNoTasks(trace)) return <NoTasks update={update} />;
  const countsOf = taskCounts(trace);
  const totals = [...trace.totals.prefixes.values()].sort((a, b) => b.seconds - a.seconds).slice(0, MAX_BARS);
  return (
    <Panels>
      <Panel
        title="Compute time by key"
        note={
          trace.samples.length === 0
            ? 'seconds in tasks and number of tasks, by prefix'
            : 'seconds in tasks and number of tasks, by prefix; click a prefix for its profile'
        }
        wide
      >
        <Bars
          rows={totals.map((row) => ({
            name: row.prefix,
            parts: [{ name: row.prefix, value: row.seconds, color: colors(row.prefix) }],
            label: `${formatDuration(row.seconds)} · ${formatCount(countsOf(row).tasks)}`,
            ...(trace.samples.length === 0 ? {} : { onClick: () => state.showProfile({ key: row.prefix }) }),
          }))}
        />
      </Panel>
      <Panel title="By prefix" wide>
        <TableView table={table} caption="Seconds by prefix" sums={PREFIX_SUMS} />
      </Panel>
      <Panel title="Where tasks wait" note="median seconds from one step to the next" wide>
        <TableView table={waits} caption="Waiting by prefix" />
      </Panel>
    </Panels>
  );
}

export function ActionsPage({ state, update }: PageProps) {
  const { trace } = update;
  const table = useAnalysis(trace, TIME_BY_ACTION);
  return (
    <Panels>
      <Panel title="Aggregate time by action" note="all workers together" wide>
        <ActionBars trace={trace} scheme={state.view.scheme.value} none="Nothing was recorded yet." />
      </Panel>
      <Panel title="By action" wide>
        <TableView table={table} caption="Seconds by action" />
      </Panel>
    </Panels>
  );
}

/** Bars of seconds by action, or the message `none` without actions. */
export function ActionBars({ trace, scheme, none }: DrawnProps & { readonly none: string }) {
  const actions = [...trace.totals.actions].sort((a, b) => b.seconds - a.seconds);
  const rows = actions.map(({ action, seconds, nbytes }) => ({
    name: action,
    parts: [{ name: action, value: seconds, color: kindColor(action, scheme) }],
    label: `${formatDuration(seconds)}${nbytes > 0 ? ` · ${formatBytes(nbytes)}` : ''}`,
  }));
  return <Bars rows={rows} none={none} />;
}

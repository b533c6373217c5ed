// What stands in the way of tasks on their own machine: event loops that are late, threads that wait for a core or for
// something else than a core.
import { getOrMake } from '../../base/lookUps.js';
import { formatDuration, formatPercent } from '../model/format.js';
import { kindColor } from '../model/kindColors.js';
import { Bars, Empty, Key, Panel } from '../views/parts.js';
import type { PageProps } from './pageProps.js';
import { TimePage } from './timePages.js';

const CPU = 'thread-cpu';
const WAIT = 'thread-noncpu';
const MOST_BARS = 30;

export function ContentionPage(props: PageProps) {
  const { state, update } = props;
  const { metrics } = update.trace.totals;
  const sums = new Map<string, { cpu: number; wait: number }>();
  for (const { context, prefix, activity, unit, value } of metrics) {
    if (context !== 'execute' || unit !== 'seconds' || (activity !== CPU && activity !== WAIT)) continue;
    const sum = getOrMake(sums, prefix, () => ({ cpu: 0, wait: 0 }));
    if (activity === CPU) sum.cpu += value;
    else sum.wait += value;
  }
  const scheme = state.view.scheme.value;
  const colors = { [CPU]: kindColor(CPU, scheme), [WAIT]: kindColor(WAIT, scheme) };
  const rows = [...sums]
    .sort(([, a], [, b]) => b.wait - a.wait)
    .slice(0, MOST_BARS)
    .map(([name, { cpu, wait }]) => ({
      name: name === '' ? '(no function)' : name,
      parts: [
        { name: `${WAIT} ${formatDuration(wait)}`, value: Math.max(0, wait), color: colors[WAIT]! },
        { name: `${CPU} ${formatDuration(cpu)}`, value: cpu, color: colors[CPU]! },
      ],
      label: `${formatDuration(wait)} of ${formatDuration(cpu + wait)} · ${formatPercent(cpu + wait > 0 ? (100 * Math.max(0, wait)) / (cpu + wait) : 0)}`,
    }));
  return (
    <TimePage {...props}>
      <Panel
        title="Time in tasks without a core"
        note="waiting for data, a disk, or a core that another has"
        wide
      >
        {rows.length === 0 ? (
          <Empty>No thread has told its CPU time: a LocalCluster measures it with every heartbeat.</Empty>
        ) : (
          <>
            <Bars rows={rows} />
            <Key parts={Object.entries(colors).map(([name, color]) => ({ name, color }))} />
          </>
        )}
      </Panel>
    </TimePage>
  );
}

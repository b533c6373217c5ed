// Pages with plots over time and panels below: memory, bandwidth, contention, the host.

import type { ComponentChildren } from 'preact';
import { recordsTransfers } from '../../analysis/programTransfers.js';
import { addTo, getOrMake } from '../../base/lookUps.js';
import { countText } from '../../base/words.js';
import { workerName } from '../../trace/trace.js';
import { formatBytes, formatCount, formatDuration, formatPercent, shortNames } from '../model/format.js';
import { layoutPlots, OVERVIEW_HEIGHT, RULER_HEIGHT } from '../model/pageLayout.js';
import { kindColor, mix } from '../model/palette.js';
import { Bars, ColorKey, Empty, Panel, Panels } from '../views/parts.js';
import { Plots } from '../views/plots.js';
import { TableView } from '../views/tables.js';
import { useAnalysis } from '../views/useAnalysis.js';
import { TIME_BY_PREFIX, TRANSFERS_BY_PAIR, TRANSFERS_BY_TYPE } from './analyses.js';
import type { DrawnProps, PageProps } from './pageProps.js';
import { PREFIX_SUMS } from './tablePages.js';

export function BandwidthPage(props: PageProps) {
  const { trace } = props.update;
  const byType = useAnalysis(trace, TRANSFERS_BY_TYPE);
  const byPair = useAnalysis(trace, TRANSFERS_BY_PAIR);
  return (
    <TimePage {...props}>
      <Panel title="Transfers between workers" note="bytes; stronger colours mean more bytes" wide>
        <Matrix trace={trace} scheme={props.state.view.scheme.value} />
      </Panel>
      <Panel title="By type of result" wide>
        <TableView table={byType} caption="Transferred bytes by type" sums={TRANSFER_SUMS} />
      </Panel>
      <Panel title="By pair of workers" wide>
        <TableView table={byPair} caption="Transferred bytes by pair" sums={TRANSFER_SUMS} />
      </Panel>
    </TimePage>
  );
}

/** Columns of the tables of transfers whose sum is meaningful. */
const TRANSFER_SUMS = ['Transfers', 'Results', 'Size (MB)', 'Compressed (MB)', 'Duration (s)'];
/** Workers in the matrix, those with the most transferred bytes. */
const MAX_WORKERS = 24;

function Matrix({ trace, scheme }: DrawnProps) {
  const { totals } = trace;
  if (totals.pairs.length === 0)
    return (
      <Empty>
        {recordsTransfers(trace)
          ? 'No data were transferred between workers or to a client.'
          : 'The trace has no transfers. Local schedulers measure only copies of 5 ms or more.'}
      </Empty>
    );
  const sums = new Map<number, number>();
  for (const { from, to, nbytes } of totals.pairs) {
    for (const side of [from, to]) addTo(sums, side, nbytes);
  }
  const shown = [...sums]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_WORKERS)
    .map(([row]) => row)
    .sort((a, b) => a - b);
  const largest = totals.pairs.reduce((most, { nbytes }) => Math.max(most, nbytes), 0);
  const name = (row: number): string => (row < 0 ? 'client' : workerName(trace, row));
  const short = shortNames(shown.map(name));
  const [ink, ground] = scheme === 'light' ? ['#2f6fed', '#ffffff'] : ['#3d6fd0', '#14171c'];
  return (
    <div class="table-scroll">
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">from \ to</th>
            {shown.map((to, i) => (
              <th key={to} scope="col" class="number" title={name(to)}>
                {short[i]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((from, i) => (
            <tr key={from}>
              <th scope="row" title={name(from)}>
                {short[i]}
              </th>
              {shown.map((to) => {
                const pair = totals.pairs.find((one) => one.from === from && one.to === to);
                if (pair === undefined) return <td key={to} />;
                const share = largest > 0 ? 0.06 + 0.5 * (pair.nbytes / largest) : 0;
                const title = `${countText(pair.count, 'transfer')}, ${formatBytes(pair.seconds > 0 ? pair.nbytes / pair.seconds : 0)}/s`;
                return (
                  <td key={to} title={title} style={{ background: mix(ink, ground, share) }}>
                    {formatBytes(pair.nbytes)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {sums.size > MAX_WORKERS ? (
        <p class="muted">
          the {MAX_WORKERS} workers with the most transferred bytes, of {formatCount(sums.size)}
        </p>
      ) : null}
    </div>
  );
}

export function MemoryPage(props: PageProps) {
  const { trace } = props.update;
  const table = useAnalysis(trace, TIME_BY_PREFIX);
  return (
    <TimePage {...props}>
      <Panel title="Results by prefix" wide>
        <TableView
          table={table?.sort('Results (MB)', 'descending')}
          caption="Bytes of results by prefix"
          columns={['Prefix', 'Results (MB)', 'Tasks', 'Erred']}
          sums={PREFIX_SUMS}
        />
      </Panel>
    </TimePage>
  );
}

export function SystemPage({ state }: PageProps) {
  return <Plots state={state.view} />;
}

/** A page with plots above and panels below. */
export function TimePage({ state, children }: PageProps & { readonly children: ComponentChildren }) {
  // The charts have their least heights, and the page scrolls as a whole.
  const { total } = layoutPlots(
    state.view.model.plots.map(() => 0),
    0,
  );
  const least = OVERVIEW_HEIGHT + RULER_HEIGHT + total;
  return (
    <div class="split charts" style={{ gridTemplateRows: `minmax(${least}px, 1fr) auto` }}>
      <Plots state={state.view} />
      <Panels>{children}</Panels>
    </div>
  );
}

// The page about contention on a machine: late event loops, and threads that wait for a core or for something else.

const CPU = 'thread-cpu';
const WAIT = 'thread-noncpu';
const NO_CPU_TIMES =
  'The trace has no CPU times of tasks. A cluster measures them, local schedulers do not; the option --cluster of longpole run moves compute() to a cluster.';
const NO_CPU_TIMES_YET =
  'No worker has reported CPU times of tasks yet. Each does with its next heartbeat after a task, so for a moment this is normal. Local schedulers never do.';
const MAX_BARS = 30;

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
    .slice(0, MAX_BARS)
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
        note="waiting for data, for a disk, or for a core in use"
        empty={rows.length === 0 && (update.live === undefined ? NO_CPU_TIMES : NO_CPU_TIMES_YET)}
        wide
      >
        <Bars rows={rows} />
        <ColorKey parts={Object.entries(colors).map(([name, color]) => ({ name, color }))} />
      </Panel>
    </TimePage>
  );
}

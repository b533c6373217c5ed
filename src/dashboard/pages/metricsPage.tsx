// Fine performance metrics, as on Dask's page of this name: task execution by function and by activity, and
// sending of data by activity. Filters choose functions, a span and a unit. Sums are exact over the whole run.
import { idleThreadSeconds } from '../../analysis/idleThreads.js';
import { addTo, getOrMake, sumOf } from '../../base/lookUps.js';
import { DROPPED_CONTEXT, IMPORT_CONTEXT } from '../../protocol/metrics.js';
import { CACHE_CONTEXT, SAMPLER_CONTEXT } from '../../trace/localMetrics.js';
import type { MetricTotals } from '../../trace/totals.js';
import { formatBytes, formatDuration, formatNumber } from '../model/format.js';
import { kindColor, type Scheme } from '../model/palette.js';
import { type BarRow, Bars, Button, Choice, Nothing, Panel, Panels, withAll } from '../views/parts.js';
import { hasNoTasks, NoTasks } from './noTasks.js';
import type { PageProps } from './pageProps.js';

const EXECUTE = 'execute';
const SEND = 'get-data';
const NO_COSTS: ReadonlySet<string> = new Set([CACHE_CONTEXT, DROPPED_CONTEXT, SAMPLER_CONTEXT]);
/** Message of a panel without bars. */
const NOTHING = 'Nothing was measured in this unit.';
const ONLY_IMPORTS =
  'Local schedulers measure only imports. The option --cluster of longpole run moves compute() to a cluster.';
/** Separator of the chosen functions in the address. */
const SEPARATOR = '\n';

export function MetricsPage({ state, update }: PageProps) {
  const { trace } = update;
  // Levels of caches and of sampled memory, and numbers of tasks, are not costs of tasks.
  const metrics = trace.totals.metrics.filter(({ context }) => !NO_COSTS.has(context));
  const units = [...new Set(metrics.map(({ unit }) => unit))].sort(secondsFirst);
  const { unit: chosenUnit = 'seconds', 'in-span': span = '', functions: names = '' } = state.choices.value;
  const functions = names === '' ? [] : names.split(SEPARATOR);
  const unit = units.includes(chosenUnit) ? chosenUnit : (units[0] ?? 'seconds');
  const ofUnit = metrics.filter((metric) => metric.unit === unit);
  const execute = ofUnit.filter(({ context }) => context === EXECUTE);
  const shown = execute.filter(
    (metric) =>
      (functions.length === 0 || functions.includes(metric.prefix)) && (span === '' || metric.span === span),
  );
  const isFiltered = functions.length > 0 || span !== '';
  const idle = isFiltered || unit !== 'seconds' ? Number.NaN : idleThreadSeconds(trace);
  const activities = idle > 0 ? [...shown, idleMetric(idle)] : shown;
  const scheme = state.view.scheme.value;
  if (metrics.length === 0) return hasNoTasks(trace) ? <NoTasks update={update} /> : <NoMetrics />;
  const none = metrics.every(({ context }) => context === IMPORT_CONTEXT) ? ONLY_IMPORTS : NOTHING;
  const spans = [...new Set(metrics.map((metric) => metric.span).filter((one) => one !== ''))].sort();
  const prefixes = [...new Set(metrics.map(({ prefix }) => prefix).filter((one) => one !== ''))].sort();
  const label = (value: number): string => amount(value, unit);
  const panel = (title: string, list: readonly MetricTotals[], rowOf: (metric: MetricTotals) => string) => (
    <Panel title={title} note={`total ${label(sumOf(list, ({ value }) => value))}`}>
      <Bars none={none} rows={barRows(list, rowOf, scheme, label)} />
    </Panel>
  );
  const sent = ofUnit.filter(({ context }) => context === SEND);
  const others = ofUnit.filter(({ context }) => context !== SEND && context !== EXECUTE);
  const toggle = (name: string) =>
    state.choose(
      'functions',
      (functions.includes(name) ? functions.filter((one) => one !== name) : [...functions, name]).join(
        SEPARATOR,
      ),
    );
  return (
    <>
      <div class="filters">
        <Choice
          label="Unit"
          value={unit}
          options={units.map((one) => [one, one])}
          onChoice={(value) => state.choose('unit', value)}
        />
        <Choice
          label="Span"
          value={span}
          options={withAll('all', spans)}
          onChoice={(value) => state.choose('in-span', value)}
        />
        <Choice
          label="Function"
          value=""
          options={[
            ['', functions.length === 0 ? 'all' : functions.join(', ')],
            ...prefixes.map((one) => [one, functions.includes(one) ? `✓ ${one}` : one] as const),
          ]}
          onChoice={toggle}
        />
        {isFiltered ? (
          <Button
            text="Show all"
            onClick={() => {
              state.choose('functions', '');
              state.choose('in-span', '');
            }}
          />
        ) : null}
      </div>
      <Panels>
        {panel('Task execution, by function', shown, ({ prefix }) => prefix)}
        {panel('Task execution, by activity', activities, ({ activity }) => activity)}
        {panel('Send data, by activity', sent, ({ activity }) => activity)}
        {others.length > 0
          ? panel('Other activities', others, ({ context, activity }) => `${context}: ${activity}`)
          : null}
      </Panels>
    </>
  );
}

function idleMetric(value: number): MetricTotals {
  return { context: EXECUTE, span: '', prefix: '', activity: 'idle', unit: 'seconds', value };
}

/** Returns bars in the colours of their activities, largest first. */
function barRows(
  list: readonly MetricTotals[],
  rowOf: (metric: MetricTotals) => string,
  scheme: Scheme,
  label: (value: number) => string,
): BarRow[] {
  const rows = new Map<string, Map<string, number>>();
  for (const metric of list) {
    const name = rowOf(metric);
    const parts = getOrMake(rows, name, () => new Map<string, number>());
    addTo(parts, metric.activity, metric.value);
  }
  const sum = (parts: ReadonlyMap<string, number>): number => sumOf(parts.values(), (value) => value);
  return [...rows]
    .sort(([, a], [, b]) => sum(b) - sum(a))
    .map(([name, parts]) => ({
      name: name === '' ? '(no function)' : name,
      parts: [...parts]
        .sort(([, a], [, b]) => b - a)
        .map(([activity, value]) => ({
          name: `${activity} ${label(value)}`,
          value,
          color: kindColor(activity, scheme),
        })),
      label: label(sum(parts)),
    }));
}

function amount(value: number, unit: string): string {
  if (unit === 'seconds') return formatDuration(value);
  if (unit === 'bytes') return formatBytes(value);
  return `${formatNumber(value)} ${unit}`;
}

function secondsFirst(a: string, b: string): number {
  return (
    Number(b === 'seconds') - Number(a === 'seconds') ||
    Number(b === 'bytes') - Number(a === 'bytes') ||
    a.localeCompare(b)
  );
}

function NoMetrics() {
  return (
    <Nothing title="The trace has no fine performance metrics">
      A cluster measures them with every heartbeat: the CPU time and the waiting time of each function, and
      the time for serialization and the disk. Local schedulers and other programs do not; the option
      --cluster of longpole run moves compute() to a cluster.
    </Nothing>
  );
}

// The statistical profile: the time inside tasks by function. Filters choose samples of the shared window of time, of
// all workers, one worker or the scheduler, and of all tasks, a prefix or one task.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { profiledPrefixes, profileTree, samplingInterval } from '../../analysis/profile.js';
import { countText } from '../../base/words.js';
import { type CallTree, selfCount } from '../../profile/callTree.js';
import { type Trace, workerName } from '../../trace/trace.js';
import { type FlameBox, flameLayout, foundSamples, functionSums } from '../model/flameLayout.js';
import { formatDuration, formatPercent } from '../model/format.js';
import { Throttle } from '../model/throttle.js';
import { showsAll } from '../model/timeView.js';
import { FlameView } from '../views/flameView.js';
import { Button, Choice, Empty, Nothing } from '../views/parts.js';
import { Plots } from '../views/plots.js';
import type { ShellState } from '../views/shellState.js';
import { BareTable } from '../views/tables.js';
import type { PageProps } from './pageProps.js';
import { profileQuery } from './profileQuery.js';

export function ProfilePage(props: PageProps) {
  const { state, update } = props;
  if (update.trace.samples.length === 0) return <NoSamples isLive={update.live !== undefined} />;
  return (
    <div class="profile">
      <Filters state={state} trace={update.trace} />
      <Flame {...props} />
      <Plots state={state.view} />
    </div>
  );
}

/** Shortest pause between two trees in milliseconds, so that moving the window stays smooth. */
const MIN_PAUSE = 60;

/** Returns the call tree of the chosen samples. Returns the previous tree until the new one is computed. */
function useTree(state: ShellState, trace: Trace): CallTree | undefined {
  const [tree, setTree] = useState<CallTree | undefined>(undefined);
  const throttle = useMemo(() => new Throttle(MIN_PAUSE), []);
  const query = profileQuery(state);
  const text = JSON.stringify(query);
  useEffect(() => {
    const timer = setTimeout(
      () => setTree(throttle.run(() => profileTree(trace, query))),
      throttle.remaining,
    );
    return () => clearTimeout(timer);
  }, [trace, text]);
  return tree;
}

function Flame({ state, update: { trace } }: PageProps) {
  const tree = useTree(state, trace);
  const interval = useMemo(() => samplingInterval(trace), [trace]);
  const layout = useMemo(() => (tree === undefined ? undefined : flameLayout(tree)), [tree]);
  const [path, setPath] = useState<readonly string[]>([]);
  if (layout === undefined) return <p class="loading">Merging samples…</p>;
  const query = state.view.query.value;
  const all = layout.root.node.count;
  if (all === 0) return <NothingChosen state={state} trace={trace} />;
  return (
    <div class="profile-panes">
      <section class="flame" aria-label="Flame graph">
        <FlameView
          layout={layout}
          path={path}
          onPath={setPath}
          query={query}
          scheme={state.view.scheme.value}
          details={(box) => boxTimes(box, all, interval)}
        />
      </section>
      <section class="functions" aria-label="Functions">
        <p class="muted">
          {countText(all, 'sample')}, {formatDuration(all * interval)}
          {query.trim() === ''
            ? ''
            : `; “${query.trim()}” is in ${formatPercent((100 * foundSamples(layout, query)) / all)} of the samples`}
        </p>
        <Functions layout={layout} interval={interval} onPath={setPath} />
      </section>
    </div>
  );
}

function boxTimes({ node }: FlameBox, all: number, interval: number): string {
  const share = all > 0 ? `, ${formatPercent((100 * node.count) / all)}` : '';
  return `${formatDuration(node.count * interval)}${share}, own code ${formatDuration(selfCount(node) * interval)}`;
}

const MAX_FUNCTIONS = 200;

function Functions({
  layout,
  interval,
  onPath,
}: {
  readonly layout: ReturnType<typeof flameLayout>;
  readonly interval: number;
  readonly onPath: (path: readonly string[]) => void;
}) {
  const sums = useMemo(() => functionSums(layout), [layout]);
  return (
    <BareTable
      caption="Functions, the most time in their own code first"
      rows={sums.slice(0, MAX_FUNCTIONS)}
      keyOf={({ identifier }) => identifier}
      columns={[
        {
          title: 'Function',
          hint: ({ place }) => place,
          cell: ({ name, place, path }) => (
            <>
              <Button text={name === '' ? '(anonymous)' : name} class="link" onClick={() => onPath(path)} />{' '}
              <span class="code muted">{place}</span>
            </>
          ),
        },
        { title: 'Own code', class: 'number', cell: ({ self }) => formatDuration(self * interval) },
        { title: 'Total', class: 'number', cell: ({ total }) => formatDuration(total * interval) },
      ]}
    />
  );
}

function Filters({ state, trace }: { readonly state: ShellState; readonly trace: Trace }) {
  const { key, span, task, scheduler } = state.profile.value;
  const prefixes = useMemo(() => profiledPrefixes(trace), [trace]);
  const worker = state.worker.value;
  const restrictions = [
    ...(span === undefined ? [] : [`span ${span.join('/')}`]),
    ...(task === undefined ? [] : [keyOfTask(trace, task)]),
  ];
  const names = Array.from({ length: trace.workers.length }, (_, row) => workerName(trace, row));
  const choose = (value: string): void => {
    if (value === 'scheduler') state.showProfile({ scheduler: true });
    else {
      state.worker.value = value === '' ? undefined : Number(value);
      state.showProfile({ ...state.profile.value, scheduler: false });
    }
  };
  return (
    <div class="filters">
      <Choice
        label="Samples of"
        name="Samples of"
        value={scheduler === true ? 'scheduler' : worker === undefined ? '' : String(worker)}
        options={[
          ['', 'all workers'],
          ...names.map((name, row) => [String(row), name] as const),
          ['scheduler', 'the scheduler'],
        ]}
        onChoice={choose}
      />
      {scheduler === true ? null : (
        <Choice
          label="Task"
          name="Task name"
          value={key ?? ''}
          options={[
            ['', 'all tasks'],
            ...prefixes.map(
              ({ prefix, seconds }) => [prefix, `${prefix} · ${formatDuration(seconds)}`] as const,
            ),
          ]}
          onChoice={(value) => state.showProfile(value === '' ? {} : { key: value })}
        />
      )}
      {restrictions.map((text) => (
        <Button
          key={text}
          text={`Only ${text} ×`}
          onClick={() => state.showProfile(key === undefined ? {} : { key })}
        />
      ))}
    </div>
  );
}

function keyOfTask({ tasks }: Trace, id: number): string {
  const row = tasks.id.lastIndexOf(id);
  return row < 0 ? 'one task' : tasks.keyOf(row);
}

function NothingChosen({ state, trace }: { readonly state: ShellState; readonly trace: Trace }) {
  const { task, key, scheduler } = state.profile.value;
  const { limits } = state.view.model;
  if (scheduler !== true && trace.samples.worker.every((worker) => worker < 0))
    return (
      <div class="profile-none">
        <Empty>
          The trace has samples of the scheduler only: tasks were too short, or ran on a local scheduler,
          which does not sample them. The option --cluster of longpole run moves compute() to a cluster.
        </Empty>
      </div>
    );
  return (
    <div class="profile-none">
      <Empty>
        No sample matches the choice.{' '}
        {task === undefined
          ? 'Choose other tasks, another worker or a longer time.'
          : 'The task was too short, or its samples were merged into sums.'}
      </Empty>
      {task === undefined || key === undefined ? null : (
        <Button text={`Show all ${key} tasks`} class="choice" onClick={() => state.showProfile({ key })} />
      )}
      {!showsAll(limits, state.view.window.value) ? (
        <Button text="Show the whole run" class="choice" onClick={() => state.view.showAll()} />
      ) : null}
    </div>
  );
}

function NoSamples({ isLive }: { readonly isLive: boolean }) {
  return (
    <Nothing title="The trace has no samples">
      {isLive
        ? 'The profiler samples every busy worker a hundred times per second. The first samples arrive after a second of work, and shorter tasks are rarely sampled.'
        : 'The profiler of a LocalCluster samples every busy worker a hundred times per second. This run was too short, ran without the profiler, or was recorded by another program.'}
    </Nothing>
  );
}

// The shell of the dashboard: navigation, heading, banners and the current page. The shell also handles keys, the
// colour scheme, dropped files, and the hooks for tests.
import type { FunctionComponent, JSX, RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { countText } from '../../base/words.js';
import { damageText } from '../../protocol/traceDamage.js';
import { GRAPH_HELP, KEY_HELP, POINTER_HELP } from '../canvas/keys.js';
import { columnsOf } from '../canvas/stage.js';
import { LEFT_GUTTER } from '../model/pageLayout.js';
import type { TimeWindow } from '../model/timeView.js';
import { GraphPage } from '../pages/graphPage.js';
import { GroupsPage } from '../pages/groupsPage.js';
import { ErrorsPage, EventsPage, LogsPage } from '../pages/logPages.js';
import { MetricsPage } from '../pages/metricsPage.js';
import { PAGES, type PageName } from '../pages/pageNames.js';
import type { PageProps } from '../pages/pageProps.js';
import { ProfilePage } from '../pages/profilePage.js';
import { StatusPage } from '../pages/statusPage.js';
import { RunPage, StreamPage } from '../pages/streamPage.js';
import { SummaryPage } from '../pages/summaryPage.js';
import { ActionsPage, ComputePage } from '../pages/tablePages.js';
import { BandwidthPage, ContentionPage, MemoryPage, SystemPage } from '../pages/timePages.js';
import { WorkersPage } from '../pages/workersPage.js';
import { droppedFiles, fileSource } from '../source/fileSource.js';
import { Heading } from './heading.js';
import { IndividualContext } from './individual.js';
import { followScheme, listenToKeys } from './pageInput.js';
import type { PageState } from './pageState.js';
import { Button, Problem, set } from './parts.js';
import type { ShellState } from './shellState.js';
import { Tooltip } from './tooltip.js';

/** Functions of `globalThis.longpoleDashboard` for tests and scripts. */
export interface ShellHooks {
  /** Resolves when all effects have run and no animation frame is scheduled. */
  idle(): Promise<void>;
  /** Returns the drawing times of the animation frames since the last call in milliseconds, at most 240. */
  animationFrameTimes(): number[];
  /** Returns the number of rectangles in the task streams of the last animation frame. */
  rectangles(): number;
  /** Returns the visible window in seconds since the first event, and the pixels of its drawing. */
  view(): TimeWindow & { readonly left: number; readonly columns: number };
  show(start: number, stop: number): void;
  go(page: PageName): void;
  pages(): readonly PageName[];
}

interface Props {
  readonly state: ShellState;
  readonly register: (hooks: ShellHooks) => void;
}

export function Shell({ state, register }: Props) {
  const { view } = state;
  const searchBox = useRef<HTMLInputElement>(null);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    return followScheme((scheme) => {
      view.scheme.value = scheme;
    });
  }, [view]);
  useEffect(() => listenToKeys(view, searchBox), [view]);
  useEffect(() => takeDroppedFiles(state), [state]);
  useEffect(() => {
    register({
      idle: () => view.animationFrames.idle(),
      animationFrameTimes: () => view.animationFrames.takeTimes(),
      rectangles: () => view.stage.rectangles,
      view: () => ({ ...view.window.value, left: LEFT_GUTTER, columns: columnsOf(view.width.value) }),
      show: (start, stop) => view.moveTo({ start, stop }, false),
      go: (page) => state.go(page),
      pages: () => PAGES.map(({ name }) => name),
    });
  }, [state, view, register]);
  const update = state.update.value;
  const content = (): JSX.Element => {
    if (state.problem.value !== undefined) return <Problem error={state.problem.value} />;
    if (state.source.value === undefined) return <Welcome state={state} />;
    if (update === undefined)
      return <p class="loading">{state.status.value === 'lost' ? '' : 'Reading the trace…'}</p>;
    const Content = CONTENT[state.page.value];
    return <Content state={state} update={update} />;
  };
  const isIndividual = state.individual !== undefined;
  return (
    <IndividualContext.Provider value={state.individual}>
      {isIndividual ? null : <Bar state={state} searchBox={searchBox} main={main} />}
      <div class={isIndividual ? 'shell individual' : 'shell'}>
        {isIndividual ? null : <Navigation state={state} />}
        <main
          ref={main}
          tabIndex={-1}
          class="page"
          data-page={state.page.value}
          data-status={state.status.value}
        >
          <Banners state={state} />
          {content()}
        </main>
      </div>
      <Tooltip state={view} />
      <Help state={view} />
    </IndividualContext.Provider>
  );
}

interface BarProps {
  readonly state: ShellState;
  readonly searchBox: RefObject<HTMLInputElement | null>;
  readonly main: RefObject<HTMLElement | null>;
}

function Bar({ state, searchBox, main }: BarProps) {
  return (
    <>
      <Button text="Skip the navigation" class="skip" onClick={() => main.current?.focus()} />
      <Heading
        state={state.view}
        searchBox={searchBox}
        searches={state.page.value === 'profile' ? 'functions' : 'keys'}
      />
    </>
  );
}

function Navigation({ state }: { readonly state: ShellState }) {
  const shown = state.page.value;
  const list = useRef<HTMLElement>(null);
  // In a narrow window the pages are one line, which scrolls.
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [shown]);
  return (
    <nav ref={list} class="pages" aria-label="Pages">
      {PAGES.map(({ name, title, group }, i) => (
        <>
          {group !== '' && group !== PAGES[i - 1]?.group ? <h2 key={`group ${group}`}>{group}</h2> : null}
          <a
            key={name}
            href={`#${name}`}
            data-title={title}
            aria-current={shown === name ? 'page' : undefined}
            onClick={(event) => {
              event.preventDefault();
              state.go(name);
            }}
          >
            {title}
          </a>
        </>
      ))}
    </nav>
  );
}

function takeDroppedFiles(state: ShellState): () => void {
  const onOver = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
  };
  const onDrop = (event: DragEvent) => {
    const items = event.dataTransfer?.items;
    if (items === undefined || items.length === 0) return;
    event.preventDefault();
    droppedFiles(items)
      .then(({ files, folder }) => {
        if (files.length > 0) state.open(fileSource(files, folder));
      })
      .catch((error: unknown) => {
        state.problem.value = error;
      });
  };
  document.addEventListener('dragover', onOver);
  document.addEventListener('drop', onDrop);
  return () => {
    document.removeEventListener('dragover', onOver);
    document.removeEventListener('drop', onDrop);
  };
}

// Warnings above the page: the connection is lost, rows are missing, or the trace is damaged.

function Banners({ state }: { readonly state: ShellState }) {
  const update = state.update.value;
  const status = state.status.value;
  const evictedRuns = update?.trace.evicted.tasks ?? 0;
  const damage = update?.trace.damage;
  return (
    <>
      {status === 'lost' ? (
        <p class="banner lost" role="alert">
          {state.detail.value === '' ? null : `${state.detail.value} `}
          {update === undefined
            ? 'There is no connection to the scheduler. Trying again…'
            : 'The connection to the scheduler is lost. The page shows the last known state. Trying again…'}
        </p>
      ) : null}
      {status === 'whole' && state.detail.value !== '' ? (
        <p class="banner" role="status">
          The run is over ({state.detail.value}). The page shows the whole run.
        </p>
      ) : null}
      {status === 'cut' ? (
        <p class="banner lost" role="alert">
          No more data will arrive ({state.detail.value}). The page does not show the whole run.
        </p>
      ) : null}
      {evictedRuns > 0 && update !== undefined ? (
        <p class="banner" role="status">
          Totals count all {countText(evictedRuns + update.trace.tasks.length, 'run')}.{' '}
          {update.trace.tasks.length === 0
            ? 'Their details have not arrived yet.'
            : `Task stream, graph and lists show the newest ${countText(update.trace.tasks.length, 'run')}.`}
        </p>
      ) : null}
      {damage === undefined ? null : (
        <p class="banner" role="status">
          Not all of the trace could be read: {damageText(damage)}.
        </p>
      )}
    </>
  );
}

// The page without a trace, which explains how to open one.

function Welcome({ state }: { readonly state: ShellState }) {
  const open = (list: FileList | null) => {
    const files = [...(list ?? [])];
    if (files.length > 0) state.open(fileSource(files));
  };
  return (
    <section class="nothing">
      <h2>Drop a trace here</h2>
      <p>
        A trace directory, a performance report, an event file of DASF, or Chrome Trace JSON. This page reads
        the files itself and sends them nowhere.
      </p>
      <p class="choices">
        <label class="choice">
          Choose a file
          <input type="file" onChange={(event) => open(event.currentTarget.files)} />
        </label>
        <label class="choice">
          Choose a trace directory
          <input
            ref={(input) => {
              // Preact's types lack this attribute.
              input?.setAttribute('webkitdirectory', '');
            }}
            type="file"
            onChange={(event) => open(event.currentTarget.files)}
          />
        </label>
      </p>
    </section>
  );
}

const CONTENT: Readonly<Record<PageName, FunctionComponent<PageProps>>> = {
  summary: SummaryPage,
  status: StatusPage,
  stream: StreamPage,
  run: RunPage,
  profile: ProfilePage,
  metrics: MetricsPage,
  compute: ComputePage,
  actions: ActionsPage,
  groups: GroupsPage,
  graph: GraphPage,
  workers: WorkersPage,
  memory: MemoryPage,
  bandwidth: BandwidthPage,
  contention: ContentionPage,
  system: SystemPage,
  events: EventsPage,
  errors: ErrorsPage,
  logs: LogsPage,
};

/** The dialog that lists keys and gestures. */
function Help({ state }: { readonly state: PageState }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = state.helpOpen.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  const close = set(state.helpOpen, false);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <header>
        <h2 id="help-title">Keyboard and pointer</h2>
        <Button text="×" aria-label="Close help" onClick={close} />
      </header>
      <div class="columns">
        <dl>
          {KEY_HELP.map(([keys, meaning]) => (
            <div key={keys.join()}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <dl>
          {[...POINTER_HELP, ...GRAPH_HELP].map(([gesture, meaning]) => (
            <div key={gesture}>
              <dt>{gesture}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </div>
      <p>
        If many tasks share a pixel, the height of a colour is the share of time in which tasks of its prefix
        ran. The plot contains every task; zoom in to see single tasks.
      </p>
    </dialog>
  );
}

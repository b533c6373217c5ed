// The state of the dashboard: trace, page, range of time, search, selected task and choices. The address contains all
// of it except the trace, so that a link leads to the same view.
import { effect, signal } from '@preact/signals';
import { ran } from '../../analysis/lanes.js';
import { visibleName } from '../../base/visibleText.js';
import { lastRowOf, type Trace, workerName } from '../../trace/trace.js';
import { shortNumber } from '../model/format.js';
import type { Hit } from '../model/hitTest.js';
import { EMPTY_MODEL, type ProfileModel } from '../model/profileModel.js';
import { clip, showsAll, type TimeWindow } from '../model/timeView.js';
import { laterRow, runStart, traceModel } from '../model/traceModel.js';
import { PAGES, type PageName } from '../pages/pageNames.js';
import { extentOfPlots, followedWindow, plotsOfPage } from '../pages/pagePlots.js';
import type { ProfileChoice } from '../pages/profileQuery.js';
import type { SourceStatus, TraceSource, TraceUpdate } from '../source/traceSource.js';
import { individualOf, openDashboard, shownPlots } from './individual.js';
import { PageState } from './pageState.js';

/** Choices of single pages, by their names in the address. */
const CHOICES: Partial<Record<PageName, readonly string[]>> = {
  metrics: ['unit', 'in-span', 'functions'],
  events: ['topic'],
  logs: ['from-worker', 'problems'],
  graph: ['node', 'all'],
  run: ['plots'],
};
/** Milliseconds after the last change before the address is updated. */
const ADDRESS_DELAY = 250;

/** Longest value in the address, in characters, because browsers refuse addresses of megabytes. */
const LONGEST_IN_ADDRESS = 4_000;

/** Milliseconds for which the task and range of an address are retried while a live cluster sends rows. */
const RETRY_MS = 10_000;

interface PendingTarget {
  readonly key: string | null;
  readonly range: TimeWindow | undefined;
  /** Deadline on the clock of performance.now(). */
  readonly deadline: number;
}

export class ShellState {
  /** The plot that the URL names; undefined for the whole dashboard. */
  readonly individual = individualOf(location);
  /** State that all pages share: the range of time, the hover, the search. */
  readonly view = new PageState(EMPTY_MODEL);
  readonly update = signal<TraceUpdate | undefined>(undefined);
  readonly status = signal<SourceStatus>('loading');
  /** Details of the status from the source. */
  readonly detail = signal('');
  readonly problem = signal<unknown>(undefined);
  readonly page = signal<PageName>('summary');
  /** Row of `trace.workers` that pages about workers show; undefined for all. */
  readonly worker = signal<number | undefined>(undefined);
  /** Samples that the profile page shows, in addition to the choice of `worker`. */
  readonly profile = signal<ProfileChoice>({});
  /** Choices of single pages by name. An absent choice has the page's default. */
  readonly choices = signal<Readonly<Record<string, string>>>({});
  /** Undefined until the user chooses a trace. */
  readonly source = signal<TraceSource | undefined>(undefined);
  /** Model of the trace's task stream, from which the models of all pages are made. */
  #stream: ProfileModel = EMPTY_MODEL;
  #origin: number | undefined;
  /** Address that was read or written last. */
  #address = '';
  /** Parameters of an address that was read before the trace arrived. */
  #requested: URLSearchParams | undefined;
  /** Task and range of the address whose rows have not arrived. */
  #pending: PendingTarget | undefined;
  #addressTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    if (this.individual?.profile !== undefined) this.profile.value = this.individual.profile;
    this.view.showMatch = (row) => this.#showFound(row);
    this.#readAddress();
    addEventListener('hashchange', () => this.#readAddress());
    effect(() => {
      const page = PAGES.find(({ name }) => name === this.page.value)?.title;
      const title = visibleName(this.update.value?.title ?? '');
      document.title = [page, title, 'Longpole']
        .filter((part) => part !== undefined && part !== '')
        .join(' – ');
    });
    effect(() => {
      const { page, view } = this;
      void [page.value, view.window.value, view.pinned.value, view.query.value];
      void [this.profile.value, this.worker.value, this.choices.value];
      clearTimeout(this.#addressTimer);
      this.#addressTimer = setTimeout(() => this.#writeAddress(), ADDRESS_DELAY);
    });
  }

  get trace(): Trace | undefined {
    return this.update.value?.trace;
  }

  open(source: TraceSource): void {
    this.source.value?.close();
    if (this.source.value !== undefined) this.#forget();
    this.source.value = source;
    this.problem.value = undefined;
    source.start({
      update: (update) => this.#onUpdate(update),
      status: (status, detail = '') => {
        // As in Dask, a live cluster opens on its status.
        const isFirst = this.update.value === undefined && this.individual === undefined;
        if (status === 'live' && isFirst && location.hash === '') this.page.value = 'status';
        this.status.value = status;
        this.detail.value = detail;
      },
      restart: () => this.#forget(),
      fail: (error) => {
        this.problem.value = error;
      },
    });
  }

  /** Resets the choices, which belong to the previous trace. */
  #forget(): void {
    this.update.value = undefined;
    this.#stream = EMPTY_MODEL;
    this.#origin = undefined;
    this.#requested = undefined;
    this.#pending = undefined;
    this.worker.value = undefined;
    this.profile.value = {};
    this.choices.value = {};
    this.view.reset(EMPTY_MODEL);
  }

  /** Shows a page. If this tab shows only a plot, shows the page and the task in a new tab. */
  go(page: PageName, key = ''): void {
    if (this.individual !== undefined) {
      openDashboard(page, key);
      return;
    }
    this.#pending = undefined;
    this.page.value = page;
    this.#showPage();
    this.#writeAddress('push');
  }

  showWorker(worker: number | undefined): void {
    this.worker.value = worker;
    this.#showPage();
  }

  /** Sets one of the CHOICES. An empty value is the default. */
  choose(name: string, value: string): void {
    this.choices.value = { ...this.choices.value, [name]: value };
  }

  /** Chooses samples for the profile page. From another page, goes to the profile page and shows the whole run. */
  showProfile(choice: ProfileChoice): void {
    this.profile.value = choice;
    if (this.page.value === 'profile') {
      this.#showPage();
      return;
    }
    this.go('profile');
    this.view.moveTo(this.view.model.limits, false);
  }

  /** Row of `trace.tasks` of the selected task; undefined for no task or several tasks. */
  get selectedRow(): number | undefined {
    const pinned = this.view.pinned.value;
    if (pinned?.kind !== 'run') return undefined;
    const { section, lanes } = this.view.model.stream;
    const row = section.task[lanes.entry[pinned.position]!]!;
    return row < (this.trace?.tasks.length ?? 0) ? row : undefined;
  }

  /** Selects a task and shows it in a task stream, or in the graph if it has no run, e.g. because it was lost. */
  selectRow(row: number): void {
    const { trace } = this;
    if (trace === undefined || row >= trace.tasks.length || ran(trace, row)) this.#selectRun(row);
    else {
      this.choose('node', trace.tasks.keyOf(row));
      this.go('graph', trace.tasks.keyOf(row));
    }
  }

  #selectRun(row: number): void {
    if (!this.view.showsStream) this.go('stream', this.trace?.tasks.keyOf(row));
    const run = this.#runOf(row);
    if (run !== undefined) this.view.pin(run);
  }

  /** Returns the run of a task in the task stream; undefined if the page does not show it. */
  #runOf(row: number): Hit | undefined {
    if (!this.view.showsStream) return undefined;
    const { section, lanes } = this.view.model.stream;
    const entry = section.task.indexOf(row);
    const position = entry < 0 ? -1 : lanes.entry.indexOf(entry);
    return position < 0 ? undefined : { kind: 'run', position };
  }

  #onUpdate(update: TraceUpdate): void {
    const before = this.trace;
    const selected = this.selectedRow;
    this.update.value = update;
    const earlier = this.#findOrigin(update);
    this.#stream = traceModel(update.trace, {
      title: update.title,
      origin: this.#origin,
      connected: update.live?.workers.length,
      running: update.live?.running,
      now: update.live?.time,
    });
    this.view.pinned.value = undefined;
    if (earlier !== 0) this.view.shift(earlier);
    this.#showPage();
    if (before !== undefined && selected !== undefined)
      this.view.pinned.value = this.#runOf(laterRow(before.tasks, selected, update.trace.tasks));
    if (this.#requested === undefined) this.#applyPending();
    else this.#applyRequested();
  }

  /**
   * Sets time 0 to the earliest beginning of the run in all updates. Before the first task, the model uses its first measurement
   * instead. Returns the seconds by which time 0 has moved back.
   */
  #findOrigin({ trace, live }: TraceUpdate): number {
    let first = Math.min(this.#origin ?? Number.POSITIVE_INFINITY, runStart(trace));
    for (const { started } of live?.running ?? []) if (started < first) first = started;
    const before = this.#stream === EMPTY_MODEL ? undefined : this.#stream.origin;
    this.#origin = Number.isFinite(first) ? first : undefined;
    return before === undefined || this.#origin === undefined ? 0 : before - this.#origin;
  }

  #showPage(): void {
    const { trace } = this;
    if (trace === undefined) return;
    const shown = this.#shownPlots();
    const all = plotsOfPage(this.page.value, {
      trace,
      model: this.#stream,
      worker: this.worker.value,
      profile: this.profile.value,
      shown,
    });
    const plots = shownPlots(this.individual, all);
    if (!plots.includes(this.#stream.stream)) this.view.pinned.value = undefined;
    const followed = followedWindow(this.page.value, this.update.value, this.#stream.origin);
    const findsTasks = this.page.value !== 'profile';
    const model = { ...this.#stream, plots, followed, findsTasks };
    this.view.setModel(shown === undefined ? model : profilerPage(model));
  }

  /** Returns the plots that the address of the page `run` names. */
  #shownPlots(): readonly string[] | undefined {
    const { plots = '' } = this.page.value === 'run' ? this.choices.value : {};
    return plots === '' ? undefined : plots === 'none' ? [] : plots.split('\n');
  }

  /** Shows a matching task on a page without a task stream. */
  #showFound(row: number): void {
    const key = row < (this.trace?.tasks.length ?? 0) ? this.trace?.tasks.keyOf(row) : undefined;
    if (this.page.value === 'graph' && key !== undefined) this.choose('node', key);
    else this.selectRow(row);
  }

  #readAddress(): void {
    this.#address = location.hash;
    const [name = '', query = ''] = this.#address.slice(1).split('?');
    const page = this.individual?.page ?? PAGES.find((one) => one.name === name)?.name;
    this.#requested = new URLSearchParams(query);
    const { value: before } = this.page;
    if (page !== undefined) this.page.value = page;
    this.#readChoices(this.#requested);
    // The plots of the page `run` depend on its choices.
    if (this.page.value !== before || page === 'run') this.#showPage();
    this.#applyRequested();
  }

  /** Applies range, search and selection of the address when there is a trace. */
  #applyRequested(): void {
    const { trace } = this;
    const requested = this.#requested;
    if (requested === undefined || trace === undefined) return;
    this.#requested = undefined;
    const query = requested.get('search');
    if (query !== null) this.view.setQuery(query);
    this.#applyChoices(requested, trace);
    const { limits } = this.view.model;
    const number = (name: string, fallback: number): number => Number(requested.get(name) ?? fallback);
    const hasRange = requested.has('from') || requested.has('to');
    const range = { start: number('from', limits.start), stop: number('to', limits.stop) };
    const deadline = performance.now() + RETRY_MS;
    this.#pending = {
      key: requested.get('task'),
      range: hasRange && range.stop > range.start ? range : undefined,
      deadline,
    };
    this.#applyPending();
  }

  /** Selects the task and range of the address as far as their rows have arrived. */
  #applyPending(): void {
    const { trace } = this;
    const pending = this.#pending;
    if (pending === undefined || trace === undefined) return;
    const { key, range, deadline } = pending;
    const row = key === null ? undefined : lastRowOf(trace.tasks, (one) => one === key);
    if (row !== undefined && this.view.showsStream) this.#selectRun(row);
    if (range !== undefined) this.view.moveTo(clip(this.view.model.limits, range), false);
    const missing = {
      key: row === undefined ? key : null,
      range: range !== undefined && range.stop > this.view.model.limits.stop ? range : undefined,
      deadline,
    };
    const isComplete = missing.key === null && missing.range === undefined;
    const waits = this.update.value?.live !== undefined && performance.now() < deadline;
    // A task that arrives late is shown with its range.
    this.#pending =
      isComplete || !waits ? undefined : { ...missing, range: missing.key === null ? missing.range : range };
  }

  /** Applies the choices of the pages about workers and samples. An absent choice is the default, as in CHOICES. */
  #applyChoices(requested: URLSearchParams, trace: Trace): void {
    const page = this.page.value;
    if (page !== 'profile' && (page !== 'workers' || this.individual !== undefined)) return;
    const [name, key, span] = [requested.get('worker'), requested.get('prefix'), requested.get('span')];
    const names = Array.from({ length: trace.workers.length }, (_, row) => workerName(trace, row));
    const worker = name === null ? -1 : names.lastIndexOf(name);
    this.worker.value = worker < 0 ? undefined : worker;
    if (page === 'profile' && this.individual?.profile === undefined) {
      const ofSpan = span === null ? {} : { span: span.split('/') };
      const ofKey = key === null ? ofSpan : { key, ...ofSpan };
      this.profile.value = requested.get('of') === 'scheduler' ? { scheduler: true } : ofKey;
    }
    this.#showPage();
  }

  #readChoices(requested: URLSearchParams): void {
    const choices = (CHOICES[this.page.value] ?? []).map((one) => [one, requested.get(one) ?? '']);
    if (choices.length > 0) this.choices.value = { ...this.choices.value, ...Object.fromEntries(choices) };
  }

  #writeChoices(query: URLSearchParams, trace: Trace): void {
    const page = this.page.value;
    for (const one of CHOICES[page] ?? []) {
      const value = this.choices.value[one] ?? '';
      if (value !== '') query.set(one, value);
    }
    if (page !== 'profile' && page !== 'workers') return;
    const worker = this.worker.value;
    if (worker !== undefined) query.set('worker', workerName(trace, worker));
    if (page !== 'profile') return;
    const { key, span, scheduler } = this.profile.value;
    if (scheduler === true) query.set('of', 'scheduler');
    if (key !== undefined) query.set('prefix', key);
    if (span !== undefined) query.set('span', span.join('/'));
  }

  #writeAddress(how: 'push' | 'replace' = 'replace'): void {
    if (this.trace === undefined) return;
    // The user has followed a link whose event is pending. The address of the link must not be overwritten.
    if (how === 'replace' && location.hash !== this.#address) return;
    const query = new URLSearchParams();
    const { start, stop } = this.view.target;
    if (!this.view.follows.value && !showsAll(this.view.model.limits, this.view.target)) {
      query.set('from', shortNumber(start, stop - start));
      query.set('to', shortNumber(stop, stop - start));
    }
    if (this.view.query.value !== '') query.set('search', this.view.query.value);
    const row = this.selectedRow;
    if (row !== undefined) query.set('task', this.trace.tasks.keyOf(row));
    this.#writeChoices(query, this.trace);
    for (const [name, value] of [...query]) if (value.length > LONGEST_IN_ADDRESS) query.delete(name);
    const text = query.toString();
    const hash = `#${this.page.value}${text === '' ? '' : `?${text}`}`;
    if (location.hash === hash) return;
    if (how === 'push') history.pushState(null, '', hash);
    else history.replaceState(null, '', hash);
    this.#address = location.hash;
  }
}

/** Returns the model of a page of profilers: it shows all recorded time, and the default message of an empty stream. */
function profilerPage({ emptyStream: _, ...model }: ProfileModel): ProfileModel {
  return { ...model, limits: extentOfPlots(model.plots, model.limits) };
}

// The bar on top: what this page is about in one line, the search, the buttons.
import type { RefObject } from 'preact';
import { formatCount, formatDate, formatDuration } from '../model/format.js';
import { toArray } from '../model/profileModel.js';
import { spanOf, zoom } from '../model/timeView.js';
import type { PageState } from './pageState.js';

interface Props {
  readonly state: PageState;
  readonly searchBox: RefObject<HTMLInputElement | null>;
}

export function Heading({ state, searchBox }: Props) {
  const { model } = state;
  return (
    <header class="bar">
      <svg class="mark" viewBox="0 0 20 20" aria-hidden="true">
        <rect x="2" y="3" width="8" height="3.4" rx="1" />
        <rect x="2" y="8.3" width="16" height="3.4" rx="1" class="pole" />
        <rect x="6" y="13.6" width="7" height="3.4" rx="1" />
      </svg>
      <h1 title={model.page.title}>{model.page.title || 'Profile'}</h1>
      <ul class="facts">
        {facts(state).map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
      </ul>
      {model.taskCount > 0 ? <SearchBox state={state} searchBox={searchBox} /> : null}
      <Buttons state={state} />
    </header>
  );
}

function facts({ model }: PageState): string[] {
  const workers = toArray(model.page.workers).length;
  const list: string[] = [];
  if (model.plots.length === 0) return list;
  const streams = model.plots.some((plot) => plot.type === 'tasks');
  if (streams) list.push(plural(model.taskCount, 'task'), plural(workers, 'worker'));
  list.push(formatDuration(model.duration));
  if (model.origin > 0) list.push(formatDate(model.origin));
  return list;
}

function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function SearchBox({ state, searchBox }: Props) {
  const matches = state.matches.value;
  const index = state.matchIndex.value;
  const status =
    matches === undefined
      ? ''
      : index >= 0
        ? `${formatCount(index + 1)} of ${formatCount(matches.count)}`
        : `${formatCount(matches.count)} found`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: <search> is not known to all browsers that open the page
    <div class="search" role="search">
      <input
        ref={searchBox}
        type="search"
        placeholder="Search keys"
        aria-label="Search for tasks by key"
        autocomplete="off"
        spellcheck={false}
        value={state.query.value}
        onInput={(event) => state.setQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') state.stepMatch(event.shiftKey ? -1 : 1);
          else if (event.key === 'Escape') {
            state.setQuery('');
            event.currentTarget.blur();
          }
        }}
      />
      {state.query.value === '' ? <kbd>/</kbd> : null}
      <output class="found">{status}</output>
    </div>
  );
}

function Buttons({ state }: { readonly state: PageState }) {
  const zoomBy = (factor: number) => {
    const { start } = state.target;
    const middle = start + spanOf(state.target) / 2;
    state.moveTo(zoom(state.model.limits, state.target, factor, middle), true);
  };
  return (
    <div class="buttons">
      <button type="button" aria-label="Zoom out" title="Zoom out (S)" onClick={() => zoomBy(1.6)}>
        −
      </button>
      <button type="button" aria-label="Zoom in" title="Zoom in (W)" onClick={() => zoomBy(1 / 1.6)}>
        +
      </button>
      <button
        type="button"
        title="Show the whole run (0)"
        onClick={() => state.moveTo(state.model.limits, true)}
      >
        Fit
      </button>
      <button
        type="button"
        aria-label="Keyboard and pointer help"
        title="Help (?)"
        onClick={() => {
          state.helpOpen.value = true;
        }}
      >
        ?
      </button>
    </div>
  );
}

// The bar at the top: title and facts of the trace, the search, and the buttons.
import type { RefObject } from 'preact';
import { countText, repeatedWords } from '../../base/words.js';
import { formatCount, formatDate, formatDuration } from '../model/format.js';
import { EMPTY_MODEL } from '../model/profileModel.js';
import { spanOf } from '../model/timeView.js';
import type { PageState } from './pageState.js';
import { Button, SearchField, set } from './parts.js';

interface Props {
  readonly state: PageState;
  readonly searchBox: RefObject<HTMLInputElement | null>;
  /** What the search box searches. */
  readonly searches: 'keys' | 'functions';
}

export function Heading({ state, searchBox, searches }: Props) {
  const { model } = state;
  return (
    <header class="bar">
      <svg class="mark" viewBox="0 0 20 20" aria-hidden="true">
        <rect x="2" y="3" width="8" height="3.4" rx="1" />
        <rect x="2" y="8.3" width="16" height="3.4" rx="1" class="pole" />
        <rect x="6" y="13.6" width="7" height="3.4" rx="1" />
      </svg>
      <h1 title={model.page.title}>{model.page.title || 'Longpole'}</h1>
      <ul class="facts">
        {facts(state).map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
      </ul>
      {model.taskCount > 0 ? <SearchBox state={state} searchBox={searchBox} searches={searches} /> : null}
      <Buttons state={state} />
    </header>
  );
}

function facts({ model }: PageState): string[] {
  if (model === EMPTY_MODEL) return [];
  const { workerCount: workers, connectedCount: connected = workers } = model;
  const list: string[] = [];
  // A page with only samples has neither tasks nor workers.
  const streams = model.taskCount > 0 || workers > 0;
  // The totals of a live run can arrive before its rows. The times are then unknown, and which failed runs were repeated.
  if (model.receiving !== undefined)
    return [
      countText(model.receiving.runs, 'run'),
      `${formatCount(model.receiving.received)} received so far`,
    ];
  if (streams) list.push(countText(model.taskCount, 'task'));
  if (streams && model.failedCount > 0) list.push(`${formatCount(model.failedCount)} failed`);
  if (streams && model.repeatedCount > 0)
    list.push(`${formatCount(model.repeatedCount)} ${repeatedWords(model.repeatedCount)}`);
  if (streams) list.push(workersText(workers, connected));
  list.push(formatDuration(spanOf(model.run)));
  if (model.origin > 0) list.push(formatDate(model.origin));
  return list;
}

/** Workers may have left a live cluster, or may not have reported yet. */
function workersText(most: number, now: number): string {
  return now < most
    ? `${countText(now, 'worker')} now, ${formatCount(most)} at most`
    : countText(most, 'worker');
}

function SearchBox({ state, searchBox, searches }: Props) {
  const matches = state.matches.value;
  const index = state.matchIndex.value;
  const status =
    matches === undefined || searches !== 'keys'
      ? ''
      : index >= 0
        ? `${formatCount(index + 1)} of ${formatCount(matches.count)}`
        : `${formatCount(matches.count)} found`;
  return (
    <SearchField
      box={searchBox}
      searches={searches}
      query={state.query.value}
      onQuery={(query) => state.setQuery(query)}
      onEnter={(isBackwards) => state.stepMatch(isBackwards ? -1 : 1)}
    >
      <output class="found">{status}</output>
      {status === '' || matches?.count === 0 ? null : (
        <span class="steps">
          <Button
            text="‹"
            aria-label="Previous match"
            title="Previous match (Shift N)"
            onClick={() => state.stepMatch(-1)}
          />
          <Button
            text="›"
            aria-label="Next match"
            title="Next match (N)"
            onClick={() => state.stepMatch(1)}
          />
        </span>
      )}
    </SearchField>
  );
}

function Buttons({ state }: { readonly state: PageState }) {
  return (
    <div class="buttons">
      <Button text="−" aria-label="Zoom out" title="Zoom out (S)" onClick={() => state.zoomBy(1.6)} />
      <Button text="+" aria-label="Zoom in" title="Zoom in (W)" onClick={() => state.zoomBy(1 / 1.6)} />
      <Button text="Fit" title="Show the whole run (0)" onClick={() => state.showAll()} />
      {state.model.followed === undefined ? null : (
        <Button
          text="Now"
          title="Follow the current tasks"
          aria-pressed={state.follows.value}
          onClick={() => state.follow(true)}
        />
      )}
      <Button
        text="?"
        aria-label="Keyboard and pointer help"
        title="Help (?)"
        onClick={set(state.helpOpen, true)}
      />
    </div>
  );
}

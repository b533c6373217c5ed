// The page of a diff between two sets of runs: the verdict, a flame graph of both call trees, and a table.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DiffPageData, DiffPageRow } from '../../analysis/diff/diffPageData.js';
import { countText } from '../../base/words.js';
import type { CallTree } from '../../profile/callTree.js';
import type { StackDiff } from '../../profile/stackDiff.js';
import { type FlameBox, flameLayout, foundSamples } from '../model/flameLayout.js';
import { formatChange, formatDuration, formatPercent } from '../model/format.js';
import { mix, type Scheme } from '../model/palette.js';
import { FlameView } from './flameView.js';
import { followScheme } from './pageInput.js';
import { SearchField } from './parts.js';
import { BareTable } from './tables.js';

export function DiffView({ data }: { readonly data: DiffPageData }) {
  const { before, after, failed, reason, stacks } = data;
  return (
    <>
      <header class="bar">
        <h1>What changed</h1>
        <p class="diff-sides">
          from <b>{before}</b> to <b>{after}</b>
        </p>
      </header>
      <main class="diff">
        <p class={failed ? 'diff-reason failed' : 'diff-reason'}>{reason}</p>
        {stacks === null ? (
          <p class="muted diff-stacks">
            The profiler did not sample all of these runs, so there are no call stacks to compare.
          </p>
        ) : (
          <Stacks root={stacks} />
        )}
        <Rows rows={data.rows} more={data.more} />
      </main>
    </>
  );
}

function Stacks({ root }: { readonly root: StackDiff }) {
  const [scheme, setScheme] = useState<Scheme>('light');
  useLayoutEffect(() => followScheme(setScheme), []);
  const flame = useMemo(() => diffFlame(root), [root]);
  const [path, setPath] = useState<readonly string[]>([]);
  const [query, setQuery] = useState('');
  const searchBox = useRef<HTMLInputElement>(null);
  useEffect(() => focusOnSlash(searchBox), []);
  const all = flame.layout.root.node.count;
  const found = query.trim() === '' ? undefined : foundSamples(flame.layout, query);
  return (
    <section aria-label="Call stacks" class="diff-stacks">
      <div class="diff-tools">
        <h2>Call stacks</h2>
        <Legend scheme={scheme} />
        <SearchField box={searchBox} searches="functions" query={query} onQuery={setQuery}>
          {found === undefined ? null : <span class="found">{formatPercent((100 * found) / all)}</span>}
        </SearchField>
      </div>
      <div class="flame">
        <FlameView
          layout={flame.layout}
          path={path}
          onPath={setPath}
          query={query}
          scheme={scheme}
          details={(box) => <Times place={flame.placeOf(box)} />}
          paint={{
            color: (box, to) => diffColor(flame.placeOf(box), to),
            note: (box) => changeText(flame.placeOf(box)),
          }}
        />
      </div>
    </section>
  );
}

function focusOnSlash(box: { readonly current: HTMLInputElement | null }): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
    box.current?.select();
    event.preventDefault();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

function Times({ place }: { readonly place: StackDiff }) {
  const { before, after, selfBefore, selfAfter } = place;
  const change = changeText(place);
  const share = before > 0 && change !== '' ? `, ${signedPercent(after / before)}` : '';
  return (
    <>
      {formatDuration(before)} → {formatDuration(after)}
      {change === '' ? ', unchanged' : ` (${change}${share})`}; own code {formatDuration(selfBefore)} →{' '}
      {formatDuration(selfAfter)}
    </>
  );
}

function Legend({ scheme }: { readonly scheme: Scheme }) {
  const { slower, same, faster } = DIFF_COLORS[scheme];
  const entries = [
    [slower, 'longer than before'],
    [same, 'unchanged'],
    [faster, 'shorter than before'],
  ] as const;
  return (
    <ul class="diff-legend">
      {entries.map(([color, text]) => (
        <li key={text}>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect width="10" height="10" rx="2" fill={color} />
          </svg>
          {text}
        </li>
      ))}
      <li class="muted">width: the longer of the two times</li>
    </ul>
  );
}

/** Smaller p-values are not distinguished. */
const SMALLEST_P = 1e-4;

function Rows({ rows, more }: { readonly rows: readonly DiffPageRow[]; readonly more: number }) {
  return (
    <section aria-label="Seconds per run">
      <h2>Seconds per run</h2>
      <BareTable
        rows={rows}
        columns={[
          { title: 'Kind', cell: ({ kind }) => kind },
          { title: 'Name', class: 'name', cell: ({ name }) => name },
          { title: 'Verdict', cell: ({ verdict }) => verdict },
          { title: 'Before (s)', class: 'number', cell: ({ before }) => before.toFixed(3) },
          { title: 'After (s)', class: 'number', cell: ({ after }) => after.toFixed(3) },
          {
            title: 'Change (s)',
            class: 'number',
            cell: ({ before, after }) => formatChange(after - before, 3),
          },
          {
            title: 'Change',
            class: 'number',
            cell: ({ ratio }) => (ratio === null ? '' : signedPercent(ratio)),
          },
          {
            title: 'p',
            class: 'number',
            cell: ({ p }) => (p === null ? '' : p < SMALLEST_P ? '< 0.0001' : p.toPrecision(2)),
          },
        ]}
      />
      {more > 0 ? <p class="muted">… and {countText(more, 'more row')}.</p> : null}
    </section>
  );
}

function signedPercent(ratio: number): string {
  return `${formatChange((ratio - 1) * 100, 1)} %`;
}

/**
 * Returns a layout with widths in seconds: the longer of the two times of a place, or the sum of its callees if that is
 * more. Cost: one visit per place of a stack.
 */
function diffFlame(root: StackDiff) {
  const places = new Map<CallTree, StackDiff>();
  const layout = flameLayout(treeOf(root, 'root', places));
  return { layout, placeOf: (box: FlameBox) => places.get(box.node) ?? root };
}

function treeOf(place: StackDiff, identifier: string, places: Map<CallTree, StackDiff>): CallTree {
  const children: Record<string, CallTree> = {};
  let inside = 0;
  for (const child of place.children) {
    const name = `${child.name};${child.filename}`;
    const node = treeOf(child, name, places);
    if (node.count === 0) continue;
    children[name] = node;
    inside += node.count;
  }
  const { name, filename, lineNumber } = place;
  const count = Math.max(place.before, place.after, inside);
  const node = { identifier, description: { name, filename, lineNumber }, count, children };
  places.set(node, place);
  return node;
}

/** Colours that differ for readers with red-green colour blindness, too. */
const DIFF_COLORS: Readonly<Record<Scheme, { slower: string; faster: string; same: string }>> = {
  light: { slower: '#e8772e', faster: '#3f8ad8', same: '#d3d8e0' },
  dark: { slower: '#f08a45', faster: '#5ba3ee', same: '#414957' },
};
/** Change, as a share of the longer time, from which a colour is saturated. */
const SATURATED = 0.5;

function diffColor({ before, after }: StackDiff, scheme: Scheme): string {
  const { slower, faster, same } = DIFF_COLORS[scheme];
  const longer = Math.max(before, after);
  const share = longer > 0 ? (after - before) / longer / SATURATED : 0;
  return mix(share > 0 ? slower : faster, same, Math.min(1, Math.abs(share)));
}

/** Returns the change, e.g. `+0.12 s`; empty below half a millisecond. */
function changeText({ before, after }: StackDiff): string {
  const change = after - before;
  if (Math.abs(change) < 5e-4) return '';
  return `${formatChange(change, Math.abs(change) < 0.1 ? 3 : 2)} s`;
}

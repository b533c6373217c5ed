// Input of the whole page: keys, and the colour scheme of the system.
import { recordOf } from '../../base/lookUps.js';
import type { Scheme } from '../model/palette.js';
import { spanOf } from '../model/timeView.js';
import type { PageState } from './pageState.js';

/** Passes on the colour scheme of the system, now and after each change. Returns a function that stops. */
export function followScheme(set: (scheme: Scheme) => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => set(dark.matches ? 'dark' : 'light');
  apply();
  dark.addEventListener('change', apply);
  return () => dark.removeEventListener('change', apply);
}

/** Calls back when the device pixels per CSS pixel change, e.g. on another screen. Returns a function that stops. */
export function followPixelRatio(changed: () => void): () => void {
  let query: MediaQueryList | undefined;
  const apply = (): void => {
    changed();
    follow();
  };
  // A query can only say that the present ratio has changed.
  const follow = (): void => {
    query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    query.addEventListener('change', apply, { once: true });
  };
  follow();
  return () => query?.removeEventListener('change', apply);
}

/** Returns whether an element takes keys as text or as a selection. A checkbox does not. */
function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox';
  return target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}

type KeyAction = (state: PageState, event: KeyboardEvent) => void;

const move =
  (share: number): KeyAction =>
  (state) =>
    state.panBy(share * spanOf(state.target), true);
const zoom =
  (factor: number): KeyAction =>
  (state) =>
    state.zoomBy(factor, state.hover.value?.time);

/** Actions by key, in lower case, on pages with a time axis. */
const TIME_ACTIONS: Readonly<Record<string, KeyAction>> = {
  ...recordOf(['a', 'arrowleft'], () => move(-0.15)),
  ...recordOf(['d', 'arrowright'], () => move(0.15)),
  ...recordOf(['w', 'arrowup', '+', '='], () => zoom(1 / 1.4)),
  ...recordOf(['s', 'arrowdown', '-', '_'], () => zoom(1.4)),
  '0': (state) => state.showAll(),
};

const ACTIONS: Readonly<Record<string, KeyAction>> = {
  ...TIME_ACTIONS,
  n: (state, { shiftKey }) => state.stepMatch(shiftKey ? -1 : 1),
  '.': (state) => state.stepRun(1),
  ',': (state) => state.stepRun(-1),
  f: (state) => state.zoomToPinned(),
  '?': ({ helpOpen }) => {
    helpOpen.value = !helpOpen.value;
  },
  escape: (state) => state.dismiss(),
};

export function listenToKeys(
  state: PageState,
  searchBox: { readonly current: HTMLInputElement | null },
): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (isTyping(event.target) || (event.target instanceof HTMLButtonElement && event.key === 'Enter'))
      return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    // Without a time axis, arrow keys scroll the page.
    if (state.model.plots.length === 0 && Object.hasOwn(TIME_ACTIONS, key)) return;
    if (key === '/') searchBox.current?.select();
    else if (Object.hasOwn(ACTIONS, key)) ACTIONS[key]!(state, event);
    else return;
    event.preventDefault();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

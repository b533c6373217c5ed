// Input of the whole page: keys, and the colour scheme of the system.
import { runKey } from '../canvas/keys.js';
import type { Scheme } from '../model/palette.js';
import { spanOf, zoom } from '../model/timeView.js';
import type { PageState } from './pageState.js';

/** Passes on the colour scheme of the system, now and after each change. Returns a function that stops. */
export function followScheme(set: (scheme: Scheme) => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => set(dark.matches ? 'dark' : 'light');
  apply();
  dark.addEventListener('change', apply);
  return () => dark.removeEventListener('change', apply);
}

/** Returns whether an element takes keys as text or as a selection. A checkbox does not. */
function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox';
  return target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}

export function listenToKeys(
  state: PageState,
  searchBox: { readonly current: HTMLInputElement | null },
): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (isTyping(event.target) || (event.target instanceof HTMLButtonElement && event.key === 'Enter'))
      return;
    const used = runKey(event, {
      panShare: (share) => {
        const { start, stop } = state.target;
        const by = share * (stop - start);
        state.moveTo({ start: start + by, stop: stop + by }, true);
      },
      zoomBy: (factor) => {
        const { start } = state.window.value;
        const anchor = state.hover.value?.time ?? start + spanOf(state.window.value) / 2;
        state.moveTo(zoom(state.model.limits, state.target, factor, anchor), true);
      },
      reset: () => state.moveTo(state.model.limits, true),
      search: () => searchBox.current?.select(),
      help: () => {
        state.helpOpen.value = !state.helpOpen.value;
      },
      dismiss: () => state.dismiss(),
      nextMatch: (direction) => state.stepMatch(direction),
      nextRun: (direction) => state.stepRun(direction),
      zoomToRun: () => state.zoomToPinned(),
    });
    if (used) event.preventDefault();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

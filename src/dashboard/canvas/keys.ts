// Keys that work everywhere on the page, and the text of the help about them.
import { recordOf } from '../../base/lookUps.js';

export interface KeyActions {
  /** Moves the window by a share of its width; a negative share leads to earlier times. */
  panShare(share: number): void;
  /** Zooms around the pointer, or around the middle; `factor` < 1 zooms in. */
  zoomBy(factor: number): void;
  reset(): void;
  search(): void;
  help(): void;
  dismiss(): void;
  nextMatch(direction: 1 | -1): void;
  /** Selects the task after (1) or before (-1) the selected task. */
  nextRun(direction: 1 | -1): void;
  zoomToRun(): void;
}

/** Keys and their meanings. */
export const KEY_HELP: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['A', 'D', '←', '→'], 'Move to earlier or later times'],
  [['W', 'S', '↑', '↓'], 'Zoom in or out'],
  [['+', '−'], 'Zoom in or out'],
  [['0'], 'Show the whole run'],
  [['/'], 'Search for a key'],
  [['N', 'Shift N'], 'Next or previous match'],
  [['Enter', 'Shift Enter'], 'Next or previous match, in the search box'],
  [[',', '.'], 'Previous or next task of the thread'],
  [['F'], 'Zoom to the selected task'],
  [['Esc'], 'Close help, selection or search'],
  [['?'], 'Show this help'],
];

export const POINTER_HELP: readonly (readonly [gesture: string, meaning: string])[] = [
  ['Wheel, pinch', 'Zoom at the pointer'],
  ['Drag, Shift wheel', 'Move in time'],
  ['Shift drag', 'Zoom to a range'],
  ['Double click', 'Show the whole run'],
  ['Drag in the strip “Whole run”', 'Select or move the visible range'],
  ['Click a task', 'Show its details in the side bar'],
  ['Click a prefix', 'Highlight its tasks in every plot'],
];

/** Keys of graphs and flame graphs that have the keyboard focus. */
export const GRAPH_HELP: readonly (readonly [keys: string, meaning: string])[] = [
  ['Arrow keys in a graph', 'Move between nodes; Enter opens a node'],
  ['Arrow keys in a flame graph', 'Move between functions; Enter zooms in, Esc zooms out'],
];

/** Actions by key, in lower case. */
const ACTIONS: Readonly<Record<string, (actions: KeyActions, event: KeyboardEvent) => void>> = {
  ...recordOf(['a', 'arrowleft'], () => (actions: KeyActions) => actions.panShare(-0.15)),
  ...recordOf(['d', 'arrowright'], () => (actions: KeyActions) => actions.panShare(0.15)),
  ...recordOf(['w', 'arrowup', '+', '='], () => (actions: KeyActions) => actions.zoomBy(1 / 1.4)),
  ...recordOf(['s', 'arrowdown', '-', '_'], () => (actions: KeyActions) => actions.zoomBy(1.4)),
  '0': (actions) => actions.reset(),
  n: (actions, { shiftKey }) => actions.nextMatch(shiftKey ? -1 : 1),
  '.': (actions) => actions.nextRun(1),
  ',': (actions) => actions.nextRun(-1),
  f: (actions) => actions.zoomToRun(),
  '/': (actions) => actions.search(),
  '?': (actions) => actions.help(),
  escape: (actions) => actions.dismiss(),
};

/** Runs the action of a key. Returns false if the key has no action. */
export function runKey(event: KeyboardEvent, actions: KeyActions): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const key = event.key.toLowerCase();
  if (!Object.hasOwn(ACTIONS, key)) return false;
  ACTIONS[key]!(actions, event);
  return true;
}

// Keys that work anywhere on the page, and what they are called in the help.

export interface KeyActions {
  /** Share of the window to move by; negative is earlier. */
  panShare(share: number): void;
  /** `factor` < 1 zooms in around the pointer, or the middle. */
  zoomBy(factor: number): void;
  reset(): void;
  search(): void;
  help(): void;
  dismiss(): void;
  nextMatch(direction: 1 | -1): void;
  /** To the task before or after the clicked one. */
  nextRun(direction: 1 | -1): void;
  zoomToRun(): void;
}

/** For the help: keys, meaning. */
export const KEY_HELP: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['A', 'D', '←', '→'], 'Earlier, later'],
  [['W', 'S', '↑', '↓'], 'Zoom in, zoom out'],
  [['+', '−'], 'Zoom in, zoom out'],
  [['0'], 'Show the whole run'],
  [['/'], 'Search for a key'],
  [['N', 'Shift N'], 'Next, previous task found'],
  [['Enter', 'Shift Enter'], 'The same, in the search'],
  [[',', '.'], 'Previous, next task of a thread'],
  [['F'], 'Zoom to the task'],
  [['Esc'], 'Close, clear'],
  [['?'], 'This help'],
];

export const POINTER_HELP: readonly (readonly [gesture: string, meaning: string])[] = [
  ['Wheel, pinch', 'Zoom at the pointer'],
  ['Drag, Shift wheel', 'Move in time'],
  ['Shift drag', 'Zoom to a range'],
  ['Double click', 'Show the whole run'],
  ['Drag in the whole run', 'Choose or move the range'],
  ['Click a task', 'Keep it in the side bar'],
  ['Click a prefix', 'Highlight it in every plot'],
];

/** For the help of pages with graphs and flame views, once Tab has led there. */
export const GRAPH_HELP: readonly (readonly [keys: string, meaning: string])[] = [
  ['Arrows in a graph', 'From node to node; Enter opens it'],
  ['Arrows in a flame view', 'From function to function; Enter zooms, Esc goes back'],
];

/** Runs the action of a key; false if the key means nothing here. */
export function runKey(event: KeyboardEvent, actions: KeyActions): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  switch (event.key.length === 1 ? event.key.toLowerCase() : event.key) {
    case 'a':
    case 'ArrowLeft':
      actions.panShare(-0.15);
      return true;
    case 'd':
    case 'ArrowRight':
      actions.panShare(0.15);
      return true;
    case 'w':
    case 'ArrowUp':
    case '+':
    case '=':
      actions.zoomBy(1 / 1.4);
      return true;
    case 's':
    case 'ArrowDown':
    case '-':
    case '_':
      actions.zoomBy(1.4);
      return true;
    case '0':
      actions.reset();
      return true;
    case 'n':
      actions.nextMatch(event.shiftKey ? -1 : 1);
      return true;
    case '.':
      actions.nextRun(1);
      return true;
    case ',':
      actions.nextRun(-1);
      return true;
    case 'f':
      actions.zoomToRun();
      return true;
    case '/':
      actions.search();
      return true;
    case '?':
      actions.help();
      return true;
    case 'Escape':
      actions.dismiss();
      return true;
    default:
      return false;
  }
}

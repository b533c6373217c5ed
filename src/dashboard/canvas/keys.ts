// The text of the help about keys and gestures.

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

// `Delayed.visualize`: draws the graph of a Delayed. The folder graph/ is pure and cannot write files.
import { checkOptions, fileName, kind, type OptionKinds, TEXT } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { Delayed, dependenciesOf, nodesOf } from '../graph/delayed.js';
import { functionName } from '../graph/functionName.js';
import { drawBoxes } from '../pipeline/drawing.js';
import { writeDrawing } from './writeDrawing.js';

export interface GraphDrawingOptions {
  /** Name of the file: an SVG image, or a page with the image if the name ends in `.html`. Default `graph.svg`. */
  readonly filename?: string;
  /** Text of the boxes: the name of the function, or the key. Default `function`. */
  readonly label?: 'function' | 'key';
  /** Heading of the drawing. Default: the key. */
  readonly title?: string;
}

declare module '../graph/delayed.js' {
  interface Delayed<T> {
    /**
     * Draws the graph of this task without running it: a box per task, and an arrow from each task to each of its
     * dependents. Replaces an existing file.
     *
     * @returns the absolute path of the file
     * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for more than 2,000 tasks, ERR_LONGPOLE_PAGE_FILE if the file
     *   cannot be written, ERR_LONGPOLE_CYCLE if a task depends on itself
     * @source Dask, `Delayed.visualize`
     */
    visualize(options?: GraphDrawingOptions): string;
  }
}

/** A larger image does not fit on a screen, and its layout takes seconds. */
const MAX_TASKS = 2000;

const OPTIONS: OptionKinds<GraphDrawingOptions> = {
  filename: fileName(['.svg', '.html', '.htm']),
  label: kind("'function' or 'key'", (value) => value === 'function' || value === 'key'),
  title: TEXT,
};

Delayed.prototype.visualize = function visualize(options: GraphDrawingOptions = {}): string {
  checkOptions('Delayed.visualize', options, OPTIONS);
  const { filename = 'graph.svg', label = 'function', title = this.key } = options;
  const nodes = [...nodesOf([this]).values()];
  if (nodes.length > MAX_TASKS)
    throw invalidArgument(
      `Delayed.visualize draws at most ${MAX_TASKS} tasks, but the graph of '${this.key}' has ${nodes.length}. Draw one of its dependencies instead.`,
    );
  const places = new Map(nodes.map(({ key }, index) => [key, index]));
  const edges = nodes.flatMap((node, to) => {
    const sources = new Set(dependenciesOf(node).map(({ key }) => places.get(key)!));
    return Array.from(sources, (from) => ({ from, to, label: '' }));
  });
  const names = nodes.map(({ key, fn }) => (label === 'key' ? key : functionName(fn)));
  return writeDrawing(drawBoxes(title, { nodes: names, edges }), filename);
};

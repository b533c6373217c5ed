// The answer to `GET api/graph` of a live dashboard: the tasks of the current graph whose runs have not ended. The rows
// of a trace have the other tasks. Texts are text, never HTML.
import { fieldOf } from '../base/json.js';

export type OpenState = 'waiting' | 'queued' | 'processing' | 'erred';

export interface OpenTask {
  /** Id of the task, as in the table of tasks. */
  readonly id: number;
  readonly key: string;
  readonly prefix: string;
  /** `processing`: a worker has the task. `erred`: a dependency has failed, so the task will not run. */
  readonly state: OpenState;
  /** Ids of the dependencies. */
  readonly dependencies: readonly number[];
}

export interface OpenGraph {
  /** Number of rows of tasks since the beginning of the run. The tasks of these rows are not in `tasks`. */
  readonly rows: number;
  /** Empty if there are more than MAX_OPEN tasks. */
  readonly tasks: readonly OpenTask[];
  /** Number of tasks, including those that are not in `tasks`. */
  readonly count: number;
}

/** The path of the answer, beside the page. */
export const GRAPH_PATH = 'api/graph';

/** Most tasks in an answer, which is also the size of the largest graph that the page draws as a whole. */
export const MAX_OPEN = 5000;

/** Returns whether a value is an answer of a server of this version. */
export function isOpenGraph(value: unknown): value is OpenGraph {
  const isNumber = (name: string): boolean => typeof fieldOf(value, name) === 'number';
  return isNumber('rows') && isNumber('count') && Array.isArray(fieldOf(value, 'tasks'));
}

// Finished tasks as a message from a process to its parent: the columns of the log, with values and errors.
import { type CompletionColumns, completionColumns, MAX_DIMENSIONS } from './completionLog.js';
import { type ErrorInfo, isErrorInfo, toErrorInfo } from './errorInfo.js';
import type { Values } from './isolateMessages.js';
import { KIND_ERROR, KIND_PACKED, KIND_VALUE } from './resultKinds.js';
import { packNumbers } from './shortMessages.js';

/** `values` holds the results of kinds VALUE and PACKED, `errors` those of kind ERROR. */
export interface FinishedTasks extends Readonly<CompletionColumns> {
  readonly type: 'finished';
  readonly run: number;
  readonly values: Values;
  readonly errors: readonly { readonly id: number; readonly error: ErrorInfo }[];
}

/** The same for a few tasks. The channel copies a few numbers faster than as many columns. */
export interface FewFinishedTasks extends Pick<FinishedTasks, 'type' | 'run' | 'values' | 'errors'> {
  readonly count: number;
  /** The columns one after the other, and the shapes behind them. */
  readonly numbers: readonly number[];
}

const COLUMNS = [
  'ids',
  'batches',
  'kinds',
  'types',
  'numbers',
  'received',
  'starts',
  'stops',
  'coreWaits',
  'seceded',
  'resumed',
  'waited',
  'dimensions',
] as const;
/** Columns with times of the isolate's clock. */
const TIMES = ['received', 'starts', 'stops', 'seceded', 'resumed'] as const;
const NO_SHAPES = new Float64Array(0);
/** Number of tasks from which columns cost less. */
const MANY = 8;

export function packFew(message: FinishedTasks): FinishedTasks | FewFinishedTasks {
  const { type, run, ids, shapes, values, errors } = message;
  if (ids.length >= MANY) return message;
  const numbers: number[] = [];
  for (const name of COLUMNS) for (const number of message[name]) numbers.push(number);
  for (const number of shapes) numbers.push(number);
  return { type, run, count: ids.length, numbers, values, errors };
}

function columnsOf({ count, numbers }: FewFinishedTasks): CompletionColumns {
  const columns = completionColumns(count);
  columns.count = count;
  let at = 0;
  for (const name of COLUMNS) for (let row = 0; row < count; row++) columns[name][row] = numbers[at++]!;
  for (let i = 0; at < numbers.length; i++) columns.shapes[i] = numbers[at++]!;
  return columns;
}

/** Packs completions. `correct` converts a time of the isolate's clock to the parent's. */
export function packFinished(
  run: number,
  columns: CompletionColumns,
  arrived: ReadonlyMap<number, unknown>,
  correct?: (time: number) => number,
): FinishedTasks {
  const { count, ids, kinds } = columns;
  const own = completionColumns(count);
  own.count = count;
  own.shapes.set(columns.shapes.subarray(0, MAX_DIMENSIONS * count));
  for (const name of COLUMNS) own[name].set(columns[name].subarray(0, count));
  if (correct !== undefined) for (const name of TIMES) own[name].set(own[name].map(correct));
  const valueIds: number[] = [];
  const values: unknown[] = [];
  const errors: { id: number; error: ErrorInfo }[] = [];
  for (let index = 0; index < count; index++) {
    const id = ids[index]!;
    if (kinds[index] === KIND_VALUE || kinds[index] === KIND_PACKED) {
      valueIds.push(id);
      values.push(arrived.get(id));
    } else if (kinds[index] === KIND_ERROR) {
      const error = arrived.get(id);
      errors.push({ id, error: isErrorInfo(error) ? error : toErrorInfo(error) });
    }
  }
  const shapes = own.dimensions.some((number) => number > 0) ? own.shapes : NO_SHAPES;
  return { ...own, type: 'finished', run, shapes, values: { ids: packNumbers(valueIds), values }, errors };
}

/** Unpacks the columns, and the values and errors by task. */
export function unpackFinished(message: FinishedTasks | FewFinishedTasks): {
  readonly columns: CompletionColumns;
  readonly arrived: ReadonlyMap<number, unknown>;
} {
  const { values, errors } = message;
  const arrived = new Map<number, unknown>();
  for (const [index, id] of values.ids.entries()) arrived.set(id, values.values[index]);
  for (const { id, error } of errors) arrived.set(id, error);
  return { columns: 'ids' in message ? message : columnsOf(message), arrived };
}

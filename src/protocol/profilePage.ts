// What `visualize` of the local profilers hands to the page it opens. Columns, so that a producer that records in
// typed arrays passes them on as they are; profilePageCodec.ts turns them into bytes and back.
import { LongpoleError } from '../base/errors.js';

/** A list of strings that need not be an array: arrays are one, and so is a table that decodes on demand. */
export interface StringList {
  readonly length: number;
  at(index: number): string | undefined;
}

/**
 * What is known of each task apart from its runs. Sections refer to a task by its row here, so that two profilers of
 * one computation store a key once. Equal keys may have several rows (the same key with another task in a later run).
 */
export interface TaskTable {
  /** Row → key, spelled as in the graph. */
  readonly keys: StringList;
  /** Row → index into `prefixes`. */
  readonly prefix: Uint32Array;
  /** Distinct prefixes, e.g. `inc`: the group that shares a colour. */
  readonly prefixes: StringList;
  /** Row → index into `texts`. */
  readonly text: Uint32Array;
  /** Distinct task texts for people, e.g. `inc(41)`; may be empty strings. */
  readonly texts: StringList;
}

/** A Profiler's results: entry i is one run of one task. Any order. All columns have the same length. */
export interface TaskSection {
  readonly type: 'tasks';
  /** Row of the task table. */
  readonly task: Uint32Array;
  /** Index into `workers` of the page. */
  readonly worker: Uint32Array;
  /** Seconds since the epoch, finite. */
  readonly start: Float64Array;
  /** Seconds since the epoch, finite; not before `start`. */
  readonly stop: Float64Array;
}

/** A ResourceProfiler's results, one entry per sample, in order of time. */
export interface ResourceSection {
  readonly type: 'resources';
  /** Seconds since the epoch, finite, not decreasing. */
  readonly time: Float64Array;
  /** Memory in MB (1,000,000 bytes), of all threads and child processes. */
  readonly mem: Float64Array;
  /** CPU in percent of one core: two busy isolates show about 200. */
  readonly cpu: Float64Array;
}

/** A CacheProfiler's results: entry i is one result's stay in the cache. Any order. */
export interface CacheSection {
  readonly type: 'cache';
  /** Name of the metric, e.g. `count`, `nbytes`. `nbytes` and `bytes` are shown as byte sizes. */
  readonly metricName: string;
  /** Row of the task table. */
  readonly task: Uint32Array;
  /** Seconds since the epoch, finite. */
  readonly cacheTime: Float64Array;
  /** Seconds since the epoch, finite; not before `cacheTime`. */
  readonly freeTime: Float64Array;
  /** The metric of the result, finite. */
  readonly metric: Float64Array;
}

/** A MemorySampler's samples: those of a label stand together, in order of time. */
export interface MemorySection {
  readonly type: 'memory';
  /** Label → its name. */
  readonly labels: StringList;
  /** Index into `labels`, not decreasing. */
  readonly label: Uint32Array;
  /** Seconds since the epoch, or since the first sample of its label; finite, not decreasing within a label. */
  readonly time: Float64Array;
  /** Bytes, finite. */
  readonly bytes: Float64Array;
}

export type ProfileSection = TaskSection | ResourceSection | CacheSection | MemorySection;

/**
 * Everything that one page of `visualize` shows: a vertical stack of plots, one per section, in this order from top to
 * bottom. Each kind of section may be absent and may occur several times.
 *
 * @source seed 002, `visualize([prof, rprof, cprof])`
 */
export interface ProfilePage {
  /** Heading of the page, e.g. the name of the script. Text, never HTML. */
  readonly title: string;
  /** Names of the workers that ran tasks, e.g. `threads-0`. */
  readonly workers: StringList;
  readonly tasks: TaskTable;
  readonly sections: readonly ProfileSection[];
}

/** Collects the rows of a TaskTable. `add` costs one look-up by key; equal (key, text) pairs get one row. */
export class TaskTableBuilder {
  readonly #prefixOf: (key: string) => string;
  readonly #rowsByKey = new Map<string, number>();
  readonly #keys: string[] = [];
  readonly #prefix: number[] = [];
  readonly #text: number[] = [];
  readonly #prefixes = new Map<string, number>();
  readonly #texts = new Map<string, number>();

  /** `prefixOf` is keySplit: key → prefix. */
  constructor(prefixOf: (key: string) => string) {
    this.#prefixOf = prefixOf;
  }

  /** Returns the row of the task; `text` is the task for people, e.g. `inc(41)`. */
  add(key: string, text: string): number {
    const textIndex = intern(this.#texts, text);
    const known = this.#rowsByKey.get(key);
    if (known !== undefined && this.#text[known] === textIndex) return known;
    const row = this.#keys.length;
    this.#keys.push(key);
    this.#prefix.push(intern(this.#prefixes, this.#prefixOf(key)));
    this.#text.push(textIndex);
    this.#rowsByKey.set(key, row);
    return row;
  }

  build(): TaskTable {
    return {
      keys: this.#keys,
      prefix: Uint32Array.from(this.#prefix),
      prefixes: [...this.#prefixes.keys()],
      text: Uint32Array.from(this.#text),
      texts: [...this.#texts.keys()],
    };
  }
}

function intern(table: Map<string, number>, value: string): number {
  const known = table.get(value);
  if (known !== undefined) return known;
  table.set(value, table.size);
  return table.size - 1;
}

/**
 * Checks what the types cannot say: columns of one length, indices in range, times finite and in order. Run before
 * writing and after reading, so that neither a faulty producer nor a damaged file reaches the drawing code.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_DATA that names the section and the column.
 */
export function checkProfilePage(page: ProfilePage): void {
  const { tasks } = page;
  const rows = tasks.keys.length;
  checkLength('tasks.prefix', tasks.prefix, rows);
  checkLength('tasks.text', tasks.text, rows);
  checkIndices('tasks.prefix', tasks.prefix, tasks.prefixes.length);
  checkIndices('tasks.text', tasks.text, tasks.texts.length);
  page.sections.forEach((section, index) => {
    checkSection(page, section, `section ${index} (${section.type})`);
  });
}

function checkSection(page: ProfilePage, section: ProfileSection, name: string): void {
  switch (section.type) {
    case 'tasks':
      checkLength(`${name}: worker`, section.worker, section.task.length);
      checkIndices(`${name}: task`, section.task, page.tasks.keys.length);
      checkIndices(`${name}: worker`, section.worker, page.workers.length);
      checkIntervals(name, section.task.length, section.start, section.stop, 'stop');
      return;
    case 'resources':
      checkLength(`${name}: mem`, section.mem, section.time.length);
      checkLength(`${name}: cpu`, section.cpu, section.time.length);
      checkFinite(`${name}: mem`, section.mem);
      checkFinite(`${name}: cpu`, section.cpu);
      checkFinite(`${name}: time`, section.time);
      checkOrder(name, section.time, () => true);
      return;
    case 'memory':
      checkLength(`${name}: label`, section.label, section.time.length);
      checkLength(`${name}: bytes`, section.bytes, section.time.length);
      checkIndices(`${name}: label`, section.label, section.labels.length);
      checkFinite(`${name}: time`, section.time);
      checkFinite(`${name}: bytes`, section.bytes);
      for (let i = 1; i < section.label.length; i++)
        if (section.label[i]! < section.label[i - 1]!) fail(`${name}: labels go backwards at entry ${i}`);
      checkOrder(name, section.time, (i) => section.label[i] === section.label[i - 1]);
      return;
    case 'cache':
      checkIndices(`${name}: task`, section.task, page.tasks.keys.length);
      checkIntervals(name, section.task.length, section.cacheTime, section.freeTime, 'freeTime');
      checkLength(`${name}: metric`, section.metric, section.task.length);
      checkFinite(`${name}: metric`, section.metric);
      return;
  }
}

/** `follows`: whether an entry comes after the one before it. */
function checkOrder(name: string, time: Float64Array, follows: (entry: number) => boolean): void {
  for (let i = 1; i < time.length; i++)
    if (follows(i) && time[i]! < time[i - 1]!) fail(`${name}: time goes backwards at entry ${i}`);
}

function checkIntervals(
  name: string,
  length: number,
  from: Float64Array,
  to: Float64Array,
  end: string,
): void {
  checkLength(`${name}: start of the interval`, from, length);
  checkLength(`${name}: ${end}`, to, length);
  checkFinite(`${name}: start of the interval`, from);
  checkFinite(`${name}: ${end}`, to);
  for (let i = 0; i < length; i++) {
    if (to[i]! < from[i]!) fail(`${name}: entry ${i} ends before it starts`);
  }
}

function checkLength(name: string, column: { readonly length: number }, length: number): void {
  if (column.length !== length) fail(`${name} has ${column.length} entries, expected ${length}`);
}

function checkIndices(name: string, column: Uint32Array, limit: number): void {
  for (let i = 0; i < column.length; i++) {
    if (column[i]! >= limit) fail(`${name}: entry ${i} points to ${column[i]} of ${limit}`);
  }
}

function checkFinite(name: string, column: Float64Array): void {
  for (let i = 0; i < column.length; i++) {
    if (!Number.isFinite(column[i]!)) fail(`${name}: entry ${i} is not a finite number`);
  }
}

function fail(what: string): never {
  throw new LongpoleError('ERR_LONGPOLE_PAGE_DATA', `The data of the page is not valid: ${what}.`);
}

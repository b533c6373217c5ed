// Collects ended runs of tasks as columns, until a batch of rows for the trace file is full. Every task of a recorded
// program passes through this class. To keep the cost per task low, the class copies whole arrays, and looks up the
// dictionary codes of prefixes, functions and spans once per computation.
import { recordOf } from '../../base/lookUps.js';
import { type Computation, TASK_MEMORY, TASK_STATES, type TaskRuns } from '../../protocol/clusterObserver.js';
import type { ArrowValues } from '../formats/arrow/arrowMessages.js';
import { inGroup, keyGroup } from '../keyGroup.js';
import { MEASURED, RARE } from '../live/taskWindow.js';
import { BatchTexts } from './rowBatch.js';

const UNKNOWN = -2;
const ABSENT = -1;

const NUMBERS = ['id', 'submitted', 'acknowledged', 'coreWait', ...MEASURED, ...RARE] as const;
const TEXTS = ['prefix', 'group', 'function', 'span', 'type'] as const;
const INTEGERS = ['computation', 'worker', 'thread', 'state', ...TEXTS] as const;

function columnsOf(rows: number) {
  return {
    ...recordOf(NUMBERS, () => new Float64Array(rows)),
    ...recordOf(INTEGERS, () => new Int32Array(rows)),
    attempt: new Uint8Array(rows),
  };
}

export class TaskBatch {
  length = 0;
  readonly #rows: number;
  readonly #keys: string[] = [];
  readonly #columns: ReturnType<typeof columnsOf>;
  /** Engines do not report the call of a task. */
  readonly #noCalls: readonly null[];
  readonly #texts = recordOf(TEXTS, () => new BatchTexts());
  #codes: ReturnType<typeof computationCodes> | undefined;
  #typeCodes: { readonly names: readonly string[]; codes: Int32Array } = {
    names: [],
    codes: new Int32Array(0),
  };
  #lastGroup = '';
  #lastGroupCode = UNKNOWN;

  constructor(rows: number) {
    this.#rows = rows;
    this.#columns = columnsOf(rows);
    this.#noCalls = new Array<null>(rows).fill(null);
  }

  /** Adds runs from `from` on until the batch is full. Returns the index of the next run. */
  add(runs: TaskRuns, from: number): number {
    const to = Math.min(runs.count, from + this.#rows - this.length);
    const at = this.length;
    const end = at + to - from;
    const { computation } = runs;
    const columns = this.#columns;
    for (const name of MEASURED) columns[name].set(runs[name].subarray(from, to), at);
    columns.attempt.set(runs.attempts.subarray(from, to), at);
    if (runs.threads === undefined) columns.thread.fill(0, at, end);
    else columns.thread.set(runs.threads.subarray(from, to), at);
    columns.state.set(runs.states.subarray(from, to), at);
    columns.computation.fill(computation.number, at, end);
    columns.worker.fill(runs.worker, at, end);
    columns.submitted.fill(computation.submitted, at, end);
    columns.acknowledged.fill(runs.acknowledged, at, end);
    const setKnown = (column: Float64Array, known: Float64Array | undefined): void => {
      if (known === undefined) column.fill(Number.NaN, at, end);
      else column.set(known.subarray(from, to), at);
    };
    setKnown(columns.coreWait, runs.coreWaits);
    for (const name of RARE) setKnown(columns[name], runs[name]);
    this.#addTexts(runs, from, to);
    this.length = end;
    return to;
  }

  #addTexts(runs: TaskRuns, from: number, to: number): void {
    const { computation, ids, states, types } = runs;
    const { firstId, keys, prefixOf, functionOf, spanOf } = computation;
    const codes = this.#codesOf(computation);
    const typeCodes = this.#codesOfTypes(runs.typeNames);
    const { id: taskIds, prefix: prefixes, group, function: functions, span, type } = this.#columns;
    for (let i = from, at = this.length; i < to; i++, at++) {
      const id = ids[i]!;
      const key = keys[id] ?? '';
      taskIds[at] = firstId + id;
      this.#keys.push(key);
      const prefix = codes.prefix(prefixOf[id]!);
      prefixes[at] = prefix;
      group[at] = this.#groupOf(key, prefix);
      functions[at] = codes.function(functionOf[id]!);
      span[at] = codes.span(spanOf === null ? 0 : spanOf[id]!);
      type[at] = states[i] === TASK_MEMORY ? (typeCodes[types[i]!] ?? ABSENT) : ABSENT;
    }
  }

  #groupOf(key: string, prefix: number): number {
    if (this.#lastGroupCode >= 0 && inGroup(key, this.#lastGroup)) return this.#lastGroupCode;
    const { group, prefix: prefixes } = this.#texts;
    this.#lastGroup = keyGroup(key, prefixes.texts[prefix] ?? '');
    this.#lastGroupCode = group.codeOf(this.#lastGroup);
    return this.#lastGroupCode;
  }

  /** Returns the codes of the last computation if this one has the same lists of texts. */
  #codesOf(computation: Computation): ReturnType<typeof computationCodes> {
    const { prefixes, functions, spans } = computation;
    const [ownPrefixes, ownFunctions, ownSpans] = this.#codes?.lists ?? [];
    if (prefixes !== ownPrefixes || functions !== ownFunctions || spans !== ownSpans) this.#codes = undefined;
    this.#codes ??= computationCodes(computation, this.#texts);
    return this.#codes;
  }

  #codesOfTypes(names: readonly string[]): Int32Array {
    const known = this.#typeCodes;
    if (known.names !== names || known.codes.length < names.length) {
      const codes = Int32Array.from(names, (name) => this.#texts.type.codeOf(name));
      this.#typeCodes = { names, codes };
    }
    return this.#typeCodes.codes;
  }

  /** Returns the runs since `clear`. Valid until the next run. */
  values(): ArrowValues[] {
    const columns = this.#columns;
    const coded = (name: (typeof TEXTS)[number]) => {
      const { texts, generation } = this.#texts[name];
      return { type: 'dictionary', values: columns[name], texts, generation } as const;
    };
    const numbers = (...names: readonly (typeof NUMBERS)[number][]) =>
      names.map((name) => ({ type: 'float64', values: columns[name] }) as const);
    const integers = (...names: readonly (typeof INTEGERS)[number][]) =>
      names.map((name) => ({ type: 'int32', values: columns[name] }) as const);
    return [
      { type: 'int64', values: columns.id },
      { type: 'utf8', values: this.#keys },
      ...[coded('prefix'), coded('group'), coded('function'), coded('span')],
      ...integers('computation', 'worker', 'thread'),
      { type: 'dictionary', values: columns.state, texts: TASK_STATES, generation: 0 },
      { type: 'uint8', values: columns.attempt },
      ...numbers('submitted', 'ready', 'dispatched', 'received', 'started', 'stopped', 'acknowledged'),
      ...numbers('coreWait', 'seceded', 'resumed', 'waited', 'nbytes'),
      coded('type'),
      { type: 'utf8', values: this.#noCalls },
    ];
  }

  clear(): void {
    this.length = 0;
    this.#keys.length = 0;
    let renewed = false;
    for (const texts of Object.values(this.#texts)) renewed = texts.nextBatch() || renewed;
    if (!renewed) return;
    this.#codes = undefined;
    this.#typeCodes = { names: [], codes: new Int32Array(0) };
    this.#lastGroupCode = UNKNOWN;
  }
}

/** Returns the codes of a computation's texts, assigned on first use. */
function computationCodes(
  { prefixes, functions, spans }: Pick<Computation, 'prefixes' | 'functions' | 'spans'>,
  texts: Readonly<Record<'prefix' | 'function' | 'span', BatchTexts>>,
) {
  return {
    lists: [prefixes, functions, spans],
    prefix: codesOf(texts.prefix, (index) => prefixes[index]),
    function: codesOf(texts.function, (index) => functions[index]),
    span: codesOf(texts.span, (index) => spans[index]?.join('/')),
  };
}

/** Returns a function that gives the code of a name by its index; ABSENT without a name. */
function codesOf(
  texts: BatchTexts,
  nameOf: (index: number) => string | undefined,
): (index: number) => number {
  const codes: (number | undefined)[] = [];
  return (index) => {
    const known = codes[index];
    if (known !== undefined) return known;
    const name = nameOf(index);
    if (name === undefined) return ABSENT;
    const code = texts.codeOf(name);
    codes[index] = code;
    return code;
  };
}

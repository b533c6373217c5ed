// Collects ended runs of tasks as columns, until a batch of rows for the trace file is full. Every task of a recorded
// program passes through this class. To keep the cost per task low, the class copies whole arrays, and looks up the
// dictionary codes of prefixes, functions and spans once per computation.
import { type Computation, TASK_MEMORY, TASK_STATES, type TaskRuns } from '../../protocol/clusterObserver.js';
import type { ArrowValues } from '../formats/arrow/arrowTypes.js';
import { inGroup, keyGroup } from '../keyGroup.js';
import { BatchTexts } from './batchTexts.js';

const UNKNOWN = -2;
const ABSENT = -1;

export class TaskBatch {
  length = 0;
  readonly #rows: number;
  readonly #id: Float64Array;
  readonly #keys: string[] = [];
  readonly #prefix: Int32Array;
  readonly #group: Int32Array;
  readonly #function: Int32Array;
  readonly #span: Int32Array;
  readonly #computation: Int32Array;
  readonly #worker: Int32Array;
  readonly #thread: Int32Array;
  readonly #state: Int32Array;
  readonly #attempt: Uint8Array;
  readonly #type: Int32Array;
  readonly #nbytes: Float64Array;
  readonly #submitted: Float64Array;
  readonly #ready: Float64Array;
  readonly #dispatched: Float64Array;
  readonly #received: Float64Array;
  readonly #started: Float64Array;
  readonly #stopped: Float64Array;
  readonly #acknowledged: Float64Array;
  readonly #coreWait: Float64Array;
  readonly #seceded: Float64Array;
  readonly #resumed: Float64Array;
  readonly #waited: Float64Array;
  /** Engines do not report the call of a task. */
  readonly #noCalls: readonly null[];
  readonly #texts = {
    prefix: new BatchTexts(),
    group: new BatchTexts(),
    function: new BatchTexts(),
    span: new BatchTexts(),
    type: new BatchTexts(),
  };
  /** Codes of the latest computation. */
  #codes: ComputationCodes | undefined;
  #typeCodes: { readonly names: readonly string[]; codes: Int32Array } = {
    names: [],
    codes: new Int32Array(0),
  };
  #lastGroup = '';
  #lastGroupCode = UNKNOWN;

  /** `rows` is the capacity of the batch. */
  constructor(rows: number) {
    this.#rows = rows;
    this.#id = new Float64Array(rows);
    this.#prefix = new Int32Array(rows);
    this.#group = new Int32Array(rows);
    this.#function = new Int32Array(rows);
    this.#span = new Int32Array(rows);
    this.#computation = new Int32Array(rows);
    this.#worker = new Int32Array(rows);
    this.#thread = new Int32Array(rows);
    this.#state = new Int32Array(rows);
    this.#attempt = new Uint8Array(rows);
    this.#type = new Int32Array(rows);
    this.#nbytes = new Float64Array(rows);
    this.#submitted = new Float64Array(rows);
    this.#ready = new Float64Array(rows);
    this.#dispatched = new Float64Array(rows);
    this.#received = new Float64Array(rows);
    this.#started = new Float64Array(rows);
    this.#stopped = new Float64Array(rows);
    this.#acknowledged = new Float64Array(rows);
    this.#coreWait = new Float64Array(rows);
    this.#seceded = new Float64Array(rows);
    this.#resumed = new Float64Array(rows);
    this.#waited = new Float64Array(rows);
    this.#noCalls = new Array<null>(rows).fill(null);
  }

  /** Adds runs from `from` on until the batch is full. Returns the index of the next run. */
  add(runs: TaskRuns, from: number): number {
    const to = Math.min(runs.count, from + this.#rows - this.length);
    const at = this.length;
    const end = at + to - from;
    const { computation } = runs;
    this.#nbytes.set(runs.nbytes.subarray(from, to), at);
    this.#attempt.set(runs.attempts.subarray(from, to), at);
    if (runs.threads === undefined) this.#thread.fill(0, at, end);
    else this.#thread.set(runs.threads.subarray(from, to), at);
    this.#state.set(runs.states.subarray(from, to), at);
    this.#ready.set(runs.ready.subarray(from, to), at);
    this.#dispatched.set(runs.dispatched.subarray(from, to), at);
    this.#received.set(runs.received.subarray(from, to), at);
    this.#started.set(runs.started.subarray(from, to), at);
    this.#stopped.set(runs.stopped.subarray(from, to), at);
    this.#computation.fill(computation.number, at, end);
    this.#worker.fill(runs.worker, at, end);
    this.#submitted.fill(computation.submitted, at, end);
    this.#acknowledged.fill(runs.acknowledged, at, end);
    const setKnown = (column: Float64Array, known: Float64Array | undefined): void => {
      if (known === undefined) column.fill(Number.NaN, at, end);
      else column.set(known.subarray(from, to), at);
    };
    setKnown(this.#coreWait, runs.coreWaits);
    setKnown(this.#seceded, runs.seceded);
    setKnown(this.#resumed, runs.resumed);
    setKnown(this.#waited, runs.waited);
    this.#addTexts(runs, from, to);
    this.length = end;
    return to;
  }

  #addTexts(runs: TaskRuns, from: number, to: number): void {
    const { computation, ids, states, types } = runs;
    const { firstId, keys, prefixOf, functionOf, spanOf } = computation;
    const codes = this.#codesOf(computation);
    const typeCodes = this.#codesOfTypes(runs.typeNames);
    for (let i = from, at = this.length; i < to; i++, at++) {
      const id = ids[i]!;
      const key = keys[id] ?? '';
      this.#id[at] = firstId + id;
      this.#keys.push(key);
      const prefix = codes.prefix(prefixOf[id]!);
      this.#prefix[at] = prefix;
      this.#group[at] = this.#groupOf(key, prefix);
      this.#function[at] = codes.function(functionOf[id]!);
      this.#span[at] = codes.span(spanOf === null ? 0 : spanOf[id]!);
      this.#type[at] = states[i] === TASK_MEMORY ? (typeCodes[types[i]!] ?? ABSENT) : ABSENT;
    }
  }

  #groupOf(key: string, prefix: number): number {
    if (this.#lastGroupCode >= 0 && inGroup(key, this.#lastGroup)) return this.#lastGroupCode;
    const { group, prefix: prefixes } = this.#texts;
    this.#lastGroup = keyGroup(key, prefixes.texts[prefix] ?? '');
    this.#lastGroupCode = group.codeOf(this.#lastGroup);
    return this.#lastGroupCode;
  }

  #codesOf(computation: Computation): ComputationCodes {
    if (this.#codes?.isOf(computation) !== true) this.#codes = new ComputationCodes(computation, this.#texts);
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
    const { prefix, group, function: functions, span, type } = this.#texts;
    const coded = (values: Int32Array, { texts, generation }: BatchTexts) =>
      ({ type: 'dictionary', values, texts, generation }) as const;
    const numbers = (values: Float64Array) => ({ type: 'float64', values }) as const;
    const integers = (values: Int32Array) => ({ type: 'int32', values }) as const;
    return [
      { type: 'int64', values: this.#id },
      { type: 'utf8', values: this.#keys },
      coded(this.#prefix, prefix),
      coded(this.#group, group),
      coded(this.#function, functions),
      coded(this.#span, span),
      integers(this.#computation),
      integers(this.#worker),
      integers(this.#thread),
      { type: 'dictionary', values: this.#state, texts: TASK_STATES, generation: 0 },
      { type: 'uint8', values: this.#attempt },
      numbers(this.#submitted),
      numbers(this.#ready),
      numbers(this.#dispatched),
      numbers(this.#received),
      numbers(this.#started),
      numbers(this.#stopped),
      numbers(this.#acknowledged),
      numbers(this.#coreWait),
      numbers(this.#seceded),
      numbers(this.#resumed),
      numbers(this.#waited),
      numbers(this.#nbytes),
      coded(this.#type, type),
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

/** Codes of a computation's texts, assigned on first use. */
class ComputationCodes {
  readonly #names: Names;
  readonly #texts: { readonly prefix: BatchTexts; readonly function: BatchTexts; readonly span: BatchTexts };
  readonly #prefixes: (number | undefined)[] = [];
  readonly #functions: (number | undefined)[] = [];
  readonly #spans: (number | undefined)[] = [];

  constructor(
    { prefixes, functions, spans }: Names,
    texts: { readonly prefix: BatchTexts; readonly function: BatchTexts; readonly span: BatchTexts },
  ) {
    this.#names = { prefixes, functions, spans };
    this.#texts = texts;
  }

  /** Returns whether a computation has the same lists of texts. */
  isOf({ prefixes, functions, spans }: Names): boolean {
    const names = this.#names;
    return names.prefixes === prefixes && names.functions === functions && names.spans === spans;
  }

  prefix(index: number): number {
    return codeAt(this.#prefixes, index, this.#texts.prefix, this.#names.prefixes);
  }

  function(index: number): number {
    return codeAt(this.#functions, index, this.#texts.function, this.#names.functions);
  }

  span(index: number): number {
    const known = this.#spans[index];
    if (known !== undefined) return known;
    const path = this.#names.spans[index];
    if (path === undefined) return ABSENT;
    const code = this.#texts.span.codeOf(path.join('/'));
    this.#spans[index] = code;
    return code;
  }
}

type Names = Pick<Computation, 'prefixes' | 'functions' | 'spans'>;

function codeAt(
  codes: (number | undefined)[],
  index: number,
  texts: BatchTexts,
  names: readonly string[],
): number {
  const known = codes[index];
  if (known !== undefined) return known;
  const name = names[index];
  if (name === undefined) return ABSENT;
  const code = texts.codeOf(name);
  codes[index] = code;
  return code;
}

// Walks a caller's graph. Keys become slots. Each needed slot with a task gets an expression and a dense number, in
// the order of the walk. Nothing here recurses along dependencies. Recursion follows only the nesting of arguments,
// whose depth is bounded.

import { isMap, isPlainObject, isSet } from '../base/builtIns.js';
import { Int32Column } from '../base/columns.js';
import { LongpoleError } from '../base/errors.js';
import { getOrMake } from '../base/lookUps.js';
import type { Graph } from '../protocol/graph.js';
import {
  CALL_BASE,
  OP_ARRAY,
  OP_CALL,
  OP_CONSTANT,
  OP_FUNCTION,
  OP_MAP,
  OP_NUMBER,
  OP_OBJECT,
  OP_REF,
  OP_SET,
} from '../protocol/program.js';
import { type AnyFunction, isFunction, resolveFunction } from './callable.js';
import { describe, noFunctionError, unknownKeyError } from './compileErrors.js';
import { definedAnnotations, definedSpans, type SpanRef } from './definedWith.js';
import { Delayed } from './delayed.js';
import { External } from './external.js';
import { FunctionTable } from './functionTable.js';
import { type KeyIndex, RankIndex } from './keyIndex.js';
import { Literal } from './literal.js';
import { checkCopyable } from './lossyCopies.js';
import { checkNesting, PlainContainers, partsOf } from './nesting.js';
import { TokenBuffer } from './tokenBuffer.js';

const UNKNOWN = -1;
const DATA = -2;
/** Expected tokens per task: a call and two arguments. */
const TOKENS_PER_TASK = 3;

/** Returns the existing result of a key; undefined if the key must be computed. */
export type KnownResults = (key: string) => External | undefined;

const NOTHING_KNOWN: KnownResults = () => undefined;

export class Compiler {
  readonly tokens = new TokenBuffer();
  readonly tokenOffsets = new Int32Column();
  readonly dependencies = new Int32Column();
  readonly dependencyOffsets = new Int32Column();
  readonly functionOf = new Int32Column();
  readonly constants: unknown[] = [];
  readonly data = new Map<string, unknown>();
  /** True if any result comes from outside the graph. */
  hasExternals = false;

  readonly #slots = new Map<string, number>();
  #slotKeys: string[] = [];
  #slotValues: unknown[] = [];
  /** Slot → task number; UNKNOWN until the walk reaches it, or DATA. */
  #slotTask: number[] = [];
  /** Task number → slot. */
  readonly #taskSlots = new Int32Column();
  /** Task number → its last recorded dependent, so that each edge is recorded once. */
  readonly #lastDependent = new Int32Column();
  readonly #functions = new FunctionTable();
  readonly #requestedTasks: number[] = [];
  readonly #byReference: boolean;
  readonly #known: KnownResults;
  /** Those in the current slot. They may hold functions, which are data there. */
  readonly #inert = new PlainContainers();
  /** Those in the arguments of the current task. */
  readonly #plain = new PlainContainers();
  #current = 0;
  /** Number of keys of the graph. Slots from here on are those of other Delayed. */
  #named = 0;

  /** With `byReference`, the tasks run in this isolate, so that arguments that contain functions need no rebuilding. */
  constructor(byReference = false, known: KnownResults = NOTHING_KNOWN) {
    this.#byReference = byReference;
    this.#known = known;
  }

  get functions(): readonly AnyFunction[] {
    return this.#functions.functions;
  }

  get taskCount(): number {
    return this.#taskSlots.length;
  }

  /** Adds the keys of a graph. Call it before any request. */
  addGraph(graph: Graph): void {
    if (isMap(graph)) {
      for (const [key, value] of graph) this.#addSlot(this.#checkKey(key), value);
    } else if (typeof graph === 'object' && graph !== null && isPlainObject(graph)) {
      this.#addObject(graph);
    } else {
      throw new LongpoleError(
        'ERR_LONGPOLE_INVALID_GRAPH',
        `A graph is a plain object or a Map of keys, not ${describe(graph)}. Pass e.g. { total: [add, 1, 2] }.`,
      );
    }
    this.#named = this.#slotKeys.length;
  }

  request(key: string): void {
    const slot = this.#namedSlot(key);
    if (slot === undefined) throw unknownKeyError(key, this.#slotKeys);
    this.#requestSlot(slot);
  }

  requestDelayed(delayed: Delayed<unknown>): void {
    this.#requestSlot(this.#delayedSlot(delayed));
  }

  /** Walks from the requested keys until every needed task has its expression. */
  compileTasks(): void {
    const { tokens } = this;
    this.#expect(this.#slotKeys.length + 1);
    this.tokenOffsets.push(0);
    this.dependencyOffsets.push(0);
    for (this.#current = 0; this.#current < this.#taskSlots.length; this.#current++) {
      const value = this.#slotValues[this.#taskSlots.values[this.#current]!];
      const start = tokens.length;
      if (value instanceof External) {
        this.hasExternals = true;
        this.functionOf.push(-1);
      } else {
        this.#emitTask(value);
        const operand = tokens.operands[start]!;
        this.functionOf.push(tokens.operations[start] === OP_CALL ? operand % CALL_BASE : -1);
      }
      this.tokenOffsets.push(tokens.length);
      this.dependencyOffsets.push(this.dependencies.length);
    }
  }

  /** Reserves room, because most tasks of a graph are usually needed. */
  #expect(tasks: number): void {
    this.tokens.expected = TOKENS_PER_TASK * tasks;
    const { tokenOffsets, dependencies, dependencyOffsets, functionOf } = this;
    for (const column of [tokenOffsets, dependencies, dependencyOffsets, functionOf]) column.expected = tasks;
    this.#taskSlots.expected = tasks;
    this.#lastDependent.expected = tasks;
  }

  key(task: number): string {
    return this.#slotKeys[this.#taskSlots.values[task]!]!;
  }

  /** Returns a function that returns the task at a place of the sequence. It holds only what it needs. */
  sources(sequence: Int32Array): (rank: number) => unknown {
    const values = this.#slotValues;
    const slots = this.#taskSlots.take();
    return (rank) => {
      const value = values[slots[sequence[rank]!]!];
      return value instanceof Delayed ? value.toTask() : value;
    };
  }

  /** Returns the span in which the task was defined. */
  span(task: number): SpanRef | undefined {
    const value = this.#slotValues[this.#taskSlots.values[task]!];
    return value instanceof Delayed ? definedSpans.of(value) : undefined;
  }

  /** Returns the priority with which the task was defined. */
  priority(task: number): number | undefined {
    const value = this.#slotValues[this.#taskSlots.values[task]!];
    return typeof value === 'object' && value !== null ? definedAnnotations.of(value)?.priority : undefined;
  }

  /** Returns the external result of a task, if it has one. */
  external(task: number): External | undefined {
    const value = this.#slotValues[this.#taskSlots.values[task]!];
    return value instanceof External ? value : undefined;
  }

  requestedFlags(): Uint8Array {
    const flags = new Uint8Array(this.taskCount);
    for (const task of this.#requestedTasks) flags[task] = 1;
    return flags;
  }

  /** Returns a read-only index over the slots, so that a graph's keys are hashed only once. */
  rankIndex(ranks: Int32Array): KeyIndex {
    return new RankIndex(this.#slots, this.#slotTask, ranks);
  }

  /** Adds all slots at once. This takes a third of the time for a large graph of small tasks. */
  #addObject(graph: Record<string, unknown>): void {
    const keys = Object.keys(graph);
    const values: unknown[] = new Array(keys.length);
    for (let slot = 0; slot < keys.length; slot++) {
      const key = keys[slot]!;
      this.#slots.set(key, slot);
      values[slot] = graph[key];
    }
    this.#slotKeys = keys;
    this.#slotValues = values;
    this.#slotTask = new Array(keys.length).fill(UNKNOWN);
  }

  #addSlot(key: string, value: unknown): number {
    const slot = this.#slotKeys.length;
    this.#slots.set(key, slot);
    this.#slotKeys.push(key);
    this.#slotValues.push(value);
    this.#slotTask.push(UNKNOWN);
    return slot;
  }

  #checkKey(key: unknown): string {
    if (typeof key === 'string') return key;
    throw new LongpoleError(
      'ERR_LONGPOLE_INVALID_GRAPH',
      `The keys of a graph are strings, not ${describe(key)}. key('x', 0) spells a tuple key as a string.`,
    );
  }

  #requestSlot(slot: number): void {
    const task = this.#taskOf(slot);
    if (task >= 0) this.#requestedTasks.push(task);
  }

  /** Returns the slot of a key of the graph; undefined for the key of a Delayed that the graph has under another key. */
  #namedSlot(key: string): number | undefined {
    const slot = this.#slots.get(key);
    return slot !== undefined && slot < this.#named && this.#slotKeys[slot] === key ? slot : undefined;
  }

  #delayedSlot(delayed: Delayed<unknown> | External): number {
    return this.#slots.get(delayed.key) ?? this.#addSlot(delayed.key, delayed);
  }

  /** Returns the slot's task number; DATA if it holds data, which is in `data` then. */
  #taskOf(slot: number): number {
    const known = this.#slotTask[slot]!;
    if (known !== UNKNOWN) return known;
    const value = this.#known(this.#slotKeys[slot]!) ?? this.#withoutAlias(slot);
    const isAlias = typeof value === 'string' && value !== this.#slotValues[slot];
    this.#slotValues[slot] = value;
    if (Array.isArray(value) && value.length > 0 && value[0] === undefined)
      throw noFunctionError(this.#slotKeys[slot]!);
    let task: number;
    this.#inert.clear();
    if (isAlias || this.#isDynamic(value, true, 0)) {
      task = this.#taskSlots.length;
      this.#taskSlots.push(slot);
      this.#lastDependent.push(-1);
    } else {
      task = DATA;
      this.data.set(this.#slotKeys[slot]!, value instanceof Literal ? value.value : value);
    }
    this.#slotTask[slot] = task;
    return task;
  }

  /**
   * Returns the value of a slot. A Delayed that a graph has under another key is one task, also if other tasks use it: the first
   * slot that the walk reaches computes it, and others are references.
   */
  #withoutAlias(slot: number): unknown {
    const value = this.#slotValues[slot];
    if (!(value instanceof Delayed) || this.#slotKeys[slot] === value.key) return value;
    return getOrMake(this.#slots, value.key, () => slot) === slot ? value : value.key;
  }

  /** Returns whether a value has to be computed: it is or contains a task, a key (if `refs`) or a Delayed. */
  #isDynamic(value: unknown, refs: boolean, depth: number): boolean {
    if (typeof value === 'string') return refs && this.#namedSlot(value) !== undefined;
    if (typeof value !== 'object' || value === null) return false;
    checkNesting(depth);
    if (value instanceof Literal) return depth > 0;
    if (value instanceof Delayed || value instanceof External) return true;
    const inList = refs && Array.isArray(value);
    if (inList && typeof value[0] === 'function') return true;
    if (this.#inert.has(value, refs)) return false;
    for (const part of partsOf(value)) if (this.#isDynamic(part, inList, depth + 1)) return true;
    this.#inert.add(value, refs);
    return false;
  }

  #emitTask(value: unknown): void {
    this.#plain.clear();
    if (value instanceof Delayed) this.#emitCall(value.fn, value.args, 0, false, 0);
    else if (typeof value === 'string') this.#emitSlot(this.#slots.get(value)!);
    else this.#emit(value, true, 0);
  }

  #emitCall(fn: AnyFunction, list: readonly unknown[], from: number, refs: boolean, depth: number): void {
    this.tokens.push(OP_CALL, (list.length - from) * CALL_BASE + this.#functions.numberOf(fn));
    for (let index = from; index < list.length; index++) this.#emit(list[index], refs, depth + 1);
  }

  /** Emits the expression of a value. Returns false for plain data, which is the same in every isolate. */
  #emit(value: unknown, refs: boolean, depth: number): boolean {
    if (typeof value === 'number') {
      this.tokens.push(OP_NUMBER, value);
      return false;
    }
    if (typeof value === 'string') {
      const slot = refs ? this.#namedSlot(value) : undefined;
      return slot === undefined ? this.#emitConstant(value) : this.#emitSlot(slot);
    }
    if (isFunction(value)) {
      if (this.#byReference) return this.#emitConstant(resolveFunction(value));
      this.tokens.push(OP_FUNCTION, this.#functions.numberOf(value));
      return true;
    }
    if (typeof value === 'object' && value !== null) return this.#emitObject(value, refs, depth);
    return this.#emitConstant(value);
  }

  #emitObject(value: object, refs: boolean, depth: number): boolean {
    checkNesting(depth);
    if (value instanceof Delayed || value instanceof External)
      return this.#emitSlot(this.#delayedSlot(value));
    if (value instanceof Literal) {
      // Reports true, so that the enclosing array is rebuilt with the value instead of its wrapper.
      this.#emit(value.value, false, depth + 1);
      return true;
    }
    if (this.#plain.has(value, refs)) return this.#emitConstant(value);
    const start = this.tokens.length;
    const constants = this.constants.length;
    let dynamic = false;
    if (Array.isArray(value)) {
      const first: unknown = value[0];
      if (refs && isFunction(first)) {
        this.#emitCall(first, value, 1, refs, depth);
        return true;
      }
      this.tokens.push(OP_ARRAY, value.length);
      for (let index = 0; index < value.length; index++)
        if (this.#emit(value[index], refs, depth + 1)) dynamic = true;
    } else {
      dynamic = this.#emitContainer(value, depth);
    }
    if (dynamic) return true;
    this.#plain.add(value, refs);
    this.tokens.length = start;
    this.constants.length = constants;
    return this.#emitConstant(value);
  }

  /** Maps, Sets and plain objects may contain Delayed; strings in them are data. Any other object is data as a whole. */
  #emitContainer(value: object, depth: number): boolean {
    if (isPlainObject(value)) this.tokens.push(OP_OBJECT, this.#constant(Object.keys(value)));
    else if (isMap(value)) this.tokens.push(OP_MAP, value.size);
    else if (isSet(value)) this.tokens.push(OP_SET, value.size);
    else {
      if (!this.#byReference)
        checkCopyable(
          value,
          `An argument of task '${this.key(this.#current)}' cannot be copied to a worker: `,
        );
      return false;
    }
    let dynamic = false;
    for (const part of partsOf(value)) if (this.#emit(part, false, depth + 1)) dynamic = true;
    return dynamic;
  }

  #emitSlot(slot: number): boolean {
    const task = this.#taskOf(slot);
    if (task === DATA) {
      this.#emitData(this.data.get(this.#slotKeys[slot]!));
      return true;
    }
    this.tokens.push(OP_REF, task);
    if (this.#lastDependent.values[task] !== this.#current) {
      this.#lastDependent.values[task] = this.#current;
      this.dependencies.push(task);
    }
    return true;
  }

  #emitData(value: unknown): void {
    if (typeof value === 'number') this.tokens.push(OP_NUMBER, value);
    else if (isFunction(value)) this.tokens.push(OP_FUNCTION, this.#functions.numberOf(value));
    else this.#emitConstant(value);
  }

  #emitConstant(value: unknown): false {
    this.tokens.push(OP_CONSTANT, this.#constant(value));
    return false;
  }

  #constant(value: unknown): number {
    this.constants.push(value);
    return this.constants.length - 1;
  }
}

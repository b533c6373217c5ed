// A pipeline: named steps and the steps whose results they need. Each step runs as soon as its inputs exist. At the end,
// the Delayed values that the last steps returned are computed.

import { invalidArgument, LongpoleError, messageOf } from '../base/errors.js';
import { visibleText } from '../base/visibleText.js';
import { isFunction } from '../graph/callable.js';
import { Delayed, findDelayed } from '../graph/delayed.js';
import { External } from '../graph/external.js';
import type { Input } from '../graph/input.js';
import { withParts } from '../graph/nesting.js';
import { drawBoxes } from './drawing.js';
import { asOperator, type Operator, type OperatorContext, toOperator } from './operator.js';

/** Runs the tasks that steps create. */
export interface PipelineExecutor {
  /** Computes the results in the order of `delayeds`. A common dependency runs once. */
  compute(delayeds: readonly Delayed<unknown>[]): Promise<readonly unknown[]>;
  /** Returns references to the results, in the same order. A reference may be an argument of further tasks. */
  persist(delayeds: readonly Delayed<unknown>[]): Promise<readonly unknown[]>;
}

/** Sources of the inputs of a step, by the names of its parameters. */
export type Sources = Readonly<Record<string, unknown>>;

export interface StepOptions {
  /** Name of the step; default: the name of its function, preceded by the name of its object. */
  readonly name?: string;
}

interface Step {
  readonly operator: Operator;
  /** Name given by the user. */
  label: string | undefined;
  /** Whether `add` has received the step itself. Otherwise it is only a source of other steps. */
  isAdded: boolean;
  /** Inputs by name: another step, or data. */
  readonly inputs: Map<string, { readonly step: Step } | { readonly data: unknown }>;
  result: { readonly value: unknown } | undefined;
}

export interface PipelineOptions {
  /**
   * Receives a line of text when the pipeline and each step begin and end, with the time and the level as in DASF's log:
   * `[2026-01-31 11:55:50-0300] INFO - Task 'fit': Starting task run...`. Default: writes the lines to stderr.
   */
  readonly log?: (line: string) => void;
}

type Level = 'INFO' | 'ERROR';

export class StepGraph {
  readonly name: string;
  readonly #executor: PipelineExecutor;
  /** Receives lines without a time and a level, too, e.g. from the default profiler. */
  readonly log: (line: string) => void;
  readonly #steps = new Map<object, Step>();

  constructor(name: string, executor: PipelineExecutor, { log = toStderr }: PipelineOptions) {
    this.name = name;
    this.#executor = executor;
    this.log = log;
  }

  add(operator: unknown, sources: Sources, { name }: StepOptions): void {
    const step = this.#stepOf(toOperator(operator), name);
    if (step.isAdded) this.#checkAddedAgain(step, Object.keys(sources));
    step.isAdded = true;
    for (const [input, source] of Object.entries(sources)) {
      const other = asOperator(source);
      step.inputs.set(
        input,
        other === undefined ? { data: source } : { step: this.#stepOf(other, undefined) },
      );
    }
  }

  /**
   * Returns the result of a step.
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if the step was not added or has not run
   */
  resultOf(operator: unknown): unknown {
    const step = this.#steps.get(toOperator(operator).identity);
    if (step?.result !== undefined) return step.result.value;
    const what = step === undefined ? 'has not been added to' : 'has not been run by';
    throw invalidArgument(`${toOperator(operator).name} ${what} the pipeline '${this.name}'.`);
  }

  /** Implements `Pipeline.run`. */
  async run(): Promise<ReadonlyMap<string, unknown>> {
    const steps = this.#inOrder();
    const names = this.#names(steps);
    this.#log(`Beginning pipeline run for '${this.name}'`);
    for (const step of steps) step.result = undefined;
    try {
      await this.#runSteps(steps, names);
      const last = steps.filter((step) => !steps.some((other) => needs(other, step)));
      const values = last.map((step) => step.result?.value);
      const computed = await replaceLazy(values, (lazy) => this.#executor.compute(lazy));
      for (const [index, step] of last.entries()) step.result = { value: partOf(computed, index) };
    } catch (error) {
      this.#log(`Pipeline run failed: ${messageOf(error)}`, 'ERROR');
      throw error;
    }
    this.#log('Pipeline run successfully');
    return new Map(steps.map((step) => [names.get(step)!, step.result?.value]));
  }

  /** Returns the steps and their sources as an SVG image. */
  draw(): string {
    const steps = this.#inOrder();
    const names = this.#names(steps);
    const edges = steps.flatMap((step, to) =>
      [...step.inputs].flatMap(([label, source]) =>
        'step' in source ? [{ from: steps.indexOf(source.step), to, label }] : [],
      ),
    );
    return drawBoxes(this.name, { nodes: steps.map((step) => names.get(step)!), edges });
  }

  #log(text: string, level: Level = 'INFO'): void {
    this.log(`[${localTime(new Date())}] ${level} - ${text}`);
  }

  /** Refuses a function that is added again without a new input: it may be a method of another instance. */
  #checkAddedAgain({ operator, label, inputs }: Step, names: readonly string[]): void {
    if (!isFunction(operator.identity)) return;
    const again = names.find((name) => inputs.has(name));
    if (again === undefined && names.length > 0) return;
    throw invalidArgument(
      `The pipeline '${this.name}' already has the step '${label ?? operator.name}'${again === undefined ? '' : ` with the input '${again}'`}. ` +
        'One function is one step, and the instances of a class share their methods. ' +
        `Make a function for each step, e.g. as a property of the class: ${operator.name} = (inputs) => …`,
    );
  }

  #stepOf(operator: Operator, label: string | undefined): Step {
    const step = this.#steps.get(operator.identity) ?? {
      operator,
      label,
      isAdded: false,
      inputs: new Map(),
      result: undefined,
    };
    step.label = label ?? step.label;
    this.#steps.set(operator.identity, step);
    return step;
  }

  async #runSteps(steps: readonly Step[], names: ReadonlyMap<Step, string>): Promise<void> {
    const context = new StepContext(this.#executor);
    const running = new Map<Step, Promise<void>>();
    for (const step of steps) {
      const before = [...step.inputs.values()].flatMap((source) =>
        'step' in source ? [running.get(source.step)] : [],
      );
      running.set(step, this.#runStep(step, names.get(step)!, before, context));
    }
    // Waits for all steps before the first error is thrown, so that no step continues after the caller has received
    // it.
    const outcomes = await Promise.allSettled(running.values());
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async #runStep(
    step: Step,
    name: string,
    before: readonly (Promise<void> | undefined)[],
    context: OperatorContext,
  ): Promise<void> {
    await Promise.all(before);
    const inputs: Record<string, unknown> = {};
    for (const [input, source] of step.inputs)
      inputs[input] = 'step' in source ? source.step.result?.value : source.data;
    this.#log(`Task '${name}': Starting task run...`);
    try {
      const returned = step.operator.run(inputs, context);
      // A future stays a reference. Awaiting it would transfer its result to this program.
      step.result = { value: returned instanceof External ? returned : await returned };
    } catch (cause) {
      const reason = messageOf(cause);
      throw new LongpoleError(
        'ERR_LONGPOLE_PIPELINE_STEP',
        `The step '${name}' of the pipeline '${this.name}' failed: ${reason}`,
        { cause },
      );
    }
    this.#log(`Task '${name}': Finished task run`);
  }

  /** Returns sources before their dependents, otherwise in the order in which steps were added. */
  #inOrder(): Step[] {
    const order: Step[] = [];
    const open = new Set<Step>();
    const visit = (step: Step): void => {
      if (order.includes(step)) return;
      if (open.has(step)) throw this.#cycle(step);
      open.add(step);
      for (const source of step.inputs.values()) if ('step' in source) visit(source.step);
      order.push(step);
    };
    for (const step of this.#steps.values()) visit(step);
    return order;
  }

  #cycle(step: Step): LongpoleError {
    const { name } = step.operator;
    return new LongpoleError(
      'ERR_LONGPOLE_CYCLE',
      `In the pipeline '${this.name}' the step '${step.label ?? name}' needs its own result, directly or through others. Remove one of these inputs.`,
    );
  }

  /** Returns unique names. The second of two steps with the same name becomes `name 2`. */
  #names(steps: readonly Step[]): ReadonlyMap<Step, string> {
    const names = new Map<Step, string>();
    const taken = new Set<string>();
    for (const step of steps) {
      const wanted = step.label ?? step.operator.name;
      let name = wanted;
      for (let number = 2; taken.has(name); number++) name = `${wanted} ${number}`;
      taken.add(name);
      names.set(step, name);
    }
    return names;
  }
}

/** Writes a line to stderr. Makes control characters visible. */
export function toStderr(line: string): void {
  process.stderr.write(`${visibleText(line)}\n`);
}

/** Returns e.g. `2026-01-31 11:55:50-0300`. */
function localTime(time: Date): string {
  const ahead = -time.getTimezoneOffset();
  const local = new Date(time.getTime() + ahead * 60_000).toISOString();
  const zone = [Math.trunc(Math.abs(ahead) / 60), Math.abs(ahead) % 60].map((part) =>
    `${part}`.padStart(2, '0'),
  );
  return `${local.slice(0, 10)} ${local.slice(11, 19)}${ahead < 0 ? '-' : '+'}${zone.join('')}`;
}

class StepContext implements OperatorContext {
  readonly #executor: PipelineExecutor;

  constructor(executor: PipelineExecutor) {
    this.#executor = executor;
    // Steps take these methods out of the context, so they must be bound.
    this.compute = this.compute.bind(this);
    this.persist = this.persist.bind(this);
  }

  compute<T>(value: Delayed<T>): Promise<T>;
  compute<T>(values: readonly Input<T>[]): Promise<T[]>;
  compute(value: unknown): Promise<unknown>;
  compute(value: unknown): Promise<unknown> {
    return replaceLazy(value, (lazy) => this.#executor.compute(lazy));
  }

  persist<T>(values: readonly Input<T>[]): Promise<Input<T>[]>;
  persist(value: unknown): Promise<unknown>;
  persist(value: unknown): Promise<unknown> {
    return replaceLazy(value, (lazy) => this.#executor.persist(lazy));
  }
}

async function replaceLazy(
  value: unknown,
  run: (lazy: readonly Delayed<unknown>[]) => Promise<readonly unknown[]>,
): Promise<unknown> {
  const lazy = lazyParts(value);
  if (lazy.length === 0) return value;
  const results = await run(lazy);
  return withResults(value, new Map(lazy.map((delayed, index) => [delayed, results[index]])));
}

function needs(step: Step, other: Step): boolean {
  return [...step.inputs.values()].some((source) => 'step' in source && source.step === other);
}

function partOf(value: unknown, index: number): unknown {
  return Array.isArray(value) ? value[index] : undefined;
}

// Finds and replaces the Delayed values in a value. Like for the arguments of a task, the search covers arrays, plain
// objects, Maps and Sets.

/** Returns every Delayed in `value`, each once. */
function lazyParts(value: unknown): Delayed<unknown>[] {
  const found: Delayed<unknown>[] = [];
  findDelayed(value, found);
  return [...new Set(found)];
}

/** Returns `value` with its Delayed values replaced by `results`; the same object if it has none. */
function withResults(value: unknown, results: ReadonlyMap<Delayed<unknown>, unknown>): unknown {
  if (value instanceof Delayed) return results.get(value);
  if (typeof value !== 'object' || value === null || results.size === 0) return value;
  return withParts(value, (part) => withResults(part, results));
}

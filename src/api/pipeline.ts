// `Pipeline`: named steps and their sources. A client or the worker threads of this process run the tasks of the steps.
import {
  ANY,
  CALLABLE,
  checkArgument,
  checkNoMore,
  checkOptions,
  fileName,
  isOptionsObject,
  kind,
  type OptionKinds,
  TEXT,
} from '../base/arguments.js';
import type { Delayed } from '../graph/delayed.js';
import {
  type PipelineExecutor,
  type PipelineOptions,
  type Sources,
  StepGraph,
  type StepOptions,
} from '../pipeline/pipeline.js';
import type { Client } from './cluster/client.js';
import { writeDrawing } from './writeDrawing.js';

export interface PipelineConstructorOptions extends PipelineOptions {
  /** Client that runs the tasks of the steps. Default: the shared worker threads run them. */
  readonly client?: Client;
}

const OPTIONS: OptionKinds<PipelineConstructorOptions> = { client: ANY, log: CALLABLE };
const STEP_OPTIONS: OptionKinds<StepOptions> = { name: TEXT };
const DRAWING_OPTIONS = { filename: fileName(['.svg', '.html', '.htm']) };
const SOURCES = kind('an object such as { X: step }', isOptionsObject);

/** Runs tasks on the shared worker threads. This process holds persisted results. */
const onThreads: PipelineExecutor = {
  compute: computeOnThreads,
  persist: computeOnThreads,
};

/** Runs tasks on a client's cluster. Persisted results stay on the workers. */
function executorOf(client: Client): PipelineExecutor {
  return {
    compute: (delayeds) => client.compute(delayeds),
    persist: async (delayeds) => {
      const futures = client.persist(delayeds);
      const { notAwaitable } = await import('./cluster/future.js');
      // A promise that resolves with a future would wait for its result.
      return futures.map(notAwaitable);
    },
  };
}

async function computeOnThreads(delayeds: readonly Delayed<unknown>[]): Promise<readonly unknown[]> {
  // A program that only reads traces does not load the engine.
  const { compute } = await import('./compute.js');
  return compute(...delayeds);
}

/**
 * Runs named steps after the steps that they depend on.
 *
 *     const pipeline = new Pipeline('Clusters', { client })
 *       .add(normalize, { X: blobs })
 *       .add(kMeans.fitPredict, { X: normalize })
 *       .add(som.fitPredict, { X: normalize });
 *     pipeline.visualize({ filename: 'pipeline.svg' });
 *     const results = await pipeline.run();
 *
 * A step is one of:
 * - A function. It runs in this process and receives an object of its inputs by name, and `{ compute, persist }`. Steps
 *   that name the function as a source receive its return value, or the value of its promise.
 * - A TaskFunction of `tasks()` or `delayed()`. It becomes a task and receives the inputs as arguments, in their order.
 * - An object with a function `load`, `fit`, `transform` or `fitTransform`. The first one found runs like a function
 *   above.
 *
 * The pipeline calls `kMeans.fitPredict` without `kMeans` as `this`. Declare such a function as a property
 * (`fitPredict = () => …`), not as a method.
 *
 * @source DASF's `Pipeline`
 */
export class Pipeline {
  readonly name: string;
  /** Client that runs the tasks; undefined for the shared worker threads. */
  readonly client: Client | undefined;
  readonly #steps: StepGraph;

  constructor(name: string, given: PipelineConstructorOptions = {}) {
    checkArgument('Pipeline: name', name, TEXT);
    checkOptions('Pipeline', given, OPTIONS);
    const { client, ...options } = given;
    this.name = name;
    this.client = client;
    this.#steps = new StepGraph(name, client === undefined ? onThreads : executorOf(client), options);
  }

  /**
   * Function that receives the lines of the log; see the option `log`.
   *
   * @internal
   */
  get log(): (line: string) => void {
    return this.#steps.log;
  }

  /**
   * Adds a step, or adds inputs to an existing step. A source that is a step is added, too. Any other value is an input
   * itself.
   *
   * @param options `name`: name of the step; default: the name of its function
   * @returns this pipeline
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if `operator` is not a step, or is a function that was
   *   added before and receives no new input
   */
  add(operator: unknown, sources: Sources = {}, options: StepOptions = {}): this {
    checkOptions('Pipeline.add', options, STEP_OPTIONS);
    checkArgument('Pipeline.add: sources', sources, SOURCES);
    this.#steps.add(operator, sources, options);
    return this;
  }

  /**
   * Runs every step when its sources have run. Independent steps run concurrently. Every Delayed that a last step (no
   * step depends on it) returned is computed at the end, in one pass.
   *
   * @returns (resolves) the results by the names of the steps, in the order in which the steps began
   * @throws (rejects) LongpoleError ERR_LONGPOLE_PIPELINE_STEP if a step throws, with the thrown value as `cause`;
   *   ERR_LONGPOLE_CYCLE; the errors of `compute`. No further step starts after an error.
   */
  run(): Promise<ReadonlyMap<string, unknown>>;
  async run(...more: readonly unknown[]): Promise<ReadonlyMap<string, unknown>> {
    checkNoMore('Pipeline.run', more, 'Pass inputs of a step to add(step, { name: input }).');
    return this.#steps.run();
  }

  /**
   * Returns the result of a step after `run()`.
   *
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if the step was not added or has not run
   */
  getResultFrom(operator: unknown): unknown {
    return this.#steps.resultOf(operator);
  }

  /**
   * Draws the steps and their sources as a self-contained SVG image, or as a page if the name of the file ends in
   * `.html`. Replaces an existing file.
   *
   * @param options `filename`: default `pipeline.svg`
   * @returns the absolute path of the file
   * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written, ERR_LONGPOLE_CYCLE
   */
  visualize(options: { readonly filename?: string } = {}): string {
    checkOptions('Pipeline.visualize', options, DRAWING_OPTIONS);
    const { filename = 'pipeline.svg' } = options;
    return writeDrawing(this.#steps.draw(), filename);
  }
}

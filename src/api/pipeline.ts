// `Pipeline`: steps that know their sources, run on a client or on this process's threads.
import {
  ANY,
  CALLABLE,
  checkArgument,
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
  /** Where the work that the steps describe is done. Default: on the shared worker threads. */
  readonly client?: Client;
}

const OPTIONS: OptionKinds<PipelineConstructorOptions> = { client: ANY, log: CALLABLE };
const STEP_OPTIONS: OptionKinds<StepOptions> = { name: TEXT };
const DRAWING_OPTIONS = { filename: fileName(['.svg', '.html', '.htm']) };
const SOURCES = kind('an object such as { X: step }', isOptionsObject);

/** Without a client: on the shared worker threads; what is persisted is held here. */
const onThreads: PipelineExecutor = {
  compute: computeOnThreads,
  persist: computeOnThreads,
};

/** Results stay on the workers behind futures until somebody computes with them or gathers them. */
function executorOf(client: Client): PipelineExecutor {
  return {
    compute: (delayeds) => client.compute(delayeds),
    persist: async (delayeds) => {
      const futures = client.persist(delayeds);
      const { notAwaitable } = await import('./cluster/future.js');
      // A promise of one of them resolves with the reference, and does not bring its result.
      return futures.map(notAwaitable);
    },
  };
}

async function computeOnThreads(delayeds: readonly Delayed<unknown>[]): Promise<readonly unknown[]> {
  // Whoever only reads traces does without the engine.
  const { compute } = await import('./compute.js');
  return compute(...delayeds);
}

/**
 * Steps that are run in the order of what they need.
 *
 *     const pipeline = new Pipeline('Clusters', { client })
 *       .add(normalize, { X: blobs })
 *       .add(kMeans.fitPredict, { X: normalize })
 *       .add(som.fitPredict, { X: normalize });
 *     pipeline.visualize({ filename: 'pipeline.svg' });
 *     const results = await pipeline.run();
 *
 * A step is
 * - a function: it is called here, with an object of its inputs by name and `{ compute, persist }`; what it returns, or its
 *   promise brings, is what the steps that name it as a source get;
 * - a TaskFunction of `tasks()` or `delayed()`: a task, which takes the inputs one after the other;
 * - an object with a function `load`, `fit`, `transform` or `fitTransform` (the first of them that it has), called as such.
 *
 * A function of an object is called without that object: make it a property (`fitPredict = () => …`), not a method.
 *
 * @source seed 004, DASF's `Pipeline`
 */
export class Pipeline {
  readonly name: string;
  /** Where the work is done; undefined: on the shared worker threads. */
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
   * Adds a step, or gives one that is there more inputs. A source that is a step is added, too; any other value is handed to
   * the step as it is.
   *
   * @throws ERR_LONGPOLE_INVALID_ARGUMENT if `operator` is no step
   */
  add(operator: unknown, sources: Sources = {}, options: StepOptions = {}): this {
    checkOptions('Pipeline.add', options, STEP_OPTIONS);
    checkArgument('Pipeline.add: sources', sources, SOURCES);
    this.#steps.add(operator, sources, options);
    return this;
  }

  /**
   * Runs every step once its sources have run; steps that do not need each other run side by side. What the last steps return
   * is computed, all in one pass.
   *
   * @returns the results by the names of the steps, in the order in which they began; those of the last steps computed
   * @throws (rejects) ERR_LONGPOLE_PIPELINE_STEP if a step throws, with what it threw as `cause`; ERR_LONGPOLE_CYCLE; and the
   *   errors of `compute`. No step runs any more then.
   */
  run(): Promise<ReadonlyMap<string, unknown>> {
    return this.#steps.run();
  }

  /**
   * The result of one step after `run()`.
   *
   * @throws ERR_LONGPOLE_INVALID_ARGUMENT if there is no such step, or it has not run
   */
  getResultFrom(operator: unknown): unknown {
    return this.#steps.resultOf(operator);
  }

  /**
   * Draws the steps and their sources: a self-contained SVG image, in a page if the name of the file ends in `.html`. Default
   * `pipeline.svg`. An existing file is replaced.
   *
   * @returns the absolute path of the file
   * @throws ERR_LONGPOLE_PAGE_FILE if it cannot be written, ERR_LONGPOLE_CYCLE
   */
  visualize(options: { readonly filename?: string } = {}): string {
    checkOptions('Pipeline.visualize', options, DRAWING_OPTIONS);
    const { filename = 'pipeline.svg' } = options;
    return writeDrawing(this.#steps.draw(), filename);
  }
}

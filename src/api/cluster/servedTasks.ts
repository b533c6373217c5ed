// Answers the clients inside tasks, in the process of the scheduler; taskClient.ts is the other side. Owns the references
// of each task to its results.
import { internalError } from '../../base/errors.js';
import { fieldOf } from '../../base/json.js';
import { oncePer } from '../../base/lookUps.js';
import type { ResultHandle } from '../../engine/cluster/computationState.js';
import type { Asker } from '../../engine/cluster/taskQuestions.js';
import { unpackResult } from '../../engine/worker/packResult.js';
import { notDask } from '../../graph/pythonName.js';
import { taskClientName } from '../../protocol/clientNames.js';
import type { FutureEnd, FutureNumber, ShippedPlan } from '../../protocol/clientQuestions.js';
import { toErrorInfo } from '../../protocol/errorInfo.js';
import { DEFAULT_SPAN } from '../../protocol/metrics.js';
import { isPacked, type PackedResult } from '../../protocol/packedResult.js';
import type { QuestionOf } from '../../protocol/questions.js';
import { submitPolicy } from './clientOptions.js';
import type { Cluster } from './cluster.js';
import { fetchResults } from './collectResults.js';
import { HeldHandles } from './heldHandles.js';
import { scatterValues } from './scatter.js';
import { receivePlan } from './shippedPlan.js';

/** Registers the handlers for the clients inside the tasks of a cluster. */
export function serveTasks(cluster: Cluster): void {
  const { questions } = cluster.engine;
  const of = oncePer((asker: Asker) => new ServedTask(cluster, asker));
  questions.handle('submit', (question, asker) => of(asker).submit(question));
  questions.handle('scatter', (question, asker) => of(asker).scatter(question));
  questions.handle('fetch', ({ futures }, asker) => of(asker).fetch(futures));
  questions.handle('settle', ({ futures }, asker) => of(asker).settle(futures));
  questions.handle('receive', (question, asker) => of(asker).receive(question));
  questions.handle('cancel', ({ futures }, asker) => of(asker).cancel(futures));
  questions.handle('release', ({ futures }, asker) => of(asker).release(futures));
}

/** The results that one run of a task holds. */
class ServedTask {
  readonly #cluster: Cluster;
  readonly #asker: Asker;
  readonly #held: HeldHandles;
  /** Number of a future → its result. */
  readonly #handles = new Map<number, ResultHandle>();
  /** Number of a future that could not be submitted → the error. */
  readonly #failed = new Map<number, unknown>();

  constructor(cluster: Cluster, asker: Asker) {
    this.#cluster = cluster;
    this.#asker = asker;
    this.#held = new HeldHandles(cluster.engine);
    if (!asker.ended.aborted) asker.ended.addEventListener('abort', () => this.#ended());
  }

  submit({ plan, futures, options, code }: QuestionOf<'submit'>): null {
    try {
      this.#submit(plan, futures, options, code);
    } catch (error) {
      for (const { future } of futures) this.#failed.set(future, error);
      throw error;
    }
    return null;
  }

  async scatter({ futures, values, options }: QuestionOf<'scatter'>): Promise<{ keys: string[] }> {
    const handles = await scatterValues(this.#cluster, this.#name, values.map(unpackResult), options);
    for (const [index, handle] of handles.entries()) this.#hold(futures[index]!, handle);
    return { keys: handles.map(({ key }) => key) };
  }

  async fetch(futures: readonly number[]): Promise<{ results: readonly PackedResult[] }> {
    const { engine } = this.#cluster;
    const fetched = fetchResults(
      engine,
      futures.map((future) => this.#handle(future)),
      true,
    );
    const results = await engine.waits.during('gather in a task', this.#asker.key, fetched);
    return { results: results.filter(isPacked) };
  }

  async settle(futures: readonly number[]): Promise<{ ends: FutureEnd[] }> {
    return { ends: await Promise.all(futures.map((future) => this.#end(future))) };
  }

  receive({ future, key }: QuestionOf<'receive'>): null {
    const { results } = this.#cluster.engine.coordination;
    results.received(key, this.#asker, (handle) => this.#hold(future, handle));
    return null;
  }

  cancel(futures: readonly number[]): null {
    this.#cluster.engine.results.cancel(this.#present(futures));
    return null;
  }

  release(futures: readonly number[]): null {
    for (const handle of this.#present(futures)) this.#held.release(handle);
    for (const future of futures) this.#handles.delete(future);
    return null;
  }

  get #name(): string {
    return taskClientName(this.#asker.key);
  }

  #submit(
    shipped: ShippedPlan,
    futures: readonly FutureNumber[],
    options: QuestionOf<'submit'>['options'],
    code: string,
  ): void {
    const { engine } = this.#cluster;
    const { policy, timeout } = submitPolicy('submit()', options);
    const python = shipped.functions.find(({ type }) => type === 'python');
    if (python?.type === 'python' && engine.options.runsPython !== true) throw notDask(python.target);
    const plan = receivePlan(shipped, this.#importsOf(shipped));
    const { functions } = shipped;
    const spans = this.#spansOf(shipped);
    const added = engine.add({ plan, functions, client: this.#name, policy, timeout, code, ...spans });
    for (const { local, future } of futures) this.#hold(future, engine.results.of(added, local));
  }

  /** Returns the results of futures, and existing results of equal keys, which are not computed again. */
  #importsOf({ imports, keys, dependencies: { offsets } }: ShippedPlan): Map<number, ResultHandle> {
    const found = new Map(imports.map(({ local, future }) => [local, this.#handle(future)]));
    for (const [local, key] of keys.entries()) {
      // The inputs of a task with dependencies are already on their way.
      const known =
        offsets[local] === offsets[local + 1] ? this.#cluster.engine.results.known(key) : undefined;
      if (known !== undefined && !found.has(local)) found.set(local, known);
    }
    return found;
  }

  /** Returns the spans of a plan. The default is the span of the asking task. */
  #spansOf({ spans }: ShippedPlan): Pick<Parameters<Cluster['engine']['add']>[0], 'spans'> {
    if (spans !== undefined) {
      for (const [index, tags] of spans.names.entries())
        this.#cluster.parts.measures.spans.opened(tags, spans.code[index] ?? []);
      return { spans };
    }
    const { run, id } = this.#asker;
    const info = this.#cluster.engine.computation(run)?.info;
    const span = info?.spans[info.spanOf?.[id] ?? 0];
    return span === undefined || span.join() === DEFAULT_SPAN.join()
      ? {}
      : { spans: { of: null, names: [span] } };
  }

  async #end(future: number): Promise<FutureEnd> {
    if (this.#failed.has(future)) return { status: 'error', error: toErrorInfo(this.#failed.get(future)) };
    const handle = this.#handle(future);
    while (!handle.isSettled) await handle.settled();
    const { status } = handle;
    return status === 'finished' ? { status } : { status, error: toErrorInfo(handle.error) };
  }

  #hold(future: number, handle: ResultHandle): void {
    this.#held.hold(handle);
    this.#handles.set(future, handle);
    if (this.#asker.ended.aborted) this.#drop(handle);
  }

  #handle(future: number): ResultHandle {
    if (this.#failed.has(future)) throw this.#failed.get(future);
    const handle = this.#handles.get(future);
    if (handle !== undefined) return handle;
    throw internalError(`Task '${this.#asker.key}' has no future ${future}.`);
  }

  #present(futures: readonly number[]): ResultHandle[] {
    return futures.flatMap((future) => this.#handles.get(future) ?? []);
  }

  #ended(): void {
    for (const handle of this.#handles.values()) this.#drop(handle);
    this.#handles.clear();
  }

  /**
   * Gives up a result after the end of the task. Submitted work runs to its end, unless the task was cancelled or lost:
   * then its work is not needed, or the next run of the task submits it again.
   */
  #drop(handle: ResultHandle): void {
    if (fieldOf(this.#asker.ended.reason, 'how') === 'finished')
      void handle.settled().then(() => this.#held.release(handle));
    else this.#held.release(handle);
  }
}

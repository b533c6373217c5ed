// What a client asks of the workers and of what the scheduler knows, beside the work itself, which Client adds.
import { checkNoMore, checkOptions, invalid } from '../../base/arguments.js';
import type { WorkerSnapshot } from '../../engine/host/workerView.js';
import { isFunction, resolveFunction } from '../../graph/callable.js';
import { functionRef } from '../../graph/shipFunction.js';
import type { TaskFunction } from '../../graph/taskFunction.js';
import { ClientBase } from './clientBase.js';
import { RUN_OPTIONS, type RunOptions } from './clientOptions.js';
import { namedWorkers } from './namedWorkers.js';

/** What `Client.run` calls on a worker. */
type OnWorker<R> = (context: { readonly worker: WorkerSnapshot }) => R;

export class ClientCalls extends ClientBase {
  /**
   * Calls a function in the isolate of every worker, or of those named: between two tasks, or in the middle of a long one. It
   * gets `{ worker }`, a copy of the worker's facts and logs.
   *
   * @returns worker name → what it returned
   * @throws (rejects) what the function throws; ERR_LONGPOLE_NOT_CLONEABLE if what it returns cannot be copied;
   *   ERR_LONGPOLE_INVALID_ARGUMENT for a worker that is not there;
   *   ERR_LONGPOLE_WORKER_LOST if a worker ends before it answers
   */
  run<R>(fn: TaskFunction<OnWorker<R>>, options?: RunOptions): Promise<Record<string, Awaited<R>>>;
  run<R>(fn: OnWorker<R>, options?: RunOptions): Promise<Record<string, Awaited<R>>>;
  run(fn: unknown, options: RunOptions = {}, ...more: readonly unknown[]): Promise<Record<string, unknown>> {
    return this.call(async () => {
      if (!isFunction(fn)) throw invalid('Client.run: fn', fn, 'a function');
      checkOptions('Client.run', options, RUN_OPTIONS);
      checkNoMore('Client.run', more, 'The function receives { worker } and nothing else.');
      const { workers: names } = options;
      const ref = functionRef(resolveFunction(fn));
      const workers = namedWorkers(this.cluster, names);
      const results = Promise.all(
        workers.map(async ({ info, host }): Promise<[string, unknown]> => [info.name, await host.call(ref)]),
      );
      return Object.fromEntries(await this.cluster.engine.waits.during('Client.run', ref.name, results));
    });
  }
}

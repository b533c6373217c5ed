// An isolate in a separate process. A crash of native code, an exhausted heap or a SIGKILL ends only this process.
import { fileURLToPath } from 'node:url';
import { fromErrorInfo } from '../../protocol/errorInfo.js';
import { type FinishedTasks, unpackFinished } from '../../protocol/finishedTasks.js';
import type { Batch } from '../../protocol/isolateMessages.js';
import type {
  FromProcess,
  IsolateOrders,
  IsolateReports,
  ToProcess,
} from '../../protocol/processMessages.js';
import { deliver, type ExecutingTask, hasEnded, type Methods } from '../../protocol/workerMessages.js';
import { workerStartError } from '../taskFailure.js';
import { channelTo, type ProcessChannel, startChild } from './childChannel.js';
import { type Isolate, type OtherTask, otherTask, type RunHandler, type RunSpec } from './isolate.js';

const ENTRY = fileURLToPath(new URL('../worker/processMain.js', import.meta.url));

export class ProcessIsolate implements Isolate {
  readonly name: string;
  readonly vitals = null;
  readonly #channel: ProcessChannel<ToProcess>;
  readonly #runs = new Map<number, { readonly handler: RunHandler; priority: number }>();
  alive = true;
  executing: ExecutingTask | undefined;
  readyAt = Number.NaN;

  readonly #reports: Methods<IsolateReports> = {
    ready: (time) => {
      this.readyAt = time;
    },
    fetched: (run, ...fetched) => this.#handler(run)?.fetched(this, ...fetched),
    fetchFailed: (run, ...failed) => this.#handler(run)?.fetchFailed(this, ...failed),
    running: (task) => {
      this.executing = task;
    },
    stolen: (run, ids) => this.#handler(run)?.stolen(this, ids),
    worked: (work) => this.#handler(work.run)?.worked?.(this, work),
    seceded: (run, ...task) => this.#handler(run)?.seceded?.(this, ...task),
    lost: (run, running, error) => this.#lost(run, running, fromErrorInfo(error)),
  };

  constructor(name: string, epochOffsetMs: number) {
    this.name = name;
    this.#channel = channelTo(startChild(ENTRY), {
      message: (message: FromProcess) => this.#receive(message),
      ended: (cause) => {
        const hasStarted = this.readyAt >= 0;
        const why = hasStarted ? cause : workerStartError(this.name, cause);
        this.alive = false;
        // A process that did not start has run no task, so none is to blame.
        for (const run of [...this.#runs.keys()]) this.#lost(run, hasStarted ? undefined : -1, why);
      },
    });
    this.#channel.send({ type: 'birth', args: [name, epochOffsetMs] });
    this.#channel.unref();
  }

  /** 0 if the process could not start. */
  get pid(): number {
    return Math.max(0, this.#channel.pid);
  }

  get isFree(): boolean {
    return this.#runs.size === 0 && this.executing === undefined;
  }

  open(
    { run, program, functions, maxOutstanding, concurrentTasks = 1, sized = true }: RunSpec,
    handler: RunHandler,
  ): void {
    this.#runs.set(run, { handler, priority: 0 });
    this.#channel.ref();
    const opened = { run, program, functions, maxOutstanding, concurrentTasks, sized };
    this.#channel.send({ type: 'open', args: [opened] });
  }

  dispatch(batch: Batch): void {
    const state = this.#runs.get(batch.run);
    if (state !== undefined) state.priority = batch.priority ?? 0;
    this.#channel.send({ type: 'dispatch', args: [batch] });
  }

  readonly release = (...args: IsolateOrders['release']) => this.#channel.send({ type: 'release', args });
  readonly fetch = (...args: IsolateOrders['fetch']) => this.#channel.send({ type: 'fetch', args });
  readonly steal = (...args: IsolateOrders['steal']) => this.#channel.send({ type: 'steal', args });

  poll(): void {
    // The process reports by itself, because its main thread is never busy.
  }

  runningOther(run: number): OtherTask | undefined {
    return otherTask(this.executing, this.#runs, run);
  }

  close(run: number): void {
    if (!this.#runs.delete(run)) return;
    this.#channel.send({ type: 'close', args: [run] });
    if (this.#runs.size === 0) this.#channel.unref();
  }

  terminate(): void {
    this.alive = false;
    this.#channel.kill();
  }

  #handler(run: number): RunHandler | undefined {
    return this.#runs.get(run)?.handler;
  }

  #receive(message: FromProcess): void {
    if (message.type === 'finished') this.#finished(message);
    else deliver<IsolateReports, keyof IsolateReports>(this.#reports, message);
  }

  #finished(message: FinishedTasks): void {
    const { columns, arrived } = unpackFinished(message);
    if (hasEnded(this.executing, message.run, columns)) this.executing = undefined;
    this.#handler(message.run)?.finished(this, columns, arrived);
  }

  #lost(run: number, running: number | undefined, cause: Error): void {
    this.alive = false;
    this.executing = undefined;
    const handler = this.#handler(run);
    this.#runs.delete(run);
    handler?.lost(this, running, cause);
  }
}

// An isolate in a separate process. A crash of native code, an exhausted heap or a SIGKILL ends only this process.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fromErrorInfo } from '../../protocol/errorInfo.js';
import { type FinishedTasks, unpackFinished } from '../../protocol/finishedTasks.js';
import { NO_IDS, NO_PACKED } from '../../protocol/isolateMessages.js';
import type { FromProcess, IsolateOrders, ToProcess } from '../../protocol/processMessages.js';
import { workerStartError } from '../taskFailure.js';
import { sendOrEnd, whenEnded } from './childEnd.js';
import type { DispatchedBatch, Isolate, OtherTask, RunChannel } from './isolate.js';

const ENTRY = fileURLToPath(new URL('../worker/processMain.js', import.meta.url));

interface ProcessRun {
  readonly channel: RunChannel;
  running: number;
  priority: number;
}

export class ProcessIsolate implements Isolate {
  readonly name: string;
  readonly vitals = null;
  readonly #child: ChildProcess;
  readonly #runs = new Map<number, ProcessRun>();
  #alive = true;
  #started = false;

  constructor(name: string, epochOffsetMs: number) {
    this.name = name;
    this.#child = fork(ENTRY, process.argv.slice(2), {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: FromProcess) => this.#receive(message));
    whenEnded(this.#child, (cause) => this.#ended(cause));
    this.#post({ type: 'birth', name, epochOffsetMs });
    this.#unref();
  }

  /** 0 if the process could not start. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get alive(): boolean {
    return this.#alive;
  }

  get isFree(): boolean {
    return this.#runs.size === 0;
  }

  open(channel: RunChannel): void {
    this.#runs.set(channel.run, { channel, running: -1, priority: 0 });
    this.#child.ref();
    this.#child.channel?.ref();
    const { run, program, functions, maxOutstanding, concurrentTasks = 1 } = channel;
    this.#post({ type: 'open', run, program, functions, maxOutstanding, concurrentTasks });
  }

  dispatch(run: number, batch: DispatchedBatch): void {
    const state = this.#runs.get(run);
    if (state !== undefined) state.priority = batch.priority ?? 0;
    this.#post({ type: 'batch', run, packed: NO_PACKED, lacking: NO_IDS, ...batch });
  }

  readonly release = (...args: IsolateOrders['release']) => this.#post({ type: 'release', args });
  readonly fetch = (...args: IsolateOrders['fetch']) => this.#post({ type: 'fetch', args });
  readonly steal = (...args: IsolateOrders['steal']) => this.#post({ type: 'steal', args });

  poll(): void {
    // The process reports by itself every 20 ms, because its main thread is never busy.
  }

  running(run: number): number {
    return this.#runs.get(run)?.running ?? -1;
  }

  runningOther(run: number): OtherTask | undefined {
    const own = this.#runs.get(run)?.priority ?? 0;
    for (const [other, { running: id, priority }] of this.#runs)
      if (other !== run && id >= 0) return { run: other, id, isUrgent: priority > own };
    return undefined;
  }

  close(run: number): void {
    const state = this.#runs.get(run);
    if (state === undefined) return;
    this.#runs.delete(run);
    this.#post({ type: 'close', run });
    if (this.#runs.size === 0) this.#unref();
  }

  terminate(): void {
    this.#child.kill('SIGKILL');
  }

  #unref(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  #post(message: ToProcess): void {
    sendOrEnd(this.#child, message);
  }

  #receive(message: FromProcess): void {
    if (message.type === 'ready') {
      this.#started = true;
      return;
    }
    const state = this.#runs.get(message.run);
    if (state === undefined) return;
    const { handler } = state.channel;
    switch (message.type) {
      case 'finished':
        this.#finished(state, message);
        break;
      case 'running':
        state.running = message.id;
        break;
      case 'fetched':
        handler.fetched(this, message.values, message.missing, message.packed);
        for (const { id, error } of message.errors) handler.fetchFailed(this, id, error);
        break;
      case 'stolen':
        handler.stolen(this, Array.from(message.ids));
        break;
      case 'seceded':
        handler.seceded?.(this, message.id, message.batch);
        break;
      case 'lost':
        this.#alive = false;
        this.#runs.delete(message.run);
        handler.lost(this, message.running, fromErrorInfo(message.error));
        break;
    }
  }

  #finished(state: ProcessRun, message: FinishedTasks): void {
    const { columns, arrived } = unpackFinished(message);
    if (columns.ids.includes(state.running)) state.running = -1;
    state.channel.handler.finished(this, columns, arrived);
  }

  #ended(cause: Error): void {
    this.#alive = false;
    for (const state of [...this.#runs.values()]) {
      this.#runs.delete(state.channel.run);
      state.channel.handler.lost(this, undefined, this.#started ? cause : workerStartError(this.name, cause));
    }
  }
}

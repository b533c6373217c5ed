// An isolate that is a process of its own: a crash of native code, an exhausted heap or a SIGKILL ends it alone.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LongpoleError } from '../../base/errors.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import { fromErrorInfo } from '../../protocol/errorInfo.js';
import type { FromProcess, ToProcess } from '../../protocol/processMessages.js';
import { KIND_ERROR } from '../../protocol/results.js';
import type { DispatchedBatch, Isolate, RunChannel } from './isolate.js';

const ENTRY = fileURLToPath(new URL('../worker/processMain.js', import.meta.url));

interface ProcessRun {
  readonly channel: RunChannel;
  running: number;
}

export class ProcessIsolate implements Isolate {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #runs = new Map<number, ProcessRun>();
  #alive = true;
  #started = false;
  #cause: Error | undefined;

  constructor(name: string, epochOffsetMs: number) {
    this.name = name;
    this.#child = fork(ENTRY, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: FromProcess) => this.#receive(message));
    this.#child.on('error', (error) => {
      this.#cause = error;
    });
    this.#child.on('exit', (code, signal) => this.#exited(code, signal));
    this.#post({ type: 'birth', name, epochOffsetMs });
    this.#unref();
  }

  get alive(): boolean {
    return this.#alive;
  }

  open(channel: RunChannel): void {
    this.#runs.set(channel.run, { channel, running: -1 });
    this.#child.ref();
    this.#child.channel?.ref();
    const { run, program, functions, maxOutstanding } = channel;
    this.#post({ type: 'open', run, program, functions, maxOutstanding });
  }

  dispatch(run: number, batch: DispatchedBatch): void {
    this.#post({ type: 'batch', run, ...batch });
  }

  release(run: number, ids: Int32Array): void {
    this.#post({ type: 'release', run, ids });
  }

  fetch(run: number, ids: Int32Array): void {
    this.#post({ type: 'fetch', run, ids });
  }

  steal(run: number, ids: Int32Array): void {
    this.#post({ type: 'steal', run, ids });
  }

  poll(): void {
    // The process reports by itself every 20 ms: its main thread is never busy.
  }

  running(run: number): number {
    return this.#runs.get(run)?.running ?? -1;
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
    if (!this.#child.connected) return;
    // Without a callback a broken channel would be an uncaught exception; 'exit' follows and says the same.
    this.#child.send(message, () => undefined);
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
        handler.fetched(this, message.values, message.missing);
        for (const { id, error } of message.errors) handler.fetchFailed(this, id, error);
        break;
      case 'stolen':
        handler.stolen(this, Array.from(message.ids));
        break;
      case 'lost':
        this.#alive = false;
        this.#runs.delete(message.run);
        handler.lost(this, message.running, fromErrorInfo(message.error));
        break;
    }
  }

  #finished(state: ProcessRun, message: Extract<FromProcess, { type: 'finished' }>): void {
    const { ids, kinds, numbers, starts, stops, values, errors } = message;
    const columns: CompletionColumns = { count: ids.length, ids, kinds, numbers, starts, stops };
    const arrived = new Map<number, unknown>();
    for (const [index, id] of values.ids.entries()) arrived.set(id, values.values[index]);
    for (const { id, error } of errors) arrived.set(id, error);
    if (errors.length > 0)
      for (const [index, id] of ids.entries())
        if (errors.some((each) => each.id === id)) kinds[index] = KIND_ERROR;
    if (ids.includes(state.running)) state.running = -1;
    state.channel.handler.finished(this, columns, arrived);
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#alive = false;
    const how = signal === null ? `with exit code ${code}` : `by signal ${signal}`;
    const cause = this.#cause ?? new Error(`The worker process ended ${how}.`);
    for (const state of [...this.#runs.values()]) {
      this.#runs.delete(state.channel.run);
      state.channel.handler.lost(this, undefined, this.#started ? cause : this.#startError(cause));
    }
  }

  #startError(cause: Error): LongpoleError {
    return new LongpoleError(
      'ERR_LONGPOLE_WORKER_START',
      `Worker ${this.name} could not be started: ${cause.message}`,
      { cause },
    );
  }
}

// A model of a cluster of processes in one thread, for tests that try every order of messages. The code of both sides
// is real: engine, scheduler, hosts and the isolates' programs. Only channels and threads are replaced, so that a
// message arrives when the test decides. The clock is stopped.

import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { compileGraph } from '../../graph/compile.js';
import { fromErrorInfo } from '../../protocol/errorInfo.js';
import { unpackFinished } from '../../protocol/finishedTasks.js';
import { deliver, type MessageOf, type ToWorker, type WorkerReports } from '../../protocol/workerMessages.js';
import { validateState } from '../scheduler/validate.test.support.js';
import { ClusterEngine } from './clusterEngine.js';
import { ClusterWorker } from './clusterWorker.js';
import type { ComputationState, ResultHandle } from './computationState.js';
import { type FromProcess, ModelProcess, type ModelThread } from './modelProcess.test.support.js';
import { retryResults } from './retryResults.js';

/** Key → the keys that the task uses. The result of every task is requested. */
export type ModelGraph = Readonly<Record<string, readonly string[]>>;

/**
 * A failure that may occur once, at any moment. With 'retry' the first run of the first task fails, the client retries
 * the failed results, and only results that no other task uses are requested. There is one worker.
 */
export type Trouble = 'none' | 'isolate dies' | 'process dies' | 'cancel' | 'retry';

/** A possible next step. */
export interface Move {
  readonly name: string;
  run(): void;
  /** Returns the state of the model behind the step; undefined if a task may begin, which adds to the state. */
  state(): string | undefined;
}

/** Global name under which isolates find the function of all tasks. */
const TASK = 'longpoleModelTask';

interface ModelWorker {
  readonly worker: ClusterWorker;
  readonly process: ModelProcess;
}

export class ProtocolModel {
  readonly engine = new ClusterEngine({ threads: false, allowedFailures: 3, inlineBytes: 1024 });
  readonly computation: ComputationState;
  readonly handles: readonly ResultHandle[];
  /** Key → number of starts. */
  readonly runs = new Map<string, number>();
  /**
   * History of each part: the main side, a host, an isolate, a claim, a log. Moves without a common part commute, so
   * two models with equal histories are in the same state.
   */
  readonly #histories = new Map<string, string>();
  readonly #workers: ModelWorker[] = [];
  readonly #graph: ModelGraph;
  /** Called while a task runs, to make other moves. */
  readonly #meanwhile: () => void;
  #trouble: Trouble;
  /** Key of the task whose first run fails. */
  readonly #failing: string | undefined;
  #busy: ModelProcess | undefined;
  #nextIndex = 0;

  /** @param objects whether results are objects, which may stay in their isolate, instead of numbers */
  constructor(graph: ModelGraph, trouble: Trouble, objects: boolean, meanwhile: () => void) {
    this.#graph = graph;
    this.#trouble = trouble;
    this.#meanwhile = meanwhile;
    for (const name of trouble === 'retry' ? ['a'] : ['a', 'b']) this.#start(name);
    // The second worker may come up at any later moment, and tasks are then stolen from the first one for it.
    const [first] = this.#workers;
    this.#receive(first!.worker, first!.process);
    const task = (key: string, ...inputs: unknown[]): unknown => this.#task(key, inputs, objects);
    Object.assign(globalThis, { [TASK]: task });
    const keys = Object.keys(graph);
    this.#failing = trouble === 'retry' ? keys[0] : undefined;
    const used = trouble === 'retry' ? Object.values(graph).flat() : [];
    const requested = keys.filter((key) => !used.includes(key));
    // A key as an argument stands for its result. A key with '!' is the name of the task.
    const tasks = new Map(keys.map((key) => [key, [task, `${key}!`, ...graph[key]!]]));
    const plan = compileGraph(tasks, requested);
    this.computation = this.engine.add({
      plan,
      functions: [{ type: 'global', path: TASK, name: TASK }],
      client: 'model',
    });
    this.handles = requested.map((key) => this.engine.results.of(this.computation, plan.ids.get(key)!));
    for (const handle of this.handles) handle.references++;
    if (trouble === 'retry') this.#settle(first!.process);
  }

  /** Returns the moves that are possible now, also while a task runs. */
  moves(): Move[] {
    const moves: Move[] = [];
    for (const one of [...this.#workers]) this.#movesOf(one, moves);
    if (this.#trouble === 'cancel') {
      const [first] = this.handles;
      moves.push(
        this.#move(['main', 'trouble'], 'main: cancels', () =>
          this.#once(() => this.engine.results.cancel([first!])),
        ),
      );
    }
    return moves;
  }

  /** Delivers all messages to the process, and starts its isolate. */
  #settle(process: ModelProcess): void {
    while (process.inbox.length > 0) process.receive();
    mock.timers.tick(0);
    process.thread?.start();
    process.thread?.deliver();
  }

  get #failed(): ResultHandle[] {
    return this.handles.filter(({ status }) => status === 'error');
  }

  #movesOf({ worker, process }: ModelWorker, moves: Move[]): void {
    const { name, thread } = process;
    const [host, isolate] = [`${name} host`, `${name} isolate`];
    const [received] = process.inbox;
    if (received !== undefined)
      moves.push(
        this.#move([host, ...this.#claimsOf(name, received)], `${host} receives ${received.type}`, () =>
          process.receive(),
        ),
      );
    const [sent] = process.outbox;
    if (sent !== undefined)
      moves.push(
        this.#move(['main'], `main receives ${sent.type} of ${name}`, () => this.#receive(worker, process)),
      );
    if (thread === undefined || process.isOver) return;
    const [reported] = thread.outbox;
    if (reported !== undefined)
      moves.push(
        this.#move([host, `${name} log`], `${host} receives ${reported.type}`, () => thread.deliver()),
      );
    // Only one isolate at a time runs a task.
    if (thread.isOver || this.#busy !== undefined) return;
    const [given] = thread.inbox;
    if (!thread.isStarted) moves.push(this.#move([isolate], `${isolate} starts`, () => thread.start()));
    else if (given !== undefined)
      moves.push({
        ...this.#move([isolate], `${isolate} receives ${given.type}`, () => this.#work(process, thread)),
        state: () => undefined,
      });
    const dying = [host, isolate, 'trouble'];
    if (this.#trouble === 'isolate dies')
      moves.push(this.#move(dying, `${isolate} dies`, () => this.#once(() => thread.die())));
    if (this.#trouble === 'process dies')
      moves.push(
        this.#move([...dying, `${name} log`], `${name} dies`, () => this.#once(() => process.die())),
      );
  }

  /** Returns the claims that the host changes when it receives this message. */
  #claimsOf(name: string, message: ToWorker): string[] {
    if (message.type !== 'batch' && message.type !== 'steal' && message.type !== 'cancel') return [];
    const ids = message.type === 'batch' ? message.ids : message.args[1];
    return Array.from(ids, (id) => `${name} claim ${this.computation.info.keys[id]}`);
  }

  /** Text that is equal for two models with the same possible continuations. */
  get state(): string {
    return stateOf(this.#histories);
  }

  /** Whether the order of the remaining messages has no effect. */
  get isOver(): boolean {
    return this.#trouble === 'none' && this.handles.every(({ isSettled }) => isSettled);
  }

  /** Throws unless every task has run and every result is available. Called when no move is left. */
  check(trouble: Trouble): void {
    validateState(this.engine.scheduler.state);
    const isCancelled = trouble === 'cancel' && this.#trouble === 'none';
    for (const handle of this.handles) {
      assert.ok(handle.isSettled, `${handle.key} is ${handle.status}, and nothing can happen any more`);
      if (!isCancelled) assert.equal(handle.status, 'finished', handle.key);
      if (trouble === 'none' || trouble === 'retry')
        assert.equal(this.runs.get(handle.key), 1, `runs of ${handle.key}`);
    }
    if (!isCancelled)
      for (const { local, key } of this.handles)
        assert.equal(numberOf(this.computation.results[local]), this.#expected(key), `result of ${key}`);
    assert.equal(this.engine.scheduler.state.canContinue, false);
  }

  close(): void {
    this.engine.close();
    for (const { process } of this.#workers) void process.host.terminate();
  }

  #move(parts: readonly string[], name: string, run: () => void): Move {
    return {
      name,
      run: () => {
        note(this.#histories, parts, name);
        run();
      },
      state: () => {
        const histories = new Map(this.#histories);
        note(histories, parts, name);
        return stateOf(histories);
      },
    };
  }

  #once(trouble: () => void): void {
    this.#trouble = 'none';
    trouble();
  }

  #work(process: ModelProcess, thread: ModelThread): void {
    this.#busy = process;
    thread.receive();
    this.#busy = undefined;
  }

  #task(name: string, inputs: readonly unknown[], objects: boolean): unknown {
    const key = name.slice(0, -1);
    const process = this.#busy!;
    this.runs.set(key, (this.runs.get(key) ?? 0) + 1);
    const { name: worker } = process;
    note(this.#histories, [`${worker} isolate`, `${worker} claim ${key}`], `begins ${key}`);
    const before = this.#trouble;
    this.#meanwhile();
    // The run of a cancelled task fails, too, as if the task had noticed its cancellation.
    const fails =
      this.#failing === key ? this.runs.get(key) === 1 : before === 'retry' && this.#trouble !== before;
    note(this.#histories, [`${worker} isolate`, `${worker} log`], `${fails ? 'fails' : 'ends'} ${key}`);
    if (fails) throw new Error(`The task ${key} fails.`);
    const value = inputs.reduce<number>((sum, input) => sum + numberOf(input), 1);
    return objects ? { value } : value;
  }

  #expected(key: string): number {
    return this.#graph[key]!.reduce((sum, one) => sum + this.#expected(one), 1);
  }

  #start(name: string): void {
    const index = this.#nextIndex++;
    const info = {
      ...{ index, name, address: name, host: 'model', pid: 1, threads: 1, memoryLimit: 0, startTime: 0 },
    };
    const worker = new ClusterWorker(this.engine, info, () => {
      this.engine.workers.delete(index);
      this.#start(`${name}'`);
    });
    const process = new ModelProcess(index, name);
    worker.host = process;
    this.engine.workers.set(index, worker);
    this.#workers.push({ worker, process });
  }

  /** The cluster receives the next message of a worker, as processHost does. */
  #receive(worker: ClusterWorker, process: ModelProcess): void {
    const message = process.outbox.shift();
    if (message !== undefined && 'args' in message)
      deliver<WorkerReports, keyof WorkerReports>(worker, message);
    else {
      if (message?.type === 'restarted') process.isolate++;
      this.#handle(worker, message);
    }
    validateState(this.engine.scheduler.state);
  }

  #handle(worker: ClusterWorker, message: Exclude<FromProcess, MessageOf<WorkerReports>> | undefined): void {
    switch (message?.type) {
      case 'ready': {
        const { index, name } = worker.info;
        worker.ready({ ...worker.info, localDirectory: '', nthreads: 1 });
        this.engine.handleEvent({ type: 'worker-added', worker: index, name });
        break;
      }
      case 'finished': {
        const { columns, arrived } = unpackFinished(message);
        worker.finished(message.run, columns, arrived);
        if (this.#trouble === 'retry' && this.#failed.length > 0)
          this.#once(() => retryResults(this.engine, this.#failed));
        break;
      }
      case 'restarted':
        worker.restarted(message.running, fromErrorInfo(message.error), message.isWanted);
        break;
      case 'ended':
        worker.lost(new Error('The process was killed.'));
        break;
    }
  }
}

function note(histories: Map<string, string>, parts: readonly string[], what: string): void {
  for (const part of parts) histories.set(part, `${histories.get(part) ?? ''}${what}; `);
}

function stateOf(histories: ReadonlyMap<string, string>): string {
  return Array.from(histories, ([part, history]) => `${part}: ${history}`)
    .sort()
    .join('\n');
}

function numberOf(result: unknown): number {
  if (typeof result === 'object' && result !== null && 'value' in result) return Number(result.value);
  return Number(result);
}

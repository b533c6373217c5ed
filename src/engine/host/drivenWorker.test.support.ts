// A worker whose messages arrive when the test says so: the real host and the real program of an isolate, with a peer
// that has the results of other workers. The test decides when a batch is sent, when the peer answers, when a message is
// read, and which results are spilled.
import assert from 'node:assert/strict';
import { compileGraph } from '../../graph/compile.js';
import { registerTasks } from '../../graph/taskRegistry.js';
import { unpackFinished } from '../../protocol/finishedTasks.js';
import { NO_IDS, NO_VALUES } from '../../protocol/isolateMessages.js';
import type { GatherInput, PackedResult, ResultId } from '../../protocol/packedResult.js';
import { ModelProcess, type ModelThread } from '../cluster/modelProcess.test.support.js';
import { Store } from '../store/store.js';
import { packResult } from '../worker/packResult.js';
import type { FetchFromPeers } from './hostTypes.js';

/** Key → the keys that the task uses; 'far' if a peer has the result. */
export type WorkerGraph = Readonly<Record<string, readonly string[] | 'far'>>;

/** A run of a task, with the keys that were found in its inputs. */
interface SeenRun {
  readonly key: string;
  readonly inputs: readonly unknown[];
}

/** A store whose results are on disk when the test says so, until they are read. */
class SpillingStore extends Store {
  readonly spilled = new Set<ResultId>();

  constructor() {
    super({ file: (file) => file, name: 'worker-0', now: () => 0 });
  }

  override isSpilled(id: ResultId): boolean {
    return this.spilled.has(id);
  }

  override get(id: ResultId): PackedResult | Promise<PackedResult> | undefined {
    this.spilled.delete(id);
    return super.get(id);
  }
}

let workers = 0;

export class DrivenWorker {
  readonly seen: SeenRun[] = [];
  /** Tasks that were sent, and not taken back. */
  readonly sent = new Set<string>();
  readonly finished = new Set<string>();
  readonly #graph: WorkerGraph;
  readonly #process: ModelProcess;
  readonly #ids: { get(key: string): number | undefined };
  readonly #keys: readonly string[];
  readonly #constants: readonly unknown[];
  /** Results that the isolate has, as the scheduler believes. */
  readonly #there = new Set<string>();
  readonly #released = new Set<string>();
  readonly #store = new SpillingStore();
  #missing: readonly string[] = [];
  readonly #asked: (() => void)[] = [];
  #batch = 0;

  constructor(graph: WorkerGraph) {
    this.#graph = graph;
    const url = `test:driven-worker-${workers++}`;
    // Each result is an array with the key of its task, which is too large to be sent inline.
    const task = (name: string, ...inputs: readonly unknown[]): unknown => {
      const key = name.slice(0, -1);
      this.seen.push({ key, inputs: inputs.map((input) => (Array.isArray(input) ? input[0] : input)) });
      return [key];
    };
    registerTasks(url, new Map([['task', task]]));
    const keys = Object.keys(graph);
    const tasks = keys.map((key): [string, unknown] => [key, [task, `${key}!`, ...this.#inputsOf(key)]]);
    const { program, constants, ids } = compileGraph(new Map(tasks), keys);
    this.#ids = ids;
    this.#constants = constants;
    this.#keys = keys.toSorted((a, b) => this.#idOf(a) - this.#idOf(b));
    const fetch: FetchFromPeers = async (inputs) => {
      await new Promise<void>((resolve) => this.#asked.push(resolve));
      const results = inputs.map(({ result, key }): [ResultId, PackedResult] => [result, packResult([key])]);
      return { results: new Map(results), missing: [], gathered: [] };
    };
    this.#process = new ModelProcess(0, 'worker-0', fetch, this.#store);
    this.#process.host.open({
      run: 1,
      firstId: 0,
      program,
      functions: [{ type: 'module', url, name: 'task' }],
      maxOutstanding: program.size,
      inlineBytes: 0,
      keys: null,
      timeout: 0,
      marks: false,
      concurrentTasks: 1,
      kinds: { kindOf: new Int32Array(program.size), kinds: [{ prefix: 'task', span: ['default'] }] },
    });
    this.#thread.start();
  }

  #inputsOf(key: string): readonly string[] {
    const inputs = this.#graph[key];
    return inputs === undefined || inputs === 'far' ? [] : inputs;
  }

  #idOf(key: string): number {
    const id = this.#ids.get(key);
    assert.ok(id !== undefined, key);
    return id;
  }

  get #thread(): ModelThread {
    assert.ok(this.#process.thread);
    return this.#process.thread;
  }

  /**
   * Sends tasks, with the inputs that the isolate lacks as the scheduler believes. Their other inputs must be sent.
   *
   * @param isolate number of isolates that have ended, as the scheduler believes. Default: all that have
   */
  send(keys: readonly string[], isolate?: number): void {
    const gather: GatherInput[] = [];
    for (const key of keys) {
      for (const input of this.#inputsOf(key)) {
        if (this.#there.has(input)) continue;
        this.#there.add(input);
        const result = this.#idOf(input);
        gather.push({ id: result, result, key: input, nbytes: 8, from: 1, address: '' });
      }
      this.sent.add(key);
      this.#there.add(key);
    }
    this.#process.host.dispatch({
      type: 'batch',
      run: 1,
      batch: ++this.#batch,
      ids: Int32Array.from(keys, (key) => this.#idOf(key)),
      publish: new Uint8Array(keys.length).fill(1),
      isolate,
      keep: NO_IDS,
      inputs: NO_VALUES,
      constants: { ids: Int32Array.from(this.#constants.keys()), values: this.#constants },
      gather,
    });
  }

  /** Tasks that can be sent now, in the order of their ids. */
  get ready(): string[] {
    return this.#keys.filter((key) => {
      if (this.#graph[key] === 'far' || this.sent.has(key)) return false;
      return this.#inputsOf(key).every((input) => this.#graph[input] === 'far' || this.sent.has(input));
    });
  }

  /** Tasks that were sent and on which no sent task waits. */
  get stealable(): string[] {
    const waiting = [...this.sent].filter((key) => !this.finished.has(key));
    const needed = new Set(waiting.flatMap((key) => this.#inputsOf(key)));
    return waiting.filter((key) => !needed.has(key));
  }

  /** Results in the store that were not released. */
  get stored(): string[] {
    return [...this.finished].filter((key) => !this.#released.has(key));
  }

  get canAnswer(): boolean {
    return this.#asked.length > 0;
  }

  get canReceive(): boolean {
    return this.#thread.inbox.length > 0;
  }

  get canDeliver(): boolean {
    return this.#thread.outbox.length > 0;
  }

  /** Tries to take tasks back. */
  steal(keys: readonly string[]): void {
    this.#process.host.steal(
      1,
      Int32Array.from(keys, (key) => this.#idOf(key)),
    );
  }

  /** Notifies the host that results are only on disk. */
  spill(keys: readonly string[]): void {
    const ids = keys.map((key) => this.#idOf(key));
    for (const id of ids) this.#store.spilled.add(id);
    this.#process.host.spilled(ids);
  }

  /** Returns the spilled results of which the isolate still has a copy. Nothing may be under way. */
  async kept(): Promise<string[]> {
    const spilled = this.stored.filter((key) => this.#store.isSpilled(this.#idOf(key)));
    this.#process.host.fetch(
      1,
      Int32Array.from(spilled, (key) => this.#idOf(key)),
    );
    await this.finish();
    return spilled.filter((key) => !this.#missing.includes(key));
  }

  /** The peer answers one of its requests, the oldest one by default. */
  answer(index = 0): void {
    this.#asked.splice(index % this.#asked.length, 1)[0]?.();
  }

  /** The isolate reads its next message, and runs the tasks of a batch. */
  receive(): void {
    this.#thread.receive();
  }

  /** The host reads the next message of the isolate. */
  deliver(): void {
    this.#thread.deliver();
  }

  /** Lets promises settle, and takes what the host has reported. Results without unfinished dependents are released. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    for (let message = this.#process.outbox.shift(); message; message = this.#process.outbox.shift()) {
      if (message.type === 'finished') {
        const { columns } = unpackFinished(message);
        for (const id of columns.ids.subarray(0, columns.count)) this.finished.add(this.#keys[id] ?? '');
      } else if (message.type === 'stolen') {
        for (const id of message.args[1]) {
          this.sent.delete(this.#keys[id] ?? '');
          this.#there.delete(this.#keys[id] ?? '');
        }
      } else if (message.type === 'fetched') {
        this.#missing = Array.from(message.args[3], (id) => this.#keys[id] ?? '');
      } else assert.ok(message.type === 'ready' || message.type === 'running', message.type);
    }
    this.#release();
  }

  #release(): void {
    for (const key of this.#keys) {
      if (this.#released.has(key) || (this.#graph[key] !== 'far' && !this.finished.has(key))) continue;
      const dependents = this.#keys.filter((one) => this.#inputsOf(one).includes(key));
      if (dependents.length === 0 || dependents.some((one) => !this.finished.has(one))) continue;
      this.#released.add(key);
      this.#process.host.drop([this.#idOf(key)]);
      this.#process.host.release(1, Int32Array.of(this.#idOf(key)));
    }
  }

  /** Lets everything happen that can happen without new instructions. */
  async finish(): Promise<void> {
    for (let quiet = 0; quiet < 2; ) {
      await this.settle();
      quiet++;
      while (this.canAnswer) {
        this.answer();
        quiet = 0;
      }
      for (; this.canReceive; quiet = 0) this.receive();
      for (; this.canDeliver; quiet = 0) this.deliver();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#process.host.terminate();
  }
}

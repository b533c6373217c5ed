// Tests every order in which the messages of a small cluster can arrive: each task runs once, and nothing waits for
// ever.
import assert from 'node:assert/strict';
import { PerformanceObserver } from 'node:perf_hooks';
import { mock, test } from 'node:test';
import { type ModelGraph, type Move, ProtocolModel, type Trouble } from './protocolModel.test.support.js';

/** A run of the model. A list of choices gives the number of the move at each step. */
class Run {
  readonly trail: string[] = [];
  /** Whether the state was reached before. Its further moves have been tried or will be. */
  isKnown = false;
  readonly #choices: readonly number[];
  readonly #explorer: Explorer;
  readonly #made: number[] = [];

  constructor(explorer: Explorer, choices: readonly number[]) {
    this.#explorer = explorer;
    this.#choices = choices;
  }

  /** Makes moves until none is left. Inside a task (`nested`) the run may return to the task at any moment. */
  go(model: ProtocolModel, nested: boolean): void {
    for (;;) {
      if (nested && this.isKnown) return;
      const moves = model.moves();
      const count = moves.length + (nested ? 1 : 0);
      if (count === 0 || this.isKnown) return;
      const choice = this.#choose(model, moves, count);
      if (choice === undefined) return;
      const move = moves[choice];
      if (move === undefined) return;
      this.trail.push(move.name);
      move.run();
      // Timers send the messages that were held back to travel with others.
      mock.timers.tick(0);
    }
  }

  #choose(model: ProtocolModel, moves: readonly Move[], count: number): number | undefined {
    const at = this.#made.length;
    const known = this.#choices[at];
    if (known !== undefined) {
      this.#made.push(known);
      return known;
    }
    if (model.isOver) {
      this.#made.push(0);
      return 0;
    }
    if (this.#explorer.isKnown(model.state)) {
      this.isKnown = true;
      return undefined;
    }
    for (const [other, move] of moves.entries())
      if (other > 0) this.#explorer.later({ choices: [...this.#made, other], state: move.state() });
    // Returns to the task.
    if (moves.length > 0 && count > moves.length)
      this.#explorer.later({ choices: [...this.#made, moves.length], state: undefined });
    this.#made.push(0);
    return 0;
  }
}

/** A branch that has not been tried. */
interface Branch {
  readonly choices: readonly number[];
  /** State behind the last choice; undefined if it is not known before the choice. */
  readonly state: string | undefined;
}

class Explorer {
  readonly #states = new Set<string>();
  readonly #later: Branch[] = [{ choices: [], state: undefined }];
  /** Number of completed orders. */
  ends = 0;

  isKnown(state: string): boolean {
    const { size } = this.#states;
    return this.#states.add(state).size === size;
  }

  later(branch: Branch): void {
    this.#later.push(branch);
  }

  /** Returns the number of states. */
  explore(graph: ModelGraph, trouble: Trouble, objects: boolean): number {
    for (let branch = this.#later.pop(); branch !== undefined; branch = this.#later.pop()) {
      const { choices, state } = branch;
      if (state !== undefined && this.#states.has(state)) continue;
      mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate'] });
      const run = new Run(this, choices);
      const model: ProtocolModel = new ProtocolModel(graph, trouble, objects, () => run.go(model, true));
      try {
        run.go(model, false);
        if (run.isKnown) continue;
        this.ends++;
        model.check(trouble);
      } catch (error) {
        throw new Error(`After these moves:\n${run.trail.join('\n')}`, { cause: error });
      } finally {
        model.close();
        mock.timers.reset();
      }
    }
    return this.#states.size;
  }
}

interface Case {
  readonly name: string;
  readonly graph: ModelGraph;
  readonly trouble: Trouble;
  readonly objects: boolean;
}

const ONE = { a: [] };
const TWO = { a: [], b: [] };
const SUM = { a: [], b: [], sum: ['a', 'b'] };
const BESIDE = { ...SUM, c: [] };
const CHAIN = { a: [], b: ['a'], c: ['b'] };
/** Cases with some thousand states at most, which take seconds. */
const CASES: readonly Case[] = [
  { name: 'two tasks', graph: TWO, trouble: 'none', objects: false },
  { name: 'a task', graph: ONE, trouble: 'cancel', objects: false },
  { name: 'a task', graph: ONE, trouble: 'process dies', objects: false },
  { name: 'a sum of objects', graph: SUM, trouble: 'retry', objects: true },
];
/**
 * Cases with many thousands of states, which take minutes. `LONGPOLE_MODEL=all npm test -- protocolModel` includes
 * them.
 */
const LARGE_CASES: readonly Case[] = [
  { name: 'a sum beside a task', graph: BESIDE, trouble: 'retry', objects: false },
  { name: 'a task', graph: ONE, trouble: 'isolate dies', objects: false },
  { name: 'two tasks', graph: TWO, trouble: 'cancel', objects: false },
  { name: 'a chain of objects', graph: CHAIN, trouble: 'none', objects: true },
  { name: 'two tasks and their sum', graph: SUM, trouble: 'none', objects: false },
  { name: 'two objects and their sum', graph: SUM, trouble: 'none', objects: true },
  { name: 'two tasks', graph: TWO, trouble: 'isolate dies', objects: false },
  { name: 'two tasks', graph: TWO, trouble: 'process dies', objects: false },
];

for (const { name, graph, trouble, objects } of process.env['LONGPOLE_MODEL'] === 'all'
  ? [...CASES, ...LARGE_CASES]
  : CASES)
  test(`${name}, ${trouble}: every order of messages ends with every task done`, (context) => {
    // The clock is stopped, so that a list of choices always leads to the same state.
    const { now } = performance;
    // The model makes errors in most orders. A failure shows the place of its assertion, and the moves that led there.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 1;
    performance.now = () => 0;
    mock.method(PerformanceObserver.prototype, 'observe', () => undefined);
    try {
      const explorer = new Explorer();
      const states = explorer.explore(graph, trouble, objects);
      context.diagnostic(`${states} states, ${explorer.ends} ends`);
      assert.ok(explorer.ends > 0);
    } finally {
      performance.now = now;
      Error.stackTraceLimit = stackTraceLimit;
      mock.restoreAll();
    }
  });

// Every order in which the messages of a small cluster can arrive: all tasks are run, once, and nothing waits for ever.
import assert from 'node:assert/strict';
import { PerformanceObserver } from 'node:perf_hooks';
import { mock, test } from 'node:test';
import { type ModelGraph, ProtocolModel, type Trouble } from './protocolModel.test.support.js';

/** A run of the model by a list of choices: at each point, the number of the move that is made. */
class Run {
  readonly trail: string[] = [];
  /** The state was reached before: what follows has been tried, or will be. */
  isKnown = false;
  readonly #choices: readonly number[];
  readonly #explorer: Explorer;
  #made: number[] = [];

  constructor(explorer: Explorer, choices: readonly number[]) {
    this.#explorer = explorer;
    this.#choices = choices;
  }

  /** Makes moves until there is none. Inside a task (`nested`) it may go on at any moment. */
  go(model: ProtocolModel, nested: boolean): void {
    for (;;) {
      if (nested && this.isKnown) return;
      const moves = model.moves();
      const count = moves.length + (nested ? 1 : 0);
      if (count === 0 || this.isKnown) return;
      const choice = this.#choose(model, count);
      if (choice === undefined) return;
      const move = moves[choice];
      if (move === undefined) return;
      this.trail.push(move.name);
      move.run();
      // What was to go along with another message, and the moment after each event.
      mock.timers.tick(0);
    }
  }

  #choose(model: ProtocolModel, count: number): number | undefined {
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
    for (let other = 1; other < count; other++) this.#explorer.later([...this.#made, other]);
    this.#made.push(0);
    return 0;
  }
}

class Explorer {
  readonly #states = new Set<string>();
  readonly #later: number[][] = [[]];
  /** Orders that lead to different states, or to the same in a different way. */
  ends = 0;

  isKnown(state: string): boolean {
    const { size } = this.#states;
    return this.#states.add(state).size === size;
  }

  later(choices: number[]): void {
    this.#later.push(choices);
  }

  /** Returns how many states there are. */
  explore(graph: ModelGraph, trouble: Trouble, objects: boolean): number {
    for (let choices = this.#later.pop(); choices !== undefined; choices = this.#later.pop()) {
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
const CHAIN = { a: [], b: ['a'], c: ['b'] };
/** About a thousand states at most: seconds. */
const CASES: readonly Case[] = [
  { name: 'two tasks', graph: TWO, trouble: 'none', objects: false },
  { name: 'a task', graph: ONE, trouble: 'cancel', objects: false },
  { name: 'a task', graph: ONE, trouble: 'process dies', objects: false },
];
/** Many thousands: minutes. `LONGPOLE_MODEL=all npm test -- protocolModel` runs them, too. */
const LARGE_CASES: readonly Case[] = [
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
    // Time stands still, so that a list of choices always leads to the same state.
    const { now } = performance;
    performance.now = () => 0;
    mock.method(PerformanceObserver.prototype, 'observe', () => undefined);
    try {
      const explorer = new Explorer();
      const states = explorer.explore(graph, trouble, objects);
      context.diagnostic(`${states} states, ${explorer.ends} ends`);
      assert.ok(explorer.ends > 0);
    } finally {
      performance.now = now;
      mock.restoreAll();
    }
  });

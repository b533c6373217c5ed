// The program of one round: node roundProcess.js MODULE NAME SEED FOLDER. MODULE exports `ROUNDS`. Each report of the
// round is written to FOLDER/report.json at once, because the program may be killed at any moment.
import { AssertionError } from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Random } from './random.js';
import {
  type Counted,
  noCounts,
  type Round,
  type RoundContext,
  type RoundReport,
  STARTING,
} from './round.js';

/** Failures that are kept per round. */
const MAX_FAILURES = 5;

/** Returns an error as text: only the stack for an assertion with a message, otherwise all properties. */
function textOf(error: unknown): string {
  return error instanceof AssertionError && !error.generatedMessage ? String(error.stack) : inspect(error);
}

class Reporter implements RoundContext {
  readonly seed: number;
  readonly random: Random;
  readonly folder: string;
  readonly #file: string;
  readonly #counts = noCounts();
  readonly #failures: string[] = [];
  readonly #operations: Record<string, number[]> = {};
  #doing = STARTING;
  #ended = false;

  constructor(seed: number, folder: string) {
    this.seed = seed;
    this.random = new Random(seed);
    this.folder = join(folder, 'files');
    mkdirSync(this.folder);
    this.#file = join(folder, 'report.json');
    this.#write();
  }

  count(what: Counted, by = 1): void {
    this.#counts[what] += by;
  }

  doing(what: string): void {
    this.#doing = what;
    this.#write();
  }

  fail(error: unknown): void {
    if (this.#failures.length < MAX_FAILURES) this.#failures.push(`${this.#doing}: ${textOf(error)}`);
    this.#write();
  }

  async timed<T>(operation: string, body: () => Promise<T>): Promise<T> {
    const begin = performance.now();
    try {
      return await body();
    } finally {
      this.#operations[operation] ??= [];
      this.#operations[operation].push((performance.now() - begin) / 1000);
    }
  }

  end(): void {
    this.#ended = true;
    this.#write();
  }

  #write(): void {
    const report: RoundReport = {
      pid: process.pid,
      counts: this.#counts,
      doing: this.#doing,
      failures: this.#failures,
      operations: this.#operations,
      ended: this.#ended,
    };
    writeFileSync(this.#file, JSON.stringify(report));
  }
}

const [module = '', name = '', seed = '', folder = ''] = process.argv.slice(2);
const { ROUNDS }: { ROUNDS: readonly Round[] } = await import(module);
const round = ROUNDS.find((one) => one.name === name);
if (round === undefined) throw new RangeError(`${module} has no round '${name}'.`);
const reporter = new Reporter(Number(seed), folder);
try {
  await round.run(reporter);
} catch (error) {
  reporter.fail(error);
} finally {
  // The program must now end by itself. If something was not closed and keeps it alive, it counts as hanging.
  reporter.end();
}

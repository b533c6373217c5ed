// The soak: runs rounds one after the other, each with a seed, until the time is over. Continues after a failure.
import { launch, type RoundResult } from './launch.js';
import { Random, seedOf } from './random.js';
import type { Round } from './round.js';

export interface SoakOptions {
  readonly rounds: readonly Round[];
  /** URL of the module that exports the same rounds. */
  readonly module: string;
  readonly seed: number;
  /** Time after which no round begins, in seconds. */
  readonly seconds: number;
  /** Largest number of rounds. */
  readonly most: number;
  /** Whether rounds may run under `stress.py`. */
  readonly stress: boolean;
  /** Time limit for the end of a round's processes after the round, in seconds. */
  readonly grace: number;
  readonly signal: AbortSignal;
  /** Receives the progress as text. */
  readonly print: (text: string) => void;
}

/** Whether a round has no failures and left no process and no file. */
export function passed({ failures, leftProcesses, leftFiles }: RoundResult): boolean {
  return failures.length + leftProcesses.length + leftFiles.length === 0;
}

/** Returns the command that repeats a round. */
export function repeating({ name, seed }: Pick<RoundResult, 'name' | 'seed'>): string {
  return `npm run soak -- --only ${name} --seed ${seed} --rounds 1`;
}

/** Whether the round with this seed is stressed, as half of the permitted ones are. */
function isStressed(round: Round, seed: number): boolean {
  return round.stressed === true && new Random(~seed).chance(0.5);
}

/** Runs the rounds in turn. Returns the results without that of an interrupted round. */
export async function soak(options: SoakOptions): Promise<RoundResult[]> {
  const { rounds, module, grace, signal, print } = options;
  const results: RoundResult[] = [];
  const end = performance.now() + options.seconds * 1000;
  for (let index = 0; index < options.most && performance.now() < end && !signal.aborted; index++) {
    const round = rounds[index % rounds.length]!;
    const seed = seedOf(options.seed, index);
    const stressed = options.stress && isStressed(round, seed);
    print(`round ${index + 1}: ${round.name}, seed ${seed}${stressed ? ', stressed' : ''}`);
    const result = await launch(round, seed, { module, stressed, grace, signal });
    if (result === undefined) break;
    results.push(result);
    print(`  ${passed(result) ? 'passed' : 'FAILED'} after ${result.seconds.toFixed(1)} s`);
    for (const line of problems(result)) print(line.replace(/^/gm, '  | '));
  }
  return results;
}

/** Returns the failures of a round as texts. */
export function problems({ failures, leftProcesses, leftFiles }: RoundResult): string[] {
  return [
    ...failures,
    ...leftProcesses.map((one) => `left over process: ${one}`),
    ...leftFiles.map((one) => `left over file: ${one}`),
  ];
}

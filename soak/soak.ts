// The soak: one round after the other, each with a seed, until the time is over. A failure ends nothing.
import { launch, type RoundResult } from './launch.js';
import { Random, seedOf } from './random.js';
import type { Round } from './round.js';

export interface SoakOptions {
  readonly rounds: readonly Round[];
  /** Address of the module that exports the same rounds. */
  readonly module: string;
  readonly seed: number;
  /** After this many seconds no round begins. */
  readonly seconds: number;
  /** At most this many rounds. */
  readonly most: number;
  /** Whether rounds may run under `stress.py`. */
  readonly stress: boolean;
  /** Seconds that processes may take to end after their round. */
  readonly grace: number;
  readonly signal: AbortSignal;
  /** What is printed while it runs. */
  readonly print: (text: string) => void;
}

/** Whether a round passed: no failures, and nothing left over. */
export function passed({ failures, leftProcesses, leftFiles }: RoundResult): boolean {
  return failures.length + leftProcesses.length + leftFiles.length === 0;
}

/** The command that repeats a round. */
export function repeating({ name, seed }: Pick<RoundResult, 'name' | 'seed'>): string {
  return `npm run soak -- --only ${name} --seed ${seed} --rounds 1`;
}

/** Whether the round with this seed is stressed: half of those that may be. */
function isStressed(round: Round, seed: number): boolean {
  return round.stressed === true && new Random(~seed).chance(0.5);
}

/** Runs the rounds in turn. Returns what has come out of those that were not interrupted. */
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

/** What is wrong with a round, one text each. */
export function problems({ failures, leftProcesses, leftFiles }: RoundResult): string[] {
  return [
    ...failures,
    ...leftProcesses.map((one) => `left over process: ${one}`),
    ...leftFiles.map((one) => `left over file: ${one}`),
  ];
}

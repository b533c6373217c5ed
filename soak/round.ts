// A round: a separate program that receives a seed, with a description of its checks.
import type { Random } from './random.js';

/** Figures that rounds count beside their failures. */
export const COUNTED = ['kills', 'clusters', 'inputs'] as const;
export type Counted = (typeof COUNTED)[number];
export type Counts = Record<Counted, number>;

/** Value of `doing` before the first report of a round. */
export const STARTING = 'starting';

export interface RoundContext {
  readonly seed: number;
  /** Random choices from the seed. Fork it for choices with a time-dependent number. */
  readonly random: Random;
  /** Folder for files of the round. It is removed after the round and does not count as left over. */
  readonly folder: string;
  count(what: Counted, by?: number): void;
  /** Records the current activity, which the failure names if the round hangs or crashes. */
  doing(what: string): void;
  /** Records a failure and returns. A round also fails if it throws. */
  fail(error: unknown): void;
  /** Measures the duration of an operation. The table has the median and the maximum of all operations. */
  timed<T>(operation: string, body: () => Promise<T>): Promise<T>;
}

export interface Round {
  /** Single word for `--only`. */
  readonly name: string;
  /** Sentence that is true if the round passes. */
  readonly checks: string;
  /** Time limit after the first `doing`, in seconds, after which the round is killed. Default 600. */
  readonly limit?: number;
  /** Whether the round runs only if `--only` names it. Default false. */
  readonly onlyByName?: boolean;
  /** Whether `stress.py` stops processes and starves threads in half of the runs. Default false. */
  readonly stressed?: boolean;
  readonly nodeArguments?: readonly string[];
  /**
   * Largest file, in KiB, of the program and of its children. Larger writes fail as on a full disk. Default: no limit.
   */
  readonly fileLimit?: number;
  /**
   * Runs the round. The amount of work depends on the seed and not on a clock. Remaining processes and temporary files
   * after the end of the program are failures, and so is a program that does not end.
   */
  run(context: RoundContext): Promise<void>;
}

/** Contents of a round's report file. */
export interface RoundReport {
  /** Process id of the program. */
  readonly pid?: number;
  readonly counts: Counts;
  readonly doing: string;
  readonly failures: readonly string[];
  /** Operation → seconds of each call. */
  readonly operations: Readonly<Record<string, readonly number[]>>;
  /** Whether `run` has resolved or thrown. */
  readonly ended: boolean;
}

export function noCounts(): Counts {
  return { kills: 0, clusters: 0, inputs: 0 };
}

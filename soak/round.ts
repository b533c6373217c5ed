// What a round is: a program of its own that is given a seed, and says in words what it checks.
import type { Random } from './random.js';

/** What rounds count beside their failures. */
export const COUNTED = ['kills', 'clusters', 'inputs'] as const;
export type Counted = (typeof COUNTED)[number];
export type Counts = Record<Counted, number>;

/** What a round does before it has said anything else. */
export const STARTING = 'starting';

export interface RoundContext {
  readonly seed: number;
  /** Choices of this seed. Fork it for choices whose number depends on time. */
  readonly random: Random;
  /** For files of the round. It is removed after the round and does not count as left over. */
  readonly folder: string;
  count(what: Counted, by?: number): void;
  /** Notes what begins now. If the round hangs or crashes, the failure says this. */
  doing(what: string): void;
  /** Notes a failure and goes on. A round also fails by throwing. */
  fail(error: unknown): void;
  /** Measures how long an operation takes; the table says the median and the slowest of all with this name. */
  timed<T>(operation: string, body: () => Promise<T>): Promise<T>;
}

export interface Round {
  /** One word, for `--only`. */
  readonly name: string;
  /** What is true if the round passes, as a sentence. */
  readonly checks: string;
  /** Seconds after its first `doing` after which the round counts as hanging and is killed. Default 180. */
  readonly limit?: number;
  /** Whether it runs only where `--only` names it. Default false. */
  readonly onlyByName?: boolean;
  /** Whether `stress.py` stops its processes and starves its threads in some of its rounds. Default false. */
  readonly stressed?: boolean;
  readonly nodeArguments?: readonly string[];
  /** KiB that the program, and those that it starts, may write into each file: a full disk for what is larger. Default: no limit. */
  readonly fileLimit?: number;
  /**
   * The number of things that a round does comes from its seed, not from a clock. It closes what it opens: processes and
   * temporary files that are there when its program has ended are failures, and so is a program that does not end.
   */
  run(context: RoundContext): Promise<void>;
}

/** What the program of a round leaves in its report file, whenever it ends. */
export interface RoundReport {
  /** Process id of the program. */
  readonly pid?: number;
  readonly counts: Counts;
  readonly doing: string;
  readonly failures: readonly string[];
  /** Operation → seconds of each. */
  readonly operations: Readonly<Record<string, readonly number[]>>;
  /** Whether `run` has resolved or thrown. */
  readonly ended: boolean;
}

export function noCounts(): Counts {
  return { kills: 0, clusters: 0, inputs: 0 };
}

// Holds a batch back until its inputs have been gathered. Other batches may overtake it, unless they need a result that
// the waiting batch computes or contains.
import type { Batch } from '../../protocol/isolateMessages.js';
import type { PackedResult } from '../../protocol/packedResult.js';
import { dependenciesOf, type Program } from '../../protocol/program.js';
import type { MissingInput } from '../../protocol/workerMessages.js';

/** Results of a gather, by local id. */
export interface GatherOutcome {
  readonly results: ReadonlyMap<number, PackedResult>;
  readonly missing: readonly MissingInput[];
}

export interface GateExits {
  /**
   * Called when the batch can run. Tasks that need a missing result are skipped. `admitted` is the batch with the tasks that
   * were taken back meanwhile.
   */
  pass(batch: Batch, outcome: GatherOutcome, admitted: Batch): void;
  /** Called when a waiting batch could not be sent. */
  failed(error: unknown): void;
}

interface Waiting {
  readonly batch: Batch;
  readonly taken: Set<number>;
  /** Local ids of the results that the batch computes, contains or gathers. */
  readonly offers: ReadonlySet<number>;
  readonly done: Promise<void>;
}

const NOTHING_GATHERED: GatherOutcome = { results: new Map(), missing: [] };

export class BatchGate {
  readonly #program: Program;
  readonly #exits: GateExits;
  #waiting: Waiting[] = [];

  constructor(program: Program, exits: GateExits) {
    this.#program = program;
    this.#exits = exits;
  }

  /** Passes a batch or makes it wait. `gather` is undefined if the batch has all its inputs. */
  admit(batch: Batch, gather: (() => Promise<GatherOutcome>) | undefined): void {
    const behind = this.#waiting.filter(({ offers }) => this.#needs(batch, (input) => offers.has(input)));
    if (gather === undefined && behind.length === 0) {
      this.#exits.pass(batch, NOTHING_GATHERED, batch);
      return;
    }
    const taken = new Set<number>();
    const before = Promise.all(behind.map(({ done }) => done));
    const entry: Waiting = {
      batch,
      taken,
      offers: new Set([...batch.ids, ...batch.inputs.ids, ...batch.gather.map(({ id }) => id)]),
      done: Promise.all([gather?.(), before])
        .then(([outcome]) => this.#leave(entry, outcome))
        .catch((error: unknown) => this.#exits.failed(error)),
    };
    this.#waiting.push(entry);
  }

  /** Takes tasks back from waiting batches. Returns the tasks that were found there. */
  takeBack(ids: Int32Array): number[] {
    if (this.#waiting.length === 0) return [];
    const found: number[] = [];
    for (const id of ids) {
      const waiting = this.#waiting.find(({ batch, taken }) => batch.ids.includes(id) && !taken.has(id));
      if (waiting === undefined) continue;
      waiting.taken.add(id);
      found.push(id);
    }
    return found;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Whether a waiting batch needs, computes or contains the result. A task that was taken back may run in another batch. */
  holds(id: number): boolean {
    return this.#waiting.some(
      ({ batch, taken, offers }) =>
        (offers.has(id) && !taken.has(id)) || this.#needs(batch, (input) => input === id),
    );
  }

  /** Drops all waiting batches. */
  clear(): void {
    this.#waiting = [];
  }

  #leave(entry: Waiting, outcome: GatherOutcome | undefined): void {
    const at = this.#waiting.indexOf(entry);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    const { batch, taken } = entry;
    const left = batch.ids.filter((id) => !taken.has(id));
    const publish = batch.publish.filter((_flag, index) => !taken.has(batch.ids[index]!));
    this.#exits.pass({ ...batch, ids: left, publish }, outcome ?? NOTHING_GATHERED, batch);
  }

  #needs({ ids }: Batch, isWanted: (dependency: number) => boolean): boolean {
    return ids.some((id) => dependenciesOf(this.#program, id).some(isWanted));
  }
}

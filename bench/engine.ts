/** One engine in a process of its own. */
export interface Engine {
  /** Runs a graph of about `tasks` tasks. Making the graph is not timed; the result is checked. */
  run(tasks: number): Promise<Measurement>;
}

export interface Measurement {
  /** Wall time. */
  readonly seconds: number;
  readonly tasks: number;
  /** For a comparison within the engine (profilers on against off): the time without, taken beside it. */
  readonly baseSeconds?: number;
}

/** Makes the engine ready: pools are started here, outside of every measurement. */
export type EngineFactory = () => Engine | Promise<Engine>;

export function check(result: unknown, expected: number): void {
  if (result !== expected) throw new Error(`The result is ${String(result)}, and should be ${expected}.`);
}

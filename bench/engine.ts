/** An engine, which runs in a separate process. */
export interface Engine {
  /** Runs a graph of about `tasks` tasks and checks the result. Creating the graph is not timed. */
  run(tasks: number): Promise<Measurement>;
}

export interface Measurement {
  /** Wall time in seconds. */
  readonly seconds: number;
  readonly tasks: number;
  /** Seconds of the reference run beside it, for a comparison within an engine (with and without profilers). */
  readonly baseSeconds?: number;
}

/** Creates an engine and starts its pools, which no measurement includes. */
export type EngineFactory = () => Engine | Promise<Engine>;

export function check(result: unknown, expected: number): void {
  if (result !== expected) throw new Error(`The result is ${String(result)}, not ${expected}.`);
}

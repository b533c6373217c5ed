// The task of the running code, also after an await. contextMeter reads it. It is a property of the global object,
// because the user's module may load another copy of the package.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { OpenMeter } from './taskMeter.js';

/** The members of a task that contextMeter and askScheduler need. */
export interface MeteredTask {
  /** Number of the computation, and local id of the task; -1 if unknown. */
  readonly run: number;
  readonly id: number;
  readonly hasEnded: boolean;
  open(label: string, parent: OpenMeter | undefined): OpenMeter;
  close(meter: OpenMeter): void;
  digest(label: string, value: number, unit: string, inside: OpenMeter | undefined): void;
}

export interface MeterScope {
  readonly task: MeteredTask;
  /** The innermost open meter. */
  readonly meter: OpenMeter | undefined;
}

const STORAGE: unique symbol = Symbol.for('longpole.meterContext');

function storage(): AsyncLocalStorage<MeterScope | undefined> {
  const holder: typeof globalThis & { [STORAGE]?: AsyncLocalStorage<MeterScope | undefined> } = globalThis;
  holder[STORAGE] ??= new AsyncLocalStorage();
  return holder[STORAGE];
}

export const meterContext = storage();

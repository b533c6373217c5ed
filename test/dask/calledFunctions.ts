// Functions that Python calls, in TypeScript and with an import, so that they must be bundled.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { classOf } from './calledParts.js';

export function echo(value: unknown): unknown {
  return value;
}

/** Returns the class of each argument, as TypeScript sees it. */
export function classes(...values: unknown[]): string[] {
  return values.map(classOf);
}

export async function later(value: unknown): Promise<unknown> {
  await new Promise((resolve) => setImmediate(resolve));
  return value;
}

export function total(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}

export function outOfRange(limit: number): never {
  throw new RangeError(`more than ${limit}`);
}

export function throwsText(): never {
  throw 'only text';
}

export function nested(): unknown {
  return { a: [1, new Map()] };
}

export function exits(): never {
  process.exit(7);
}

export function process_id(): number {
  return process.pid;
}

/** Returns once as many calls as `count` have begun. Polls, because the calls are in separate processes. */
export async function meet(folder: string, count: number): Promise<number> {
  writeFileSync(join(folder, String(process.pid)), '');
  while (readdirSync(folder).length < count) await new Promise((resolve) => setTimeout(resolve, 10));
  return process.pid;
}

/** Writes the id of the process to a file and never returns. Nothing but a signal ends the process. */
export function spins(file: string): void {
  if (!existsSync(file)) writeFileSync(file, String(process.pid));
  for (;;) Math.random();
}

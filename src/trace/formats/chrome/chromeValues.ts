// Values of events of Chrome traces. Recorders also write numbers as texts.
import type { StringTable } from '../../stringTable.js';
import type { ChromeEvent } from './chromeText.js';

/** Most texts whose ids are cached. */
const MAX_CACHED = 10_000;
const NO_ARGS: Readonly<Record<string, unknown>> = {};

/** Returns the arguments of an event by name. */
export function argsOf({ args }: ChromeEvent): Readonly<Record<string, unknown>> {
  return isRecord(args) ? args : NO_ARGS;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a number, or NaN. */
export function numberOf(value: unknown): number {
  if (typeof value === 'string') return /^-?\d[\d.eE+-]*$/.test(value) ? Number(value) : Number.NaN;
  return typeof value === 'number' ? value : Number.NaN;
}

/** Interns the texts of events, most of which repeat. */
export class ChromeTexts {
  readonly #strings: StringTable;
  readonly #known = new Map<string | number, number>();

  constructor(strings: StringTable) {
    this.#strings = strings;
  }

  /** Returns the id of a string, or of a number as text; -1 for other values. */
  of(value: unknown): number {
    if (typeof value !== 'string' && typeof value !== 'number') return -1;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_CACHED) this.#known.clear();
    const id = this.#strings.internString(String(value));
    this.#known.set(value, id);
    return id;
  }
}

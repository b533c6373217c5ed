// Reads JSON whose content may be anything, because files and connections may be damaged.
import { attempt } from './errors.js';

/** Parses JSON. Returns undefined if the text is not JSON. */
export function parsedJson(text: string): unknown {
  return attempt((): unknown => JSON.parse(text), undefined);
}

/** Returns a property; undefined if the value is no object or lacks the property. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Returns a property if it is a text, else an empty text. */
export function textIn(value: unknown, name: string): string {
  const text = fieldOf(value, name);
  return typeof text === 'string' ? text : '';
}

/** Returns the texts among the properties of a property. */
export function textsIn(value: unknown, name: string): Record<string, string> {
  const entries = Object.entries(fieldOf(value, name) ?? {});
  return Object.fromEntries(entries.filter(([, text]) => typeof text === 'string'));
}

/** Returns a property if it is a number, else NaN. */
export function numberIn(value: unknown, name: string): number {
  const number = fieldOf(value, name);
  return typeof number === 'number' ? number : Number.NaN;
}

interface FieldTypes {
  readonly string: string;
  readonly number: number;
  readonly object: object | null;
  readonly function: (...args: never[]) => unknown;
}

/** Returns whether a value is an object with properties of these types. They may be inherited. */
export function hasFields<F extends Readonly<Record<string, keyof FieldTypes>>>(
  value: unknown,
  fields: F,
): value is { readonly [K in keyof F]: FieldTypes[F[K]] } {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(fields).every(([name, type]) => typeof Reflect.get(value, name) === type);
}

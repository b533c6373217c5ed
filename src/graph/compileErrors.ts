// The errors of a graph that cannot be compiled.
import { LongpoleError } from '../base/errors.js';
import { CALL_BASE } from '../protocol/program.js';

export function describe(value: unknown): string {
  if (value === null || typeof value !== 'object') return `${String(value)} (${typeof value})`;
  return Array.isArray(value) ? 'an array' : `an object of class ${value.constructor?.name ?? 'unknown'}`;
}

export function noFunctionError(key: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_INVALID_GRAPH',
    `The task '${key}' begins with undefined where its function should be. Check the name under which the function is ` +
      'imported. A list that begins with undefined is literal([undefined, …]).',
  );
}

export function tooManyFunctionsError(): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_INVALID_GRAPH',
    `The graph has more than ${CALL_BASE} distinct functions. Pass their differences as arguments.`,
  );
}

/** Returns the error for an unknown key. Suggests up to three keys that contain the key, in any case of letters. */
export function unknownKeyError(key: string, keys: readonly string[]): LongpoleError {
  const wanted = key.toLowerCase();
  const similar: string[] = [];
  for (const other of keys) {
    if (similar.length === 3) break;
    if (other.toLowerCase().includes(wanted)) similar.push(other);
  }
  const hint = similar.length > 0 ? ` Did you mean ${similar.map((other) => `'${other}'`).join(', ')}?` : '';
  return new LongpoleError(
    'ERR_LONGPOLE_UNKNOWN_KEY',
    `The graph (${keys.length} ${keys.length === 1 ? 'key' : 'keys'}) has no key '${key}'.${hint}`,
  );
}

// A module that the functions called by Python import.

export function classOf(value: unknown): string {
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  return value.constructor.name;
}

// Worker of piscina and tinypool, which call an export by name. The bodies are those of bench/bodies.ts.

export function inc(value: number): number {
  return value + 1;
}

export function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

export function recordOf<K extends string, V>(names: readonly K[], value: (name: K) => V): Record<K, V>;
export function recordOf<V>(names: readonly string[], value: (name: string) => V): Record<string, V> {
  return Object.fromEntries(names.map((name) => [name, value(name)]));
}

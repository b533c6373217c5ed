// The plan of scattered data, which has results and no tasks to run.
import type { Plan } from '../../graph/compile.js';

export function dataPlan(keys: readonly string[]): Plan {
  const size = keys.length;
  const none = new Int32Array(0);
  const offsets = new Int32Array(size + 1);
  const ids = new Map(keys.map((key, id) => [key, id]));
  return {
    program: {
      size,
      tokenOffsets: offsets,
      operations: new Uint8Array(0),
      operands: new Float64Array(0),
      dependencyOffsets: offsets,
      dependencies: none,
      dependentCounts: new Int32Array(size),
    },
    keys,
    sources: [],
    functionOf: new Int32Array(size).fill(-1),
    functions: [],
    constants: [],
    dependencies: { offsets, targets: none },
    dependents: { offsets, targets: none },
    requested: new Uint8Array(size).fill(1),
    ids,
    data: new Map(),
    spans: undefined,
    imports: new Map(),
  };
}

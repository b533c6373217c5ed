// fast-check with a fixed seed, so that a run can be repeated. `LONGPOLE_SEED=7 npm test` uses other examples. A failed
// property prints its seed and path.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['LONGPOLE_SEED'] ?? 1) });

/**
 * Returns the number of runs of a property that takes long: as many as fit into a second, and a multiple of them in the
 * soak, which sets `LONGPOLE_RUNS`.
 */
export const runs = (inGate: number): number => inGate * Number(process.env['LONGPOLE_RUNS'] ?? 1);

export default fc;

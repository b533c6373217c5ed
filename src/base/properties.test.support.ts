// fast-check with a fixed seed, so that a run can be repeated. `LONGPOLE_SEED=7 npm test` uses other examples. A failed
// property prints its seed and path.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['LONGPOLE_SEED'] ?? 1) });

export default fc;

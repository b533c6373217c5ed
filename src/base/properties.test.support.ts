// fast-check with one seed for every property, so that a run can be repeated: `LONGPOLE_SEED=7 npm test` takes other
// examples, and a property that fails prints its own seed and path.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['LONGPOLE_SEED'] ?? 1) });

export default fc;

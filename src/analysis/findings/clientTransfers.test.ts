import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

it('oversized arguments cost the time in which the program packed them, not only that of the transfers', () => {
  // Longpole prepares the tasks for 4 s and sends them for 1 s.
  const spec = (nbytes: number): SyntheticSpec => ({
    ...{ called: 0, prepared: 0 },
    tasks: [0, 1].map((i) => ({
      ...{ key: `find-${i}`, submitted: 4, ready: 4, dispatched: 4, received: 5 + i },
      ...{ started: 5 + i, stopped: 6 + i },
    })),
    transfers: [{ worker: 'w0', what: 'scatter', keys: ['find-0'], nbytes, start: 4, stop: 5 }],
  });
  const own = (nbytes: number) =>
    findings(syntheticTrace(spec(nbytes))).find(({ code }) => code === 'oversized-arguments');
  assert.equal(own(10e6)?.seconds.toFixed(1), '5.0');
  assert.match(
    own(10e6)?.evidence.text ?? '',
    /waited 1 s for 1 transfer from the client, the largest with 10 MB, and 4 s while .* packed their arguments\.$/,
  );
  // Such arguments do not take that long.
  assert.equal(own(0.5e6), undefined);
});

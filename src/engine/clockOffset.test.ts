import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { ClockOffset } from './clockOffset.js';

/** Rounding of times of 1.8e9 s. */
const EXACT = 1e-6;
const EPOCH = 1.8e9;

describe('ClockOffset', () => {
  it('is zero before the first heartbeat', () => {
    const clock = new ClockOffset();
    assert.equal(clock.offset, 0);
    assert.ok(Number.isNaN(clock.roundTrip));
  });

  it('uses the fastest answer of a window', () => {
    const clock = new ClockOffset(3);
    clock.add({ sent: 10, remote: 15.5, received: 11 });
    assert.deepEqual([clock.offset, clock.roundTrip], [5, 1]);
    clock.add({ sent: 20, remote: 25.5, received: 20.5 });
    assert.deepEqual([clock.offset, clock.roundTrip], [5.25, 0.5]);
    for (const sent of [30, 40]) clock.add({ sent, remote: sent + 5.5, received: sent + 1 });
    assert.equal(clock.roundTrip, 0.5);
    clock.add({ sent: 50, remote: 55.5, received: 51 });
    assert.equal(clock.roundTrip, 1);
    assert.equal(clock.offset, 5);
  });

  it('ignores impossible times', () => {
    const clock = new ClockOffset();
    clock.add({ sent: 2, remote: 5, received: 1 });
    clock.add({ sent: Number.NaN, remote: 5, received: 1 });
    clock.add({ sent: 1, remote: Number.POSITIVE_INFINITY, received: 2 });
    assert.equal(clock.offset, 0);
  });

  it('corrects clocks that are off and drift, within the measured round trip', () => {
    const delay = fc.double({ min: 1e-5, max: 0.2, noNaN: true });
    const beat = fc.record({
      there: delay,
      back: delay,
      pause: fc.double({ min: 0.05, max: 2, noNaN: true }),
    });
    const drift = fc.double({ min: -1e-4, max: 1e-4, noNaN: true });
    const off = fc.double({ min: -5, max: 5, noNaN: true });
    fc.assert(
      fc.property(off, drift, fc.array(beat, { minLength: 1, maxLength: 100 }), (start, rate, beats) => {
        const clock = new ClockOffset();
        // Returns the worker's time at the scheduler's `time`.
        const local = (time: number): number => EPOCH + start + (time - EPOCH) * (1 + rate);
        let time = EPOCH;
        for (const { there, back, pause } of beats) {
          const sent = time;
          const remote = sent + there;
          const received = remote + back;
          clock.add({ sent: local(sent), remote, received: local(received) });
          const error = Math.abs(local(received) + clock.offset - received);
          assert.ok(error <= ((there + back) / 2) * 1.001 + EXACT, `off by ${error} s`);
          const later = received + pause;
          const measured = local(received) - local(sent);
          assert.ok(Math.abs(local(later) + clock.offset - later) <= measured + pause * 1e-4 + EXACT);
          time = later;
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is much better than one heartbeat when some are slow', () => {
    const clock = new ClockOffset();
    let time = EPOCH;
    for (const slow of [0.3, 0.0002, 0.1, 0.4, 0.05, 0.2]) {
      clock.add({ sent: time - 5, remote: time + slow, received: time + slow + 0.0001 - 5 });
      time += 0.5;
    }
    assert.ok(Math.abs(clock.offset - 5) < 0.0002);
  });
});

import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { heartbeatPauses, SilenceWatch } from './silence.js';

describe('a silence watch', () => {
  const watched = (ttl: number | false, first: number, act: (watch: SilenceWatch) => void): number => {
    mock.timers.enable({ apis: ['setInterval', 'setImmediate'] });
    let silent = 0;
    const watch = new SilenceWatch(ttl, first, () => silent++);
    act(watch);
    watch.close();
    mock.timers.reset();
    return silent;
  };
  const pass = (seconds: number): void => mock.timers.tick(seconds * 1000);

  it('reports silence once, after the time limit', () => {
    assert.equal(
      watched(8, 0, (watch) => {
        watch.received();
        pass(7.9);
      }),
      0,
    );
    assert.equal(
      watched(8, 0, (watch) => {
        watch.received();
        pass(30);
      }),
      1,
    );
  });

  it('reports silence at most 5 % early if a message comes just before a poll', () => {
    const after = (seconds: number) =>
      watched(8, 0, (watch) => {
        pass(1.9);
        watch.received();
        pass(seconds);
      });
    assert.deepEqual([after(7.6), after(8)], [0, 1]);
  });

  it('reports nothing while messages arrive', () => {
    assert.equal(
      watched(8, 0, (watch) => {
        for (let second = 0; second < 50; second += 5) {
          watch.received();
          pass(5);
        }
      }),
      0,
    );
  });

  it('has a longer limit for the start', () => {
    assert.equal(
      watched(8, 60, () => pass(59)),
      0,
    );
    assert.equal(
      watched(8, 60, () => pass(61)),
      1,
    );
    assert.equal(
      watched(300, 60, () => pass(299)),
      0,
    );
  });

  it('limits the start also without a time limit for silence', () => {
    assert.equal(
      watched(false, 60, () => pass(61)),
      1,
    );
    assert.equal(
      watched(false, 60, (watch) => {
        pass(59);
        watch.received();
        pass(1e6);
      }),
      0,
    );
  });

  it('reports nothing after it was closed', () => {
    assert.equal(
      watched(8, 0, (watch) => {
        watch.close();
        pass(100);
      }),
      0,
    );
  });
});

it('heartbeats show a pause of their process, and no delay of a busy machine', () => {
  const pauseBefore = heartbeatPauses();
  assert.deepEqual(
    [100, 100.5, 102.5, 107, 107.5].map((sent) => pauseBefore(sent)),
    [0, 0, 0, 4.5, 0],
  );
});

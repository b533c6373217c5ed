import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LongpoleError } from '../../base/errors.js';
import fc from '../../base/properties.test.support.js';
import type { MemoryThresholds } from '../../protocol/workerMessages.js';
import { CALM, DEFAULT_THRESHOLDS, decideMemory, type MemoryAction, memoryMonitor } from './memoryMonitor.js';

const LIMIT = 1000;
const NEVER: MemoryThresholds = { target: false, spill: false, pause: false, terminate: false };

/** Returns the actions for readings of process and managed bytes, 100 ms apart, without `collect`. */
function run(
  readings: readonly (readonly [number, number])[],
  thresholds: Partial<MemoryThresholds> = {},
): string[] {
  const monitor = memoryMonitor(thresholds);
  return readings.map(([process, managed], index) =>
    monitor({ process, managed, spilled: 0, limit: LIMIT, time: index / 10 })
      .filter(({ type }) => type !== 'collect')
      .map((action) => (action.type === 'spill' ? `spill ${Math.round(action.untilBytes)}` : action.type))
      .join(', '),
  );
}

describe('the memory monitor', () => {
  const table: [string, [number, number][], string[], Partial<MemoryThresholds>?][] = [
    [
      'nothing while there is room',
      [
        [0, 0],
        [599, 599],
        [700, 600],
      ],
      ['', '', ''],
    ],
    [
      'results beyond the target are spilled',
      [
        [650, 601],
        [650, 600],
      ],
      ['spill 600', ''],
    ],
    [
      'a process beyond `spill` is reduced to the target',
      [
        [710, 400],
        [650, 340],
        [601, 291],
        [600, 290],
        [690, 290],
      ],
      ['spill 290', 'spill 290', 'spill 290', '', ''],
    ],
    ['the lower goal of both counts', [[750, 620]], ['spill 470']],
    [
      'all results are spilled if that is not enough',
      [
        [790, 100],
        [790, 0],
      ],
      ['spill 0', ''],
    ],
    [
      'pause and resume',
      [
        [801, 0],
        [900, 0],
        [801, 0],
        [800, 0],
        [801, 0],
      ],
      ['pause', '', '', 'resume', 'pause'],
    ],
    ['spill and pause at once', [[850, 500]], ['spill 250, pause']],
    ['far beyond the limit the worker is terminated at once', [[1201, 100]], ['terminate']],
    [
      'the worker is terminated after a garbage collection was possible',
      [
        [1101, 100],
        [1101, 100],
      ],
      ['spill 0, pause', 'terminate'],
    ],
    [
      'a worker is full while results fill the memory, whether they may be spilled or not',
      [
        [875, 875],
        [876, 876],
        [1200, 1200],
        [875, 875],
        [800, 800],
      ],
      ['pause', 'full', '', 'full', 'resume'],
      { target: false, spill: false },
    ],
    [
      'without target spilling ends at its threshold',
      [
        [710, 690],
        [700, 680],
      ],
      ['spill 680', ''],
      { target: false },
    ],
    [
      'without spill only the target counts',
      [
        [790, 500],
        [790, 650],
      ],
      ['', 'spill 600'],
      { spill: false },
    ],
    ['without pause', [[940, 0]], [''], { pause: false }],
    ['without terminate', [[2000, 0]], ['pause'], { terminate: false }],
    ['without anything', [[2000, 2000]], [''], NEVER],
  ];
  for (const [name, readings, actions, thresholds] of table) {
    it(name, () => assert.deepEqual(run(readings, thresholds), actions));
  }

  it('does nothing without a limit, and resumes when the limit is removed', () => {
    const monitor = memoryMonitor();
    const reading = { process: 900, managed: 0, spilled: 0, time: 0 };
    assert.deepEqual(monitor({ ...reading, limit: 0 }), []);
    assert.equal(monitor({ ...reading, limit: LIMIT })[0]?.type, 'pause');
    assert.deepEqual(monitor({ ...reading, limit: 0 }), [{ type: 'resume' }]);
  });

  it('collects garbage under pressure, at most every 2 s', () => {
    const monitor = memoryMonitor();
    const collects = (process: number, time: number): boolean =>
      monitor({ process, managed: 0, spilled: 0, limit: LIMIT, time }).some(({ type }) => type === 'collect');
    assert.deepEqual(
      [
        [500, 0],
        [750, 1],
        [850, 1.1],
        [850, 2.9],
        [850, 3],
        [500, 9],
      ].map(([process, time]) => collects(process!, time!)),
      [false, true, false, false, true, false],
    );
  });

  it('terminates after 2 s beyond the threshold, unless garbage collection or spilling frees memory', () => {
    const monitor = memoryMonitor();
    const at = (process: number, time: number): string[] =>
      monitor({ process, managed: 50, spilled: 0, limit: LIMIT, time }).map(({ type }) => type);
    assert.deepEqual(at(951, 0), ['spill', 'pause', 'collect']);
    assert.deepEqual(at(960, 0.1), ['spill']);
    assert.deepEqual(at(960, 0.2), ['spill', 'collect']);
    assert.deepEqual(at(950, 1.9), ['spill']);
    assert.deepEqual(at(951, 2), ['spill', 'collect']);
    for (let time = 2.25; time < 4; time += 0.25) assert.deepEqual(at(951, time), ['spill', 'collect']);
    assert.deepEqual(at(951, 4), ['terminate']);
    assert.deepEqual(at(951, 4.1), ['terminate']);
    assert.deepEqual(at(500, 4.2), ['resume']);
  });

  it('does not terminate while results are being spilled, unless the memory is far beyond the limit', () => {
    const monitor = memoryMonitor();
    const at = (process: number, spilled: number, time: number): boolean =>
      monitor({ process, managed: 100, spilled, limit: LIMIT, time }).some(
        ({ type }) => type === 'terminate',
      );
    for (let second = 0; second < 60; second++) assert.ok(!at(990, second, second));
    // The last result was spilled at 59 s. Results that are read back are not progress.
    for (let time = 59.25; time < 61; time += 0.25) assert.ok(!at(990, 10, time));
    assert.ok(at(990, 9, 61));
    assert.ok(at(1101, 20, 61.1));
  });

  it('keeps results that cannot be spilled, unless a task fills the rest of the memory', () => {
    const monitor = memoryMonitor();
    const at = (process: number, managed: number, time: number, busy = false): string[] =>
      monitor({ process, managed, spilled: 0, limit: LIMIT, time, busy })
        .filter(({ type }) => type !== 'spill' && type !== 'collect')
        .map((action) => (action.type === 'full' ? `full ${action.full}` : action.type));
    assert.deepEqual(at(960, 900, 0), ['pause', 'full true']);
    // There is no time limit.
    for (let time = 1; time < 60; time++) assert.deepEqual(at(1200, 1150, time), []);
    assert.deepEqual(at(870, 850, 60), ['full false']);
    assert.deepEqual(at(1101, 850, 61, true), ['full true']);
    assert.deepEqual(at(1101, 850, 61.1, true), ['terminate'], 'a task runs, and the machine is in danger');
    const other = memoryMonitor();
    const reading = { managed: 40, spilled: 0, limit: LIMIT };
    const types = [0, 0.5, 1, 1.5, 2].map((time) =>
      other({ ...reading, process: 1000, time }).some(({ type }) => type === 'terminate'),
    );
    assert.deepEqual(
      types,
      [false, false, false, false, true],
      'it exceeds the limit also without its results',
    );
  });

  it('does not count the time of a pause of the worker', () => {
    const monitor = memoryMonitor();
    const at = (time: number): boolean =>
      monitor({ process: 990, managed: 0, spilled: 0, limit: LIMIT, time }).some(
        ({ type }) => type === 'terminate',
      );
    // Half a second of each pause counts.
    for (const time of [0, 10, 20, 30]) assert.ok(!at(time));
    for (const time of [30.125, 30.25, 30.375]) assert.ok(!at(time));
    assert.ok(at(30.5));
  });

  it('refuses invalid thresholds', () => {
    const wrong: Partial<MemoryThresholds>[] = [
      { target: 0 },
      { spill: 1.1 },
      { pause: Number.NaN },
      { target: 0.8 },
      { terminate: 0.5 },
    ];
    for (const thresholds of wrong) {
      assert.throws(
        () => memoryMonitor(thresholds),
        (error) => error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_INVALID_ARGUMENT',
      );
    }
    memoryMonitor({ target: 0.9, spill: false, pause: 0.9, terminate: 1 });
  });
});

describe('decideMemory', () => {
  const reading = fc.record({
    process: fc.nat(1200),
    managed: fc.nat(1200),
    spilled: fc.nat(1000),
    limit: fc.constantFrom(0, LIMIT),
    time: fc.constant(0),
  });

  it('spills less than it has, never more than needed, and pauses and resumes in turn', () => {
    fc.assert(
      fc.property(fc.array(reading, { maxLength: 30 }), (readings) => {
        let state = CALM;
        const turns: MemoryAction['type'][] = [];
        for (const one of readings) {
          const decision = decideMemory(state, one, DEFAULT_THRESHOLDS);
          state = decision.state;
          for (const action of decision.actions) {
            if (action.type === 'pause' || action.type === 'resume') turns.push(action.type);
            if (action.type !== 'spill') continue;
            assert.ok(action.untilBytes >= 0 && action.untilBytes < one.managed);
            const excess = Math.max(one.managed - 600, one.process - 600);
            assert.ok(one.managed - action.untilBytes <= excess + 1e-9);
          }
        }
        assert.ok(turns.every((type, index) => type === (index % 2 === 0 ? 'pause' : 'resume')));
        assert.equal(state.paused, turns.length % 2 === 1);
      }),
    );
  });
});

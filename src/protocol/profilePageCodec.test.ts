import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync, inflateSync } from 'node:zlib';
import { LongpoleError } from '../base/errors.js';
import fc from '../base/properties.test.support.js';
import { ByteReader, ByteWriter, readFloats, readStrings, writeFloats, writeStrings } from './columnBytes.js';
import { type ProfilePage, type ProfileSection, type StringList, TaskTableBuilder } from './profilePage.js';
import { decodeProfilePage, encodeProfilePage } from './profilePageCodec.js';

const list = (strings: StringList) => Array.from({ length: strings.length }, (_, i) => strings.at(i));

/** The page with its tables as plain arrays, so that two pages compare by value. */
function plain(page: ProfilePage) {
  const { tasks } = page;
  return {
    ...page,
    sections: page.sections.map((section) =>
      section.type === 'memory' ? { ...section, labels: list(section.labels) } : section,
    ),
    workers: list(page.workers),
    tasks: { ...tasks, keys: list(tasks.keys), prefixes: list(tasks.prefixes), texts: list(tasks.texts) },
  };
}

const anyText = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) });
const epoch = fc.double({ min: 1.2e9, max: 2.1e9, noNaN: true });

/** Sections over a table of `rows` tasks and `workers` workers. */
function anySection(rows: number, workers: number): fc.Arbitrary<ProfileSection> {
  const run = fc.record({
    task: fc.nat(rows - 1),
    worker: fc.nat(workers - 1),
    start: epoch,
    length: fc.double({ min: 0, max: 1e5, noNaN: true }),
    metric: fc.double({ noNaN: true, noDefaultInfinity: true }),
  });
  return fc
    .tuple(
      fc.constantFrom('tasks', 'resources', 'cache', 'memory'),
      fc.array(run, { maxLength: 60, size: 'max' }),
      anyText,
    )
    .map(([type, runs, metricName]): ProfileSection => {
      const task = Uint32Array.from(runs, (r) => r.task);
      const start = Float64Array.from(runs, (r) => r.start);
      const stop = Float64Array.from(runs, (r) => r.start + r.length);
      const metric = Float64Array.from(runs, (r) => r.metric);
      if (type === 'resources') return { type, time: start.sort(), mem: metric, cpu: metric };
      if (type === 'memory') {
        const label = Uint32Array.from(runs, (r) => r.worker).sort();
        return {
          type,
          labels: Array.from({ length: workers }, (_, i) => `${metricName} ${i}`),
          label,
          time: start.sort(),
          bytes: metric,
        };
      }
      if (type === 'tasks')
        return { type, task, worker: Uint32Array.from(runs, (r) => r.worker), start, stop };
      return { type: 'cache', metricName, task, cacheTime: start, freeTime: stop, metric };
    });
}

const anyPage: fc.Arbitrary<ProfilePage> = fc
  .tuple(anyText, fc.array(anyText, { minLength: 1 }), fc.array(fc.tuple(anyText, anyText), { minLength: 1 }))
  .chain(([title, workers, tasks]) => {
    const builder = new TaskTableBuilder((key) => key.slice(0, 2));
    for (const [key, text] of tasks) builder.add(key, text);
    const table = builder.build();
    return fc
      .array(anySection(table.keys.length, workers.length), { maxLength: 4 })
      .map((sections) => ({ title, workers, tasks: table, sections }));
  });

function smallPage(): ProfilePage {
  const builder = new TaskTableBuilder((key) => key.split('-')[0] ?? key);
  const rows = ['inc-1', 'inc-2', 'sum-1'].map((key) => builder.add(key, `${key}()`));
  const start = Float64Array.of(1_454_368_444.25, 1_454_368_444.5, 1_454_368_445);
  const stop = start.map((time) => time + 0.125);
  return {
    title: 'small',
    workers: ['threads-0', 'threads-1'],
    tasks: builder.build(),
    sections: [{ type: 'tasks', task: Uint32Array.from(rows), worker: Uint32Array.of(0, 1, 0), start, stop }],
  };
}

const isPageError = (error: unknown) =>
  error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_PAGE_DATA' && error.message.length > 20;

test('any page survives encoding bit for bit', () => {
  fc.assert(
    fc.property(anyPage, (page) => {
      assert.deepEqual(plain(decodeProfilePage(encodeProfilePage(page))), plain(page));
    }),
  );
});

test('any column of doubles survives, with and without a column to lean on', () => {
  const pair = fc.tuple(fc.double(), fc.oneof(fc.double(), fc.maxSafeInteger()));
  fc.assert(
    fc.property(fc.array(pair), (pairs) => {
      const near = Float64Array.from(pairs, ([value]) => value);
      const column = Float64Array.from(pairs, ([, value]) => value);
      for (const base of [undefined, near]) {
        const writer = new ByteWriter();
        writeFloats(writer, column, base);
        assert.deepEqual(readFloats(new ByteReader(writer.finish()), base), column);
      }
    }),
  );
});

test('any strings survive, unpaired surrogates too, and indices out of range give undefined', () => {
  fc.assert(
    fc.property(fc.array(anyText), (strings) => {
      const writer = new ByteWriter();
      writeStrings(writer, strings);
      const read = readStrings(new ByteReader(writer.finish()));
      assert.deepEqual(list(read), strings);
      assert.equal(read.at(strings.length), undefined);
      assert.equal(read.at(-1), undefined);
    }),
  );
});

test('a string longer than one chunk of fromCharCode comes back whole', () => {
  const writer = new ByteWriter();
  writeStrings(writer, ['é'.repeat(10_001), `${'é'.repeat(9_000)}漢`]);
  const read = readStrings(new ByteReader(writer.finish()));
  assert.deepEqual(list(read), ['é'.repeat(10_001), `${'é'.repeat(9_000)}漢`]);
});

test('every truncation of the bytes is a clear error', () => {
  const bytes = encodeProfilePage(smallPage());
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => decodeProfilePage(bytes.subarray(0, length)), isPageError, `cut at ${length}`);
  }
});

test('damaged bytes either decode to a checked page or give the documented error', () => {
  const bytes = encodeProfilePage(smallPage());
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const copy = bytes.slice();
      copy[at] = copy[at]! ^ flip;
      try {
        decodeProfilePage(copy);
      } catch (error) {
        assert.ok(isPageError(error), String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

test('another version says which version the page reads', () => {
  const bytes = encodeProfilePage(smallPage());
  bytes[4] = 9;
  assert.throws(() => decodeProfilePage(bytes), /version 9 .* reads version 1/);
});

test('columns that do not fit together are refused before writing', () => {
  const page = smallPage();
  const tasks = page.sections[0]!;
  assert.ok(tasks.type === 'tasks');
  const broken = [
    { ...tasks, worker: Uint32Array.of(0, 2, 0) },
    { ...tasks, worker: Uint32Array.of(0) },
    { ...tasks, task: Uint32Array.of(0, 1, 3) },
    { ...tasks, stop: Float64Array.of(Number.NaN, 2e9, 2e9) },
    { ...tasks, stop: Float64Array.of(1, 2, 3) },
  ];
  for (const section of broken) {
    assert.throws(() => encodeProfilePage({ ...page, sections: [section] }), isPageError);
  }
});

test('the table builder shares rows of equal tasks and keeps two texts of one key apart', () => {
  const builder = new TaskTableBuilder((key) => key.split('-')[0] ?? key);
  assert.deepEqual(
    [builder.add('inc-1', 'inc(1)'), builder.add('inc-1', 'inc(1)'), builder.add('inc-1', 'inc(2)')],
    [0, 0, 1],
  );
  const table = builder.build();
  assert.deepEqual(table.keys, ['inc-1', 'inc-1']);
  assert.deepEqual([...table.prefix], [0, 0]);
  assert.deepEqual(table.prefixes, ['inc']);
});

test('100,000 short tasks with counted keys take at most 8 bytes each once deflated', () => {
  const size = 100_000;
  const builder = new TaskTableBuilder((key) => key.slice(2, 5));
  const task = Uint32Array.from({ length: size }, (_, i) =>
    builder.add(`('inc-5f8e1c2b', ${i})`, `inc(${i})`),
  );
  let seed = 1;
  const random = () => {
    seed = (seed * 48271) % 0x7fffffff;
    return seed / 0x7fffffff;
  };
  const clocks = [1.7e9, 1.7e9];
  const worker = Uint32Array.from({ length: size }, () => Math.floor(random() * 2));
  const start = Float64Array.from(worker, (w) => clocks[w]! + random() * 1e-5);
  const stop = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    start[i] = clocks[worker[i]!]! + random() * 1e-5;
    stop[i] = start[i]! + 1e-3 * random();
    clocks[worker[i]!] = stop[i]!;
  }
  const page: ProfilePage = {
    title: 'size',
    workers: ['threads-0', 'threads-1'],
    tasks: builder.build(),
    sections: [{ type: 'tasks', task, worker, start, stop }],
  };
  const deflated = deflateSync(encodeProfilePage(page), { level: 9 });
  assert.ok(deflated.length < 8 * size, `${deflated.length / size} bytes per task`);
  assert.deepEqual(plain(decodeProfilePage(inflateSync(deflated))), plain(page));
});

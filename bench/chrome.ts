// `node dist-test/bench/chrome.js` measures opening and writing Chrome Trace JSON. The input is synthetic, in the
// format of Chrome's recorder. `JSON.parse` of the whole text runs in each repetition as a reference, and ratios are
// computed within a repetition.
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { exportTrace, openTrace } from 'longpole/trace';
import { median } from './median.js';

const USAGE = `Usage: node dist-test/bench/chrome.js [options]

  --events N       events to make up (default 300000)
  --repeat N       repetitions after the first (default 5)
`;
const THREADS = 8;
const PART = 10_000;

/** Writes slices on eight threads of four processes, with a flow to every tenth. */
function writeEvents(file: string, events: number): void {
  const fd = openSync(file, 'w');
  const event = (i: number): string => {
    const place = `"pid":${1000 + (i % 4)},"tid":${i % THREADS}`;
    const ts = (1e6 + i * 3.25).toFixed(3);
    if (i % 10 === 8)
      return `{"name":"post","cat":"flow","ph":"s","id":"0x${i.toString(16)}",${place},"ts":${ts}}`;
    if (i % 10 === 9)
      return `{"name":"post","cat":"flow","ph":"f","bp":"e","id":"0x${(i - 1).toString(16)}",${place},"ts":${ts}}`;
    const args = `{"src_file":"../../base/task/run.cc","src_func":"RunTask","queue":${i % 5}}`;
    return `{"name":"function ${i % 40}","cat":"toplevel","ph":"X","ts":${ts},"dur":${(20 + (i % 7) / 8).toFixed(3)},${place},"args":${args}}`;
  };
  writeSync(fd, '{"traceEvents":[');
  for (let from = 0; from < events; from += PART) {
    const part = Array.from({ length: Math.min(PART, events - from) }, (_, i) => event(from + i));
    writeSync(fd, `${from === 0 ? '\n' : ',\n'}${part.join(',\n')}`);
  }
  writeSync(fd, '\n]}\n');
  closeSync(fd);
}

function seconds(action: () => void): number {
  const start = performance.now();
  action();
  return (performance.now() - start) / 1000;
}

function report(folder: string, events: number, repeat: number): void {
  const plain = join(folder, 'trace.json');
  const packed = join(folder, 'trace.json.gz');
  const own = join(folder, 'own.json');
  writeEvents(plain, events);
  writeFileSync(packed, gzipSync(readFileSync(plain)));
  const trace = openTrace(plain);
  exportTrace(trace, { to: 'chrome', output: own });
  const size = (file: string): number => statSync(file).size;
  const rows = [
    ['open', size(plain), () => openTrace(plain)],
    ['open, packed by gzip', size(plain), () => openTrace(packed)],
    ['open what Longpole exported', size(own), () => openTrace(own)],
    ['export', size(own), () => exportTrace(trace, { to: 'chrome', output: own })],
    ['JSON.parse alone', size(plain), () => JSON.parse(readFileSync(plain, 'utf8'))],
  ] as const;
  const measured = rows.map(([, , action]) => ({ first: seconds(action), later: [] as number[] }));
  for (let repetition = 0; repetition < repeat; repetition++) {
    for (const [i, [, , action]] of rows.entries()) measured[i]?.later.push(seconds(action));
  }
  console.log(
    `${events.toLocaleString('en')} events, ${(size(plain) / 1e6).toFixed(1)} MB, ${trace.tasks.length.toLocaleString('en')} tasks, Node ${process.version}\n`,
  );
  console.log('| what | first, ms | median, ms | MB/s of text | µs per event | times JSON.parse |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  const parse = measured[measured.length - 1]?.later ?? [];
  for (const [i, [what, bytes]] of rows.entries()) {
    const { first, later } = measured[i] ?? { first: Number.NaN, later: [] };
    const middle = median(later);
    const ratio = median(later.map((one, repetition) => one / (parse[repetition] ?? Number.NaN)));
    const cells = [
      what,
      (first * 1e3).toFixed(0),
      (middle * 1e3).toFixed(0),
      (bytes / 1e6 / middle).toFixed(0),
      ((middle / events) * 1e6).toFixed(2),
      ratio.toFixed(2),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '300000' },
    repeat: { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
});
const [events, repeat] = [Number(values.events), Number(values.repeat)];
if (values.help || !(repeat >= 1) || !(events >= 100)) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}
const folder = mkdtempSync(join(tmpdir(), 'longpole-bench-'));
try {
  report(folder, events, repeat);
} finally {
  rmSync(folder, { recursive: true });
}

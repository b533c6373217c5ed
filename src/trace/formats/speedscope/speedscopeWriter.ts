// Writes a trace in speedscope's format. First come the samples of the statistical profiler, one profile per thread, if
// there are samples. Then comes the task stream, one evented profile per thread of a worker, with tasks as frames.
// Overlapping tasks of a thread get separate profiles, because the frames of a profile must nest.

import { getOrMake, pushTo } from '../../../base/lookUps.js';
import { type Trace, workerName } from '../../trace.js';
import { type Track, taskTracks, trackName } from '../chrome/tracks.js';
import { QuotedStrings } from '../json/jsonText.js';

const SCHEMA = 'https://www.speedscope.app/file-format-schema.json';

/**
 * Yields the text of the file. Times are seconds since the first start or sample. Tasks that never ran are left out.
 */
export function* speedscopeProfile(trace: Trace): Generator<string> {
  const { tracks, trackOf, order } = taskTracks(trace);
  const { functionName } = trace.tasks;
  const quoted = new QuotedStrings(trace.strings);
  const frames = frameList(functionName, quoted);
  const origin = firstTime(trace, order);
  yield `{"$schema":"${SCHEMA}","exporter":"longpole","name":"Longpole","shared":{"frames":[\n`;
  yield frames.texts.map((text) => `{"name":${text}}`).join(',\n');
  const threads = samplesByThread(trace);
  const firstFrame = frames.texts.length;
  if (threads.size > 0) {
    let first = firstFrame === 0;
    for (const text of sampleFrames(trace, quoted)) {
      yield first ? text : `,\n${text}`;
      first = false;
    }
  }
  yield '\n]},"profiles":[';
  let separator = '\n';
  for (const [worker, rows] of threads) {
    yield separator;
    separator = ',\n';
    yield* sampledProfile(trace, worker, rows, origin, firstFrame);
  }
  const rows = new Map<number, number[]>();
  for (const row of order) pushTo(rows, trackOf[row]!, row);
  for (const [i, track] of tracks.entries()) {
    yield separator;
    separator = ',\n';
    yield* profileOf(trace, track, rows.get(i) ?? [], frames.frameOf, origin);
  }
  yield '\n]}\n';
}

function* profileOf(
  trace: Trace,
  track: Track,
  rows: readonly number[],
  frameOf: ReadonlyMap<number, number>,
  origin: number,
): Generator<string> {
  const { started, stopped, functionName } = trace.tasks;
  const ran = rows.filter((row) => stopped[row]! >= started[row]!);
  let end = 0;
  for (const row of ran) end = Math.max(end, stopped[row]! - origin);
  const start = ran.length === 0 ? 0 : started[ran[0]!]! - origin;
  const name = `${workerName(trace, track.worker)}, ${trackName(track)}`;
  yield `{"type":"evented","name":${JSON.stringify(name)},"unit":"seconds","startValue":${start},"endValue":${end},"events":[`;
  let at = start;
  for (const [i, row] of ran.entries()) {
    const frame = frameOf.get(functionName[row]!);
    // Not before the previous event: the last layer of a thread may have overlapping tasks.
    const opened = Math.max(at, started[row]! - origin);
    at = Math.max(opened, stopped[row]! - origin);
    yield `${i === 0 ? '' : ','}\n{"type":"O","frame":${frame},"at":${opened}},{"type":"C","frame":${frame},"at":${at}}`;
  }
  yield ']}';
}

function firstTime({ tasks, samples }: Trace, order: Int32Array): number {
  let first = order.length === 0 ? Number.POSITIVE_INFINITY : tasks.started[order[0]!]!;
  for (const [row, time] of samples.time.entries()) first = Math.min(first, time - samples.interval[row]!);
  return Number.isFinite(first) ? first : 0;
}

/** Returns the names of distinct functions as JSON. */
function frameList(functionName: Int32Array, quoted: QuotedStrings) {
  const frameOf = new Map<number, number>();
  const texts: string[] = [];
  for (const name of functionName) {
    if (frameOf.has(name)) continue;
    frameOf.set(name, texts.length);
    texts.push(name < 0 ? '"(no name)"' : quoted.get(name));
  }
  return { frameOf, texts };
}

/** Distance of samples, in intervals, above which there is a gap. */
const GAP_INTERVALS = 1.5;

/**
 * Yields the frames of the profiler as JSON: first one for samples without a frame, then one for each row of
 * `trace.frames`.
 */
function* sampleFrames({ frames }: Trace, quoted: QuotedStrings): Generator<string> {
  yield '{"name":"(others)"}';
  for (let row = 0; row < frames.length; row++) {
    const [name, file, line] = [frames.functionName[row]!, frames.file[row]!, frames.line[row]!];
    const place = file < 0 || quoted.get(file) === '""' ? '' : `,"file":${quoted.get(file)}`;
    yield `{"name":${name < 0 ? '"(anonymous)"' : quoted.get(name)}${place}${line > 0 ? `,"line":${line}` : ''}}`;
  }
}

/** Returns rows of `samples` in the order of time, by worker; -1 is the scheduler's thread. */
function samplesByThread({ samples }: Trace): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  for (let row = 0; row < samples.length; row++) {
    const worker = samples.worker[row]!;
    pushTo(rows, worker, row);
  }
  for (const one of rows.values()) one.sort((a, b) => samples.time[a]! - samples.time[b]!);
  return new Map([...rows].sort(([a], [b]) => (a < 0 ? 1 : b < 0 ? -1 : a - b)));
}

/**
 * Yields the profile of a thread. Times are seconds since `origin`; `firstFrame` is the index of the first of
 * `sampleFrames`.
 *
 * @source speedscope's file-format-spec.ts
 */
function* sampledProfile(
  trace: Trace,
  worker: number,
  rows: readonly number[],
  origin: number,
  firstFrame: number,
): Generator<string> {
  const { samples } = trace;
  const stackOf = stacksOf(trace, firstFrame);
  const first = rows[0]!;
  const start = samples.time[first]! - samples.interval[first]! - origin;
  const weights: number[] = [];
  let at = start;
  const name = JSON.stringify(`${worker < 0 ? 'scheduler' : workerName(trace, worker)}, samples`);
  yield `{"type":"sampled","name":${name},"unit":"seconds","samples":[`;
  for (const row of rows) {
    const [time, interval] = [samples.time[row]! - origin, samples.interval[row]!];
    if (time - at > GAP_INTERVALS * interval) {
      yield `${weights.length === 0 ? '' : ','}[]`;
      at += weights[weights.push(time - interval - at) - 1]!;
    }
    yield `${weights.length === 0 ? '' : ','}${stackOf(samples.frame[row]!)}`;
    at += weights[weights.push(samples.count[row]! * interval) - 1]!;
  }
  yield `],"weights":[`;
  for (const [index, weight] of weights.entries()) {
    yield `${index === 0 ? '' : ','}${weight}`;
  }
  yield `],"startValue":${start},"endValue":${at}}`;
}

/** Returns a function that gives stacks as JSON, the outermost frame first, and caches them. */
function stacksOf({ frames: { parent } }: Trace, firstFrame: number): (frame: number) => string {
  const texts = new Map<number, string>();
  return (frame) =>
    getOrMake(texts, frame, () => {
      const stack: number[] = [];
      for (let at = frame; at >= 0; at = parent[at]!) stack.push(firstFrame + 1 + at);
      if (stack.length === 0) stack.push(firstFrame);
      return `[${stack.reverse().join(',')}]`;
    });
}

// Writes a trace in speedscope's format. First come the samples of the statistical profiler, one profile per thread, if
// there are samples. Then comes the task stream, one evented profile per thread of a worker, with tasks as frames.
// Overlapping tasks of a thread get separate profiles, because the frames of a profile must nest.
import { workerName } from '../../names.js';
import type { Trace } from '../../trace.js';
import { type Track, taskTracks, trackName } from '../chrome/tracks.js';
import { QuotedStrings, TextPieces } from '../json/jsonText.js';
import { sampledProfile, sampleFrames, samplesByThread } from './speedscopeSamples.js';

const SCHEMA = 'https://www.speedscope.app/file-format-schema.json';

/**
 * Yields the text of the file. Times are seconds since the first start or sample. Tasks that never ran are left out.
 */
export function* speedscopeProfile(trace: Trace, name = 'Longpole'): Generator<string> {
  const { tracks, trackOf, order } = taskTracks(trace);
  const { functionName } = trace.tasks;
  const quoted = new QuotedStrings(trace.strings);
  const frames = frameList(functionName, quoted);
  const origin = firstTime(trace, order);
  const pieces = new TextPieces();
  pieces.add(
    `{"$schema":"${SCHEMA}","exporter":"longpole","name":${JSON.stringify(name)},"shared":{"frames":[\n`,
  );
  pieces.add(frames.texts.map((text) => `{"name":${text}}`).join(',\n'));
  const threads = samplesByThread(trace);
  const firstFrame = frames.texts.length;
  if (threads.size > 0) {
    let first = firstFrame === 0;
    for (const text of sampleFrames(trace, quoted)) {
      pieces.add(first ? text : `,\n${text}`);
      first = false;
    }
  }
  pieces.add('\n]},"profiles":[');
  let separator = '\n';
  for (const [worker, rows] of threads) {
    pieces.add(separator);
    separator = ',\n';
    yield* sampledProfile(trace, worker, rows, { origin, firstFrame, pieces });
  }
  const rows = rowsByTrack(tracks.length, trackOf, order);
  for (const [i, track] of tracks.entries()) {
    pieces.add(separator);
    separator = ',\n';
    yield* profileOf(trace, track, rows[i]!, frames.frameOf, origin, pieces);
  }
  pieces.add('\n]}\n');
  yield pieces.take();
}

function* profileOf(
  trace: Trace,
  track: Track,
  rows: Int32Array,
  frameOf: ReadonlyMap<number, number>,
  origin: number,
  pieces: TextPieces,
): Generator<string> {
  const { started, stopped, functionName } = trace.tasks;
  const ran = rows.filter((row) => stopped[row]! >= started[row]!);
  let end = 0;
  for (const row of ran) end = Math.max(end, stopped[row]! - origin);
  const start = ran.length === 0 ? 0 : started[ran[0]!]! - origin;
  const name = `${workerName(trace, track.worker)}, ${trackName(track)}`;
  pieces.add(
    `{"type":"evented","name":${JSON.stringify(name)},"unit":"seconds","startValue":${start},"endValue":${end},"events":[`,
  );
  let at = start;
  for (const [i, row] of ran.entries()) {
    const frame = frameOf.get(functionName[row]!);
    // Not before the previous event: the last layer of a thread may have overlapping tasks.
    const opened = Math.max(at, started[row]! - origin);
    at = Math.max(opened, stopped[row]! - origin);
    pieces.add(
      `${i === 0 ? '' : ','}\n{"type":"O","frame":${frame},"at":${opened}},{"type":"C","frame":${frame},"at":${at}}`,
    );
    if (pieces.full) yield pieces.take();
  }
  pieces.add(']}');
}

/** Returns the start of the first task or sample. */
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

/** Returns the rows of each track in order. */
function rowsByTrack(tracks: number, trackOf: Int32Array, order: Int32Array): Int32Array[] {
  const counts = new Int32Array(tracks);
  for (const track of trackOf) counts[track]! += 1;
  const rows = Array.from(counts, (count) => new Int32Array(count));
  counts.fill(0);
  for (const row of order) {
    const track = trackOf[row]!;
    rows[track]![counts[track]!] = row;
    counts[track]! += 1;
  }
  return rows;
}

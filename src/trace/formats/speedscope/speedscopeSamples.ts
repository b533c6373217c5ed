// Writes the samples of the statistical profiler in speedscope's format: one sampled profile per thread, in the order
// of time. Idle times are gaps.
import { pushTo } from '../../../base/lookUps.js';
import { workerName } from '../../names.js';
import type { Trace } from '../../trace.js';
import type { QuotedStrings, TextPieces } from '../json/jsonText.js';

/** Distance of samples, in intervals, above which there is a gap. */
const GAP_INTERVALS = 1.5;

/**
 * Yields the frames of the profiler as JSON: first one for samples without a frame, then one for each row of
 * `trace.frames`.
 */
export function* sampleFrames({ frames }: Trace, quoted: QuotedStrings): Generator<string> {
  yield '{"name":"(others)"}';
  for (let row = 0; row < frames.length; row++) {
    const [name, file, line] = [frames.functionName[row]!, frames.file[row]!, frames.line[row]!];
    const place = file < 0 || quoted.get(file) === '""' ? '' : `,"file":${quoted.get(file)}`;
    yield `{"name":${name < 0 ? '"(anonymous)"' : quoted.get(name)}${place}${line > 0 ? `,"line":${line}` : ''}}`;
  }
}

/** Returns rows of `samples` in the order of time, by worker; -1 is the scheduler's thread. */
export function samplesByThread({ samples }: Trace): Map<number, number[]> {
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
export function* sampledProfile(
  trace: Trace,
  worker: number,
  rows: readonly number[],
  { origin, firstFrame, pieces }: { origin: number; firstFrame: number; pieces: TextPieces },
): Generator<string> {
  const { samples } = trace;
  const stacks = new Stacks(trace, firstFrame);
  const first = rows[0]!;
  const start = samples.time[first]! - samples.interval[first]! - origin;
  const weights: number[] = [];
  let at = start;
  const name = JSON.stringify(`${worker < 0 ? 'scheduler' : workerName(trace, worker)}, samples`);
  pieces.add(`{"type":"sampled","name":${name},"unit":"seconds","samples":[`);
  for (const row of rows) {
    const [time, interval] = [samples.time[row]! - origin, samples.interval[row]!];
    if (time - at > GAP_INTERVALS * interval) {
      pieces.add(`${weights.length === 0 ? '' : ','}[]`);
      at += weights[weights.push(time - interval - at) - 1]!;
    }
    pieces.add(`${weights.length === 0 ? '' : ','}${stacks.of(samples.frame[row]!)}`);
    at += weights[weights.push(samples.count[row]! * interval) - 1]!;
    if (pieces.full) yield pieces.take();
  }
  pieces.add(`],"weights":[`);
  for (const [index, weight] of weights.entries()) {
    pieces.add(`${index === 0 ? '' : ','}${weight}`);
    if (pieces.full) yield pieces.take();
  }
  pieces.add(`],"startValue":${start},"endValue":${at}}`);
}

/** Returns stacks as JSON, the outermost frame first, and caches them. */
class Stacks {
  readonly #parent: Int32Array;
  readonly #firstFrame: number;
  readonly #texts = new Map<number, string>();

  constructor({ frames }: Trace, firstFrame: number) {
    this.#parent = frames.parent;
    this.#firstFrame = firstFrame;
  }

  of(frame: number): string {
    let text = this.#texts.get(frame);
    if (text === undefined) {
      const stack: number[] = [];
      for (let at = frame; at >= 0; at = this.#parent[at]!) stack.push(this.#firstFrame + 1 + at);
      if (stack.length === 0) stack.push(this.#firstFrame);
      text = `[${stack.reverse().join(',')}]`;
      this.#texts.set(frame, text);
    }
    return text;
  }
}

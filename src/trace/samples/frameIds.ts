// Ids of stack frames. A frame is a function in one place of the call tree. Its id is a hash of the function and of the
// caller's id. All recorders give a frame the same id, so their tables can be merged.
import { type ProfileCycle, STACK_IDLE, STACK_RUNTIME } from '../../protocol/clusterObserver.js';
import type { Reported } from '../../protocol/traceSchema.js';

/** Id of the caller of an outermost frame. */
export const NO_FRAME = -1;

/**
 * A row of the table `frames` with texts instead of ids. `parent` is the caller's id or NO_FRAME. Ids are below 2^53. A
 * collision among 100,000 frames has a probability of 1 in 2,000,000.
 */
export type FrameFacts = Reported<'frames'>;

/** Frame of samples in Longpole's or Node's own code, outside of tasks. */
export const RUNTIME_FRAME = frameFacts(NO_FRAME, '(runtime)', '', 0);

/** Returns the frames of a cycle by stack node; callers come first. Cost: some 1 µs each. */
export function cycleFrames({ parents, names, files, lines }: ProfileCycle): FrameFacts[] {
  const frames: FrameFacts[] = [];
  for (const [node, parent] of parents.entries()) {
    const caller = frames[parent]?.id ?? NO_FRAME;
    frames.push(frameFacts(caller, names[node] ?? '', files[node] ?? '', lines[node]!));
  }
  return frames;
}

/** Returns the frame of a sample, or undefined if the thread was idle. */
export function frameOfSample(
  { stacks }: ProfileCycle,
  sample: number,
  frames: readonly FrameFacts[],
): FrameFacts | undefined {
  const stack = stacks[sample]!;
  if (stack === STACK_IDLE) return undefined;
  return stack === STACK_RUNTIME ? RUNTIME_FRAME : frames[stack];
}

function frameFacts(parent: number, functionName: string, file: string, line: number): FrameFacts {
  return { id: frameId(parent, functionName, file, line), parent, functionName, file, line };
}

/** Returns 53 bits of two multiplicative hashes over the caller's id, the line and both texts. */
function frameId(parent: number, name: string, file: string, line: number): number {
  let a = Math.imul((parent % 2 ** 32) ^ line, 0x85ebca6b) | 0;
  let b = Math.imul(Math.floor(parent / 2 ** 32) ^ line, 0xc2b2ae35) | 0;
  // The lengths distinguish `ab` + `c` from `a` + `bc`.
  for (const text of [name, file]) {
    a = Math.imul(a ^ text.length, 0x9e3779b1);
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul(b ^ code, 0x5bd1e995);
      b ^= b >>> 15;
    }
  }
  a = Math.imul(a ^ (a >>> 16) ^ b, 0x7feb352d);
  b = Math.imul(b ^ (b >>> 13) ^ (a >>> 7), 0x846ca68b);
  return ((b ^ (b >>> 16)) & 0x1fffff) * 2 ** 32 + ((a ^ (a >>> 15)) >>> 0);
}

// Numbers of stack frames. A frame is a function in one place of the call tree; its number is made of what it is and of its
// caller's number, so that every recorder gives it the same one, and tables of several recorders fit together.
import { type ProfileCycle, STACK_IDLE, STACK_RUNTIME } from '../../protocol/profileCycle.js';
import type { Reported } from '../../protocol/traceSchema.js';

/** The caller of an outermost frame. */
export const NO_FRAME = -1;

/**
 * A row of the table `frames` with texts for ids, and the number of its caller or NO_FRAME. Numbers are below 2^53; two of
 * 100,000 frames have the same one with a probability of 1 in 2,000,000.
 */
export type FrameFacts = Reported<'frames'>;

/** The thread ran Longpole's or Node's own code, and no task's. */
export const RUNTIME_FRAME = frameFacts(NO_FRAME, '(runtime)', '', 0);

/** The frames of a cycle by its stack nodes: a caller stands before what it calls. Cost ~1 µs each. */
export function cycleFrames({ parents, names, files, lines }: ProfileCycle): FrameFacts[] {
  const frames: FrameFacts[] = [];
  for (const [node, parent] of parents.entries()) {
    const caller = frames[parent]?.id ?? NO_FRAME;
    frames.push(frameFacts(caller, names[node] ?? '', files[node] ?? '', lines[node]!));
  }
  return frames;
}

/** The frame of a sample; undefined while the thread had nothing to do. */
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

/** 53 bits of two multiplicative hashes over the caller's number, the line and both texts. */
function frameId(parent: number, name: string, file: string, line: number): number {
  let a = Math.imul((parent % 2 ** 32) ^ line, 0x85ebca6b) | 0;
  let b = Math.imul(Math.floor(parent / 2 ** 32) ^ line, 0xc2b2ae35) | 0;
  // The lengths keep `ab` + `c` and `a` + `bc` apart.
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

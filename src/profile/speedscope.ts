// Writes a call tree as a file for speedscope.app, which draws it as a flame graph.
import { getOrMake } from '../base/lookUps.js';
import { type CallTree, forEachStack, frameIdentifier } from './callTree.js';

/**
 * Returns the profile in speedscope's own format, one profile per tree. Write it with `JSON.stringify`.
 *
 * @param trees name → tree, e.g. one per prefix
 * @param interval seconds per sample
 * @source speedscope's file-format-spec.ts
 */
export function toSpeedscope(
  trees: ReadonlyMap<string, CallTree>,
  { name = 'Longpole', interval = 0.01 }: { readonly name?: string; readonly interval?: number } = {},
) {
  const frames: { name: string; file?: string; line?: number }[] = [];
  const indexes = new Map<string, number>();
  const profiles = Array.from(trees, ([title, tree]) => {
    /** Stacks from the outermost frame inwards, as indexes of frames. */
    const samples: number[][] = [];
    const weights: number[] = [];
    forEachStack(tree, (stack, self) => {
      samples.push(
        stack.map((frame) =>
          getOrMake(indexes, frameIdentifier(frame), () => {
            const { name, filename, lineNumber } = frame;
            const file = filename === '' ? {} : { file: filename };
            return frames.push({ name, ...file, ...(lineNumber === 0 ? {} : { line: lineNumber }) }) - 1;
          }),
        ),
      );
      weights.push(self * interval);
    });
    const endValue = weights.reduce((sum, weight) => sum + weight, 0);
    return { type: 'sampled', name: title, unit: 'seconds', startValue: 0, endValue, samples, weights };
  });
  return {
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    exporter: 'longpole',
    name,
    activeProfileIndex: 0,
    shared: { frames },
    profiles,
  };
}

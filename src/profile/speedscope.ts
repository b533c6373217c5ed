// Writes a call tree as a file for speedscope.app, which draws it as a flame graph.
import { getOrMake } from '../base/lookUps.js';
import { type CallTree, forEachStack, frameIdentifier } from './callTree.js';

export interface SpeedscopeFile {
  readonly $schema: 'https://www.speedscope.app/file-format-schema.json';
  readonly exporter: string;
  readonly name: string;
  readonly activeProfileIndex: number;
  readonly shared: { readonly frames: readonly SpeedscopeFrame[] };
  readonly profiles: readonly SpeedscopeProfile[];
}

export interface SpeedscopeFrame {
  readonly name: string;
  readonly file?: string;
  readonly line?: number;
}

export interface SpeedscopeProfile {
  readonly type: 'sampled';
  readonly name: string;
  readonly unit: 'seconds';
  readonly startValue: number;
  readonly endValue: number;
  /** Stacks from the outermost frame inwards, as indexes of frames. */
  readonly samples: readonly (readonly number[])[];
  readonly weights: readonly number[];
}

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
): SpeedscopeFile {
  const frames: SpeedscopeFrame[] = [];
  const indexes = new Map<string, number>();
  const profiles: SpeedscopeProfile[] = [];
  for (const [title, tree] of trees) {
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
    profiles.push({
      type: 'sampled',
      name: title,
      unit: 'seconds',
      startValue: 0,
      endValue,
      samples,
      weights,
    });
  }
  return {
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    exporter: 'longpole',
    name,
    activeProfileIndex: 0,
    shared: { frames },
    profiles,
  };
}

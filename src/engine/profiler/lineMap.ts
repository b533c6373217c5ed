// A source map that answers single positions. Node's `SourceMap` would assign code without a source to the source before.
import { decode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import { firstWhere } from '../../base/lookUps.js';

/** A source map, as far as `lineMap` reads it. */
export interface MapPayload {
  readonly mappings: string;
  readonly sources: readonly unknown[];
  /** Folder of the sources. */
  readonly sourceRoot?: unknown;
}

/** The mapping at a position. Lines and columns count from 0. */
export interface Mapping {
  /** Column in the script; -1 if the mapping is on an earlier line. */
  readonly column: number;
  /** Undefined if the mapping belongs to no source. */
  readonly source: string | undefined;
  readonly line: number;
}

/** Returns the last mapping up to a position of the script; undefined if there is none. */
export type LineMap = (line: number, column: number) => Mapping | undefined;

export function lineMap({ mappings, sources, sourceRoot }: MapPayload): LineMap {
  const lines = decode(mappings);
  const folder = typeof sourceRoot === 'string' ? sourceRoot.replace(/[^/]$/, '$&/') : '';
  const mappingOf = ([, index, line = 0]: SourceMapSegment, column: number): Mapping => {
    const source = index === undefined ? undefined : sources[index];
    return { column, source: typeof source === 'string' ? folder + source : undefined, line };
  };
  return (line, column) => {
    const segments = lines[line];
    if (segments === undefined) return undefined;
    const after = firstWhere(0, segments.length, (at) => segments[at]![0] > column);
    if (after > 0) return mappingOf(segments[after - 1]!, segments[after - 1]![0]);
    for (let before = line - 1; before >= 0; before--) {
      const last = lines[before]!.findLast((segment) => segment.length > 1);
      if (last !== undefined) return mappingOf(last, -1);
    }
    return undefined;
  };
}

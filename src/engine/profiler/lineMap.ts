// A source map that answers single positions. Node's `SourceMap` would assign code without a source to the source before.
import { decode, type SourceMapMappings, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import { firstWhere } from '../../base/lookUps.js';

/** A source map, as far as `LineMap` reads it. */
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

export class LineMap {
  readonly #lines: SourceMapMappings;
  readonly #sources: readonly unknown[];
  readonly #folder: string;

  constructor({ mappings, sources, sourceRoot }: MapPayload) {
    this.#lines = decode(mappings);
    this.#sources = sources;
    this.#folder = typeof sourceRoot === 'string' ? sourceRoot.replace(/[^/]$/, '$&/') : '';
  }

  /** Returns the last mapping up to a position of the script; undefined if there is none. */
  find(line: number, column: number): Mapping | undefined {
    const segments = this.#lines[line];
    if (segments === undefined) return undefined;
    const after = firstWhere(0, segments.length, (at) => segments[at]![0] > column);
    if (after > 0) return this.#mapping(segments[after - 1]!, segments[after - 1]![0]);
    for (let before = line - 1; before >= 0; before--) {
      const last = this.#lines[before]!.findLast((segment) => segment.length > 1);
      if (last !== undefined) return this.#mapping(last, -1);
    }
    return undefined;
  }

  #mapping(segment: SourceMapSegment, column: number): Mapping {
    const source = segment[1] === undefined ? undefined : this.#sources[segment[1]];
    return {
      column,
      source: typeof source === 'string' ? this.#folder + source : undefined,
      line: segment[2] ?? 0,
    };
  }
}

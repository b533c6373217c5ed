// Converts positions in a running script to positions in the user's file. A script that was compiled to disk names its
// source map. A script that a loader such as tsx compiled has its map only in the isolate that loaded it, which
// receives one request for it.
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { attempt } from '../../base/errors.js';
import { hasFields, parsedJson } from '../../base/json.js';
import type { SourcePosition } from '../../profile/taskPlaces.js';
import { type LineMap, lineMap, type MapPayload } from './lineMap.js';

/** Most maps that are kept. Beyond it all are discarded and read again on demand. */
const MAX_MAPS = 2000;
const MAX_MAP_BYTES = 32 * 1024 * 1024;
/**
 * The bundle with this package, if this module is in it. Its maps are not installed, and to read those of a build takes a
 * short program 0.05 s of CPU and more.
 */
const BUNDLE = new URL('../../bundle/', import.meta.url).href;

/**
 * Script on disk → its map and the state of its file. The threads of a process run the same scripts, so their profilers
 * share the maps.
 */
const shared = new Map<string, { readonly stamp: string; readonly map: WeakRef<LineMap> }>();

/** Returns an expression that evaluates to the map of a script inside an isolate, as JSON, or to null. */
export function mapExpression(url: string): string {
  return `JSON.stringify(process.getBuiltinModule('node:module').findSourceMap(${JSON.stringify(url)})?.payload ?? null)`;
}

export class SourcePositions {
  /** Script → its map; null if it has none. */
  readonly #maps = new Map<string, LineMap | null>();
  /**
   * Matches scripts that a loader such as tsx compiles. Only the isolate that loaded such a script has its source map. Any
   * other script on disk has a comment with its source map or with the path of it.
   */
  readonly #compiledByLoader = /\.[cm]?tsx?$|\.jsx$/;

  /** Returns the scripts whose map only an isolate can provide. */
  unknown(urls: Iterable<string>): string[] {
    return [...new Set(urls)].filter(
      (url) => !this.#maps.has(url) && this.#compiledByLoader.test(withoutQuery(url)),
    );
  }

  /** Records the answer to `mapExpression`. An invalid answer counts as no map. */
  learn(url: string, json: unknown): void {
    this.#keep(url, typeof json === 'string' ? parseMap(json) : null);
  }

  /** Returns the start of a function; line and column from 0. */
  functionPosition(url: string, line: number, column: number): SourcePosition {
    const found = this.#map(url)?.(line, column);
    if (found?.source !== undefined) return { file: filePath(found.source, url), line: found.line + 1 };
    return { file: filePath(url, url), line: line + 1 };
  }

  /**
   * Returns the executed line, from 1; 0 if unknown. V8 gives no column, and a compiler may put several lines into
   * one. tsx does that, unless relined.ts restores the lines.
   */
  runningLine(url: string, line: number): number {
    const map = this.#map(url);
    if (map === null) return line;
    const last = map(line - 1, Number.MAX_SAFE_INTEGER);
    if (last?.source === undefined || last.column < 0) return 0;
    // The first mapping of the line is behind its indentation.
    for (let column = 0; column < last.column; column = 2 * column + 1) {
      const first = map(line - 1, column);
      if (first?.source !== undefined && first.column >= 0)
        return first.line === last.line ? last.line + 1 : 0;
    }
    return last.line + 1;
  }

  #map(url: string): LineMap | null {
    let map = this.#maps.get(url);
    if (map === undefined) {
      map = this.#compiledByLoader.test(withoutQuery(url)) ? null : mapOnDisk(url);
      this.#keep(url, map);
    }
    return map;
  }

  #keep(url: string, map: LineMap | null): void {
    if (this.#maps.size >= MAX_MAPS) this.#maps.clear();
    this.#maps.set(url, map);
  }
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/, '');
}

/** Returns a path for a file URL, and for a source that a map names relative to its script. */
function filePath(source: string, script: string): string {
  return attempt(() => {
    const url = new URL(source, script.startsWith('/') ? `file://${script}` : script);
    return url.protocol === 'file:' ? fileURLToPath(url) : source;
  }, source);
}

/** Returns the map of a script. Another profiler may have it already. */
function mapOnDisk(url: string): LineMap | null {
  if (!url.startsWith('file:') || url.startsWith(BUNDLE)) return null;
  try {
    const path = fileURLToPath(withoutQuery(url));
    const { mtimeMs, size } = statSync(path);
    const stamp = `${mtimeMs} ${size}`;
    const known = shared.get(url);
    const map = known?.stamp === stamp ? known.map.deref() : undefined;
    if (map !== undefined) return map;
    const read = readMap(url, path);
    if (shared.size >= MAX_MAPS) shared.clear();
    if (read !== null) shared.set(url, { stamp, map: new WeakRef(read) });
    return read;
  } catch {
    // A script without a readable map keeps its own positions.
    return null;
  }
}

/** Reads the map that a script on disk names in its last line: a file beside it, or the map itself. */
function readMap(url: string, path: string): LineMap | null {
  const text = readFileSync(path, 'utf8');
  const reference = /\/\/[#@] sourceMappingURL=(\S+)\s*$/.exec(text)?.[1];
  if (reference === undefined) return null;
  const inline = /^data:application\/json[^,]*?(;base64)?,(.*)$/s.exec(reference);
  if (inline === null) return parseMap(readFileSync(fileURLToPath(new URL(reference, url)), 'utf8'));
  const [, base64, data = ''] = inline;
  return parseMap(
    base64 === undefined ? decodeURIComponent(data) : Buffer.from(data, 'base64').toString('utf8'),
  );
}

function parseMap(json: string): LineMap | null {
  if (json.length > MAX_MAP_BYTES) return null;
  const payload = parsedJson(json);
  return isMap(payload) ? attempt(() => lineMap(payload), null) : null;
}

function isMap(value: unknown): value is MapPayload {
  return hasFields(value, { mappings: 'string', sources: 'object' }) && Array.isArray(value.sources);
}

// Finds for a place in a script that V8 runs the place in the file that the user wrote. A script that was compiled to
// disk says there where its map is; a script that a loader such as tsx compiled has its map only in the isolate that
// loaded it, which is asked for it once.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { SourcePosition } from '../../profile/cpuProfile.js';

/** Maps that are kept; beyond it all are forgotten and read again on demand. */
const MAX_MAPS = 2000;
/** Larger maps are not read: parsing one takes about as many microseconds as it has kilobytes. */
const MAX_MAP_BYTES = 32 * 1024 * 1024;

type SourceMapPayload = ConstructorParameters<typeof SourceMap>[0];

/** An expression that gives the map of a script inside an isolate, as JSON, or null. */
export function mapExpression(url: string): string {
  return `JSON.stringify(process.getBuiltinModule('node:module').findSourceMap(${JSON.stringify(url)})?.payload ?? null)`;
}

export class SourcePositions {
  /** Script → its map; null: it has none. */
  readonly #maps = new Map<string, SourceMap | null>();
  /** The text of a script on disk that has a map of its own belongs to it; others are asked for in their isolate. */
  readonly #compiledByLoader = /\.[cm]?tsx?$|\.jsx$/;

  /** The scripts among these that only an isolate can give the map of. */
  unknown(urls: Iterable<string>): string[] {
    return [...new Set(urls)].filter(
      (url) => !this.#maps.has(url) && this.#compiledByLoader.test(withoutQuery(url)),
    );
  }

  /** Takes the answer to `mapExpression`; anything else counts as none. */
  learn(url: string, json: unknown): void {
    this.#keep(url, typeof json === 'string' ? parseMap(json) : null);
  }

  /** Where a function begins; line and column from 0. */
  functionPosition(url: string, line: number, column: number): SourcePosition {
    const entry = this.#map(url)?.findEntry(line, column);
    if (entry !== undefined && 'originalSource' in entry)
      return { file: filePath(entry.originalSource, url), line: entry.originalLine + 1 };
    return { file: filePath(url, url), line: line + 1 };
  }

  /**
   * The line that ran, from 1; 0 if it is not known: V8 gives no column, and a compiler may put several lines into one, as
   * tsx does where nobody breaks them again (see relined.ts).
   */
  runningLine(url: string, line: number): number {
    const map = this.#map(url);
    if (map === null) return line;
    const last = map.findEntry(line - 1, Number.MAX_SAFE_INTEGER);
    if (!('originalLine' in last) || last.generatedLine !== line - 1) return 0;
    // The first mapping of the line lies behind its indentation.
    for (let column = 0; column < last.generatedColumn; column = 2 * column + 1) {
      const first = map.findEntry(line - 1, column);
      if ('originalLine' in first && first.generatedLine === line - 1)
        return first.originalLine === last.originalLine ? last.originalLine + 1 : 0;
    }
    return last.originalLine + 1;
  }

  #map(url: string): SourceMap | null {
    let map = this.#maps.get(url);
    if (map === undefined) {
      map = this.#compiledByLoader.test(withoutQuery(url)) ? null : readMap(url);
      this.#keep(url, map);
    }
    return map;
  }

  #keep(url: string, map: SourceMap | null): void {
    if (this.#maps.size >= MAX_MAPS) this.#maps.clear();
    this.#maps.set(url, map);
  }
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/, '');
}

/** A path for a file URL, and for a source that a map names relative to its script. */
function filePath(source: string, script: string): string {
  try {
    const url = new URL(source, script.startsWith('/') ? `file://${script}` : script);
    return url.protocol === 'file:' ? fileURLToPath(url) : source;
  } catch {
    return source;
  }
}

/** The map that a script on disk names in its last line: a file beside it, or the map itself. */
function readMap(url: string): SourceMap | null {
  if (!url.startsWith('file:')) return null;
  try {
    const text = readFileSync(fileURLToPath(withoutQuery(url)), 'utf8');
    const reference = /\/\/[#@] sourceMappingURL=(\S+)\s*$/.exec(text)?.[1];
    if (reference === undefined) return null;
    const inline = /^data:application\/json[^,]*?(;base64)?,(.*)$/s.exec(reference);
    if (inline === null) return parseMap(readFileSync(fileURLToPath(new URL(reference, url)), 'utf8'));
    const [, base64, data = ''] = inline;
    return parseMap(
      base64 === undefined ? decodeURIComponent(data) : Buffer.from(data, 'base64').toString('utf8'),
    );
  } catch {
    // A script without a readable map is shown as it runs.
    return null;
  }
}

function parseMap(json: string): SourceMap | null {
  if (json.length > MAX_MAP_BYTES) return null;
  try {
    const payload: unknown = JSON.parse(json);
    return isMap(payload) ? new SourceMap(payload) : null;
  } catch {
    return null;
  }
}

function isMap(value: unknown): value is SourceMapPayload {
  return (
    typeof value === 'object' &&
    value !== null &&
    'mappings' in value &&
    typeof value.mappings === 'string' &&
    'sources' in value &&
    Array.isArray(value.sources)
  );
}

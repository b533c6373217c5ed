// Restores the lines of compiled code. Loaders such as tsx put a module into one line, and V8 reports only the line of
// a sample. So a profile could not show positions inside a function. This file breaks lines according to the source
// map, unless a break would change the meaning, and adapts the map.
import { decode, encode, type SourceMapMappings, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import { parse, type Token } from 'acorn';
import { hasFields } from '../../base/json.js';

const MAP = /\/\/# sourceMappingURL=data:application\/json[^,\n]*;base64,([A-Za-z0-9+/=]+)\s*$/;
/** Tokens after which no line break is inserted, because ECMAScript gives it a meaning ("no LineTerminator here"). */
const NOT_AFTER: ReadonlySet<string> = new Set([
  'return',
  'throw',
  'break',
  'continue',
  'yield',
  'async',
  'accessor',
  'using',
]);
/**
 * Tokens before which no line break is inserted: the first two for the same reason, the others because a break would
 * become part of the text of a template.
 */
const NOT_BEFORE: ReadonlySet<string> = new Set(['=>', '++/--', '`', '${', 'template', 'invalidTemplate']);
/** Larger modules are not changed, in characters: parsing them twice takes some 100 ms. */
const MAX_LENGTH = 2_000_000;

/**
 * Returns a module with an inline source map, with the user's lines. Returns any other text unchanged, and code whose
 * tokens would change. Costs some milliseconds per 100 kB.
 */
export function relined(source: string): string {
  const found = source.length > MAX_LENGTH ? null : MAP.exec(source);
  if (found === null) return source;
  const code = source.slice(0, found.index);
  try {
    const map: unknown = JSON.parse(Buffer.from(found[1] ?? '', 'base64').toString('utf8'));
    if (!hasFields(map, { mappings: 'string' })) return source;
    const tokens = tokensOf(code);
    const { text, mappings } = broken(code, decode(map.mappings), breaksOf(code, tokens));
    if (!sameTokens(texts(code, tokens), texts(text, tokensOf(text)))) return source;
    const encoded = Buffer.from(JSON.stringify({ ...map, mappings: encode(mappings) })).toString('base64');
    return `${text}//# sourceMappingURL=data:application/json;base64,${encoded}\n`;
  } catch {
    // The text is no JavaScript that the parser accepts, or the map is invalid.
    return source;
  }
}

function tokensOf(code: string): Token[] {
  const tokens: Token[] = [];
  parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true, onToken: tokens });
  return tokens;
}

/** Returns the offsets of tokens before which a line may be broken. */
function breaksOf(code: string, tokens: readonly Token[]): Set<number> {
  const breaks = new Set<number>();
  let before = '';
  for (const { type, start, end } of tokens) {
    if (!NOT_BEFORE.has(type.label) && !NOT_AFTER.has(before)) breaks.add(start);
    before = code.slice(start, end);
  }
  return breaks;
}

function broken(
  code: string,
  mappings: SourceMapMappings,
  breaks: ReadonlySet<number>,
): { text: string; mappings: SourceMapMappings } {
  const lines = code.split('\n');
  const pieces: string[] = [];
  const moved: SourceMapMappings = [];
  let offset = 0;
  for (const [index, line] of lines.entries()) {
    let from = 0;
    let segments: SourceMapSegment[] = [];
    let current: number | undefined;
    for (const segment of mappings[index] ?? []) {
      const [column] = segment;
      const original = segment[2];
      if (original !== undefined && original !== current && column > from && breaks.has(offset + column)) {
        pieces.push(line.slice(from, column));
        moved.push(segments);
        segments = [];
        from = column;
      }
      if (original !== undefined && (current === undefined || from === column)) current = original;
      segments.push(shifted(segment, from));
    }
    pieces.push(line.slice(from));
    moved.push(segments);
    offset += line.length + 1;
  }
  return { text: pieces.join('\n'), mappings: moved };
}

function shifted(segment: SourceMapSegment, by: number): SourceMapSegment {
  const [column, ...rest] = segment;
  const [source, line, at, name] = rest;
  if (source === undefined || line === undefined || at === undefined) return [column - by];
  return name === undefined ? [column - by, source, line, at] : [column - by, source, line, at, name];
}

/** Yields the texts of the tokens; the text between them has no meaning. */
function* texts(code: string, tokens: readonly Token[]): Generator<string> {
  for (const { start, end } of tokens) yield code.slice(start, end);
}

function sameTokens(one: Generator<string>, other: Generator<string>): boolean {
  for (const text of one) if (other.next().value !== text) return false;
  return other.next().done === true;
}

// One source file: parsed with acorn, walked once.
import { type Options, parse } from 'acorn';
import { ShapeTable, type Summary } from './summary.js';

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

/** Fields that say where or how a thing is spelled, and not how the code is built. */
const NOT_STRUCTURE = new Set([
  'type',
  'start',
  'end',
  'name',
  'value',
  'raw',
  'bigint',
  'regex',
  'directive',
  'sourceType',
]);

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** A file that does not parse gives a summary with one failure: it is counted, not hidden. */
export function summariseSource(text: string, bytes: number, file: number): Summary {
  const lineStarts = findLineStarts(text);
  // A last line without a newline counts; nothing after a last newline does not.
  const lines = lineStarts.length - (text === '' || text.endsWith('\n') ? 1 : 0);
  const size = { files: 1, lines, bytes };
  try {
    const walk = new Walk(file, lineStarts);
    walk.visit(parseAny(text), 1);
    return { ...walk.summary(), ...size, failures: [] };
  } catch (error) {
    // SyntaxError of the parser, or RangeError where the code is nested deeper than the stack allows.
    const message = error instanceof Error ? error.message : String(error);
    return { ...new Walk(file, lineStarts).summary(), ...size, failures: [{ file, message }] };
  }
}

/** As a module, and if it is none as a CommonJS script. If it is neither, the module's error is thrown. */
function parseAny(text: string): SyntaxNode {
  const options: Options = { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true };
  let program: unknown;
  try {
    program = parse(text, options);
  } catch (error) {
    try {
      program = parse(text, { ...options, sourceType: 'script', allowReturnOutsideFunction: true });
    } catch {
      throw error;
    }
  }
  if (!isNode(program)) throw new TypeError('The parser returned no program.');
  return program;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** Counts kinds, depth and function shapes below one program. A shape is hashed bottom-up in two 32-bit lanes. */
class Walk {
  readonly #file: number;
  readonly #lineStarts: readonly number[];
  readonly #kinds = new Map<string, number>();
  readonly #shapes = new ShapeTable();
  #depth = 0;
  #deepestAt = 0;
  /** Hash and number of nodes of the subtree that was visited last. */
  #high = 0;
  #low = 0;
  #size = 0;

  constructor(file: number, lineStarts: readonly number[]) {
    this.#file = file;
    this.#lineStarts = lineStarts;
  }

  visit(node: SyntaxNode, depth: number): void {
    const { type } = node;
    this.#kinds.set(type, (this.#kinds.get(type) ?? 0) + 1);
    if (depth > this.#depth) {
      this.#depth = depth;
      this.#deepestAt = node.start;
    }
    let high = hashText(type);
    let low = ~high;
    let size = 1;
    for (const field in node) {
      const value = node[field];
      const children = isNode(value) ? [value] : Array.isArray(value) ? value : undefined;
      if (children === undefined) {
        // Operators, `const` or `let`, `async`, `computed` and the like.
        if (NOT_STRUCTURE.has(field) || value === null || value === undefined) continue;
        const hash = hashText(`${field}=${value}`);
        high = mix(high, hash);
        low = mix(low, ~hash);
        continue;
      }
      low = mix(low, children.length);
      for (const child of children) {
        if (!isNode(child)) continue;
        this.visit(child, depth + 1);
        high = mix(high, this.#high);
        low = mix(low, this.#low);
        size += this.#size;
      }
    }
    this.#high = high;
    this.#low = low;
    this.#size = size;
    if (FUNCTIONS.has(type)) {
      const hash = (high >>> 0) * 2097152 + (low >>> 11);
      this.#shapes.add(hash, 1, size, this.#file, this.#lineOf(node.start));
    }
  }

  summary(): Pick<Summary, 'kinds' | 'deepest' | 'shapes'> {
    return {
      kinds: this.#kinds,
      deepest: {
        depth: this.#depth,
        file: this.#file,
        line: this.#depth === 0 ? 0 : this.#lineOf(this.#deepestAt),
      },
      shapes: this.#shapes.toColumns(),
    };
  }

  /** 1-based line of an offset, by bisection. */
  #lineOf(offset: number): number {
    let low = 0;
    let high = this.#lineStarts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** One round of MurmurHash3. */
function mix(hash: number, value: number): number {
  let k = Math.imul(value, 0xcc9e2d51);
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
  const mixed = hash ^ k;
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

const textHashes = new Map<string, number>();

function hashText(text: string): number {
  const known = textHashes.get(text);
  if (known !== undefined) return known;
  let hash = text.length;
  for (let i = 0; i < text.length; i++) hash = mix(hash, text.charCodeAt(i));
  textHashes.set(text, hash);
  return hash;
}

// Summarises one source file: parses it with acorn and walks its tree once.
import { type Options, parse } from 'acorn';
import { ShapeTable, type Summary } from './summary.js';

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

/** Fields of a node that hold its position or spelling, not the structure of the code. */
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

/** Summarises a file. The summary of a file that does not parse has one failure. */
export function summariseSource(text: string, bytes: number, file: number): Summary {
  const lineStarts = findLineStarts(text);
  // A last line without a newline counts. The empty text after a last newline does not.
  const lines = lineStarts.length - (text === '' || text.endsWith('\n') ? 1 : 0);
  const size = { files: 1, lines, bytes };
  try {
    const walk = new Walk(file, lineStarts);
    walk.visit(parseAny(text), 1);
    return { ...walk.summary(), ...size, failures: [] };
  } catch (error) {
    // The parser throws a SyntaxError, or a RangeError if the code is nested too deeply for the stack.
    const message = error instanceof Error ? error.message : String(error);
    return { ...new Walk(file, lineStarts).summary(), ...size, failures: [{ file, message }] };
  }
}

/** Parses a module, or else a CommonJS script. Throws the error of the module if the text is neither. */
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

/** Counts kinds, depth and function shapes of one program. A shape is hashed bottom-up in two 32-bit lanes. */
class Walk {
  readonly #file: number;
  readonly #lineStarts: readonly number[];
  readonly #kinds = new Map<string, number>();
  readonly #shapes = new ShapeTable();
  #depth = 0;
  #deepestAt = 0;
  /** Hash (`#high`, `#low`) and number of nodes of the subtree that was visited last. */
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
        // Such fields are operators, `const` or `let`, `async`, `computed` and so on.
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

  /** Returns the 1-based line of an offset, by bisection. */
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

/** Mixes a value into a hash with one round of MurmurHash3. */
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

// Finds the names that a function uses from outside itself. eslint-scope resolves the variables. `this`, `super` and
// `import.meta` are not variables, so they are found in the syntax tree.
import type { MetaProperty, Node, UnaryExpression } from 'acorn';
import type { Program as EstreeProgram } from 'estree';
import { loadPackage } from '../base/packages.js';
import type { FunctionSource } from './functionSource.js';

/** A name that a function uses and does not define, with its position in the text. */
export interface OutsideUse {
  readonly name: string;
  readonly kind: 'variable' | 'this' | 'super' | 'import.meta';
  readonly start: number;
}

/**
 * Returns the names that a function uses and an isolate lacks, in the order of the text. A name may occur more than
 * once.
 */
export function outsideUses({ program, node, kind }: FunctionSource): OutsideUse[] {
  const walk = new Walk();
  walk.visitChildren(node, kind === 'arrow' ? 'none' : 'this');
  const { uses, probed } = walk;
  if (isEstree(program)) {
    const { analyze } = loadPackage('eslint-scope');
    const { globalScope } = analyze(program, { ecmaVersion: 2026, sourceType: 'script', ignoreEval: true });
    for (const { identifier } of globalScope?.through ?? []) {
      const start = identifier.range?.[0] ?? 0;
      // A method's computed key lies outside the function, and its value is already known.
      const inside = start >= node.start && start < node.end;
      if (inside && !probed.has(start) && !KNOWN_GLOBALS.has(identifier.name))
        uses.push({ name: identifier.name, kind: 'variable', start });
    }
  }
  return uses.sort((a, b) => a.start - b.start);
}

/** acorn's trees are ESTree's; only the declarations of the two packages differ. */
function isEstree(node: object): node is EstreeProgram {
  return 'type' in node && node.type === 'Program';
}

/**
 * The names that are bound in a piece of code: neither `this` nor `super` (an arrow function), `this` alone (the
 * function itself), or both (an inner function or class).
 */
type Binding = 'none' | 'this' | 'all';

class Walk {
  readonly uses: OutsideUse[] = [];
  /** Positions of names under `typeof`, which does not throw for unknown names. */
  readonly probed = new Set<number>();

  visitChildren(node: Node, binding: Binding): void {
    for (const child of childrenOf(node)) this.visitChildren(child, this.#enter(child, binding));
  }

  /** Records what the node itself uses. Returns the binding of its children. */
  #enter(node: Node, binding: Binding): Binding {
    const { start } = node;
    switch (node.type) {
      case 'ThisExpression':
        if (binding === 'none') this.uses.push({ name: 'this', kind: 'this', start });
        return binding;
      case 'Super':
        if (binding !== 'all') this.uses.push({ name: 'super', kind: 'super', start });
        return binding;
      case 'MetaProperty':
        if (isImportMeta(node)) this.uses.push({ name: 'import.meta', kind: 'import.meta', start });
        return binding;
      case 'UnaryExpression':
        if (isTypeof(node) && node.argument.type === 'Identifier') this.probed.add(node.argument.start);
        return binding;
      case 'FunctionExpression':
      case 'FunctionDeclaration':
      case 'ClassBody':
        return 'all';
      default:
        return binding;
    }
  }
}

function isImportMeta(node: Node): node is MetaProperty {
  return 'meta' in node && isNode(node.meta) && 'name' in node.meta && node.meta.name === 'import';
}

function isTypeof(node: Node): node is UnaryExpression {
  return 'operator' in node && node.operator === 'typeof';
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function* childrenOf(node: Node): Iterable<Node> {
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) yield* value.filter(isNode);
    else if (isNode(value)) yield value;
  }
}

// Lists the names that every isolate defines, so that a shipped function may use them. The list is fixed, because a
// worker lacks other properties of the caller's global object.

const LANGUAGE = `
  globalThis undefined NaN Infinity
  eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape
  Object Function Boolean Symbol Number BigInt Math Date String RegExp JSON Reflect Proxy Intl
  Array Map Set WeakMap WeakSet WeakRef FinalizationRegistry Iterator
  ArrayBuffer SharedArrayBuffer DataView Atomics
  Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array
  BigInt64Array BigUint64Array Float16Array Float32Array Float64Array
  Promise AsyncDisposableStack DisposableStack Temporal
  Error AggregateError EvalError RangeError ReferenceError SuppressedError SyntaxError TypeError URIError
  WebAssembly
`;

/** Globals of a Node worker in every supported version. */
const NODE = `
  global process Buffer console performance navigator crypto
  setTimeout clearTimeout setInterval clearInterval setImmediate clearImmediate queueMicrotask structuredClone
  fetch Request Response Headers FormData WebSocket EventSource CloseEvent MessageEvent
  URL URLSearchParams URLPattern TextEncoder TextDecoder TextEncoderStream TextDecoderStream atob btoa Blob File
  AbortController AbortSignal Event EventTarget CustomEvent DOMException
  MessageChannel MessagePort BroadcastChannel
  ReadableStream ReadableStreamDefaultReader ReadableStreamBYOBReader ReadableStreamBYOBRequest
  ReadableByteStreamController ReadableStreamDefaultController
  WritableStream WritableStreamDefaultWriter WritableStreamDefaultController
  TransformStream TransformStreamDefaultController
  ByteLengthQueuingStrategy CountQueuingStrategy CompressionStream DecompressionStream
  Crypto CryptoKey SubtleCrypto Navigator
  Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList
  PerformanceResourceTiming
`;

/** Helpers that bundlers call inside compiled functions, and that the isolate defines. esbuild and tsx: `__name`. */
const HELPERS = '__name';

/** All names that a shipped function may use without defining them. */
const KNOWN_GLOBALS: ReadonlySet<string> = new Set(
  `${LANGUAGE} ${NODE} ${HELPERS}`.split(/\s+/).filter((name) => name !== ''),
);

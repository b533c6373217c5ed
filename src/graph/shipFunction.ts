// Sends functions to other isolates: by module, by path from the global object, or as source text.

import type { MetaProperty, Node, UnaryExpression } from 'acorn';
import type { Program as EstreeProgram } from 'estree';
import { LongpoleError } from '../base/errors.js';
import { getOrMake } from '../base/lookUps.js';
import { loadPackage } from '../base/packages.js';
import type { FunctionRef } from '../protocol/functionRef.js';
import { type AnyFunction, isFunction, resolveFunction } from './callable.js';
import { functionName } from './functionName.js';
import { type FunctionSource, functionSource, isSloppy, sourceText } from './functionSource.js';
import { notDask, pythonName } from './pythonName.js';
import { registeredTasks, taskDefinition } from './taskRegistry.js';

/** Function → its reference or its error. */
const sourceRefs = new WeakMap<AnyFunction, FunctionRef | LongpoleError>();

/** The same by all that they depend on: a loop makes a new function in each turn, and to parse one takes 70 µs. */
const refsByText = new Map<string, FunctionRef | LongpoleError>();
/** Most texts, and characters of them, that are kept. Beyond it all are discarded, and parsed again on demand. */
const [MAX_TEXTS, MAX_CHARACTERS] = [1000, 4_000_000];
let characters = 0;

/**
 * Returns the reference by which another isolate finds or rebuilds a function. A function of tasks() is imported with its
 * module. A global such as `Math.max` is looked up. For any other function the source text is sent; it must not use
 * variables from outside, except globals of every isolate. Equal texts are parsed once.
 *
 * @throws LongpoleError ERR_LONGPOLE_FREE_VARIABLE if the function uses a variable from outside itself;
 * ERR_LONGPOLE_NOT_SHIPPABLE if it cannot be rebuilt from its text (bound and native functions, classes, getters,
 * `super`, `import.meta`); ERR_LONGPOLE_MODULE_TASK if its module has since registered another function by its name
 */
export function functionRef(fn: AnyFunction): FunctionRef {
  const target = resolveFunction(fn);
  const python = pythonName(target);
  if (python !== undefined) return { type: 'python', target: python, name: functionName(target) };
  const moduleRef = findModuleRef(target);
  if (moduleRef !== undefined) return moduleRef;
  const ref = getOrMake(sourceRefs, target, () => findGlobalRef(target) ?? sourceRef(target));
  if (ref instanceof LongpoleError) throw new LongpoleError(ref.code, ref.message);
  if (ref.type === 'source' && originalOf(ref) === undefined) originals.set(ref, new WeakRef(target));
  return ref;
}

/** Reference → the first of its functions that exist, which the reference does not keep alive. */
const originals = new WeakMap<FunctionRef, WeakRef<AnyFunction>>();

/** Returns a function of this isolate that was sent as source text; undefined if it was garbage-collected. */
export function originalOf(ref: FunctionRef): AnyFunction | undefined {
  return originals.get(ref)?.deref();
}

/**
 * Returns the references of a plan's functions.
 *
 * @param runsPython whether the workers can run Python
 * @throws LongpoleError ERR_LONGPOLE_NOT_DASK for a function of Python that the workers cannot run; see functionRef
 */
export function functionRefs(functions: readonly AnyFunction[], runsPython: boolean): FunctionRef[] {
  return functions.map((fn) => {
    const ref = functionRef(fn);
    if (ref.type === 'python' && !runsPython) throw notDask(ref.target);
    return ref;
  });
}

function findModuleRef(fn: AnyFunction): FunctionRef | undefined {
  const definition = taskDefinition(fn);
  if (definition === undefined) return undefined;
  const { url, name } = definition;
  const current = registeredTasks(url)?.get(name);
  if (current !== fn && String(current) !== String(fn)) {
    throw new LongpoleError(
      'ERR_LONGPOLE_MODULE_TASK',
      `The module ${url} has defined the task '${name}' again, with another function. ` +
        'Give the functions different names in tasks(), or, if the module was reloaded, use the functions of the new module.',
    );
  }
  return { type: 'module', url, name };
}

function findGlobalRef(fn: AnyFunction): FunctionRef | undefined {
  const path = globalPath(fn);
  return path === undefined ? undefined : { type: 'global', path, name: functionName(fn) };
}

function sourceRef(fn: AnyFunction): FunctionRef | LongpoleError {
  const text = sourceText(fn);
  if (refsByText.size >= MAX_TEXTS || characters >= MAX_CHARACTERS) {
    refsByText.clear();
    characters = 0;
  }
  const key = `${isSloppy(fn, text)} ${functionName(fn)} ${String(fn.name)} ${text}`;
  return getOrMake(refsByText, key, () => {
    characters += key.length;
    return makeSourceRef(fn);
  });
}

function makeSourceRef(fn: AnyFunction): FunctionRef | LongpoleError {
  const name = functionName(fn);
  const source = functionSource(fn);
  if ('reason' in source) return notShippable(name, source.reason);
  const uses = outsideUses(source);
  const [first] = uses;
  if (first === undefined) return { type: 'source', expression: source.expression, name };
  switch (first.kind) {
    case 'variable':
      return freeVariable(name, uses);
    case 'this':
      return notShippable(name, 'it is an arrow function that uses the `this` of the code around it');
    case 'super':
      return notShippable(name, 'it uses `super`, which belongs to its object');
    case 'import.meta':
      return notShippable(name, 'it uses `import.meta`, which belongs to the module around it');
  }
}

const MODULE_ADVICE =
  'move the function to a separate module and define it there with tasks(import.meta.url, { … })';

function notShippable(name: string, reason: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_NOT_SHIPPABLE',
    `The function '${name}' cannot be sent to another isolate: ${reason}. ` +
      `Write it as a plain function that receives all values as arguments, or ${MODULE_ADVICE}.`,
  );
}

/** Number of further names that an error lists. */
const MAX_LISTED = 4;

function freeVariable(name: string, uses: readonly OutsideUse[]): LongpoleError {
  const names = [...new Set(uses.filter((use) => use.kind === 'variable').map((use) => use.name))];
  const [first = '', ...others] = names;
  const listed = others.slice(0, MAX_LISTED).map((other) => `'${other}'`);
  if (others.length > MAX_LISTED) listed.push(`${others.length - MAX_LISTED} more`);
  const also = listed.length > 0 ? ` (and ${listed.join(', ')})` : '';
  const own =
    first === name ? ' Its own text does not define that name: write it as `function` with a name.' : '';
  return new LongpoleError(
    'ERR_LONGPOLE_FREE_VARIABLE',
    `The function '${name}' uses '${first}'${also}, which it does not define; only its own source text is sent to another isolate.${own} ` +
      `Pass what it needs as an argument, or ${MODULE_ADVICE}.`,
  );
}

// Finds the functions that every isolate has by their path from the global object, e.g. `Math.max`.

/** Globals that can be called without `new` (a Map or a Promise cannot). */
const CALLABLE = `
  isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape
  Object Boolean Symbol Number BigInt Date String RegExp Array
  Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError
  queueMicrotask structuredClone fetch atob btoa
`;

/** Globals whose methods are found: `Math.max`, `Object.keys`. */
const NAMESPACES = `
  Math JSON Reflect Atomics Intl Object Number BigInt Date String Array Symbol Promise ArrayBuffer
  Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array
  BigInt64Array BigUint64Array Float32Array Float64Array
  WebAssembly Buffer console process performance
`;

const words = (list: string): string[] => list.split(/\s+/).filter((name) => name !== '');

let paths: ReadonlyMap<AnyFunction, string> | undefined;

/** Returns the path of a global function, e.g. `JSON.stringify`. Undefined if it has none or needs `new`. */
function globalPath(fn: AnyFunction): string | undefined {
  paths ??= collectPaths();
  return paths.get(fn);
}

/** Keeps the first path of a function: `parseFloat`, not the same function as `Number.parseFloat`. */
function collectPaths(): ReadonlyMap<AnyFunction, string> {
  const found = new Map<AnyFunction, string>();
  const add = (value: unknown, path: string): void => {
    if (isFunction(value) && !found.has(value)) found.set(value, path);
  };
  for (const name of words(CALLABLE)) add(Reflect.get(globalThis, name), name);
  for (const name of words(NAMESPACES)) {
    const namespace: unknown = Reflect.get(globalThis, name);
    if (namespace === null || (typeof namespace !== 'object' && typeof namespace !== 'function')) continue;
    for (const [member, property] of Object.entries(Object.getOwnPropertyDescriptors(namespace)))
      if (member !== 'prototype' && member !== 'constructor') add(property.value, `${name}.${member}`);
  }
  return found;
}

// Finds the names that a function uses from outside itself. eslint-scope resolves the variables. `this`, `super` and
// `import.meta` are not variables, so they are found in the syntax tree.

/** A name that a function uses and does not define, with its position in the text. */
interface OutsideUse {
  readonly name: string;
  readonly kind: 'variable' | 'this' | 'super' | 'import.meta';
  readonly start: number;
}

/**
 * Returns the names that a function uses and an isolate lacks, in the order of the text. A name may occur more than
 * once.
 */
function outsideUses({ program, node, kind }: FunctionSource): OutsideUse[] {
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
const KNOWN_GLOBALS: ReadonlySet<string> = new Set(words(`${LANGUAGE} ${NODE} ${HELPERS}`));

// Converts the source text of a function to an expression that evaluates to an equal function in another isolate. The text
// of a method is not an expression, the text of an arrow function lacks its name, and no text shows whether it is strict.

import type { FunctionExpression, Node, Options, parse as Parse, Program } from 'acorn';
import { attempt, messageOf } from '../base/errors.js';
import { loadPackage } from '../base/packages.js';
import type { AnyFunction } from './callable.js';

/** A function whose text could be parsed. */
export interface FunctionSource {
  readonly program: Program;
  /** The function, without the key if it is a method. `start` and `end` are positions in the program's text. */
  readonly node: Node;
  readonly kind: 'arrow' | 'function' | 'method';
  /** Source text that evaluates to the function. */
  readonly expression: string;
}

/** Explains why a function cannot be rebuilt: a sentence about "it", without a full stop. */
export interface NoFunctionSource {
  readonly reason: string;
}

/** The parser accepts `import.meta`, so that this package can refuse it with its own message. */
const OPTIONS: Options = { ecmaVersion: 'latest', ranges: true, allowImportExportEverywhere: true };

type Parser = typeof Parse;

export function sourceText(fn: AnyFunction): string {
  return Function.prototype.toString.call(fn);
}

/** Parses the text of a function. Never throws. */
export function functionSource(fn: AnyFunction): FunctionSource | NoFunctionSource {
  const text = sourceText(fn);
  if (/\{\s*\[native code\]\s*\}\s*$/.test(text)) return { reason: nativeReason(fn) };
  const sloppy = isSloppy(fn, text);
  const { parse } = loadPackage('acorn');
  const attempts = [
    () => parseExpression(parse, fn, text, !sloppy),
    () => parseMethod(parse, fn, text, !sloppy),
  ];
  if (!sloppy)
    attempts.push(
      () => parseExpression(parse, fn, text, false),
      () => parseMethod(parse, fn, text, false),
    );
  const problems: unknown[] = [];
  for (const attempt of attempts) {
    try {
      return attempt();
    } catch (error) {
      problems.push(error);
    }
  }
  return { reason: `its source text cannot be parsed on its own: ${likeliest(problems)}` };
}

/** Returns the message of the parse error at the furthest position, which is the most useful of several errors. */
function likeliest(problems: readonly unknown[]): string {
  const position = (problem: unknown): number =>
    problem instanceof SyntaxError && 'pos' in problem ? Number(problem.pos) : -1;
  const furthest = problems.reduce((best, problem) => (position(problem) > position(best) ? problem : best));
  const message = messageOf(furthest);
  return message.replace(/ \(\d+:\d+\)$/, '');
}

/**
 * Returns the number of arguments that a function uses at most; undefined if its text does not show that, e.g. because it
 * has default values, takes any number, or is built into the engine.
 */
export function parameterCount(fn: AnyFunction): number | undefined {
  const source = functionSource(fn);
  if (!('node' in source) || /\barguments\b/.test(source.expression)) return undefined;
  const { node } = source;
  // `length` does not count parameters from the first default value on.
  return 'params' in node && Array.isArray(node.params) && node.params.length === fn.length
    ? fn.length
    : undefined;
}

function nativeReason(fn: AnyFunction): string {
  if (fn.name.startsWith('bound ')) return 'it was made by bind(), which leaves no source text';
  return 'it is built into the engine and is not a global that every isolate has';
}

/**
 * Returns whether a function is not strict. Only such functions have a `caller`, which is null while they do not run.
 * It is an own property up to Node 24 and inherited from then on; strict functions throw. Arrow functions and methods
 * throw in both modes and count as strict. To throw takes 10 µs, so their texts are not tried.
 */
export function isSloppy(fn: AnyFunction, text: string): boolean {
  if (!/^(async\b[^(]*)?function\b/.test(text)) return false;
  return attempt(() => Reflect.get(fn, 'caller') !== undefined, false);
}

function parseExpression(
  parse: Parser,
  fn: AnyFunction,
  text: string,
  strict: boolean,
): FunctionSource | NoFunctionSource {
  const program = parse(`(${text})`, { ...OPTIONS, strict });
  const [statement] = program.body;
  if (statement?.type !== 'ExpressionStatement') return { reason: 'its source text is not a function' };
  const node = statement.expression;
  switch (node.type) {
    case 'ClassExpression':
      return { reason: 'it is a class, which can only be called with `new`; wrap it in a function' };
    case 'ArrowFunctionExpression':
      return { program, node, kind: 'arrow', expression: finish(named(fn, text), strict) };
    case 'FunctionExpression':
      return {
        program,
        node,
        kind: 'function',
        expression: finish(node.id ? text : named(fn, text), strict),
      };
    default:
      return { reason: 'its source text is not a function' };
  }
}

/** Parses a method of an object or of a class. Keeps only its function, which is called by the method's name. */
function parseMethod(
  parse: Parser,
  fn: AnyFunction,
  text: string,
  strict: boolean,
): FunctionSource | NoFunctionSource {
  const isPrivate = /^(async\b\s*)?\*?\s*#/.test(text);
  const [open, close] = isPrivate ? ['(class{', '})'] : ['({', '})'];
  const source = open + text + close;
  const program = parse(source, { ...OPTIONS, strict });
  const method = methodOf(program);
  if (method === undefined) return { reason: 'it is a getter or a setter' };
  const { async, generator, start, end } = method;
  const body = source.slice(start, end);
  const key = `[${JSON.stringify(fn.name)}]`;
  const expression = `({ ${async ? 'async ' : ''}${generator ? '*' : ''}${key}${body} })${key}`;
  return { program, node: method, kind: 'method', expression: finish(expression, strict) };
}

function methodOf(program: Program): FunctionExpression | undefined {
  const [statement] = program.body;
  const container = statement?.type === 'ExpressionStatement' ? statement.expression : undefined;
  if (container?.type === 'ObjectExpression') {
    const [property] = container.properties;
    if (property?.type !== 'Property' || property.kind !== 'init') return undefined;
    return property.value.type === 'FunctionExpression' ? property.value : undefined;
  }
  if (container?.type !== 'ClassExpression') return undefined;
  const [member] = container.body.body;
  return member?.type === 'MethodDefinition' && member.kind === 'method' ? member.value : undefined;
}

/** Assigns the expression to a property, because an anonymous function takes its name from the property. */
function named(fn: AnyFunction, text: string): string {
  const name: unknown = fn.name;
  if (typeof name !== 'string' || name === '') return text;
  const key = `[${JSON.stringify(name)}]`;
  return `({ ${key}: ${text} })${key}`;
}

/** Adds `use strict` where needed: modules and classes are strict, but evaluated text is not. */
function finish(expression: string, strict: boolean): string {
  return strict ? `(() => { "use strict"; return ${expression}; })()` : expression;
}

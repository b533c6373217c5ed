import { CALL_BASE } from '../protocol/program.js';
import { type AnyFunction, resolveFunction } from './callable.js';
import { tooManyFunctionsError } from './compileErrors.js';

/** The distinct functions of a graph, with a number each. */
export class FunctionTable {
  readonly functions: AnyFunction[] = [];
  readonly #numbers = new Map<AnyFunction, number>();

  /** Returns the number of a function or TaskFunction. Both are cached, because most graphs have few functions. */
  numberOf(value: AnyFunction): number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    const fn = resolveFunction(value);
    let number = this.#numbers.get(fn);
    if (number === undefined) {
      number = this.functions.length;
      if (number === CALL_BASE) throw tooManyFunctionsError();
      this.functions.push(fn);
      this.#numbers.set(fn, number);
    }
    this.#numbers.set(value, number);
    return number;
  }
}

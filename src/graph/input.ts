// Types of arguments. A Delayed of a value is allowed wherever the value is, also inside containers.
import type { AnyFunction } from './callable.js';
import type { Delayed } from './delayed.js';
import type { External } from './external.js';
import type { Literal } from './literal.js';

/** Values that are data as a whole: a Delayed inside them is not found. */
type Opaque =
  | string
  | number
  | bigint
  | boolean
  | symbol
  | null
  | undefined
  | AnyFunction
  | Date
  | RegExp
  | Error
  | ArrayBufferLike
  | ArrayBufferView
  | Promise<unknown>;

/** The type that a task accepts where its function takes a `T`. */
export type Input<T> = T | Delayed<T> | Later<T> | Literal<T> | Nested<T>;

/** A Future of a `T`. */
type Later<T> = External & { result(): Promise<T> };

/** Distributes over unions: containers among the members of `T` may have inputs as parts. */
type Nested<T> = T extends Opaque
  ? never
  : T extends readonly unknown[]
    ? List<T>
    : T extends ReadonlyMap<infer K, infer V>
      ? ReadonlyMap<Input<K>, Input<V>>
      : T extends ReadonlySet<infer V>
        ? ReadonlySet<Input<V>>
        : T extends object
          ? Inputs<T>
          : never;

/** Arrays are spelled out instead of mapped, because the compiler defers them, and recursive types stay finite. */
type List<T extends readonly unknown[]> = number extends T['length']
  ? readonly Input<T[number]>[]
  : Inputs<T>;

/** The same tuple, array or object with an input for every part. */
export type Inputs<T> = { [K in keyof T]: Input<T[K]> };

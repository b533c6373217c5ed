// The types of arguments: wherever a value may stand, a Delayed of it may stand, also inside containers.
import type { AnyFunction } from './callable.js';
import type { Delayed } from './delayed.js';
import type { External } from './external.js';
import type { Literal } from './literal.js';

/** Values that are data as a whole: no Delayed is looked for inside them. */
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

/** What a task accepts where its function takes a `T`. */
export type Input<T> = T | Delayed<T> | Later<T> | Literal<T> | Nested<T>;

/** A Future of a `T`. */
type Later<T> = External & { result(): Promise<T> };

/** Distributes over unions: the containers among the members of `T`, with inputs for parts. */
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

/** Arrays are spelled as such, and not mapped, because the compiler defers them: recursive types stay finite. */
type List<T extends readonly unknown[]> = number extends T['length']
  ? readonly Input<T[number]>[]
  : Inputs<T>;

/** The same tuple, array or object with an input for every part. */
export type Inputs<T> = { [K in keyof T]: Input<T[K]> };

// Compiled, never run. Checks which types tasks(), delayed() and Delayed infer, and which arguments they reject.
import { compute, type Delayed, delayed, type Input, type TaskFunction, tasks } from 'longpole';
import { type Equal, expectType } from './equal.js';

interface Point {
  readonly x: number;
  readonly label?: string;
}

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

const functions = {
  add(a: number, b: number) {
    return a + b;
  },
  async load(path: string, encoding?: 'utf8' | 'latin1') {
    return [path, encoding ?? ''];
  },
  sum: (numbers: readonly number[]) => numbers.length,
  longest: (...texts: string[]) => texts[0],
  move: (point: Point, by: readonly [number, number]) => ({ ...point, by }),
  count: (table: Map<string, number[]>, names: Set<string>) => table.size + names.size,
  norm: (values: Float64Array) => values.length,
  flag: (on: boolean) => on,
  walk: (json: Json) => JSON.stringify(json),
  identity: <T>(value: T) => value,
  nothing: () => {},
};

const made = tasks('file:///tasks.js', functions);
const { add, load, sum, longest, move, count, norm, flag, walk, identity, nothing } = made;

// Results: promises are awaited.
const three = add(1, 2);
const lines = load('a');
expectType<Equal<typeof three, Delayed<number>>>();
expectType<Equal<typeof lines, Delayed<string[]>>>();
expectType<Equal<ReturnType<typeof three.compute>, Promise<number>>>();
expectType<Equal<ReturnType<typeof nothing>, Delayed<void>>>();
expectType<Equal<typeof three.key, string>>();
const moved = move({ x: 1 }, [1, 2]);
expectType<Equal<typeof moved, Delayed<{ by: readonly [number, number]; x: number; label?: string }>>>();

// Arguments: values, Delayed, and containers that hold Delayed.
add(three, 2);
add(add(1, three), three);
load('a', 'utf8');
load(longestText(), undefined);
sum([1, three, add(1, 2)]);
sum(sumInput());
longest('a', walk({ a: [1, null] }));
move({ x: three, label: walk('a') }, [three, 2]);
move(point(), pair());
count(new Map([['a', [1, three]]]), new Set(['a', walk(1)]));
count(new Map([[walk(1), numbers()]]), names());
norm(new Float64Array(1));
norm(floats());
flag(true);
flag(delayed(() => true)());
walk([1, three, { deep: [walk('x'), { a: three }] }]);
identity(three);

// Generic functions degrade to unknown.
expectType<Equal<ReturnType<typeof identity>, Delayed<unknown>>>();

// Wrong arguments.
// @ts-expect-error a string is not a number
add('1', 2);
// @ts-expect-error a Delayed of a string is not a Delayed of a number
add(walk(1), 2);
// @ts-expect-error one argument is missing
add(1);
// @ts-expect-error there is one argument too many
add(1, 2, 3);
// @ts-expect-error there is no such encoding
load('a', 'ascii');
// @ts-expect-error an element is wrong
sum([1, 'a']);
// @ts-expect-error a Delayed element is wrong
sum([1, walk(1)]);
// @ts-expect-error a rest argument is wrong
longest('a', three);
// @ts-expect-error a property is wrong
move({ x: walk(1) }, [1, 2]);
// @ts-expect-error a tuple is too short
move({ x: 1 }, [1]);
// @ts-expect-error there is no such property
move({ x: 1, y: 2 }, [1, 2]);
// @ts-expect-error the value of a Map is wrong
count(new Map([['a', [walk(1)]]]), new Set<string>());
// @ts-expect-error typed arrays do not hold Delayed
norm([three]);
// @ts-expect-error a Delayed is not a number
takesNumber(three);

// Wrong arguments of tasks() and delayed().
// @ts-expect-error a number is not a function
tasks('file:///tasks.js', { five: 5 });
// @ts-expect-error import.meta is not a URL
tasks(import.meta, { add: functions.add });
// @ts-expect-error a string is not a function
delayed('add');
// @ts-expect-error there is no such option
delayed(functions.add, { nout: 2 });
// @ts-expect-error there is no such task
made.subtract;

// A parameter without a type in an inline definition is unknown.
const inline = tasks('file:///inline.js', {
  double(a: number) {
    return 2 * a;
  },
  async shout(text) {
    expectType<Equal<typeof text, unknown>>();
    return String(text).toUpperCase();
  },
});
expectType<Equal<ReturnType<typeof inline.double>, Delayed<number>>>();
expectType<Equal<ReturnType<typeof inline.shout>, Delayed<string>>>();

// delayed() of functions and of TaskFunctions; options keep the types.
const inc = delayed((a: number) => a + 1, { name: 'inc', pure: true });
expectType<Equal<typeof inc, TaskFunction<(a: number) => number>>>();
expectType<Equal<typeof inc.fn, (a: number) => number>>();
const again = delayed(add);
expectType<Equal<ReturnType<typeof again>, Delayed<number>>>();
again(inc(1), 2);
const total = add.withOptions({ key: 'total' })(1, three);
expectType<Equal<typeof total, Delayed<number>>>();
const max = delayed(Math.max)(1, three);
expectType<Equal<typeof max, Delayed<number>>>();

// compute() of several, with and without options.
const both = compute(three, lines, { numWorkers: 1 });
expectType<Equal<typeof both, Promise<[number, string[]]>>>();
const one = compute(three);
expectType<Equal<typeof one, Promise<[number]>>>();
// @ts-expect-error a number is not a Delayed
compute(three, 5);

// A Delayed of a narrower type is a Delayed of a wider one.
const wide: Delayed<string | number> = three;
expectType<Equal<typeof wide, Delayed<string | number>>>();
// @ts-expect-error a Delayed of a wider type is not a Delayed of a narrower one
takesDelayed(delayed((): string | number => 1)());

declare function takesNumber(value: number): void;
declare function takesDelayed(value: Delayed<number>): void;
declare function longestText(): Delayed<string>;
declare function sumInput(): Delayed<number[]>;
declare function point(): Delayed<Point>;
declare function pair(): Delayed<[number, number]>;
declare function numbers(): Delayed<number[]>;
declare function names(): Delayed<Set<string>>;
declare function floats(): Delayed<Float64Array>;
declare const anything: Input<unknown>;
expectType<Equal<typeof anything, unknown>>();

// Checks of arguments, with uniform messages. A table lists the name and the kind of every option of a function. One check
// refuses a value that is no options object, an unknown option, and a value of another kind, so that no option is ignored.
import { isPlainObject } from './builtIns.js';
import { invalidArgument, type LongpoleError } from './errors.js';

/** The set of valid values of an option or an argument. */
export interface Kind {
  /** Description of the valid values for messages, e.g. `a whole number from 1`. */
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

/** A kind for every option of `O`. The compiler refuses a table with a missing or an additional option. */
export type OptionKinds<O extends object> = { readonly [N in keyof O]-?: Kind };

/** Accepts any value. The called function checks the option with a more detailed message. */
export const ANY: Kind = { expected: 'any value', accepts: () => true };
export const FLAG: Kind = kind('true or false', (value) => typeof value === 'boolean');
export const TEXT: Kind = kind('a non-empty string', (value) => typeof value === 'string' && value !== '');
export const NUMBER: Kind = kind('a number', (value) => typeof value === 'number' && !Number.isNaN(value));
export const FINITE: Kind = kind('a number', Number.isFinite);
export const COUNT: Kind = wholeNumber(1);
export const SECONDS: Kind = kind('seconds, at least 0', (value) => typeof value === 'number' && value >= 0);
/** Longest delay of a timer in seconds. Node turns a delay of 2^31 ms or more into 1 ms. */
export const MAX_TIMER_SECONDS = 2_147_483;
/** Interval of a timer in seconds. */
export const INTERVAL: Kind = kind(
  `seconds, more than 0 and at most ${MAX_TIMER_SECONDS}`,
  (value) => typeof value === 'number' && value > 0 && value <= MAX_TIMER_SECONDS,
);
export const CALLABLE: Kind = kind('a function', (value) => typeof value === 'function');
export const SIGNAL: Kind = objectWith(
  'an AbortSignal, e.g. that of an AbortController',
  'aborted',
  'addEventListener',
);
export const NAMES: Kind = kind(
  'a name or an array of names',
  (value) => TEXT.accepts(value) || (Array.isArray(value) && value.length > 0 && value.every(TEXT.accepts)),
);

export const RESOURCES: Kind = kind(
  'an object of numbers above 0 such as { GPU: 1 }',
  (value) =>
    isOptionsObject(value) &&
    Object.values(value).every((amount) => typeof amount === 'number' && amount > 0),
);
export const TRACE: Kind = objectWith('a trace, e.g. client.trace or openTrace(file)', 'tasks', 'strings');
/** Recognises a client without its class, which would load the engine into programs that only read traces. */
export const CLIENT: Kind = objectWith('a Client', 'observe', 'cluster');
export const PAGE_FILE: Kind = fileName(['.html', '.htm']);

/** Returns the kind of file names with one of these endings. A page in a file named `.png` could not be opened. */
export function fileName(endings: readonly string[]): Kind {
  return kind(
    `the name of a file that ends in ${endings.join(', ')}`,
    (value) => typeof value === 'string' && endings.some((ending) => value.toLowerCase().endsWith(ending)),
  );
}

export function kind(expected: string, accepts: (value: unknown) => boolean): Kind {
  return { expected, accepts };
}

export function wholeNumber(least: number, most = Number.POSITIVE_INFINITY): Kind {
  const range = Number.isFinite(most) ? `${least} to ${most}` : `${least}`;
  const accepts = (value: unknown): boolean =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
  return { expected: `a whole number from ${range}`, accepts };
}

/** Returns the kind of objects, also of instances of classes, with these members. */
export function objectWith(expected: string, ...members: readonly string[]): Kind {
  const accepts = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && members.every((name) => name in value);
  return { expected, accepts };
}

export function oneOf(values: readonly unknown[]): Kind {
  return kind(`one of ${values.map(String).join(', ')}`, (value) => values.includes(value));
}

/**
 * Returns the error for an invalid argument.
 * @param expected description of the valid values, e.g. `a whole number from 1`
 * @param meant the option for which the value is valid, if there is one
 */
export function invalid(name: string, value: unknown, expected: string, meant?: string): LongpoleError {
  return invalidArgument(
    `${name}: expected ${expected}, not ${textOf(value)}.${meant === undefined ? '' : ` Did you mean '${meant}'?`}`,
  );
}

/** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT unless the value is of the kind */
export function checkArgument(name: string, value: unknown, { expected, accepts }: Kind): void {
  if (!accepts(value)) throw invalid(name, value, expected);
}

/** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT unless the value is a whole number from 1 */
export function checkCount(name: string, value: unknown): number {
  if (typeof value === 'number' && COUNT.accepts(value)) return value;
  throw invalid(name, value, COUNT.expected);
}

/**
 * Checks the options of a call against the known options. Undefined options objects and undefined values are ignored, even
 * for unknown names, because callers may pass on optional values.
 *
 * @param where name of the called function or class, e.g. `ProgressBar`
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT with the name of the option, and for an unknown option with the most
 *   similar known name
 */
export function checkOptions<O extends object>(where: string, options: unknown, kinds: OptionKinds<O>): void {
  if (options === undefined) return;
  const known: Readonly<Record<string, Kind>> = kinds;
  const names = Object.keys(known);
  if (!isOptionsObject(options))
    throw invalid(`${where}: options`, options, `an object with some of ${names.join(', ')}`);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const expected = Object.hasOwn(known, name) ? known[name] : undefined;
    if (expected?.accepts(value)) continue;
    // A number in quotation marks is meant for this option, even if another one accepts texts.
    const isQuoted = typeof value === 'string' && expected?.accepts(Number(value)) === true;
    const meant = isQuoted ? undefined : sameMeaning(name, names).find((one) => known[one]?.accepts(value));
    if (expected === undefined) throw unknownOption(where, name, names, meant);
    throw invalid(`${where}: ${name}`, value, expected.expected, meant);
  }
}

/** Throws if a call has more arguments than the function accepts. `more` are the additional arguments. */
export function checkNoMore(where: string, more: readonly unknown[], advice: string): void {
  if (more.length === 0) return;
  throw invalidArgument(`${where} does not take the argument ${textOf(more[0])}. ${advice}`);
}

function unknownOption(
  where: string,
  name: string,
  names: readonly string[],
  valid: string | undefined,
): LongpoleError {
  const near = valid ?? sameMeaning(name, names)[0] ?? nearestName(name, names);
  const meant = near === undefined ? '' : ` Did you mean '${near}'?`;
  return invalidArgument(
    `${where}: '${name}' is not an option.${meant} The options are: ${names.join(', ')}.`,
  );
}

/** Returns whether a value is an object literal, also of another realm, and not an instance of a class. */
export function isOptionsObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && isPlainObject(value);
}

/** Returns the known name that contains the given name, is contained in it, or differs in few letters. */
function nearestName(name: string, names: readonly string[]): string | undefined {
  const wanted = lettersOf(name);
  const isPart = (known: string): boolean => wanted.includes(known) || known.includes(wanted);
  const part = wanted.length < 3 ? undefined : names.find((known) => isPart(lettersOf(known)));
  if (part !== undefined) return part;
  let best: string | undefined;
  let least = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const known of names) {
    const distance = editDistance(wanted, lettersOf(known));
    if (distance >= least) continue;
    least = distance;
    best = known;
  }
  return best;
}

/** Whether a name differs from a known one in at most two letters, or one if the known name is short. */
export function isMisspelling(name: string, known: string): boolean {
  return editDistance(lettersOf(name), lettersOf(known)) <= (known.length < 5 ? 1 : 2);
}

/** Returns the number of letters that must be inserted, removed or replaced. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...a].entries()) {
    const next = [at + 1];
    for (const [to, other] of [...b].entries())
      next.push(Math.min(next[to]! + 1, row[to + 1]! + 1, row[to]! + (letter === other ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

/** Returns a short description of a value for a message. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (isOptionsObject(value)) return 'an object';
  const maker: unknown = value.constructor;
  const name = typeof maker === 'function' ? maker.name : '';
  return name === '' ? 'an object' : `a ${name}`;
}

/** Groups of names with one meaning, without case and punctuation. */
const SPELLINGS: readonly (readonly string[])[] = [
  [
    'workers',
    'numworkers',
    'nworkers',
    'threads',
    'nthreads',
    'maxthreads',
    'concurrency',
    'parallelism',
    'maxworkers',
  ],
  ['maximum', 'max', 'maxworkers'],
  ['minimum', 'min', 'minworkers'],
  ['memorylimit', 'maxmemory', 'heap', 'maxheap', 'resourcelimits', 'maxoldgenerationsizemb'],
  ['localdirectory', 'temporarydirectory', 'tempdir', 'tmpdir', 'tmp'],
  ['dashboard', 'port', 'dashboardaddress', 'dashboardport'],
  ['signal', 'abort', 'abortsignal', 'aborter', 'canceltoken'],
  ['timeout', 'deadline', 'timelimit', 'ttl'],
  ['retries', 'retry', 'maxretries', 'attempts', 'maxattempts'],
  ['allowedfailures', 'maxfailures'],
  ['key', 'name', 'daskkeyname'],
  ['filename', 'file', 'path', 'output', 'out'],
  ['interval', 'dt', 'delay', 'period', 'every'],
  ['maxsize', 'capacity', 'limit', 'highwatermark'],
  ['callbacks', 'callback', 'hooks'],
];

/** Returns the name without case and punctuation. */
function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

export function sameMeaning(name: string, known: readonly string[]): readonly string[] {
  const wanted = lettersOf(name);
  const groups = SPELLINGS.filter((group) => group.includes(wanted));
  return known.filter((one) => one !== name && groups.some((group) => group.includes(lettersOf(one))));
}

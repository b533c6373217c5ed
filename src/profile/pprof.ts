// Writes a call tree as a file for pprof: protocol buffers, `perftools.profiles.Profile`, not compressed (pprof reads
// both). The format needs only varints and length-delimited fields. This writer needs no package, so that it also
// runs in a browser.
import { getOrMake } from '../base/lookUps.js';
import { resizedUint8 } from '../base/resized.js';
import { type CallTree, type FrameDescription, forEachStack, frameIdentifier } from './callTree.js';

const encoder = new TextEncoder();

export interface PprofOptions {
  /** Seconds between two samples, which is the weight of a sample. Default 0.01. */
  readonly interval?: number;
  /** Start of the profile, in seconds since the epoch, and its duration in seconds. Default: not written. */
  readonly start?: number;
  readonly duration?: number;
}

/** Numbers of the fields in `profile.proto`. */
const PROFILE = {
  sampleType: 1,
  sample: 2,
  location: 4,
  function: 5,
  strings: 6,
  time: 9,
  duration: 10,
  periodType: 11,
  period: 12,
};
const VALUE_TYPE = { type: 1, unit: 2 };
const SAMPLE = { location: 1, value: 2 };
const LOCATION = { id: 1, line: 4 };
const LINE = { function: 1, line: 2 };
const FUNCTION = { id: 1, name: 2, systemName: 3, filename: 4, startLine: 5 };

const NANOSECONDS = 1e9;
/** Upper bound of the format's numbers. */
const NUMBERS_END = 2 ** 63;

/**
 * Returns the bytes of the profile, which `go tool pprof FILE` opens. A sample has two values: its count, and
 * nanoseconds.
 *
 * @source github.com/google/pprof, proto/profile.proto
 */
export function toPprof(tree: CallTree, { interval = 0.01, start, duration }: PprofOptions = {}): Uint8Array {
  const strings = new Strings();
  const locations = new Locations(strings);
  const profile = new Message();
  const period = Math.round(interval * NANOSECONDS);
  profile.message(PROFILE.sampleType, valueType(strings, 'samples', 'count'));
  profile.message(PROFILE.sampleType, valueType(strings, 'wall', 'nanoseconds'));
  forEachStack(tree, (frames, self, node) => {
    for (const [line, count] of linesOf(node, self)) {
      const nanoseconds = count * period;
      // Damaged times may give a sum that is out of range.
      if (!(count < NUMBERS_END && nanoseconds < NUMBERS_END)) continue;
      const stack = frames.map((frame, index) =>
        locations.of(frame, index === frames.length - 1 && line > 0 ? line : frame.lineNumber),
      );
      const sample = new Message();
      sample.packed(SAMPLE.location, stack.reverse());
      sample.packed(SAMPLE.value, [count, nanoseconds]);
      profile.message(PROFILE.sample, sample);
    }
  });
  for (const location of locations.locations) profile.message(PROFILE.location, location);
  for (const fn of locations.functions) profile.message(PROFILE.function, fn);
  const periodType = valueType(strings, 'wall', 'nanoseconds');
  for (const text of strings.all) profile.text(PROFILE.strings, text);
  if (start !== undefined) profile.number(PROFILE.time, Math.round(start * NANOSECONDS));
  if (duration !== undefined) profile.number(PROFILE.duration, Math.round(duration * NANOSECONDS));
  profile.message(PROFILE.periodType, periodType);
  profile.number(PROFILE.period, period);
  return profile.finish();
}

/** Returns a node's own samples by line; samples without a known line are under 0. */
function linesOf(node: CallTree, self: number): [line: number, count: number][] {
  const known = Object.entries(node.lines ?? {}).map(([line, count]): [number, number] => [
    Number(line),
    count,
  ]);
  const rest = known.reduce((left, [, count]) => left - count, self);
  return rest > 0 ? [...known, [0, rest]] : known;
}

function valueType(strings: Strings, type: string, unit: string): Message {
  const message = new Message();
  message.number(VALUE_TYPE.type, strings.of(type));
  message.number(VALUE_TYPE.unit, strings.of(unit));
  return message;
}

/** The string table; its first entry is the empty string. */
class Strings {
  readonly all: string[] = [''];
  readonly #index = new Map<string, number>([['', 0]]);

  of(text: string): number {
    return getOrMake(this.#index, text, () => this.all.push(text) - 1);
  }
}

/** Interns functions and their lines. Ids begin at 1, because 0 means none. */
class Locations {
  readonly locations: Message[] = [];
  readonly functions: Message[] = [];
  readonly #strings: Strings;
  readonly #functionIds = new Map<string, number>();
  readonly #locationIds = new Map<string, number>();

  constructor(strings: Strings) {
    this.#strings = strings;
  }

  of(frame: FrameDescription, line: number): number {
    const identifier = frameIdentifier(frame);
    const key = `${line};${identifier}`;
    return getOrMake(this.#locationIds, key, () => {
      const place = new Message();
      place.number(LINE.function, this.#function(identifier, frame));
      place.number(LINE.line, line);
      const location = new Message();
      location.number(LOCATION.id, this.locations.length + 1);
      location.message(LOCATION.line, place);
      return this.locations.push(location);
    });
  }

  #function(identifier: string, { name, filename, lineNumber }: FrameDescription): number {
    return getOrMake(this.#functionIds, identifier, () => {
      const message = new Message();
      message.number(FUNCTION.id, this.functions.length + 1);
      message.number(FUNCTION.name, this.#strings.of(name));
      message.number(FUNCTION.systemName, this.#strings.of(name));
      message.number(FUNCTION.filename, this.#strings.of(filename));
      message.number(FUNCTION.startLine, lineNumber);
      return this.functions.push(message);
    });
  }
}

/** A protocol buffer under construction. */
class Message {
  #bytes = new Uint8Array(1024);
  #length = 0;

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    this.#bytes = resizedUint8(this.#bytes, Math.max(this.#bytes.length * 2, this.#length + count));
  }

  append(values: Uint8Array): void {
    this.#reserve(values.length);
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  /**
   * Writes a number that is not negative and below 2^63. Nanoseconds since the epoch need more than 53 bits. A double holds
   * them, because they are multiples of 256.
   */
  varint(value: number): void {
    this.#reserve(9);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Returns a copy of the written bytes. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  /**
   * Writes a whole number. Omits zero, which is the default, and times outside the format's range, e.g. the duration
   * of a profile without an end.
   */
  number(field: number, value: number): void {
    if (!(value > 0 && value < NUMBERS_END)) return;
    this.varint(field * 8);
    this.varint(value);
  }

  packed(field: number, values: readonly number[]): void {
    const body = new Message();
    for (const value of values) body.varint(value);
    this.message(field, body);
  }

  text(field: number, text: string): void {
    this.#delimited(field, encoder.encode(text));
  }

  message(field: number, message: Message): void {
    this.#delimited(field, message.finish());
  }

  #delimited(field: number, bytes: Uint8Array): void {
    this.varint(field * 8 + 2);
    this.varint(bytes.length);
    this.append(bytes);
  }
}

// Reads the files that pprof.ts writes, by the published definition of the format. The soak compares it with pprof itself.

function check(holds: boolean, text: string): asserts holds {
  if (!holds) throw new TypeError(`The file is not a profile: ${text}`);
}

/** Reads consecutive bytes. */
class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  byte(): number {
    return this.bytes(1)[0]!;
  }

  bytes(count: number): Uint8Array {
    check(count <= this.remaining, 'it ends too early');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
}

function varint(reader: ByteReader): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = reader.byte();
    value += (byte % 128) * scale;
    if (byte < 128) return value;
  }
}

/** Returns the fields of one message: field number → its values, which are numbers or the bytes of delimited fields. */
export function decode(bytes: Uint8Array): Map<number, (number | Uint8Array)[]> {
  const reader = new ByteReader(bytes);
  const fields = new Map<number, (number | Uint8Array)[]>();
  while (reader.remaining > 0) {
    const tag = varint(reader);
    const value = tag % 8 === 0 ? varint(reader) : reader.bytes(varint(reader));
    check(tag % 8 === 0 || tag % 8 === 2, `wire type ${tag % 8}`);
    const field = Math.floor(tag / 8);
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

export function messages(fields: Map<number, (number | Uint8Array)[]>, field: number): Uint8Array[] {
  return (fields.get(field) ?? []).filter((value) => value instanceof Uint8Array);
}

function number(fields: Map<number, (number | Uint8Array)[]>, field: number): number {
  const [value = 0] = fields.get(field) ?? [];
  check(typeof value === 'number', 'a number is missing');
  return value;
}

export function unpack(bytes: Uint8Array | undefined): number[] {
  const reader = new ByteReader(bytes ?? new Uint8Array(0));
  const values: number[] = [];
  while (reader.remaining > 0) values.push(varint(reader));
  return values;
}

/** Returns what pprof shows: stack, from the outermost function → samples. */
export function readPprof(bytes: Uint8Array): {
  time: number;
  stacks: Map<string, number>;
  nanoseconds: number;
  strings: string[];
} {
  const profile = decode(bytes);
  const strings = messages(profile, 6).map((text) => new TextDecoder().decode(text));
  const functions = new Map(
    messages(profile, 5).map((message) => {
      const fields = decode(message);
      return [number(fields, 1), strings[number(fields, 2)]];
    }),
  );
  const names = new Map(
    messages(profile, 4).map((message) => {
      const fields = decode(message);
      const [line] = messages(fields, 4).map(decode);
      check(line !== undefined, 'a location has no line');
      return [number(fields, 1), functions.get(number(line, 1))];
    }),
  );
  const stacks = new Map<string, number>();
  let nanoseconds = 0;
  for (const message of messages(profile, 2)) {
    const fields = decode(message);
    const stack = unpack(messages(fields, 1)[0])
      .reverse()
      .map((id) => names.get(id))
      .join('>');
    const [count = 0, time = 0] = unpack(messages(fields, 2)[0]);
    stacks.set(stack, (stacks.get(stack) ?? 0) + count);
    nanoseconds += time;
  }
  return { stacks, nanoseconds, strings, time: number(profile, 9) };
}

/** Returns the samples with a function anywhere on their stack, as the column `cum` of `go tool pprof -top` counts them. */
export function cumulative(stacks: ReadonlyMap<string, number>, name: string): number {
  return [...stacks]
    .filter(([stack]) => stack.split('>').includes(name))
    .reduce((sum, [, count]) => sum + count, 0);
}

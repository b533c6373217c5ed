// A 128-bit hash over 32-bit words: the mixing of MurmurHash3 (x86, 128 bits). It has no known weakness for data that
// was not chosen to collide. About 4 ns per word.

/** Collects words and returns 32 hexadecimal digits. Use one hasher per value. */
export class Hasher {
  #h1 = 0;
  #h2 = 0;
  #h3 = 0;
  #h4 = 0;
  #count = 0;

  /** Adds the low 32 bits of an integer. */
  word(value: number): void {
    switch (this.#count++ & 3) {
      case 0:
        this.#h1 = next(this.#h1 ^ scramble(value, 0x239b961b, 15, 0xab0e9789), 19, this.#h2, 0x561ccd1b);
        break;
      case 1:
        this.#h2 = next(this.#h2 ^ scramble(value, 0xab0e9789, 16, 0x38b34ae5), 17, this.#h3, 0x0bcaa747);
        break;
      case 2:
        this.#h3 = next(this.#h3 ^ scramble(value, 0x38b34ae5, 17, 0xa1e38b93), 15, this.#h4, 0x96cd1c35);
        break;
      default:
        this.#h4 = next(this.#h4 ^ scramble(value, 0xa1e38b93, 18, 0x239b961b), 13, this.#h1, 0x32ac3b17);
    }
  }

  /** Adds a text and its length. */
  text(text: string): void {
    const { length } = text;
    this.word(length);
    let index = 0;
    for (; index + 1 < length; index += 2)
      this.word(text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16));
    if (index < length) this.word(text.charCodeAt(index));
  }

  /** Adds bytes and their number. */
  bytes(bytes: Uint8Array<ArrayBufferLike>): void {
    const { length } = bytes;
    this.word(length);
    this.word(Math.floor(length / 2 ** 32));
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    let index = 0;
    for (; index + 4 <= length; index += 4) this.word(view.getInt32(index, true));
    let rest = 0;
    for (let shift = 0; index < length; index++, shift += 8) rest |= bytes[index]! << shift;
    if (length % 4 > 0) this.word(rest);
  }

  /** Returns 32 hexadecimal digits, of which the first is a decimal digit. Add nothing afterwards. */
  digest(): string {
    let h1 = this.#h1 ^ this.#count;
    let h2 = this.#h2 ^ this.#count;
    let h3 = this.#h3 ^ this.#count;
    let h4 = this.#h4 ^ this.#count;
    h1 += h2 + h3 + h4;
    h2 = avalanche(h2 + h1);
    h3 = avalanche(h3 + h1);
    h4 = avalanche(h4 + h1);
    h1 = avalanche(h1);
    h1 += h2 + h3 + h4;
    return hex(h1 & 0x7fffffff) + hex(h2 + h1) + hex(h3 + h1) + hex(h4 + h1);
  }
}

function scramble(value: number, first: number, shift: number, second: number): number {
  const product = Math.imul(value, first);
  return Math.imul((product << shift) | (product >>> (32 - shift)), second);
}

function next(mixed: number, shift: number, neighbour: number, constant: number): number {
  const rotated = (mixed << shift) | (mixed >>> (32 - shift));
  return (Math.imul(rotated + neighbour, 5) + constant) | 0;
}

function avalanche(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}

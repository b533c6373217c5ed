// The dictionary of a column during recording: every distinct text has a code. Arrow rewrites a dictionary that grew,
// so a large dictionary is replaced by an empty one after a batch.

const MANY = 512;

export class BatchTexts {
  texts: string[] = [];
  generation = 0;
  #codes = new Map<string, number>();

  codeOf(text: string): number {
    const known = this.#codes.get(text);
    if (known !== undefined) return known;
    const code = this.texts.push(text) - 1;
    this.#codes.set(text, code);
    return code;
  }

  /** Call this after a batch was written. Returns true if codes restart at 0. */
  nextBatch(): boolean {
    if (this.texts.length <= MANY) return false;
    this.texts = [];
    this.#codes = new Map();
    this.generation++;
    return true;
  }
}

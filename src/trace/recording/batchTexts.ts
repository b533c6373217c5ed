// Texts of a dictionary column while it is recorded: each distinct text has a code. When there are many the codes begin anew
// with the next batch, because a dictionary that grew is written again whole.

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

  /** Call it when a batch was written; true if codes begin anew. */
  nextBatch(): boolean {
    if (this.texts.length <= MANY) return false;
    this.texts = [];
    this.#codes = new Map();
    this.generation++;
    return true;
  }
}

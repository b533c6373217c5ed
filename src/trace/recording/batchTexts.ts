// The dictionary of a column during recording: every distinct text has a code. Arrow rewrites a dictionary that grew,
// so a large dictionary is replaced by an empty one after a batch.
import { getOrMake } from '../../base/lookUps.js';

const MANY = 512;

export class BatchTexts {
  texts: string[] = [];
  generation = 0;
  #codes = new Map<string, number>();

  codeOf(text: string): number {
    return getOrMake(this.#codes, text, () => this.texts.push(text) - 1);
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

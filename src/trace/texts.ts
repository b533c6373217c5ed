// Texts by id, whether they are in memory or still in a file.

export interface Texts {
  /** Ids are 0 … length - 1. */
  readonly length: number;
  get(id: number): string;
  /** Makes all strings at once, where most of them will be asked for. */
  decodeAll(): void;
}

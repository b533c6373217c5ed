// Texts by id, in memory or still in a file.

export interface Texts {
  /** Number of texts; ids are 0 … length - 1. */
  readonly length: number;
  get(id: number): string;
  /** Decodes all texts, for callers that read most of them. */
  decodeAll(): void;
}

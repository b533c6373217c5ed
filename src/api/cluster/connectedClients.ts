// The names of a cluster's clients, and the number of all clients so far.

export class ConnectedClients {
  readonly #names = new Set<string>();
  /** Number of clients that have ever connected. */
  added = 0;

  /** Adds a client. Returns a function that removes it; further calls have no effect. */
  add(name: string): () => void {
    this.#names.add(name);
    this.added++;
    return () => void this.#names.delete(name);
  }

  get size(): number {
    return this.#names.size;
  }

  get removed(): number {
    return this.added - this.size;
  }
}

// The clients of a cluster, by name, and how many there have been.

export class ConnectedClients {
  readonly #names = new Set<string>();
  #added = 0;

  /** Returns what takes it away again; calling that twice does nothing. */
  add(name: string): () => void {
    this.#names.add(name);
    this.#added++;
    return () => void this.#names.delete(name);
  }

  get size(): number {
    return this.#names.size;
  }

  /** All that have ever connected. */
  get added(): number {
    return this.#added;
  }

  get removed(): number {
    return this.#added - this.size;
  }
}

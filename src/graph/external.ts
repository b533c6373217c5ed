// A result that exists or is being computed outside the graph under construction, e.g. a Future of a cluster. A graph may
// contain an External wherever it may contain a Delayed or a key.

export class External {
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }
}

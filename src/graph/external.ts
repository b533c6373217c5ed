// A result that exists already, or is being computed, outside the graph that is being written: a Future of a cluster. In
// a graph it stands where a Delayed or a key may stand.

export class External {
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }
}

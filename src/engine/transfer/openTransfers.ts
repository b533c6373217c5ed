// How much is being moved right now, in one direction: a gauge that transfers keep while they last.

export class OpenTransfers {
  /** Bytes of what is under way, as far as their sizes are known. */
  nbytes = 0;
  count = 0;

  /** One more; call `end` of what it returns once, whatever became of it. */
  begin(nbytes: number): OpenTransfer {
    this.count++;
    const transfer = new OpenTransfer(this);
    transfer.add(nbytes);
    return transfer;
  }
}

class OpenTransfer {
  readonly #all: OpenTransfers;
  #nbytes = 0;

  constructor(all: OpenTransfers) {
    this.#all = all;
  }

  /** It carries so much more than was known. */
  add(nbytes: number): void {
    this.#nbytes += nbytes;
    this.#all.nbytes += nbytes;
  }

  end(): void {
    this.#all.count--;
    this.#all.nbytes -= this.#nbytes;
  }
}

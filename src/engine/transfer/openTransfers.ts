// A gauge of the transfers in progress in one direction.

export class OpenTransfers {
  /** Bytes of the transfers in progress, as far as their sizes are known. */
  nbytes = 0;
  count = 0;

  /** Adds a transfer. Call its `end` once, even if the transfer fails. */
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

  /** Adds bytes to the known size of the transfer. */
  add(nbytes: number): void {
    this.#nbytes += nbytes;
    this.#all.nbytes += nbytes;
  }

  end(): void {
    this.#all.count--;
    this.#all.nbytes -= this.#nbytes;
  }
}

// A gauge of the transfers in progress in one direction.

export class OpenTransfers {
  /** Bytes of the transfers in progress, as far as their sizes are known. */
  nbytes = 0;
  count = 0;

  /** Adds a transfer. `add` adds bytes to its known size. Call `end` once, even if the transfer fails. */
  begin(nbytes: number): { add(more: number): void; end(): void } {
    this.count++;
    this.nbytes += nbytes;
    let known = nbytes;
    return {
      add: (more) => {
        known += more;
        this.nbytes += more;
      },
      end: () => {
        this.count--;
        this.nbytes -= known;
      },
    };
  }
}

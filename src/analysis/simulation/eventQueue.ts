// The queues of a simulation: a binary heap of (time, number) in typed arrays. Events at the same time are in order of
// their numbers, so that a simulation is deterministic. In a queue of ready tasks, the id of a task is also its time.
import { resizedFloat64, resizedInt32 } from '../../base/resized.js';

export class EventQueue {
  #times = new Float64Array(16);
  #numbers = new Int32Array(16);
  #length = 0;

  /** Time of the next event; Infinity if there is none. */
  get nextTime(): number {
    return this.#length === 0 ? Number.POSITIVE_INFINITY : this.#times[0]!;
  }

  add(time: number, number: number): void {
    if (this.#length === this.#times.length) this.#grow();
    const times = this.#times;
    const numbers = this.#numbers;
    let at = this.#length++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(time, number, times[parent]!, numbers[parent]!)) break;
      times[at] = times[parent]!;
      numbers[at] = numbers[parent]!;
      at = parent;
    }
    times[at] = time;
    numbers[at] = number;
  }

  /** Removes the next event and returns its number, or -1 if there is none. */
  take(): number {
    if (this.#length === 0) return -1;
    const times = this.#times;
    const numbers = this.#numbers;
    const taken = numbers[0]!;
    const last = --this.#length;
    const time = times[last]!;
    const number = numbers[last]!;
    let at = 0;
    for (let child = 1; child < last; child = 2 * at + 1) {
      const right = child + 1;
      if (right < last && before(times[right]!, numbers[right]!, times[child]!, numbers[child]!))
        child = right;
      if (!before(times[child]!, numbers[child]!, time, number)) break;
      times[at] = times[child]!;
      numbers[at] = numbers[child]!;
      at = child;
    }
    times[at] = time;
    numbers[at] = number;
    return taken;
  }

  #grow(): void {
    this.#times = resizedFloat64(this.#times, this.#length * 2);
    this.#numbers = resizedInt32(this.#numbers, this.#length * 2);
  }
}

function before(time: number, number: number, otherTime: number, otherNumber: number): boolean {
  return time < otherTime || (time === otherTime && number < otherNumber);
}

// Where the functions of tasks are, as samples have shown it. V8 inlines a short function into its caller, and a sample
// then lacks the function and its place.

/** A position in the user's own file. */
export interface SourcePosition {
  readonly file: string;
  /** Line from 1; 0 if unknown. */
  readonly line: number;
}

export interface TaskFunction {
  /** Text that differs between functions of one name. */
  readonly id: string;
  readonly name: string;
}

/** Most functions whose places are kept. Beyond it all are discarded and found again. */
const MAX_FUNCTIONS = 10_000;

export class TaskPlaces {
  /** Function → places, each with the number of samples that showed it. */
  readonly #places = new Map<string, { readonly place: SourcePosition; samples: number }[]>();

  /** Adds a sample during a task of this function, in which the runner had called a function at this place. */
  add({ id }: TaskFunction, { file, line }: SourcePosition): void {
    let places = this.#places.get(id);
    if (places === undefined) {
      if (this.#places.size >= MAX_FUNCTIONS) this.#places.clear();
      places = [];
      this.#places.set(id, places);
    }
    const known = places.find(({ place }) => place.file === file && place.line === line);
    if (known === undefined) places.push({ place: { file, line }, samples: 1 });
    else known.samples++;
  }

  /**
   * Returns the place of a function; undefined if no sample has shown it. A sample at the border of two tasks may be
   * assigned to the wrong one, so the place with most samples counts.
   */
  of({ id }: TaskFunction): SourcePosition | undefined {
    const places = this.#places.get(id) ?? [];
    const most = Math.max(...places.map(({ samples }) => samples));
    return places.find(({ samples }) => samples === most)?.place;
  }
}

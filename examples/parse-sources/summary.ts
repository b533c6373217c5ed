// What is known of a set of source files, and how two sets become one. Files are numbers here, indexes into the list
// of files that the main program holds: a number is cheaper to send and to merge than a path.

/** Functions with the same structure, whatever the names and the literals in them. Parallel columns, one per shape. */
export interface Shapes {
  /** 53-bit hash of the structure. */
  readonly hashes: Float64Array;
  readonly counts: Uint32Array;
  /** Syntax nodes of one such function. */
  readonly sizes: Uint32Array;
  /** Where the first one stands: file and 1-based line. */
  readonly files: Uint32Array;
  readonly lines: Uint32Array;
}

export interface Failure {
  readonly file: number;
  readonly message: string;
}

export interface Summary {
  readonly files: number;
  readonly lines: number;
  readonly bytes: number;
  /** ESTree node type → how often it occurs. */
  readonly kinds: ReadonlyMap<string, number>;
  /** The node with the most nodes above it: how many, and where it begins. */
  readonly deepest: { readonly depth: number; readonly file: number; readonly line: number };
  readonly shapes: Shapes;
  /** Files that were read and did not parse, or could not be read. They are counted in `files`. */
  readonly failures: readonly Failure[];
}

interface Shape {
  count: number;
  size: number;
  file: number;
  line: number;
}

/** Collects shapes by hash; the first in file order stands for all of its kind. */
export class ShapeTable {
  readonly #shapes = new Map<number, Shape>();

  add(hash: number, count: number, size: number, file: number, line: number): void {
    const known = this.#shapes.get(hash);
    if (known === undefined) {
      this.#shapes.set(hash, { count, size, file, line });
      return;
    }
    known.count += count;
    if (file < known.file || (file === known.file && line < known.line)) {
      known.file = file;
      known.line = line;
    }
  }

  addAll({ hashes, counts, sizes, files, lines }: Shapes): void {
    for (let i = 0; i < hashes.length; i++) this.add(hashes[i]!, counts[i]!, sizes[i]!, files[i]!, lines[i]!);
  }

  toColumns(): Shapes {
    const shapes = [...this.#shapes.values()];
    return {
      hashes: Float64Array.from(this.#shapes.keys()),
      counts: Uint32Array.from(shapes, (shape) => shape.count),
      sizes: Uint32Array.from(shapes, (shape) => shape.size),
      files: Uint32Array.from(shapes, (shape) => shape.file),
      lines: Uint32Array.from(shapes, (shape) => shape.line),
    };
  }
}

/** One summary of all files of several. The order of `summaries` does not change the result, except in `failures`. */
export function mergeSummaries(summaries: readonly Summary[]): Summary {
  const kinds = new Map<string, number>();
  const shapes = new ShapeTable();
  const failures: Failure[] = [];
  let deepest: Summary['deepest'] = { depth: 0, file: 0, line: 0 };
  let files = 0;
  let lines = 0;
  let bytes = 0;
  for (const summary of summaries) {
    files += summary.files;
    lines += summary.lines;
    bytes += summary.bytes;
    for (const [kind, count] of summary.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
    if (isDeeper(summary.deepest, deepest)) deepest = summary.deepest;
    shapes.addAll(summary.shapes);
    failures.push(...summary.failures);
  }
  return { files, lines, bytes, kinds, deepest, shapes: shapes.toColumns(), failures };
}

function isDeeper(a: Summary['deepest'], b: Summary['deepest']): boolean {
  return a.depth > b.depth || (a.depth === b.depth && a.depth > 0 && a.file < b.file);
}

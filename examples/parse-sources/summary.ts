// The summary of a set of source files, and the merge of summaries. A file is an index into the list of the main
// program, because a number is cheaper to send and to merge than a path.

/** Shapes of functions as parallel columns, one row per shape. A shape ignores names and literals. */
export interface Shapes {
  /** 53-bit hash of the structure. */
  readonly hashes: Float64Array;
  readonly counts: Uint32Array;
  /** Number of syntax nodes of one function. */
  readonly sizes: Uint32Array;
  /** File of the first function of the shape. */
  readonly files: Uint32Array;
  /** 1-based line of the first function of the shape. */
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
  /** ESTree node type → number of nodes. */
  readonly kinds: ReadonlyMap<string, number>;
  /** Depth and position of the most deeply nested node. */
  readonly deepest: { readonly depth: number; readonly file: number; readonly line: number };
  readonly shapes: Shapes;
  /** Files that did not parse. `files` includes them. */
  readonly failures: readonly Failure[];
}

interface Shape {
  count: number;
  size: number;
  file: number;
  line: number;
}

/** Collects shapes by hash, with the position of the first function in file order. */
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

/** Merges summaries. Their order affects only the order of `failures`. */
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

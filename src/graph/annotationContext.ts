// Under which options a task was defined. As with spans, this folder does not know how a block of annotations is held open: it
// asks a function that is there once the program has annotated something.
import type { ClusterTaskOptions } from './computeOptions.js';

export type Annotations = Omit<ClusterTaskOptions, 'timeout'>;

let source: (() => Annotations | undefined) | undefined;
const defined = new WeakMap<object, Annotations>();

/** The last source set counts. */
export function setAnnotationSource(current: () => Annotations | undefined): void {
  source = current;
}

/** The options of the block that is open here, if there is one. */
export function currentAnnotations(): Annotations | undefined {
  return source?.();
}

/** Whether the program has ever annotated anything. */
export function annotationsInUse(): boolean {
  return source !== undefined;
}

/** Remembers for a new task the options of the block that is open here. */
export function rememberAnnotations(task: object): void {
  const annotations = source?.();
  if (annotations !== undefined) defined.set(task, annotations);
}

export function annotationsOf(task: object): Annotations | undefined {
  return defined.get(task);
}

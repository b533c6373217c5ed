// Finds the options under which a task is defined. This folder does not know how blocks of annotations are opened: like
// for spans, it calls a function that is set once the program has annotated a task.
import type { ClusterTaskOptions } from '../protocol/clientQuestions.js';

export type Annotations = Omit<ClusterTaskOptions, 'timeout'>;

let source: (() => Annotations | undefined) | undefined;
const defined = new WeakMap<object, Annotations>();

/** Sets the source of annotations. A later call replaces the source. */
export function setAnnotationSource(current: () => Annotations | undefined): void {
  source = current;
}

/** Returns the options of the open block, if any. */
export function currentAnnotations(): Annotations | undefined {
  return source?.();
}

/** Returns whether the program has ever opened a block of annotations. */
export function annotationsInUse(): boolean {
  return source !== undefined;
}

/** Records the options of the open block for a new task. */
export function rememberAnnotations(task: object): void {
  const annotations = source?.();
  if (annotations !== undefined) defined.set(task, annotations);
}

export function annotationsOf(task: object): Annotations | undefined {
  return defined.get(task);
}
